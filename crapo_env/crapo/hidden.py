"""Redrawing the face-down cards of Crapô exactly, and states from observations (C3, C39).

Given all that was seen, the unseen cards would be uniform over the face-down places but for the
exchange of half packs: player 0 owns 26 cards of each pack. If he owns exactly one copy of `m` of
the 52 faces, half of these copies come from either pack, so a division has C(m, m/2) origins of
equal chance, and the pairs that one player owns whole can be ordered in 2**(52 - m) ways that look
the same. Its weight is therefore C(m, m/2) / 2**m, up to a constant, and drawing uniformly and
accepting in that proportion is exact.
"""

import math
from typing import Any

import numpy as np

from crapo_env.cards import NUM_CARDS, NUM_RANKS, random_bits, seed_game, shuffle
from crapo_env.crapo.observation import (
    CYCLE,
    DEALT,
    FOUNDATION,
    HAND,
    MAX_RESERVE_UP,
    NO_PROGRESS,
    NO_PROGRESS_TURNS,
    ON_TURN,
    REARRANGEMENTS_LEFT,
    RESERVE_UP,
    RULES,
    SIZES,
    SMALLEST,
    STOCK_KNOWN,
    TABLEAU,
    TURN_FLAGS,
)
from crapo_env.crapo.state import (
    NO_CARD,
    NUM_SPACES,
    NUM_SUITS,
    PACK_CARDS,
    clear,
    set_space,
)
from crapo_env.jit import njit
from crapo_env.runs import push

WEIGHTS = np.array([math.comb(m, m // 2) / 2**m for m in range(NUM_CARDS + 1)])
_S11 = np.uint64(11)


@njit
def resample(games: Any, seat: int, seeds: Any) -> None:
    """Redraw the face-down cards of every game; `seat` does not matter, as nothing is private."""
    cards = np.empty(PACK_CARDS, np.int8)
    for i in range(len(games)):
        g = games[i]
        seed_game(g, seeds[i])
        n = _collect_unseen(g, cards)
        weight = WEIGHTS[_smallest_singles(g)]
        while True:
            shuffle(g, cards[:n])
            uniform = (random_bits(g) >> _S11) * 2.0**-53
            if uniform * weight < WEIGHTS[_count_singles(g, cards)]:
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
    """Return the fewest faces of which player 0 can own exactly one copy; it is even."""
    m = 0
    for c in range(NUM_CARDS):
        if g.dealt[0, c] == 1 and g.dealt[1, c] == 1:
            m += 1
    return m + m % 2


@njit
def _count_singles(g: Any, cards: Any) -> int:
    """Return of how many faces player 0 owns one copy if he is dealt the first unseen cards."""
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


@njit
def determinize(observations: Any, seat: int, seeds: Any, games: Any) -> None:
    """Build states that `seat` may be in by what he observes: the encoder's inverse.

    The face-down cards are redrawn exactly. The arrangements of the tableau already used in this
    turn (C36) are not observed: the state knows the present one, the mask stands for the rest.
    """
    for i in range(len(games)):
        g = games[i]
        clear(g)
        _read_table(g, observations[i])
        for side in range(2):
            _read_piles(g, (seat + side) & 1, side, observations[i])
        _read_counters(g, seat, observations[i])
    resample(games, seat, seeds)


@njit
def _read_table(g: Any, observation: Any) -> None:
    for i in range(NUM_SPACES):
        run = 0
        for rank in range(NUM_RANKS - 1, -1, -1):
            for suit in range(NUM_SUITS):
                card = suit * NUM_RANKS + rank
                if observation[TABLEAU + i * NUM_CARDS + card] == 1:
                    run = push(run, card)
        set_space(g, i, run)
    for suit in range(NUM_SUITS):
        for pile in range(2):
            g.foundation[suit, pile] = observation[FOUNDATION + 2 * suit + pile]
    g.hand = NO_CARD
    for card in range(NUM_CARDS):
        if observation[HAND + card] == 1:
            g.hand = card


@njit
def _read_piles(g: Any, p: int, side: int, observation: Any) -> None:
    """Read the piles of player `p`; face-down places keep any card, as `resample` fills them."""
    start = SIZES + 4 * side
    g.reserve_size[p] = observation[start]
    g.reserve_down[p] = observation[start + 1]
    g.stock_size[p] = observation[start + 2]
    g.waste_size[p] = observation[start + 3]
    for k in range(g.stock_size[p] + g.waste_size[p]):
        g.ring[p, k] = observation[CYCLE + side * PACK_CARDS + k] - 1
    for k in range(g.reserve_size[p] - g.reserve_down[p]):
        up = observation[RESERVE_UP + side * MAX_RESERVE_UP + k] - 1
        g.reserve[p, g.reserve_down[p] + k] = up
    for card in range(NUM_CARDS):
        g.dealt[p, card] = observation[DEALT + side * NUM_CARDS + card]
    g.stock_known[p] = observation[STOCK_KNOWN + side]
    g.smallest[p] = observation[SMALLEST + side]


@njit
def _read_counters(g: Any, seat: int, observation: Any) -> None:
    g.current_player = seat if observation[ON_TURN] == 1 else 1 - seat
    g.aces = observation[RULES]
    g.drawn_card = observation[RULES + 1]
    g.rearrange_while_holding = observation[RULES + 2]
    g.tableau_loading = observation[RULES + 3]
    g.crapo_gate = observation[RULES + 4]
    g.draw_gate = observation[RULES + 5]
    g.stalemate_result = observation[RULES + 6]
    g.max_rearrangements = observation[RULES + 7]
    g.max_steps = 0
    g.no_progress_turns = (
        np.int64(observation[NO_PROGRESS_TURNS]) * 100 + observation[NO_PROGRESS_TURNS + 1]
    )
    g.turns_without_progress = (
        np.int64(observation[NO_PROGRESS]) * 100 + observation[NO_PROGRESS + 1]
    )
    g.turn_progress = observation[TURN_FLAGS]
    g.turn_bare = observation[TURN_FLAGS + 1]
    g.last_turn_bare_pass = observation[TURN_FLAGS + 2]
    g.rearrangements = g.max_rearrangements - observation[REARRANGEMENTS_LEFT]
    for k in range(g.rearrangements + 1):
        g.seen[k] = g.arrangement
