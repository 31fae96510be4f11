"""What a player of Reis nos cantos leaves behind if he ends his turn: weights as data.

A card is worth holding back when playing it would open more for the others than it saves. What the
others may hold is any unseen card, so no other hand is looked at.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from crapo_env.bits import count_bits
from crapo_env.bots.reis_choice import followers
from crapo_env.jit import njit
from crapo_env.reis_nos_cantos.state import (
    ALL_CARDS,
    KINGS,
    MIN_PLAYERS,
    NO_CARDS,
    NUM_CROSSES,
    NUM_PLACES,
    cards_of,
)
from crapo_env.runs import top_card


@dataclass(frozen=True)
class Weight:
    """A number of the position and what one more of it is worth, in points."""

    name: str
    by_players: tuple[float, float, float]  # with 2, 3 and 4 players
    reason: str


# With more players a card that is held back helps one of many and seldom finds its place again.
WEIGHTS = (
    Weight("cards in hand", (-1.0, -1.0, -1.0), "each costs a point"),
    Weight("kings in hand", (-9.0, -9.0, -9.0), "each costs ten points"),
    Weight("own cards that fit", (0.9, 0.4, 0.4), "they can leave at the next turn"),
    Weight("others' cards that fit", (-2.0, -1.0, -0.5), "expected, with the card each will draw"),
    Weight("win", (30.0, 30.0, 30.0), "the others pay and the turn is over"),
)
CARDS, KINGS_HELD, OWN_FIT, OTHERS_FIT, WIN = range(len(WEIGHTS))
WEIGHT_TABLE = np.array([weight.by_players for weight in WEIGHTS]).T.copy()


@njit
def value(g: Any, p: int, hand: Any, weights: Any) -> Any:
    """Return what the table and his `hand` are worth to player `p` when his turn ends.

    `weights` (3, len(WEIGHTS)) has a row per number of players.
    """
    row = weights[np.int64(g.num_players) - MIN_PLAYERS]
    if hand == NO_CARDS:
        return row[WIN]
    fitting, on_table = survey(g)
    unseen = ALL_CARDS & ~on_table & ~hand
    open_share = count_bits(unseen & fitting) / max(1, count_bits(unseen))
    others = 0
    for q in range(g.num_players):
        if q != p:
            others += count_bits(np.uint64(g.hands[q])) + 1
    total = row[CARDS] * count_bits(hand) + row[KINGS_HELD] * count_bits(hand & KINGS)
    return total + row[OWN_FIT] * count_bits(hand & fitting) + row[OTHERS_FIT] * open_share * others


@njit
def survey(g: Any) -> tuple[Any, Any]:
    """Return the cards that fit on some place (R8-R10) and the cards that lie on the table."""
    fitting, on_table = NO_CARDS, NO_CARDS
    for place in range(NUM_PLACES):
        run = np.int64(g.piles[place])
        if run != 0:
            fitting |= followers(top_card(run))
            on_table |= cards_of(run)
        elif place < NUM_CROSSES:
            fitting = ALL_CARDS
        else:
            fitting |= KINGS
    return fitting, on_table
