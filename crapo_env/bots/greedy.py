"""A greedy bot's ordered priorities: written as data, turned into a table for its kernel."""

from dataclasses import dataclass

import numpy as np

from crapo_env.game import ActionTable

ALWAYS = 0  # the condition that every action meets; a bot numbers its own from 1


@dataclass(frozen=True)
class Priority:
    """A kind of action, worse than all kinds that are listed before it."""

    blocks: tuple[str, ...]  # of the game's action table
    condition: int  # which actions of these blocks are meant
    reason: str  # why it has this place


def rank_table(
    actions: ActionTable, priorities: tuple[Priority, ...], num_conditions: int
) -> np.ndarray:
    """Return the place of the first priority that covers an action which meets a condition.

    Returns:
        (num_conditions, num_actions) int64; `len(priorities)` where no priority does.
    """
    ranks = np.full((num_conditions, len(actions)), len(priorities), np.int64)
    sizes = {block.name: block.size for block in actions.blocks}
    for place, priority in enumerate(priorities):
        for block in priority.blocks:
            start = actions.offsets[block]
            covered = ranks[priority.condition, start : start + sizes[block]]
            np.minimum(covered, place, out=covered)
    return ranks
