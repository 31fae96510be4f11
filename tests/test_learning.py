"""Does it learn at all? A small run must, and must not once a sign, a seat or a mask is wrong.

The small run does what a real one does, in seconds: single rounds or games, self-play, one thread.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from tiny_training import tiny_run

from crapo_env.bots import make_policy
from crapo_env.registry import GAMES
from training import network as network_module
from training.collector import Collector
from training.match import LOSS, WIN, play_match
from training.network import Network, NetworkPolicy
from training.run import Run

UPDATES = 12
SETTINGS: dict[str, Any] = {
    "num_envs": 256,
    "rollout_decisions": 4096,
    "minibatch_size": 512,
    "hidden_sizes": [32],
    "total_timesteps": UPDATES * 4096,
    "learning_rate": 3e-3,
    "latest_weight": 1.0,
    "past_weight": 0.0,
    "bot_weights": [0.0, 0.0],
    "gamma": 1.0,
    "shaping": 1.0,
    "final_shaping": 1.0,
}
SINGLE_ROUNDS = {"target": 1, "num_players": 2}
GAME_SETTINGS = {
    "crapo": {"options": {}},
    "reis_nos_cantos": {
        "options": SINGLE_ROUNDS,
        "training_options": {"reward": "points"},
        "shaping": 0.0,
        "final_shaping": 0.0,
        "reward_scale": 3.0,
    },
}
LEARNED = 0.9  # score against random; the small runs reach 0.96, an untrained network up to 0.8


def score_of(run: Run) -> float:
    """Return the share of points against random play that the greatest probabilities reach."""
    policy = NetworkPolicy(run.game, run.copy_network(), "learner", deterministic=True)
    seeds = np.arange(100, dtype=np.uint64)
    opponent = make_policy("random", run.game, 1)
    match = play_match(run.game, policy, opponent, seeds, run.config.options)
    return (1 + match.share(WIN) - match.share(LOSS)) / 2


def learn(name: str, folder: Path) -> float:
    """Return the score of a small run."""
    torch.set_num_threads(1)
    run = tiny_run(GAMES[name], folder, **SETTINGS | GAME_SETTINGS[name])
    for _ in range(UPDATES):
        run.step()
    return score_of(run)


@pytest.mark.parametrize("name", sorted(GAMES))
def test_a_small_run_learns(name: str, tmp_path: Path) -> None:
    assert learn(name, tmp_path) > LEARNED


def spoil_the_last_reward(
    patch: pytest.MonkeyPatch, spoil: Callable[[np.ndarray], np.ndarray]
) -> None:
    """Change what the seats (n, p) of ended games are credited with."""
    end = Collector._end

    def end_wrongly(self: Collector, network: Network, rows: np.ndarray) -> None:
        self.credit[rows] = spoil(self.credit[rows])
        end(self, network, rows)

    patch.setattr(Collector, "_end", end_wrongly)


def turn_the_sign(patch: pytest.MonkeyPatch) -> None:
    """The learner wants what he should avoid."""
    spoil_the_last_reward(patch, np.negative)


def mistake_the_seat(patch: pytest.MonkeyPatch) -> None:
    """Each seat gets what the next one should (FIELD_REPORTS 1)."""
    spoil_the_last_reward(patch, lambda credit: np.roll(credit, 1, axis=1))


def lose_the_last_reward(patch: pytest.MonkeyPatch) -> None:
    """The end of a game pays nobody (FIELD_REPORTS 2)."""
    spoil_the_last_reward(patch, np.zeros_like)


def forget_the_mask(patch: pytest.MonkeyPatch) -> None:
    """Places beyond the end of a list of legal actions are as likely as any."""
    pad = network_module.pad
    patch.setattr(network_module, "pad", lambda *lists: pad(*lists).nan_to_num(neginf=0.0))


@pytest.mark.parametrize("sabotage", [turn_the_sign, mistake_the_seat, lose_the_last_reward])
def test_a_run_with_wrong_rewards_does_not_learn(
    sabotage: Callable[[pytest.MonkeyPatch], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sabotage(monkeypatch)
    assert learn("reis_nos_cantos", tmp_path) < LEARNED


def test_a_run_without_a_mask_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forget_the_mask(monkeypatch)
    with pytest.raises(ValueError, match="is illegal here; legal are"):
        learn("reis_nos_cantos", tmp_path)
