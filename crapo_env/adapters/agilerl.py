"""AgileRL: its own training loops on the native Gymnasium vector environment.

AgileRL takes masks from `info["action_mask"]` and actions for all games at once, as the vector
environment gives and takes them. What it needs besides is that a game that has ended is dealt anew
within the same step: with Gymnasium's default the step after an end has no legal action.
"""

from typing import Any

import gymnasium as gym
from gymnasium.vector import AutoresetMode

from crapo_env.registration import gymnasium_name

try:
    import agilerl  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "AgileRL is not installed: pip install 'crapo-env[adapters-agilerl]'", name=error.name
    ) from error


def make_vector(game: str, num_envs: int, **arguments: Any) -> gym.vector.VectorEnv[Any, Any, Any]:
    """Return games for AgileRL's `train_off_policy`.

    Args:
        game: name of a game.
        num_envs: number of games.
        **arguments: those of `adapters.gymnasium.SingleAgentVectorEnv`: opponent, seat, options.

    Raises:
        ValueError: if there is no such game or an argument is wrong.
    """
    arguments["autoreset_mode"] = AutoresetMode.SAME_STEP
    return gym.make_vec(gymnasium_name(game), num_envs=num_envs, **arguments)
