"""What a player of Reis nos cantos leaves behind if he ends his turn: weights as data.

A card is worth holding back when playing it would open more for the others than it saves. What the
others may hold is any unseen card, so no other hand is looked at.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from crapo_env.bots.reis_choice import followers
from crapo_env.jit import njit
from crapo_env.reis_nos_cantos.state import (
    ALL_CARDS,
    KINGS,
    NO_CARDS,
    NUM_CROSSES,
    NUM_PLACES,
    cards_of,
    count,
)
from crapo_env.runs import top_card


@dataclass(frozen=True)
class Weight:
    """A number of the position and what one more of it is worth, in points."""

    name: str
    weight: float
    reason: str


WEIGHTS = (
    Weight("cards in hand", -1.0, "each costs a point"),
    Weight("kings in hand", -9.0, "each costs ten points"),
    Weight("own cards that fit", 0.9, "they can leave at the next turn"),
    Weight("others' cards that fit", -2.0, "expected number, with the card that each will draw"),
    Weight("win", 30.0, "the others pay and the turn is over"),
)
CARDS, KINGS_HELD, OWN_FIT, OTHERS_FIT, WIN = range(len(WEIGHTS))
WEIGHT_ARRAY = np.array([weight.weight for weight in WEIGHTS])


@njit
def value(g: Any, p: int, hand: Any, weights: Any) -> Any:
    """Return what the table and his `hand` are worth to player `p` when his turn ends."""
    if hand == NO_CARDS:
        return weights[WIN]
    fitting, on_table = survey(g)
    unseen = ALL_CARDS & ~on_table & ~hand
    open_share = count(unseen & fitting) / max(1, count(unseen))
    others = 0
    for q in range(g.num_players):
        if q != p:
            others += count(np.uint64(g.hands[q])) + 1
    kings = count(hand & KINGS)
    total = weights[CARDS] * count(hand) + weights[KINGS_HELD] * kings
    total += weights[OWN_FIT] * count(hand & fitting)
    return total + weights[OTHERS_FIT] * open_share * others


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
