"""A hash table of the positions that a search has met."""

from typing import Any

import numpy as np

from crapo_env.jit import njit

NONE = -1  # an empty slot


@njit
def enter(nodes: Any, slots: Any, i: int) -> int:
    """Enter node `i` into the table and return 1, or 0 if its position is there already.

    Args:
        nodes: records with a field `hash`, uint64, of the position.
        slots: the table, integers, NONE where it is empty; a power of two, more than the nodes.
        i: index of a node.
    """
    wanted = nodes[i].hash
    slot = np.int64(wanted & np.uint64(len(slots) - 1))
    while slots[slot] != NONE:
        if nodes[slots[slot]].hash == wanted:
            return 0
        slot = (slot + 1) % len(slots)
    slots[slot] = i
    return 1
