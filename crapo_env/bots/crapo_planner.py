"""Search through the rest of a Crapô turn, up to the next face-down card or the turn's end.

Moves between spaces can be undone, so a turn is a graph: tables that were met before are not
searched again. The most promising table is looked at next, until none is left or the budget is
spent. A *leaf* is where a line stops: a draw, a discard, a pass, a reserve card turned up, a win.
"""

from typing import Any

import numpy as np

from crapo_env.bots.crapo_value import value
from crapo_env.bots.tree import (
    MAX_NODES,
    NODE_DTYPE,
    NONE,
    NUM_SLOTS,
    ROOT,
    best_leaves,
    best_open,
    enter,
    first_action,
    list_mask,
    start,
)
from crapo_env.cards import mix64
from crapo_env.crapo.actions import DRAW, FROM_HAND, NUM_ACTIONS
from crapo_env.crapo.effects import apply
from crapo_env.crapo.rules import legal_actions
from crapo_env.crapo.state import NUM_SUITS, reserve_top, waste_top
from crapo_env.jit import njit

WIN_VALUE = 100.0
STEP_COST = 0.002  # of two lines to the same end the shorter is better


@njit
def grow(nodes: Any, states: Any, slots: Any, mask: Any, budget: int, weights: Any) -> int:
    """Search from `states[0]` and return the number of nodes.

    Args:
        nodes: NODE_DTYPE, written in place; leaves are among them.
        states: the state of every node, as many; the first is given.
        slots: (NUM_SLOTS,) int32, scratch.
        mask: (NUM_ACTIONS,) what may be played at the root.
        budget: how many nodes may be expanded.
        weights: of the value, see `crapo_value`.
    """
    legal = np.empty(NUM_ACTIONS, np.int16)
    start(nodes, slots, _position_hash(states[ROOT]))
    num_nodes = 1
    for _ in range(budget):
        i = best_open(nodes, num_nodes)
        if i == NONE or num_nodes + NUM_ACTIONS > len(nodes):
            break
        nodes[i].is_open = 0
        n = list_mask(mask, legal) if i == ROOT else legal_actions(states[i], legal)
        for k in range(n):
            action = np.int64(legal[k])
            num_nodes += _add_child(nodes, states, slots, num_nodes, i, action, weights)
    return num_nodes


@njit
def _add_child(
    nodes: Any, states: Any, slots: Any, i: int, parent: int, action: int, weights: Any
) -> int:
    """Fill node `i` with what an action leads to; return 1, or 0 if that was met before."""
    states[i] = states[parent]
    node, g = nodes[i], states[i]
    p = np.int64(g.current_player)
    reveals = action < FROM_HAND and turns_up(g)
    if action != DRAW:
        apply(g, action)
    node.parent, node.action, node.depth = parent, action, nodes[parent].depth + 1
    node.is_leaf = action >= DRAW or reveals or g.terminated
    node.is_open = not node.is_leaf
    if g.terminated:
        node.value = WIN_VALUE * g.rewards[p]
    else:
        node.value = value(g, p, weights)
    node.value -= STEP_COST * node.depth
    if node.is_leaf:
        return 1
    node.hash = _position_hash(g)
    return enter(nodes, slots, i)


@njit
def turns_up(g: Any) -> bool:
    """Return whether playing the reserve top turns up a face-down card (C16)."""
    below = np.int64(g.reserve_size[g.current_player]) - 1
    return below > 0 and g.reserve_down[g.current_player] == below


@njit
def _position_hash(g: Any) -> Any:
    """Return a hash of all that can change within a turn but the history of C36."""
    p = np.int64(g.current_player)
    code = np.int64(0)
    for suit in range(NUM_SUITS):
        code = code * 196 + np.int64(g.foundation[suit, 0]) * 14 + g.foundation[suit, 1]
    code = (code * 64 + g.hand + 1) * 64 + g.reserve_size[p]
    piles = (np.int64(g.reserve_size[1 - p]) * 128 + g.waste_size[1 - p]) * 64
    piles = (piles + reserve_top(g, 1 - p) + 1) * 64 + waste_top(g, 1 - p) + 1
    return mix64(g.arrangement + mix64(np.uint64(code))) + mix64(np.uint64(piles))


@njit
def plan_in_all(games: Any, masks: Any, budget: int, weights: Any, actions: Any) -> None:
    """Write the first action of the best line of every game."""
    nodes = np.empty(min(MAX_NODES, budget * 16 + NUM_ACTIONS + 1), NODE_DTYPE)
    states = np.empty(len(nodes), games.dtype)
    slots = np.empty(NUM_SLOTS, np.int32)
    legal = np.empty(NUM_ACTIONS, np.int16)
    chosen = np.empty(1, np.int64)
    for i in range(len(games)):
        if list_mask(masks[i], legal) == 1:
            actions[i] = legal[0]
        else:
            states[ROOT] = games[i]
            n = grow(nodes, states, slots, masks[i], budget, weights)
            best_leaves(nodes, n, chosen)
            actions[i] = first_action(nodes, chosen[0])
