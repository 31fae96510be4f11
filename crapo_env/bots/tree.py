"""What the searches of one turn share: nodes in an array, each position entered once.

The state of node `i` is element `i` of another array, of the game's records. Axis letter: `i` a
node.
"""

from typing import Any

import numpy as np

from crapo_env.jit import njit
from crapo_env.visited import NONE, enter

ROOT = 0
NUM_SLOTS = 4096  # of a hash table for so many nodes: a power of two
MAX_NODES = 2000  # well below NUM_SLOTS, so that probing stays short

NODE_DTYPE = np.dtype(
    [
        ("value", np.float64),  # for the player on turn at the root
        ("hash", np.uint64),  # of the public position
        ("parent", np.int32),  # NONE at the root
        ("action", np.int16),  # that led here from the parent; at the root NONE or what ends here
        ("depth", np.int16),
        ("is_leaf", np.int8),  # 1: a line may stop here
        ("is_open", np.int8),  # 1: to be expanded
    ],
    align=True,
)


@njit
def start(nodes: Any, slots: Any, position: Any) -> None:
    """Make the root the only node; `slots` int32 is the hash table."""
    slots[:] = NONE
    root = nodes[ROOT]
    root.value = 0.0
    root.hash = position
    root.parent = root.action = NONE
    root.depth = root.is_leaf = 0
    root.is_open = 1
    enter(nodes, slots, ROOT)


@njit
def best_open(nodes: Any, num_nodes: int) -> int:
    """Return the node of the highest value that is to be expanded, NONE if there is none."""
    best, chosen = -np.inf, NONE
    for i in range(num_nodes):
        if nodes[i].is_open and nodes[i].value > best:
            best, chosen = nodes[i].value, i
    return chosen


@njit
def best_leaves(nodes: Any, num_nodes: int, chosen: Any) -> int:
    """Write the leaves of the highest values into `chosen`, best first; return their number.

    The first of equals comes first. If no line has come to its end, the last node stands for one.
    """
    n = 0
    for i in range(num_nodes):
        if nodes[i].is_leaf:
            if n < len(chosen):
                n += 1
            elif nodes[i].value <= nodes[chosen[n - 1]].value:
                continue
            k = n - 1
            while k > 0 and nodes[chosen[k - 1]].value < nodes[i].value:
                chosen[k] = chosen[k - 1]
                k -= 1
            chosen[k] = i
    if n == 0:
        chosen[0] = num_nodes - 1
        n = 1
    return n


@njit
def first_action(nodes: Any, i: int) -> int:
    """Return the action at the root on the way to node `i`; the root's own for the root."""
    while i != ROOT and nodes[i].parent != ROOT:
        i = np.int64(nodes[i].parent)
    return np.int64(nodes[i].action)


@njit
def list_mask(mask: Any, legal: Any) -> int:
    """Write the actions that a mask allows into `legal` and return their number."""
    n = 0
    for a in range(len(mask)):
        if mask[a] != 0:
            legal[n] = a
            n += 1
    return n


@njit
def write_lines(nodes: Any, chosen: Any, lines: Any, values: Any) -> int:
    """Write the actions from the root to each chosen node that `lines` has room for, and its value.

    Args:
        nodes: NODE_DTYPE.
        chosen: (n,) nodes.
        lines: (n or more, length) int16, NONE after the end of a line.
        values: (n or more,) float64.

    Returns:
        The number of lines written, from the first on.
    """
    n = 0
    for i in chosen:
        depth = np.int64(nodes[i].depth)
        if depth <= lines.shape[1]:
            lines[n] = NONE
            values[n] = nodes[i].value
            while i != ROOT:
                lines[n, nodes[i].depth - 1] = nodes[i].action
                i = np.int64(nodes[i].parent)
            n += 1
    return n
