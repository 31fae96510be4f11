"""What the greedy bots share: priorities written as data, and the table that their kernels read."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from crapo_env.bots.policy import Policy
from crapo_env.cards import NUM_CARDS, NUM_RANKS
from crapo_env.game import ActionTable, Game
from crapo_env.jit import njit

ALWAYS = 0  # the condition that every action meets; a bot numbers its own from 1
MAX_TIE = 1024  # preferences between two actions of equal priority are numbers below this


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


@njit
def count_cards(observation: Any, start: int) -> Any:
    """Return the number of cards in the 52 zeros and ones of a pile or a hand."""
    count = np.int64(0)
    for value in observation[start : start + NUM_CARDS]:
        count += value
    return count


@njit
def top_rank(observation: Any, start: int) -> Any:
    """Return the lowest rank in the 52 zeros and ones of a pile that is not empty."""
    cards = observation[start : start + NUM_CARDS]
    rank = 0
    while (
        cards[rank]
        + cards[rank + NUM_RANKS]
        + cards[rank + 2 * NUM_RANKS]
        + cards[rank + 3 * NUM_RANKS]
        == 0
    ):
        rank += 1
    return rank


class GreedyPolicy(Policy):
    """A policy that a kernel computes from observation and mask alone."""

    def __init__(self, game: Game, kernel: Callable[..., None]) -> None:
        super().__init__(game, "greedy", deterministic=True)
        self._kernel = kernel

    def choose(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Return the greedy action of each row."""
        actions = np.empty(len(masks), np.int64)
        self._kernel(observations, masks, actions)
        return actions
