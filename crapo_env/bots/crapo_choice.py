"""Fast choices in whole Crapô states by priorities that are written as data, for playouts.

The kernel asks the same conditions of a state that the observation's greedy bot asks of what a
player sees, and a few more; it looks at no face-down card. `ranks` is a `rank_table`.
"""

from typing import Any

import numpy as np

from crapo_env.bots.crapo_greedy import EMPTIES, LAST_CARD, ONTO_RUN
from crapo_env.bots.greedy import ALWAYS, MAX_TIE
from crapo_env.bots.tree import list_mask
from crapo_env.cards import NUM_RANKS, below, next_state
from crapo_env.crapo.actions import (
    FROM_HAND,
    NUM_ACTIONS,
    SPACE_TO_FOUNDATION,
    SPACE_TO_FREE,
    SPACE_TO_SPACE,
    TO_FOUNDATION,
)
from crapo_env.crapo.effects import apply
from crapo_env.crapo.rules import legal_actions
from crapo_env.crapo.state import NO_CARD, NUM_SPACES, card_count
from crapo_env.jit import njit
from crapo_env.runs import count_to_fit, run_length

_NO_SCORE = 1 << 40


@njit
def choose(g: Any, legal: Any, n: int, ranks: Any) -> int:
    """Return the best of the `n` listed actions by `ranks`, the lowest id among equals."""
    if n == 1:
        return np.int64(legal[0])
    p = np.int64(g.current_player)
    is_last = card_count(g, p) + (g.hand != NO_CARD) == 1
    best, chosen = _NO_SCORE, np.int64(legal[0])
    for k in range(n):
        a = np.int64(legal[k])
        score = _score(g, a, is_last, ranks)
        if score < best:
            best, chosen = score, a
    return chosen


@njit
def _score(g: Any, a: int, is_last: bool, ranks: Any) -> int:
    """Return the place of action `a` among the priorities and the preference among equals."""
    rank = ranks[ALWAYS, a]
    tie = 0
    if is_last:
        rank = min(rank, ranks[LAST_CARD, a])
    if a < SPACE_TO_FOUNDATION:
        target = a % FROM_HAND
        if target < TO_FOUNDATION and g.tableau[target] != 0:
            rank = min(rank, ranks[ONTO_RUN, a])
            tie = NUM_RANKS - run_length(np.int64(g.tableau[target]))
    elif empties(g, a):
        rank = min(rank, ranks[EMPTIES, a])
    return rank * MAX_TIE + tie


@njit
def empties(g: Any, a: int) -> bool:
    """Return whether a move from a space empties it: of its only card or of its whole run."""
    if a < SPACE_TO_SPACE:
        return run_length(np.int64(g.tableau[(a - SPACE_TO_FOUNDATION) % NUM_SPACES])) == 1
    if a < SPACE_TO_FREE:
        i, j = (a - SPACE_TO_SPACE) // NUM_SPACES, (a - SPACE_TO_SPACE) % NUM_SPACES
        run = np.int64(g.tableau[i])
        return count_to_fit(run, np.int64(g.tableau[j])) == run_length(run)
    return False


@njit
def choose_in_all(games: Any, masks: Any, ranks: Any, actions: Any) -> None:
    """Write the chosen action of every game among those that its mask allows."""
    legal = np.empty(NUM_ACTIONS, np.int16)
    for i in range(len(games)):
        actions[i] = choose(games[i], legal, list_mask(masks[i], legal), ranks)


@njit
def play_turns(g: Any, legal: Any, ranks: Any, noise: Any, state: Any, turns: int) -> int:
    """Play on until the game ends or so many more turns have ended; return the decisions.

    Args:
        g: a game, played in place.
        legal: (NUM_ACTIONS,) int16, scratch.
        ranks: the priorities of both players.
        noise: chance of a uniformly random action, in units of 2**-16.
        state: the uint64 state of the generator of these random actions.
        turns: how many turns, counted from `g.num_turns`.
    """
    last = g.num_turns + turns
    decisions = 0
    n = legal_actions(g, legal)
    while n > 0 and g.num_turns < last:
        if noise > 0:
            state = next_state(state)
        if noise > 0 and n > 1 and below(state, 1 << 16) < noise:
            state = next_state(state)
            apply(g, np.int64(legal[below(state, n)]))
        else:
            apply(g, choose(g, legal, n, ranks))
        decisions += 1
        n = legal_actions(g, legal)
    return decisions


@njit
def play_out(games: Any, seeds: Any, ranks: Any, noise: Any) -> int:
    """Play every game to its end by priorities and return the number of decisions."""
    legal = np.empty(NUM_ACTIONS, np.int16)
    decisions = 0
    for i in range(len(games)):
        decisions += play_turns(games[i], legal, ranks, noise, np.uint64(seeds[i]), 1 << 20)
    return decisions
