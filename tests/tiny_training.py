"""Settings, networks and positions small enough for tests of the training."""

from typing import Any

import numpy as np
import torch

from crapo_env.batch import Batch
from crapo_env.bots import make_policy
from crapo_env.game import Game
from training.config import Config, make_config
from training.network import Network


def tiny_config(game: Game, **values: Any) -> Config:
    """Return the settings of a run that takes no time."""
    small = {"num_envs": 16, "rollout_steps": 8, "minibatch_size": 64, "hidden_sizes": [16]}
    return make_config({"game": game.name, **small, **values})


def tiny_network(game: Game, seed: int = 0) -> Network:
    """Return an untrained network."""
    torch.manual_seed(seed)
    return Network(game, (16, 8)).eval().requires_grad_(False)


def positions(game: Game, n: int = 64, steps: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Return observations and masks from the middle of random games."""
    batch = Batch(game, n)
    batch.reset(7)
    policy = make_policy("random", game, 1)
    for _ in range(steps):
        batch.step(policy.act(batch.observations, batch.masks))
    return batch.observations.copy(), batch.masks.copy()
