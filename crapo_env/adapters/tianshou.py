"""Tianshou environments: one seat of a game, its observations in the form that masked DQN reads.

Tianshou's own multi-agent manager credits a seat only with what it receives at its own moves, so
that whoever loses by another's move never learns of it (thu-ml/tianshou#399). Here a step runs from
one decision of the seat to its next, with everything that it received in between. Tianshou's
policies of the DQN family respect the mask; its PPO and other actor policies ignore it.
"""

from typing import Any

import numpy as np

from crapo_env.registration import gymnasium_name
from crapo_env.registry import find_game

try:
    import tianshou  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "Tianshou is not installed: pip install 'crapo-env[adapters-tianshou]'", name=error.name
    ) from error

import gymnasium as gym
from gymnasium import spaces


class MaskedEnv(gym.Wrapper[dict[str, Any], Any, np.ndarray, Any]):
    """A game whose observation is `{"agent_id", "obs", "mask"}` as Tianshou's policies read it.

    "obs" is the (size,) int8 vector of the game's README, "mask" (actions,) bool.
    """

    def __init__(self, game: str, **arguments: Any) -> None:
        """Make the environment.

        Args:
            game: name of a game.
            **arguments: those of `adapters.gymnasium.SingleAgentEnv`: opponent, seat, rule options.
        """
        env = gym.make(gymnasium_name(game), disable_env_checker=True, **arguments)
        super().__init__(env)
        self.game = find_game(game)
        mask = spaces.MultiBinary(len(self.game.actions))
        self.observation_space = spaces.Dict({"obs": env.observation_space, "mask": mask})

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Deal a game and play to the seat's turn."""
        observation, info = self.env.reset(seed=seed, options=options)
        return self._show(observation, info), {}

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Play an action of the seat and then the others until it decides again."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self._show(observation, info), float(reward), terminated, truncated, {}

    def _show(self, observation: Any, info: dict[str, Any]) -> dict[str, Any]:
        return {"obs": observation, "mask": info["action_mask"].astype(np.int8)}
