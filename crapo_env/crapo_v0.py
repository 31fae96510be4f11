"""Crapô as a PettingZoo AEC environment, version 0. Its page is `crapo_env/crapo/README.md`."""

from typing import Any

from crapo_env.crapo import GAME
from crapo_env.env import CardGameEnv


def env(**options: Any) -> CardGameEnv:
    """Return an environment of Crapô: arguments as `CardGameEnv`, rule options as in the README."""
    return CardGameEnv(GAME, **options)


raw_env = env  # the checks of PettingZoo's stock wrappers are inside the environment
