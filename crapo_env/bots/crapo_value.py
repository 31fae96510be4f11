"""What a Crapô position is worth: a few numbers of both players, weighed by a table of weights.

No face-down card is looked at. Every number is that of a player minus that of the other, or counts
for the player on turn and against the other, so the two players' values are opposite. The sum is a
log-odds of winning, roughly. More numbers (what fits where, what can be loaded), with all weights
fitted to 8,000 greedy games on training deals, did not play better.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from crapo_env.crapo.state import NO_CARD, NUM_SPACES
from crapo_env.jit import njit
from crapo_env.runs import run_length


@dataclass(frozen=True)
class Weight:
    """A number of the position and what one more of it adds to the log-odds."""

    name: str
    weight: float
    reason: str


WEIGHTS = (
    Weight("reserve", -0.12, "its cards leave one by one, and only while a space is free"),
    Weight("stock and waste", -0.035, "drawn card included; every turn can shed several"),
    Weight("reserve, share", -0.5, "a lead in the reserves counts more when few cards are left"),
    Weight("all cards, share", -0.5, "the same of all cards"),
    Weight("reserve is empty", 0.3, "nothing blocks drawing any more (C26)"),
    Weight("free spaces", 0.08, "for the player on turn: his reserve can play (C15)"),
    Weight("cards on others", 0.01, "for the player on turn: the fewer runs, the more room"),
)
RESERVE, DECK, RESERVE_SHARE, SHARE, EMPTY, FREE, STACKED = range(len(WEIGHTS))
WEIGHT_ARRAY = np.array([weight.weight for weight in WEIGHTS])
_SMALL_RESERVE, _SMALL_ALL = 4.0, 8.0  # keep the shares from jumping at the end


@njit
def value(g: Any, p: int, weights: Any) -> Any:
    """Return the log-odds that player `p` wins, by the public position alone."""
    free, stacked = 0, 0
    for i in range(NUM_SPACES):
        run = np.int64(g.tableau[i])
        if run == 0:
            free += 1
        else:
            stacked += run_length(run) - 1
    table = weights[FREE] * free + weights[STACKED] * stacked
    q = 1 - p
    reserve, other_reserve = np.float64(g.reserve_size[p]), np.float64(g.reserve_size[q])
    deck, other_deck = _deck(g, p), _deck(g, q)
    reserves = reserve + other_reserve + _SMALL_RESERVE
    cards = reserve + deck + other_reserve + other_deck + _SMALL_ALL
    total = weights[RESERVE] * (reserve - other_reserve) + weights[DECK] * (deck - other_deck)
    total += weights[RESERVE_SHARE] * (reserve - other_reserve) / reserves
    total += weights[SHARE] * (reserve + deck - other_reserve - other_deck) / cards
    total += weights[EMPTY] * ((reserve == 0.0) - np.float64(other_reserve == 0.0))
    return total + table if g.current_player == p else total - table


@njit
def _deck(g: Any, p: int) -> Any:
    """Return the number of cards in stock, waste and hand of player `p`."""
    drawn = g.hand != NO_CARD and g.current_player == p
    return np.float64(g.stock_size[p]) + g.waste_size[p] + drawn
