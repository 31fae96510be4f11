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
    NUM_SLOTS,
    ROOT,
    best_leaves,
    best_open,
    first_action,
    list_mask,
    start,
)
from crapo_env.crapo.actions import DRAW, NUM_ACTIONS
from crapo_env.crapo.ahead import position_hash, turns_up
from crapo_env.crapo.effects import apply
from crapo_env.crapo.rules import legal_actions
from crapo_env.jit import njit
from crapo_env.visited import NONE, enter

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
    start(nodes, slots, position_hash(states[ROOT]))
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
    reveals = turns_up(g, action)
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
    node.hash = position_hash(g)
    return enter(nodes, slots, i)


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
