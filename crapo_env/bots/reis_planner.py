"""All orders of plays and pile moves of one turn of Reis nos cantos, and where to stop.

A turn may end at every position on the way, so every node of the search is a leaf. Positions that
were met before are not searched again.
"""

from typing import Any

import numpy as np

from crapo_env.bots.reis_value import value
from crapo_env.bots.tree import (
    MAX_NODES,
    NODE_DTYPE,
    NUM_SLOTS,
    ROOT,
    best_leaves,
    first_action,
    list_mask,
    start,
)
from crapo_env.cards import mix64
from crapo_env.jit import njit
from crapo_env.reis_nos_cantos.actions import END, NUM_ACTIONS, PILE_TO_PILE
from crapo_env.reis_nos_cantos.rules import apply, legal_actions
from crapo_env.reis_nos_cantos.state import NO_CARDS, NUM_CROSSES, NUM_PLACES, bit
from crapo_env.visited import enter

_BEYOND = np.uint64(1 << 60)  # keeps the codes of hands and of piles apart


@njit
def grow(nodes: Any, states: Any, slots: Any, mask: Any, weights: Any) -> int:
    """Search from `states[0]`, short lines first, and return the number of nodes.

    Args:
        nodes: NODE_DTYPE, written in place; the search ends when they are used up.
        states: the state of every node, as many; the first is given. A win leaves its state as it
            is before the round is counted.
        slots: (NUM_SLOTS,) int32, scratch.
        mask: (NUM_ACTIONS,) what may be played at the root; empty: what the rules allow.
        weights: of the value, see `reis_value`.
    """
    legal = np.empty(NUM_ACTIONS, np.int16)
    g = states[ROOT]
    p = np.int64(g.current_player)
    start(nodes, slots, _position_hash(g))
    nodes[ROOT].action = END
    nodes[ROOT].is_leaf = 1
    nodes[ROOT].value = value(g, p, np.uint64(g.hands[p]), weights)
    num_nodes, i = 1, 0
    while i < num_nodes:
        if nodes[i].is_open:
            is_masked = i == ROOT and len(mask) > 0
            n = list_mask(mask, legal) if is_masked else legal_actions(states[i], legal)
            for k in range(n):
                if legal[k] != END and num_nodes < len(nodes):
                    action = np.int64(legal[k])
                    num_nodes += _add_child(nodes, states, slots, num_nodes, i, action, weights)
        i += 1
    return num_nodes


@njit
def _add_child(
    nodes: Any, states: Any, slots: Any, i: int, parent: int, action: int, weights: Any
) -> int:
    """Fill node `i` with what an action leads to; return 1, or 0 if that was met before."""
    states[i] = states[parent]
    node, g = nodes[i], states[i]
    p = np.int64(g.current_player)
    node.parent, node.action, node.depth = parent, action, nodes[parent].depth + 1
    node.is_leaf = 1
    node.is_open = not wins(g, action)
    if node.is_open:
        apply(g, action)
    else:  # the round would end and the next be dealt
        g.hands[p] = NO_CARDS
    node.value = value(g, p, np.uint64(g.hands[p]), weights)
    node.hash = _position_hash(g)
    return enter(nodes, slots, i)


@njit
def wins(g: Any, action: int) -> bool:
    """Return whether an action plays the last card of the hand on turn (R14)."""
    if action >= PILE_TO_PILE:
        return False
    return np.uint64(g.hands[g.current_player]) == bit(action // NUM_PLACES)


@njit
def _position_hash(g: Any) -> Any:
    """Return a hash of the own hand and of the piles, whichever crosses or corners hold them."""
    total = mix64(np.uint64(g.hands[g.current_player]) + _BEYOND)
    for place in range(NUM_PLACES):
        is_corner = 1 if place >= NUM_CROSSES else 0
        total += mix64(np.uint64(np.int64(g.piles[place]) * 2 + is_corner))
    return total


@njit
def plan_in_all(games: Any, masks: Any, budget: int, weights: Any, actions: Any) -> None:
    """Write the first action of the best line of every game."""
    nodes = np.empty(min(MAX_NODES, budget), NODE_DTYPE)
    states = np.empty(len(nodes), games.dtype)
    slots = np.empty(NUM_SLOTS, np.int32)
    chosen = np.empty(1, np.int64)
    for i in range(len(games)):
        states[ROOT] = games[i]
        n = grow(nodes, states, slots, masks[i], weights)
        best_leaves(nodes, n, chosen)
        actions[i] = first_action(nodes, chosen[0])
