"""Whether a record is a state that a match can be in, as far as memory safety and the pack go."""

import numpy as np

from crapo_env.cards import CARD_NAMES, KING, NUM_CARDS, card_number
from crapo_env.reis_nos_cantos.state import (
    ALL_CARDS,
    MAX_PLAYERS,
    MAX_TARGET,
    MAX_TOTAL,
    MIN_PLAYERS,
    NUM_CROSSES,
)
from crapo_env.runs import base_rank, run_from_names, run_to_names, top_rank

# field, smallest, largest
_RANGES = (
    ("current_player", 0, MAX_PLAYERS - 1),
    ("num_players", MIN_PLAYERS, MAX_PLAYERS),
    ("terminated", 0, 1),
    ("truncated", 0, 1),
    ("totals", 0, MAX_TOTAL),
    ("target", 1, MAX_TARGET),
    ("stock_next", 0, NUM_CARDS),
    ("stock_end", 0, NUM_CARDS),
    ("dealer", 0, MAX_PLAYERS - 1),
    ("dry_turns", 0, MAX_PLAYERS),
    ("turn_is_dry", 0, 1),
    ("draw_at", 0, 1),
    ("first_player", 0, MAX_PLAYERS),
    ("king_pile_to_corner", 0, 1),
    ("reward", 0, 1),
)


def check_state(games: np.ndarray) -> None:
    """Check every record.

    Raises:
        ValueError: if a field is out of range or the cards are not one whole pack.
    """
    for name, low, high in _RANGES:
        if np.any(games[name] < low) or np.any(games[name] > high):
            values = games[name].tolist()
            raise ValueError(f"state field {name} must lie in {low} to {high}, not {values}")
    for g in games:
        _check_seats(g)
        _check_piles(g["piles"].tolist())
        counts = np.bincount(_all_cards(g), minlength=NUM_CARDS)
        wrong = [f"{CARD_NAMES[c]} {counts[c]} times" for c in np.flatnonzero(counts != 1)]
        if wrong:
            raise ValueError("each card must occur once, but this state has " + ", ".join(wrong))


def _check_seats(g: np.record) -> None:
    """Check the fields whose range depends on the number of players."""
    n = int(g["num_players"])
    for name, high in (("current_player", n - 1), ("dealer", n - 1), ("first_player", n)):
        if g[name] > high:
            raise ValueError(f"with {n} players, state field {name} must not be {g[name]}")
    if g["hands"][n:].any() or g["totals"][n:].any():
        raise ValueError("a seat without a player has cards or points")
    if (g["hands"] & ~ALL_CARDS).any():
        raise ValueError("a hand holds cards that do not exist")


def _check_piles(piles: list[int]) -> None:
    for place, run in enumerate(piles):
        if run < 0 or (run and not top_rank(run) <= base_rank(run) <= KING):
            raise ValueError(f"{run} is no run of cards")
        if run_from_names(run_to_names(run)) != run:
            raise ValueError(f"{run} is no run of cards")
        if run and place >= NUM_CROSSES and base_rank(run) != KING:
            raise ValueError("a corner pile must begin with a king")


def _all_cards(g: np.record) -> np.ndarray:
    """Return all cards of a match as numbers, any order."""
    if g["stock_next"] > g["stock_end"]:
        raise ValueError("the stock ends before its next card")
    cards = [card_number(name) for run in g["piles"] for name in run_to_names(run)]
    cards += g["stock"][g["stock_next"] : g["stock_end"]].tolist()
    for hand in g["hands"].tolist():
        cards += [c for c in range(NUM_CARDS) if hand >> c & 1]
    if min(cards) < 0 or max(cards) >= NUM_CARDS:
        raise ValueError("a card number is out of range")
    return np.array(cards)
