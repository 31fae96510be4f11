"""The table of a Reis nos cantos match as text."""

import numpy as np

from crapo_env.cards import CARD_NAMES, NUM_CARDS
from crapo_env.reis_nos_cantos.state import PLACES
from crapo_env.runs import run_to_names


def hand_cards(games: np.ndarray, p: int) -> list[str]:
    """Return the hand of seat `p` in `games[0]` as card names, by suit and rank."""
    hand = int(games["hands"][0][p])
    return [CARD_NAMES[c] for c in range(NUM_CARDS) if hand >> c & 1]


def render(games: np.ndarray, seat: int | None = None) -> str:
    """Return the table of `games[0]` as `seat` sees it; None: without any hand (R19)."""
    g = games[0]
    n = int(g["num_players"])
    lines = [f"round {g['round_number'] + 1}, player_{g['current_player']} to move"]
    if g["terminated"] or g["truncated"]:
        rewards = " ".join(f"{reward:+g}" for reward in g["rewards"][:n])
        lines = [f"match over, rewards {rewards}"]
    for place, run in zip(PLACES, g["piles"], strict=True):
        lines.append(f"  {place:>2}: {' '.join(run_to_names(run)) or '-'}")
    lines.append(f"  stock {g['stock_end'] - g['stock_next']}, target {g['target']}")
    for p in range(n):
        cards = hand_cards(games, p)
        hand = f"{len(cards)} cards" + (f" {' '.join(cards)}" if p == seat else "")
        dealer = ", dealer" if p == g["dealer"] else ""
        lines.append(f"  player_{p}: {g['totals'][p]} points, hand {hand.strip()}{dealer}")
    return "\n".join(lines) + "\n"
