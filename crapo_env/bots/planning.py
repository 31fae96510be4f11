"""Policies that work on a state behind the observation: they see no more than the observation.

`Game.states_behind` puts random cards wherever the observer cannot know them; a planner stops
before it would look at one, so its choice does not depend on them.
"""

from collections.abc import Callable

import numpy as np

from crapo_env.bots.policy import Policy
from crapo_env.game import Game

SEAT = 0  # all that is observed is relative to the observer, so any seat will do


class PlannerPolicy(Policy):
    """Searches the rest of its turn and plays the first move of the best line."""

    def __init__(
        self,
        game: Game,
        seed: int,
        *,
        kernel: Callable[..., None],
        weights: np.ndarray,
        nodes: int,
    ) -> None:
        """Make a planner.

        Args:
            game: the game.
            seed: not used, as nothing is random.
            kernel: (games, masks, nodes, weights, actions).
            weights: of the value that the kernel gives to the end of a line.
            nodes: how many positions it may look at.
        """
        super().__init__(game, "planner", deterministic=True)
        self._kernel = kernel
        self._weights = weights
        self._nodes = nodes

    def choose(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Return the first move of the best line found for each row."""
        actions = np.empty(len(masks), np.int64)
        games = self.game.states_behind(observations, SEAT, 0)
        self._kernel(games, masks, self._nodes, self._weights, actions)
        return actions


class HeuristicPolicy(Policy):
    """Takes the first of its priorities that applies, asking more than the greedy bot asks."""

    def __init__(
        self,
        game: Game,
        seed: int,
        *,
        kernel: Callable[..., None],
        tables: tuple[np.ndarray, ...],
    ) -> None:
        """Make a heuristic player.

        Args:
            game: the game.
            seed: not used, as nothing is random.
            kernel: (games, masks, *tables, actions).
            tables: priorities and weights.
        """
        super().__init__(game, "heuristic", deterministic=True)
        self._kernel = kernel
        self._tables = tables

    def choose(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Return the action of the highest priority for each row."""
        actions = np.empty(len(masks), np.int64)
        games = self.game.states_behind(observations, SEAT, 0)
        self._kernel(games, masks, *self._tables, actions)
        return actions
