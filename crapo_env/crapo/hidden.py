"""Redrawing the cards that lie face down in Crapô, exactly (clauses C3 and C39).

Given all that was seen, the unseen cards would be uniform over the face-down places but for the exchange of
half packs: player 0 owns 26 cards of each pack. If he owns exactly one copy of `m` of the 52 faces, half of
these copies come from either pack, so a division has C(m, m/2) origins of equal chance, and the pairs that
one player owns whole can be ordered in 2**(52 - m) ways that look the same. Its weight is therefore
C(m, m/2) / 2**m, up to a constant, and drawing uniformly and accepting in that proportion is exact.
"""

import math
from typing import Any

import numpy as np

from crapo_env.cards import NUM_CARDS, random_bits, seed_game, shuffle
from crapo_env.crapo.state import PACK_CARDS
from crapo_env.jit import njit

_WEIGHTS = np.array([math.comb(m, m // 2) / 2**m for m in range(NUM_CARDS + 1)])
_S11 = np.uint64(11)


@njit
def resample(games: Any, seat: int, seeds: Any) -> None:
    """Redraw the face-down cards of every game in place; `seat` does not matter, as nothing is private."""
    cards = np.empty(PACK_CARDS, np.int8)
    for i in range(len(games)):
        g = games[i]
        seed_game(g, seeds[i])
        n = _collect_unseen(g, cards)
        weight = _WEIGHTS[_smallest_singles(g)]
        while True:
            shuffle(g, cards[:n])
            uniform = (random_bits(g) >> _S11) * 2.0**-53
            if uniform * weight < _WEIGHTS[_count_singles(g, cards)]:
                break
        _place(g, cards)


@njit
def _collect_unseen(g: Any, cards: Any) -> int:
    n = 0
    for c in range(NUM_CARDS):
        for _ in range(2 - g.dealt[0, c] - g.dealt[1, c]):
            cards[n] = c
            n += 1
    return n


@njit
def _num_hidden(g: Any, p: int) -> int:
    """Return how many cards dealt to player `p` nobody has seen."""
    stock = 0 if g.stock_known[p] else np.int64(g.stock_size[p])
    return g.reserve_down[p] + stock


@njit
def _smallest_singles(g: Any) -> int:
    """Return the smallest possible number of faces of which player 0 owns exactly one copy; it is even."""
    m = 0
    for c in range(NUM_CARDS):
        if g.dealt[0, c] == 1 and g.dealt[1, c] == 1:
            m += 1
    return m + m % 2


@njit
def _count_singles(g: Any, cards: Any) -> int:
    """Return of how many faces player 0 owns one copy if the first unseen cards are dealt to him."""
    n = _num_hidden(g, 0)
    m = 0
    for c in range(NUM_CARDS):
        copies = np.int64(g.dealt[0, c])
        for k in range(n):
            if cards[k] == c:
                copies += 1
        if copies == 1:
            m += 1
    return m


@njit
def _place(g: Any, cards: Any) -> None:
    """Lay the unseen cards on the face-down places, player 0's first."""
    n = 0
    for p in range(2):
        for k in range(g.reserve_down[p]):
            g.reserve[p, k] = cards[n]
            n += 1
        if g.stock_known[p] == 0:
            for k in range(g.stock_size[p]):
                g.ring[p, (np.int64(g.head[p]) + k) % PACK_CARDS] = cards[n]
                n += 1
