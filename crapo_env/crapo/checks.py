"""Whether a record is a state of Crapô, as far as memory safety and the packs go."""

import numpy as np

from crapo_env.cards import CARD_NAMES, NUM_CARDS, NUM_RANKS, card_number
from crapo_env.crapo.state import (
    MAX_REARRANGEMENTS,
    MAX_RESERVE,
    PACK_CARDS,
    RESERVE_CARDS,
    STOCK_CARDS,
)
from crapo_env.runs import base_rank, run_from_names, run_to_names, top_rank

# field, smallest, largest
_RANGES = (
    ("current_player", 0, 1),
    ("num_players", 2, 2),
    ("terminated", 0, 1),
    ("truncated", 0, 1),
    ("foundation", 0, NUM_RANKS),
    ("head", 0, PACK_CARDS - 1),
    ("stock_size", 0, PACK_CARDS),
    ("waste_size", 0, PACK_CARDS),
    ("stock_known", 0, 1),
    ("reserve_size", 0, MAX_RESERVE),
    ("reserve_down", 0, RESERVE_CARDS - 1),
    ("dealt", 0, 2),
    ("hand", -1, NUM_CARDS - 1),
    ("max_rearrangements", 0, MAX_REARRANGEMENTS),
    ("rearrangements", 0, MAX_REARRANGEMENTS),
    ("no_progress_turns", 1, 1000),
    ("turns_without_progress", 0, 1000),
    ("smallest", 0, RESERVE_CARDS + STOCK_CARDS),
    ("turn_progress", 0, 1),
    ("turn_bare", 0, 1),
    ("last_turn_bare_pass", 0, 1),
)


def check_state(games: np.ndarray) -> None:
    """Check every record.

    Raises:
        ValueError: if a field is out of range or the cards are not two whole packs.
    """
    for name, low, high in _RANGES:
        if np.any(games[name] < low) or np.any(games[name] > high):
            raise ValueError(
                f"state field {name} must lie in {low} to {high}, not {games[name].tolist()}"
            )
    if np.any(games["rearrangements"] > games["max_rearrangements"]):
        raise ValueError("there were more moves between spaces than max_rearrangements (C36)")
    for g in games:
        _check_runs(g)
        hidden = _hidden_cards(g)
        _check_counts(
            _public_cards(g) + hidden, np.full(NUM_CARDS, 2), "each card must occur twice"
        )
        _check_counts(
            hidden, 2 - g["dealt"].sum(axis=0), "the face-down cards must be those not seen yet"
        )
        _check_reserves(g)


def _check_runs(g: np.record) -> None:
    for run in g["tableau"].tolist():
        if run < 0 or (run and not top_rank(run) <= base_rank(run) < NUM_RANKS):
            raise ValueError(f"{run} is no run of cards")
        if run_from_names(run_to_names(run)) != run:
            raise ValueError(f"{run} is no run of cards")


def _check_reserves(g: np.record) -> None:
    """Check that every face-up card but the first was loaded on the one below (C16, C17)."""
    for p in range(2):
        up = g["reserve"][p][g["reserve_down"][p] : g["reserve_size"][p]].astype(int)
        suits, ranks = np.divmod(up, NUM_RANKS)
        if np.any(np.diff(suits) != 0) or np.any(abs(np.diff(ranks)) != 1):
            raise ValueError(f"the face-up cards of reserve {p} were not loaded on each other")


def _check_counts(cards: list[int], expected: np.ndarray, law: str) -> None:
    if not all(0 <= card < NUM_CARDS for card in cards):
        raise ValueError("a card number is out of range")
    counts = np.bincount(cards, minlength=NUM_CARDS)
    wrong = [f"{CARD_NAMES[c]} {counts[c]} times" for c in np.flatnonzero(counts != expected)]
    if wrong:
        raise ValueError(f"{law}, but this state has " + ", ".join(wrong))


def _public_cards(g: np.record) -> list[int]:
    """Return all cards that lie, or have lain, face up (C39)."""
    cards = [card_number(name) for run in g["tableau"] for name in run_to_names(run)]
    for suit, heights in enumerate(g["foundation"].tolist()):
        cards += [suit * NUM_RANKS + rank for height in heights for rank in range(height)]
    for p in range(2):
        first = 0 if g["stock_known"][p] else int(g["stock_size"][p])
        cards += _ring_cards(g, p, first, int(g["stock_size"][p]) + int(g["waste_size"][p]))
        cards += g["reserve"][p][g["reserve_down"][p] : g["reserve_size"][p]].tolist()
    return cards + ([int(g["hand"])] if g["hand"] >= 0 else [])


def _hidden_cards(g: np.record) -> list[int]:
    """Return all cards that nobody has seen."""
    cards: list[int] = []
    for p in range(2):
        if not 0 <= g["reserve_down"][p] <= max(g["reserve_size"][p] - 1, 0):
            raise ValueError("the top of a reserve must lie face up")
        cards += g["reserve"][p][: g["reserve_down"][p]].tolist()
        cards += _ring_cards(g, p, 0, 0 if g["stock_known"][p] else int(g["stock_size"][p]))
    return cards


def _ring_cards(g: np.record, p: int, first: int, last: int) -> list[int]:
    return [int(g["ring"][p][(int(g["head"][p]) + k) % PACK_CARDS]) for k in range(first, last)]
