"""What a Crapô position is worth: a few numbers of both players, weighed by a table of weights.

No face-down card is looked at. Every number is that of a player minus that of the other, or counts
for the player on turn and against the other, so the two players' values are opposite. The sum is a
log-odds of winning: the weights were fitted to games of the bots on training deals.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from crapo_env.cards import KING, NUM_RANKS
from crapo_env.crapo.state import NO_CARD, NUM_SPACES, NUM_SUITS, reserve_top, waste_top
from crapo_env.jit import njit
from crapo_env.runs import base_rank, card_at, fits_key, run_length, top_card, top_key


@dataclass(frozen=True)
class Weight:
    """A number of the position and what one more of it adds to the log-odds."""

    name: str
    weight: float


WEIGHTS = (
    Weight("reserve", -0.12),
    Weight("stock and waste", -0.035),
    Weight("reserve, relative", -0.5),
    Weight("all cards, relative", -0.5),
    Weight("reserve is empty", 0.3),
    Weight("reserve top fits a foundation", 0.0),
    Weight("reserve top fits a run", 0.0),
    Weight("loads on the other waste", 0.0),
    Weight("loads on the other reserve", 0.0),
    Weight("on turn", 0.0),
    Weight("on turn: free spaces", 0.08),
    Weight("on turn: cards on others", 0.01),
    Weight("on turn: whole runs that fit", 0.0),
    Weight("on turn: tops that fit a foundation", 0.0),
    Weight("on turn: kinds of tops", 0.0),
    Weight("on turn: reserve top fits a foundation", 0.0),
    Weight("on turn: reserve top fits a run", 0.0),
    Weight("on turn: loads on the other waste", 0.0),
    Weight("on turn: loads on the other reserve", 0.0),
    Weight("on turn: drawn card in hand", 0.0),
)
NUM_FEATURES = len(WEIGHTS)
PLAYER_FEATURES = 9
WEIGHT_ARRAY = np.array([weight.weight for weight in WEIGHTS])


@njit
def features(g: Any, p: int, own_known: bool, out: Any) -> None:
    """Write the numbers of a position as player `p` sees it into `out` (NUM_FEATURES,).

    Args:
        g: a game.
        p: a player.
        own_known: whether the reserve top of the player on turn may be looked at: false if a search
            has turned it up.
        out: float64, written in place.
    """
    out[:] = 0.0
    mover = np.int64(g.current_player)
    tops, keys = np.int64(0), np.int64(0)
    free, stacked = 0, 0
    for i in range(NUM_SPACES):
        run = np.int64(g.tableau[i])
        if run == 0:
            free += 1
        else:
            tops |= 1 << top_card(run)
            keys |= 1 << top_key(run)
            stacked += run_length(run) - 1
    needs = foundation_needs(g)
    q = 1 - p
    _player(g, p, own_known or p != mover, tops, keys, needs, 1.0, out)
    _player(g, q, own_known or q != mover, tops, keys, needs, -1.0, out)
    sign = 1.0 if p == mover else -1.0
    out[PLAYER_FEATURES] = sign
    out[PLAYER_FEATURES + 1] = sign * free
    out[PLAYER_FEATURES + 2] = sign * stacked
    out[PLAYER_FEATURES + 3] = sign * _merges(g, keys)
    out[PLAYER_FEATURES + 4] = sign * _count(tops & needs)
    out[PLAYER_FEATURES + 5] = sign * _count(keys)
    out[PLAYER_FEATURES + 10] = sign * (g.hand != NO_CARD)
    own = reserve_top(g, mover) if own_known else NO_CARD
    other_waste, other_reserve = waste_top(g, 1 - mover), reserve_top(g, 1 - mover)
    sources = tops | (1 << own if own != NO_CARD else 0)
    out[PLAYER_FEATURES + 6] = sign * (own != NO_CARD and needs >> own & 1)
    out[PLAYER_FEATURES + 7] = sign * (own != NO_CARD and keys >> fits_key(own) & 1)
    out[PLAYER_FEATURES + 8] = sign * _count(sources & loads_on(other_waste))
    out[PLAYER_FEATURES + 9] = sign * _count(sources & loads_on(other_reserve))


@njit
def _player(
    g: Any, p: int, known: bool, tops: int, keys: int, needs: int, sign: Any, out: Any
) -> None:
    """Add what concerns player `p`, times `sign`."""
    q = 1 - p
    reserve, other = np.float64(g.reserve_size[p]), np.float64(g.reserve_size[q])
    deck = np.float64(g.stock_size[p]) + g.waste_size[p]
    other_deck = np.float64(g.stock_size[q]) + g.waste_size[q]
    if g.hand != NO_CARD:
        if g.current_player == p:
            deck += 1.0
        else:
            other_deck += 1.0
    top = reserve_top(g, p) if known else NO_CARD
    sources = tops | (1 << top if top != NO_CARD else 0)
    out[0] += sign * reserve
    out[1] += sign * deck
    out[2] += sign * reserve / (reserve + other + 4.0)
    out[3] += sign * (reserve + deck) / (reserve + deck + other + other_deck + 8.0)
    out[4] += sign * (reserve == 0.0)
    out[5] += sign * (top != NO_CARD and needs >> top & 1)
    out[6] += sign * (top != NO_CARD and keys >> fits_key(top) & 1)
    out[7] += sign * _count(sources & loads_on(waste_top(g, q)))
    out[8] += sign * _count(sources & loads_on(reserve_top(g, q)))


@njit
def value(g: Any, p: int, own_known: bool, weights: Any, scratch: Any) -> Any:
    """Return the log-odds that player `p` wins; `scratch` (NUM_FEATURES,) is overwritten."""
    features(g, p, own_known, scratch)
    total = 0.0
    for k in range(NUM_FEATURES):
        total += weights[k] * scratch[k]
    return total


@njit
def foundation_needs(g: Any) -> int:
    """Return the set of cards that fit a foundation (C13)."""
    needs = np.int64(0)
    for suit in range(NUM_SUITS):
        for pile in range(2):
            height = np.int64(g.foundation[suit, pile])
            if height < NUM_RANKS:
                needs |= 1 << suit * NUM_RANKS + height
    return needs


@njit
def loads_on(card: int) -> int:
    """Return the set of cards that may be loaded on `card`, none on an empty pile (C17)."""
    cards = np.int64(0)
    if card != NO_CARD:
        rank = card % NUM_RANKS
        if rank > 0:
            cards |= 1 << card - 1
        if rank < KING:
            cards |= 1 << card + 1
    return cards


@njit
def _merges(g: Any, keys: int) -> int:
    """Return how many whole runs fit on another run."""
    merges = 0
    for i in range(NUM_SPACES):
        run = np.int64(g.tableau[i])
        if run != 0:
            merges += keys >> fits_key(card_at(run, base_rank(run))) & 1
    return merges


@njit
def _count(bits: int) -> int:
    """Return the number of bits of a small set."""
    n = 0
    while bits != 0:
        bits &= bits - 1
        n += 1
    return n
