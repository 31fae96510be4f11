"""Policies that misbehave, for tests of the evaluation; made by the spec `odd:WHAT`."""

import gc
import os
import sys
import time
from typing import Any

import numpy as np

from crapo_env.batch import Batch
from crapo_env.bots.policy import Policy
from crapo_env.game import Game

TARGET = "odd_policies:load"  # for `register_loader("odd", TARGET)`
RARE = 40  # about one position in so many is where most of them misbehave


def is_odd(observation: np.ndarray) -> bool:
    """Return whether a position is one of those at which these policies misbehave."""
    return int(observation.astype(np.int64).sum()) % RARE == 0


class OddPolicy(Policy):
    """Plays the first legal action until it meets an odd position."""

    def __init__(self, game: Game, what: str) -> None:
        super().__init__(game, f"odd:{what}", deterministic=True)
        self.what = what

    def act(self, observation: np.ndarray, mask: np.ndarray) -> Any:
        if any(is_odd(row) for row in observation):
            return getattr(self, self.what)(observation, mask)
        return self.choose(observation, mask)

    def choose(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        return np.argmax(masks != 0, axis=1)

    def never(self, observation: np.ndarray, mask: np.ndarray) -> Any:
        return self.choose(observation, mask)

    def hang(self, observation: np.ndarray, mask: np.ndarray) -> Any:
        while True:
            time.sleep(1)

    def sleep(self, observation: np.ndarray, mask: np.ndarray) -> Any:
        time.sleep(1.5)
        return self.choose(observation, mask)

    def fail(self, observation: np.ndarray, mask: np.ndarray) -> Any:
        raise RuntimeError("I am\nconfused")

    def leave(self, observation: np.ndarray, mask: np.ndarray) -> Any:
        sys.exit(3)

    def die(self, observation: np.ndarray, mask: np.ndarray) -> Any:
        os._exit(3)

    def cheat(self, observation: np.ndarray, mask: np.ndarray) -> Any:
        return np.argmin(mask != 0, axis=1)

    def talk(self, observation: np.ndarray, mask: np.ndarray) -> Any:
        return ["the ace", "please"]

    def spoil(self, observation: np.ndarray, mask: np.ndarray) -> Any:
        actions = self.choose(observation, mask)
        observation[:] = 7
        mask[:] = 1
        return actions

    def spy(self, observation: np.ndarray, mask: np.ndarray) -> Any:
        """Give up the game if there is a game anywhere in the process to look at."""
        if any(isinstance(thing, Batch) for thing in gc.get_objects()):
            raise RuntimeError("found a game")
        assert observation.base is None and mask.base is None
        return self.choose(observation, mask)


class Forgetful(Policy):
    """Plays the first legal action once, then the last; it should be made anew for every game."""

    remembers = True

    def __init__(self, game: Game) -> None:
        super().__init__(game, "forgetful", deterministic=True)
        self.calls = 0

    def choose(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        self.calls += 1
        if self.calls % 2:
            return np.argmax(masks != 0, axis=1)
        return masks.shape[1] - 1 - np.argmax(masks[:, ::-1] != 0, axis=1)


def load(what: str, game: Game, seed: int) -> Policy:
    """Return the odd policy of a name."""
    if what == "broken":
        raise ValueError("this policy cannot be made")
    return Forgetful(game) if what == "forgetful" else OddPolicy(game, what)
