"""What a turn can still bring: how many cards can go where before something hidden is needed.

A turn is a graph, as moves between spaces can be undone. All its tables that can be reached without
drawing, ending the turn or playing on past a reserve card that is turned up are looked at in the
order of the moves they take, until there are BUDGET of them. What is noted is what the rules count;
no position is valued.
"""

from typing import Any

import numpy as np

from crapo_env.cards import mix64
from crapo_env.crapo.actions import (
    DRAW,
    FROM_HAND,
    NUM_ACTIONS,
    SPACE_TO_FOUNDATION,
    SPACE_TO_SPACE,
    TO_FOUNDATION,
    TO_WASTE,
)
from crapo_env.crapo.effects import apply
from crapo_env.crapo.rules import legal_actions
from crapo_env.crapo.state import NUM_SPACES, NUM_SUITS, open_new_stretch, reserve_top, waste_top
from crapo_env.jit import njit
from crapo_env.visited import NONE, enter

BUDGET = 64  # tables
NUM_SLOTS = 4 * BUDGET  # of the hash table
# What is noted: the most that any line brings, each number on its own.
RESERVE, HAND, FOUNDATION, ON_WASTE, ON_RESERVE, GAINED, FREE, TURNED_UP = range(8)
# And how soon, SOON minus the moves it takes, 0 if it cannot be had.
SOON_RESERVE, SOON_HAND, SOON_GAINED, SOON_TURNED_UP = range(8, 12)
NUM_AHEAD = 12
SOON = MOST = 12  # larger numbers count as this
MOVES = FREE  # of a line; free spaces are counted from the table
NODE_DTYPE = np.dtype([("hash", np.uint64), ("line", np.int8, 8)], align=True)


@njit
def look_ahead(g: Any, scratch: Any, out: Any) -> None:
    """Write what the turn of the player on turn can still bring, his reserve top and hand known.

    Args:
        g: a game that goes on; what happened earlier in the turn is not looked at (C36).
        scratch: see `make_scratch`.
        out: (NUM_AHEAD,) int8.
    """
    states, nodes, slots, legal = scratch
    out[:] = 0
    slots[:] = NONE
    states[0] = g
    states[0].max_steps = states[0].truncated = 0  # a limit on steps is no rule
    open_new_stretch(states[0])
    nodes[0].hash = position_hash(g)
    nodes[0].line[:] = 0
    num_nodes = enter(nodes, slots, 0)
    i = 0
    while i < num_nodes < BUDGET:
        n = legal_actions(states[i], legal)
        for k in range(n):
            action = np.int64(legal[k])
            if action < DRAW and num_nodes < BUDGET:
                states[num_nodes] = states[i]
                after, line = states[num_nodes], nodes[num_nodes].line
                line[:] = nodes[i].line
                line[TURNED_UP] = turns_up(after, action)
                apply(after, action)
                _count(action, line)
                _note(after, line, out)
                if not line[TURNED_UP] and after.terminated == 0:
                    nodes[num_nodes].hash = position_hash(after)
                    num_nodes += enter(nodes, slots, num_nodes)
        i += 1


@njit
def make_scratch(games: Any) -> Any:
    """Return what `look_ahead` works with, for games like these."""
    return (
        np.empty(BUDGET, games.dtype),
        np.empty(BUDGET, NODE_DTYPE),
        np.empty(NUM_SLOTS, np.int16),
        np.empty(NUM_ACTIONS, np.int16),
    )


@njit
def _count(action: int, line: Any) -> None:
    """Add an action that is no draw and does not end the turn to the counts of its line."""
    line[MOVES] += 1
    if action >= SPACE_TO_SPACE:
        return
    if action < SPACE_TO_FOUNDATION:
        target = action % FROM_HAND
        line[RESERVE if action < FROM_HAND else HAND] += 1
        line[GAINED] += 1
    else:
        target = TO_FOUNDATION + (action - SPACE_TO_FOUNDATION) // NUM_SPACES
    if target == TO_FOUNDATION:
        line[FOUNDATION] += 1
    elif target > TO_FOUNDATION:
        line[ON_WASTE if target == TO_WASTE else ON_RESERVE] += 1
        line[GAINED] += 1


@njit
def _note(g: Any, line: Any, out: Any) -> None:
    """Let `out` have the most of what it has and what a line brings, which led to table `g`."""
    soon = max(1, SOON - np.int64(line[MOVES]))
    if line[GAINED] > out[GAINED]:
        out[SOON_GAINED] = soon
    if line[RESERVE] > 0:
        out[SOON_RESERVE] = max(soon, np.int64(out[SOON_RESERVE]))
    if line[HAND] > 0:
        out[SOON_HAND] = max(soon, np.int64(out[SOON_HAND]))
    if line[TURNED_UP] > 0:
        out[SOON_TURNED_UP] = max(soon, np.int64(out[SOON_TURNED_UP]))
    free = 0
    for i in range(NUM_SPACES):
        free += g.tableau[i] == 0
    for j in range(SOON_RESERVE):  # the most
        brought = free if j == FREE else np.int64(line[j])
        out[j] = max(np.int64(out[j]), min(brought, MOST))


@njit
def turns_up(g: Any, action: int) -> bool:
    """Return whether an action plays the reserve top and so turns up a face-down card (C16)."""
    below = np.int64(g.reserve_size[g.current_player]) - 1
    return action < FROM_HAND and below > 0 and g.reserve_down[g.current_player] == below


@njit
def position_hash(g: Any) -> Any:
    """Return a hash of all that can change within a turn but the history of C36."""
    p = np.int64(g.current_player)
    code = np.int64(0)
    for suit in range(NUM_SUITS):
        code = code * 196 + np.int64(g.foundation[suit, 0]) * 14 + g.foundation[suit, 1]
    code = (code * 64 + g.hand + 1) * 64 + g.reserve_size[p]
    piles = (np.int64(g.reserve_size[1 - p]) * 128 + g.waste_size[1 - p]) * 64
    piles = (piles + reserve_top(g, 1 - p) + 1) * 64 + waste_top(g, 1 - p) + 1
    return mix64(g.arrangement + mix64(np.uint64(code))) + mix64(np.uint64(piles))
