"""The two bots that know nothing of any game: uniformly random play and the lowest legal id."""

from typing import Any

import numpy as np

from crapo_env.bots.policy import Policy
from crapo_env.cards import below, mix64, next_state
from crapo_env.game import Game
from crapo_env.jit import njit


@njit
def pick_random(masks: Any, state: Any, actions: Any) -> None:
    """Write a uniformly random legal action of each row; `state` (1,) uint64 is the generator.

    Every row takes one number, so that rows asked together or one by one get the same actions.
    """
    for i in range(len(masks)):
        num_legal = 0
        for a in range(masks.shape[1]):
            num_legal += masks[i, a] != 0
        state[0] = next_state(state[0])
        left = below(state[0], num_legal)
        a = 0
        while masks[i, a] == 0 or left > 0:
            left -= masks[i, a] != 0
            a += 1
        actions[i] = a


class RandomPolicy(Policy):
    """A uniformly random legal action, from a generator of its own."""

    def __init__(self, game: Game, seed: int = 0) -> None:
        super().__init__(game, "random", deterministic=False)
        if not 0 <= seed < 1 << 64:
            raise ValueError(f"a seed is from 0 to 2**64 - 1, not {seed}")
        self._state = np.array([mix64(np.uint64(seed))], np.uint64)

    def choose(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Return a random legal action for each row."""
        actions = np.empty(len(masks), np.int64)
        pick_random(masks, self._state, actions)
        return actions


class FirstLegalPolicy(Policy):
    """The legal action with the lowest id."""

    def __init__(self, game: Game, seed: int = 0) -> None:
        super().__init__(game, "first_legal", deterministic=True)

    def choose(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Return the first legal action of each row."""
        actions: np.ndarray = np.argmax(masks != 0, axis=1)
        return actions
