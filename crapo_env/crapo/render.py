"""The table of a Crapô game as text. Face-down cards are counts: every seat sees the same."""

import numpy as np

from crapo_env.cards import CARD_NAMES, RANKS, SUITS
from crapo_env.crapo.state import NUM_SPACES, PACK_CARDS
from crapo_env.runs import run_to_names


def waste_cards(games: np.ndarray, p: int) -> list[str]:
    """Return the waste of player `p` in `games[0]`, bottom first."""
    g = games[0]
    start = int(g["head"][p]) + int(g["stock_size"][p])
    return [CARD_NAMES[g["ring"][p][(start + k) % PACK_CARDS]] for k in range(g["waste_size"][p])]


def known_stock(games: np.ndarray, p: int) -> list[str]:
    """Return the stock of player `p` in drawing order if it was turned over, else nothing (C39)."""
    g = games[0]
    known = range(g["stock_size"][p]) if g["stock_known"][p] else ()
    return [CARD_NAMES[g["ring"][p][(int(g["head"][p]) + k) % PACK_CARDS]] for k in known]


def render(games: np.ndarray, seat: int | None = None) -> str:
    """Return the table of `games[0]`; `seat` does not matter, as nothing is private (C39)."""
    g = games[0]
    lines = [f"turn {g['num_turns'] + 1}, player_{g['current_player']} to move"]
    if g["terminated"] or g["truncated"]:
        lines = [f"game over, rewards {g['rewards'][0]:+g} {g['rewards'][1]:+g}"]
    for p in range(2):
        lines.append(_player_line(games, p))
    for i in range(NUM_SPACES):
        lines.append(f"  {i + 1}: {' '.join(run_to_names(g['tableau'][i])) or '-'}")
    lines.append("  foundations: " + "  ".join(_foundation(g, suit) for suit in range(len(SUITS))))
    if g["hand"] >= 0:
        lines.append(f"  drawn card: {CARD_NAMES[g['hand']]}")
    return "\n".join(lines) + "\n"


def _player_line(games: np.ndarray, p: int) -> str:
    g = games[0]
    up = g["reserve"][p][g["reserve_down"][p] : g["reserve_size"][p]]
    reserve = f"{g['reserve_down'][p]} down" + "".join(f" {CARD_NAMES[c]}" for c in up)
    stock = " ".join([str(g["stock_size"][p]), *known_stock(games, p)])
    waste = " ".join(waste_cards(games, p)) or "-"
    return f"  player_{p}: reserve {reserve} | stock {stock} | waste {waste}"


def _foundation(g: np.record, suit: int) -> str:
    heights = [RANKS[h - 1] + SUITS[suit] if h else "-" for h in g["foundation"][suit]]
    return " ".join(heights)
