"""Redrawing what a player cannot know, the other hands and the stock, and states from observations.

All arrangements of the unseen cards are equally likely (R19). Cards are drawn from an ascending
list, so that nothing depends on how they really lie.
"""

from typing import Any

import numpy as np

from crapo_env.bits import count_bits, lowest_bit
from crapo_env.cards import NUM_CARDS, NUM_RANKS, seed_game, shuffle
from crapo_env.jit import njit
from crapo_env.reis_nos_cantos.observation import (
    DEALER,
    DRY_TURNS,
    HAND,
    HAND_SIZES,
    NUM_PLAYERS,
    ON_TURN,
    PILES,
    RULES,
    STOCK_SIZE,
    TARGET,
    TOTALS,
    TURN_IS_DRY,
    UNSEEN,
)
from crapo_env.reis_nos_cantos.state import (
    MAX_PLAYERS,
    MIN_PLAYERS,
    NO_CARDS,
    NUM_PLACES,
    ONE,
    bit,
    clear,
    stock_size,
)
from crapo_env.runs import push


@njit
def resample(games: Any, seat: int, seeds: Any) -> None:
    """Redraw in place the other hands and the stock, all arrangements alike, and later deals."""
    cards = np.empty(NUM_CARDS, np.int8)
    for i in range(len(games)):
        g = games[i]
        hidden = NO_CARDS
        for p in range(g.num_players):
            if p != seat:
                hidden |= g.hands[p]
        for k in range(g.stock_next, g.stock_end):
            hidden |= bit(g.stock[k])
        seed_game(g, seeds[i])
        _redraw(g, seat, hidden, cards)


@njit
def _redraw(g: Any, seat: int, hidden: Any, cards: Any) -> None:
    """Fill the other hands and the stock with the set `hidden`; their sizes stay."""
    n = 0
    while hidden != NO_CARDS:
        cards[n] = lowest_bit(hidden)
        hidden &= hidden - ONE
        n += 1
    shuffle(g, cards[:n])
    for p in range(g.num_players):
        if p != seat:
            hand = NO_CARDS
            for _ in range(count_bits(np.uint64(g.hands[p]))):
                n -= 1
                hand |= bit(cards[n])
            g.hands[p] = hand
    size = stock_size(g)
    g.stock[:] = 0  # cards drawn earlier would tell who drew them
    g.stock_next = 0
    g.stock_end = size
    g.stock[:size] = cards[:size]


@njit
def determinize(observations: Any, seat: int, seeds: Any, games: Any) -> None:
    """Build states that `seat` may be in by what he observes: the encoder's inverse and a redraw.

    Not observed, as they change no play, are the number of the round, the options `first_player`
    and `max_steps` and whether the match is over: the state has round 0, the defaults and a match
    that goes on.
    """
    cards = np.empty(NUM_CARDS, np.int8)
    for i in range(len(games)):
        g = games[i]
        clear(g)
        _read_rules(g, observations[i])
        _read_piles(g, observations[i])
        _read_seats(g, seat, observations[i])
        hidden = NO_CARDS
        for c in range(NUM_CARDS):
            if observations[i, HAND + c] == 1:
                g.hands[seat] |= bit(c)
            if observations[i, UNSEEN + c] == 1:
                hidden |= bit(c)
        seed_game(g, seeds[i])
        _redraw(g, seat, hidden, cards)


@njit
def _read_rules(g: Any, observation: Any) -> None:
    """Read the options and the counters of the round."""
    for k in range(MAX_PLAYERS - MIN_PLAYERS + 1):
        if observation[NUM_PLAYERS + k] == 1:
            g.num_players = MIN_PLAYERS + k
    g.draw_at = observation[RULES]
    g.king_pile_to_corner = observation[RULES + 1]
    g.reward = observation[RULES + 2]
    g.target = np.int64(observation[TARGET]) * 100 + observation[TARGET + 1]
    g.first_player = 0
    g.max_steps = 0
    g.dry_turns = observation[DRY_TURNS]
    g.turn_is_dry = observation[TURN_IS_DRY]
    g.stock_next = 0
    g.stock_end = observation[STOCK_SIZE]


@njit
def _read_piles(g: Any, observation: Any) -> None:
    for place in range(NUM_PLACES):
        run = 0
        for rank in range(NUM_RANKS - 1, -1, -1):
            for card in range(rank, NUM_CARDS, NUM_RANKS):
                if observation[PILES + place * NUM_CARDS + card] == 1:
                    run = push(run, card)
        g.piles[place] = run


@njit
def _read_seats(g: Any, seat: int, observation: Any) -> None:
    """Read what there is of every seat; the other hands get any cards, but as many as they hold."""
    n = np.int64(g.num_players)
    for k in range(n):
        p = (seat + k) % n
        if observation[ON_TURN + k] == 1:
            g.current_player = p
        if observation[DEALER + k] == 1:
            g.dealer = p
        if k > 0:
            g.hands[p] = (ONE << np.uint64(observation[HAND_SIZES + k])) - ONE
        total = TOTALS + 2 * k
        g.totals[p] = np.int64(observation[total]) * 100 + observation[total + 1]
