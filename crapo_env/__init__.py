"""Crapô and Reis nos cantos, two Portuguese card games, as reinforcement-learning environments.

`crapo_env.crapo_v0.env()` and `crapo_env.reis_nos_cantos_v0.env(num_players=3)` are PettingZoo
environments. Importing the package registers both with PettingZoo, without importing it.
"""

from crapo_env.registration import register_environments

__version__ = "0.1.0"

register_environments()
