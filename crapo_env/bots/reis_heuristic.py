"""A Reis nos cantos player that holds cards back: one line of play, cut where it is best to stop.

The next move of the line is always that after which ending the turn is worth most by the weights
of `reis_value`, even if it is worth less than before: a pile move opens a cross to everybody until
a card lies on it. The turn follows the line to its best point, if need be before the first move.
"""

from typing import Any

import numpy as np

from crapo_env.bots.reis_planner import wins
from crapo_env.bots.reis_value import value
from crapo_env.bots.tree import list_mask
from crapo_env.cards import below, next_state
from crapo_env.jit import njit
from crapo_env.reis_nos_cantos.actions import END, NUM_ACTIONS
from crapo_env.reis_nos_cantos.rules import apply, legal_actions
from crapo_env.reis_nos_cantos.state import NO_CARDS
from crapo_env.visited import NONE

MAX_LINE = 64


@njit
def write_line(games: Any, legal: Any, n: int, weights: Any, line: Any) -> int:
    """Write the moves that are worth making into `line` and return their number.

    Args:
        games: (2,) a match, which is played on, and scratch.
        legal: what may be played at first; overwritten.
        n: the number of actions in it.
        weights: of the value.
        line: (MAX_LINE,) int16.
    """
    g = games[0]
    p = np.int64(g.current_player)
    best, length = value(g, p, np.uint64(g.hands[p]), weights), 0
    for k in range(len(line)):
        a, worth = _best_move(games, legal, n, p, weights)
        if a == NONE:
            break
        line[k] = a
        if worth > best:
            best, length = worth, k + 1
        if wins(g, a):
            break
        apply(g, a)
        n = legal_actions(g, legal)
    return length


@njit
def _best_move(games: Any, legal: Any, n: int, p: int, weights: Any) -> tuple[int, Any]:
    """Return the move after which ending the turn is worth most, and what it is worth then."""
    best, chosen = -np.inf, NONE
    for k in range(n):
        a = np.int64(legal[k])
        if a == END:
            continue
        if wins(games[0], a):
            return a, value(games[0], p, NO_CARDS, weights)
        games[1] = games[0]
        apply(games[1], a)
        worth = value(games[1], p, np.uint64(games[1].hands[p]), weights)
        if worth > best:
            best, chosen = worth, a
    return chosen, best


@njit
def choose_in_all(games: Any, masks: Any, weights: Any, actions: Any) -> None:
    """Write the first move of every game's line, END if it has none."""
    legal = np.empty(NUM_ACTIONS, np.int16)
    line = np.empty(MAX_LINE, np.int16)
    pair = np.empty(2, games.dtype)
    for i in range(len(games)):
        pair[0] = games[i]
        n = list_mask(masks[i], legal)
        actions[i] = line[0] if write_line(pair, legal, n, weights, line) > 0 else END


@njit
def play_round(games: Any, legal: Any, weights: Any, noise: int, state: Any) -> None:
    """Play `games[0]` on to the end of its round, where it stops at the next deal.

    Args:
        games: (3,) a match and scratch.
        legal: (NUM_ACTIONS,) int16, scratch.
        weights: of the value.
        noise: chance of a turn that stops somewhere on its line, in units of 2**-16.
        state: the uint64 state of the generator of this noise.
    """
    line = np.empty(MAX_LINE, np.int16)
    g = games[0]
    this_round = g.round_number
    n = legal_actions(g, legal)
    while n > 0 and g.round_number == this_round:
        games[1] = g
        length = write_line(games[1:], legal, n, weights, line)
        state = next_state(state)
        if below(state, 1 << 16) < noise:
            state = next_state(state)
            length = below(state, length + 1)
        for k in range(length):
            apply(g, np.int64(line[k]))
        if g.terminated == 0 and g.round_number == this_round:
            apply(g, END)
        n = legal_actions(g, legal)


@njit
def play_out(games: Any, seeds: Any, weights: Any, noise: int) -> None:
    """Play every match to the end of its round."""
    legal = np.empty(NUM_ACTIONS, np.int16)
    trio = np.empty(3, games.dtype)
    for i in range(len(games)):
        trio[0] = games[i]
        play_round(trio, legal, weights, noise, np.uint64(seeds[i]))
        games[i] = trio[0]
