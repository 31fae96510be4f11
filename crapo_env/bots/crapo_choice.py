"""Fast choices in whole Crapô states by priorities that are written as data.

The kernels ask conditions of the public part of a state and look at no face-down card. The first
conditions are those that the observation's greedy bot asks of what a player sees; a table of ranks
with more rows asks what a move between spaces makes possible too.
"""

from typing import Any

import numpy as np

from crapo_env.bots.crapo_greedy import EMPTIES, LAST_CARD, ONTO_RUN
from crapo_env.bots.greedy import ALWAYS, MAX_TIE
from crapo_env.bots.tree import list_mask
from crapo_env.cards import NUM_RANKS, below, next_state
from crapo_env.crapo.actions import (
    DRAW,
    FROM_HAND,
    MAX_TO_FREE,
    NUM_ACTIONS,
    SPACE_TO_FOUNDATION,
    SPACE_TO_FREE,
    SPACE_TO_SPACE,
    TO_FOUNDATION,
)
from crapo_env.crapo.effects import apply
from crapo_env.crapo.rules import foundation_needs, legal_actions, loads_on
from crapo_env.crapo.state import NO_CARD, NUM_SPACES, card_count, reserve_top, waste_top
from crapo_env.jit import njit
from crapo_env.runs import base_rank, card_at, count_to_fit, fits_key, run_length, top_key, top_rank

# What a move between spaces uncovers, beyond the conditions of the greedy bot.
FOR_FOUNDATION = 4  # a card that goes to a foundation
FOR_HAND = 5  # a card on which the drawn card fits, which fits nowhere else
FOR_RESERVE = 6  # a card on which the reserve top fits, which fits on no run yet
FOR_LOAD = 7  # a card that loads the opponent's waste or reserve
FOR_RUN = 8  # the rest of a run, which can go on another run and so empty the space
NUM_CONDITIONS = 9
_NUM_SIMPLE = 4

_NO_SCORE = 1 << 40
_NO_LIMIT = 1 << 30


@njit
def choose(g: Any, legal: Any, n: int, ranks: Any) -> int:
    """Return the best of the `n` listed actions by `ranks`, the lowest id among equals."""
    if n == 1:
        return np.int64(legal[0])
    p = np.int64(g.current_player)
    is_last = card_count(g, p) + (g.hand != NO_CARD) == 1
    asks_more = len(ranks) > _NUM_SIMPLE
    best, chosen = _NO_SCORE, np.int64(legal[0])
    for k in range(n):
        a = np.int64(legal[k])
        score = _score(g, a, is_last, ranks)
        if asks_more and SPACE_TO_SPACE <= a < DRAW:
            score = min(score, _uncovering_score(g, p, a, ranks))
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
def _uncovering_score(g: Any, p: int, a: int, ranks: Any) -> int:
    """Return the score of a move between spaces by what it uncovers, if anything of use."""
    if a < SPACE_TO_FREE:
        i, j = (a - SPACE_TO_SPACE) // NUM_SPACES, (a - SPACE_TO_SPACE) % NUM_SPACES
        run = np.int64(g.tableau[i])
        k = count_to_fit(run, np.int64(g.tableau[j]))
    else:
        i, k = (a - SPACE_TO_FREE) // MAX_TO_FREE, (a - SPACE_TO_FREE) % MAX_TO_FREE + 1
        run = np.int64(g.tableau[i])
    if run_length(run) == k:
        return _NO_SCORE
    card = card_at(run, top_rank(run) + k)
    key = top_key(run) + k  # of the uncovered card, as ranks are the lowest bits of a key
    keys, free = _table_keys(g)
    own, hand = reserve_top(g, p), np.int64(g.hand)
    rank = ranks[ALWAYS, a]
    if foundation_needs(g) >> card & 1:
        rank = min(rank, ranks[FOR_FOUNDATION, a])
    if hand != NO_CARD and fits_key(hand) == key and free == 0 and not keys >> fits_key(hand) & 1:
        rank = min(rank, ranks[FOR_HAND, a])
    free -= a >= SPACE_TO_FREE
    if own != NO_CARD and free > 0 and fits_key(own) == key and not keys >> fits_key(own) & 1:
        rank = min(rank, ranks[FOR_RESERVE, a])
    if (loads_on(waste_top(g, 1 - p)) | loads_on(reserve_top(g, 1 - p))) >> card & 1:
        rank = min(rank, ranks[FOR_LOAD, a])
    if run_length(run) - k <= 1 << free and keys >> fits_key(card_at(run, base_rank(run))) & 1:
        rank = min(rank, ranks[FOR_RUN, a])
    return rank * MAX_TIE


@njit
def _table_keys(g: Any) -> tuple[int, int]:
    """Return the set of the keys of all tops and the number of free spaces."""
    keys, free = np.int64(0), 0
    for i in range(NUM_SPACES):
        run = np.int64(g.tableau[i])
        if run == 0:
            free += 1
        else:
            keys |= 1 << top_key(run)
    return keys, free


@njit
def choose_in_all(games: Any, masks: Any, ranks: Any, actions: Any) -> None:
    """Write the chosen action of every game among those that its mask allows."""
    legal = np.empty(NUM_ACTIONS, np.int16)
    for i in range(len(games)):
        actions[i] = choose(games[i], legal, list_mask(masks[i], legal), ranks)


@njit
def play_turns(g: Any, legal: Any, ranks: Any, noise: Any, state: Any, last: int) -> int:
    """Play on until the game or its turn number `last - 1` ends; return the decisions.

    Args:
        g: a game, played in place.
        legal: (NUM_ACTIONS,) int16, scratch.
        ranks: the priorities of both players.
        noise: chance of a uniformly random action, in units of 2**-16.
        state: the uint64 state of the generator of these random actions.
        last: the number of turns ended at which it stops.
    """
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
        decisions += play_turns(games[i], legal, ranks, noise, np.uint64(seeds[i]), _NO_LIMIT)
    return decisions
