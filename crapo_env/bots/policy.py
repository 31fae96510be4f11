"""What every bot is: a function from what a player sees and may do to an action.

`n` players are asked side by side, one row each. A policy gets an observation and a mask, never the
environment or its state, so it cannot look at hidden cards.
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from crapo_env.game import Game
from crapo_env.jit import njit


@njit
def find_empty(masks: Any) -> Any:
    """Return the first row of `masks` (n, num_actions) that allows nothing, -1 if there is none."""
    for i in range(len(masks)):
        a = 0
        while a < masks.shape[1] and masks[i, a] == 0:
            a += 1
        if a == masks.shape[1]:
            return i
    return -1


class Policy(ABC):
    """Chooses actions of one game.

    Attributes:
        game: the game that it plays.
        name: its name in tables and logs.
        deterministic: whether equal observations and masks always give equal actions.
        remembers: whether it keeps something from one decision to the next that may change its
            play, so that every game needs one of its own.
    """

    remembers = False

    def __init__(self, game: Game, name: str, *, deterministic: bool) -> None:
        self.game = game
        self.name = name
        self.deterministic = deterministic

    def act(self, observation: np.ndarray, mask: np.ndarray) -> Any:
        """Choose an action, or one for each row.

        Args:
            observation: int8, (size,) or (n, size), as seen by the player on turn.
            mask: int8, (num_actions,) or (n, num_actions), 1 where an action is legal.

        Returns:
            An int for a single observation, else an int64 array (n,).

        Raises:
            ValueError: if a shape or a dtype is wrong or a mask allows nothing.
        """
        self._check(observation, mask)
        lead = observation.shape[:-1]
        observations = np.ascontiguousarray(observation.reshape(-1, observation.shape[-1]))
        masks = np.ascontiguousarray(mask.reshape(-1, mask.shape[-1]))
        row = find_empty(masks)
        if row >= 0:
            where = f" in row {row}" if lead else ""
            raise ValueError(f"{self.name} is asked to act, but the mask allows nothing{where}")
        actions = self.choose(observations, masks)
        return actions if lead else int(actions[0])

    @abstractmethod
    def choose(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Return an action for each row, (n,) int64, of checked and contiguous int8 arrays."""

    def _check(self, observation: Any, mask: Any) -> None:
        for what, array, size in (
            ("observation", observation, len(self.game.fields)),
            ("mask", mask, len(self.game.actions)),
        ):
            if not isinstance(array, np.ndarray) or array.dtype != np.int8:
                is_array = isinstance(array, np.ndarray)
                kind = f"an array of {array.dtype}" if is_array else type(array).__name__
                raise ValueError(f"{self.name} needs the {what} as an int8 NumPy array, not {kind}")
            if array.ndim not in (1, 2) or array.shape[-1] != size:
                raise ValueError(
                    f"in {self.game.name} the {what} has the shape ({size},) or (n, {size}), "
                    f"not {array.shape}"
                )
        if observation.shape[:-1] != mask.shape[:-1]:
            raise ValueError(
                f"observation {observation.shape} and mask {mask.shape} differ in their rows"
            )
