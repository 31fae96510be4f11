"""Reis nos cantos as a PettingZoo AEC environment, version 0, for 2 to 4 players.

Its page is `crapo_env/reis_nos_cantos/README.md`.
"""

from typing import Any

from crapo_env.env import CardGameEnv
from crapo_env.reis_nos_cantos import GAME


def env(**options: Any) -> CardGameEnv:
    """Return an environment of Reis nos cantos; see `CardGameEnv`, and the README for options."""
    return CardGameEnv(GAME, **options)


raw_env = env  # the checks of PettingZoo's stock wrappers are inside the environment
