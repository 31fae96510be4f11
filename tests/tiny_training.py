"""Settings, networks, games and positions small enough for tests of the training."""

from pathlib import Path
from typing import Any

import numpy as np
import torch

from crapo_env.batch import Batch
from crapo_env.bots import make_policy
from crapo_env.game import Game
from training.collector import Collector
from training.config import Config, make_config
from training.league import League
from training.network import Network
from training.run import Run


def tiny_config(game: Game, **values: Any) -> Config:
    """Return the settings of a run that takes no time."""
    small = {
        "num_envs": 16,
        "rollout_decisions": 256,
        "minibatch_size": 64,
        "hidden_sizes": [16],
        "bot_weights": [0.1, 0.2],
        "latest_weight": 0.4,
        "past_weight": 0.3,
        "max_past": 2,
        "snapshot_every": 2,
        "torch_threads": 1,
    }
    return make_config({"game": game.name, **small, **values})


def tiny_network(game: Game, seed: int = 0, *, sees_hidden: bool = False) -> Network:
    """Return an untrained network whose scores differ enough to tell actions apart."""
    torch.manual_seed(seed)
    network = Network(game, (16, 8), sees_hidden=sees_hidden).eval().requires_grad_(False)
    network.actor.layers[-1].weight.mul_(20)
    return network


def tiny_run(game: Game, folder: Path, **values: Any) -> Run:
    """Return a run that has not begun."""
    return Run(game, tiny_config(game, **values), folder)


def make_collector(config: Config, game: Game, seed: int = 0) -> Collector:
    """Return a collector whose league has no snapshot yet."""
    return Collector(game, config, League(game, config), np.random.default_rng(seed))


def positions(game: Game, n: int = 64, steps: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Return observations and masks from the middle of random games."""
    batch = Batch(game, n)
    batch.reset(7)
    policy = make_policy("random", game, 1)
    for _ in range(steps):
        batch.step(policy.act(batch.observations, batch.masks))
    return batch.observations.copy(), batch.masks.copy()
