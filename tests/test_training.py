"""A training run: its settings, its learner, its pool of opponents, its end and Ctrl-C."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")
pytest.importorskip("safetensors")

import torch
from sb3_contrib.common.maskable.distributions import MaskableCategorical
from tiny_training import positions, tiny_config, tiny_network

from crapo_env.adapters.sb3 import SelfPlayVecEnv
from crapo_env.bots import make_policy
from crapo_env.game import Game
from crapo_env.registry import GAMES
from training.checkpoint import CheckpointPolicy
from training.config import Config, describe_settings, make_config, read_config
from training.learner import copy_network, make_model
from training.network import NetworkPolicy
from training.selfplay import OpponentPool, weights_digest

ROOT = Path(__file__).parents[1]
TINY = """
game = "{game}"
total_timesteps = {decisions}
num_envs = 16
rollout_steps = 8
minibatch_size = 64
hidden_sizes = [16]
snapshot_every = 1
max_past = 2
anchor_every = 2
anchor_deals = 1
eval_deals = 2
torch_threads = 1
"""


def start_run(config: Path, folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start a training run as a user would, warnings as errors where Python's own are concerned."""
    command = [sys.executable, "-W", "error::UserWarning", "-m", "training.train", str(config)]
    return subprocess.Popen(
        [*command, "--out", str(folder), *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "100"},
    )


# Settings


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gamma_ = 1.0", "no setting 'gamma_'; did you mean 'gamma'?"),
        ("learning_rte = 1e-3", "no setting 'learning_rte'; did you mean 'learning_rate'?"),
        ("total_timesteps = 1e6", "total_timesteps must be of the type int, not 1000000.0"),
        ("epochs = true", "epochs must be of the type int, not True"),
        ("skip_forced = 1", "skip_forced must be of the type bool, not 1"),
        ('bots = "random"', "bots must be a list, not 'random'"),
        ("hidden_sizes = [64, 1.5]", "hidden_sizes must be of the type int, not 1.5"),
        ("hidden_sizes = []", "hidden_sizes must name at least one layer"),
        ("epochs = 0", "epochs must be above 0, not 0"),
        ("gamma = 1.5", "gamma must be at most 1, not 1.5"),
        ("learning_rate = nan", "learning_rate must be a finite number, not nan"),
        ("minibatch_size = 1000", "minibatch_size 1000 must divide num_envs * rollout_steps"),
        (
            'bots = ["random"]',
            "bots and bot_weights must be equally long and not empty, they have 1",
        ),
        ("bot_weights = [0, 0]\nlatest_weight = 0\npast_weight = 0", "must be above 0"),
        ("seed = 9223372036854775808", "seed 9223372036854775808 is not for training"),
        ("options = { spades = 1 }", "has no option 'spades'"),
        ("epochs = = 1", "is not TOML"),
    ],
)
def test_a_bad_setting_is_named(game: Game, tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "run.toml"
    path.write_text(f'game = "{game.name}"\n{text}\n')
    with pytest.raises(ValueError) as error:
        read_config(path)
    assert message in str(error.value)
    assert str(path) in str(error.value)


def test_a_config_needs_a_file_and_a_known_game(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cannot read the config"):
        read_config(tmp_path / "none.toml")
    with pytest.raises(ValueError, match="'game' is missing"):
        make_config({})
    with pytest.raises(ValueError, match="no game 'crappo'; did you mean 'crapo'"):
        make_config({"game": "crappo"})


def test_the_published_configs_are_valid_and_every_setting_has_a_sentence() -> None:
    configs = sorted((ROOT / "configs").glob("*.toml"))
    assert {read_config(path).game for path in configs} == set(GAMES)
    for line in describe_settings().splitlines():
        name, _, sentence = line.partition(": ")
        assert name in Config.__dataclass_fields__
        assert sentence[0].isupper() and "." in sentence


# The network, SB3 and the pool


def test_the_network_is_that_of_sb3(game: Game) -> None:
    config = tiny_config(game, seed=2**63 - 1)
    env = SelfPlayVecEnv(game, 16, [make_policy("random", game)], skip_forced=True)
    model = make_model(config, env)
    network = copy_network(model, game)
    observations = env.reset()
    masks = env.action_masks()
    policy = NetworkPolicy(game, network, "copy", deterministic=True)
    expected, _ = model.predict(observations, deterministic=True, action_masks=masks)
    assert np.array_equal(policy.act(observations, masks.astype(np.int8)), expected)
    values = model.policy.predict_values(torch.from_numpy(observations)).flatten()
    assert torch.allclose(network(torch.from_numpy(observations))[1], values, atol=1e-6)
    digest = weights_digest(network)
    assert model.lr_schedule(1.0) == config.learning_rate
    assert model.lr_schedule(0.0) == model.lr_schedule(-9.0) == config.final_learning_rate
    model.learn(200)
    assert weights_digest(network) == digest
    learned = copy_network(model, game).state_dict()
    for name, tensor in network.state_dict().items():
        assert not torch.equal(tensor, learned[name]), f"{name} has not learned"


def test_sb3_stores_what_the_learner_saw_did_and_got(game: Game) -> None:
    opponents = [make_policy("random", game)]
    env = SelfPlayVecEnv(game, 16, opponents, options={"max_steps": 0})
    model = make_model(tiny_config(game, rollout_steps=16), env)
    seen: list[tuple[np.ndarray, ...]] = []
    step = env.step

    def record(actions: np.ndarray) -> Any:
        before = (env.batch.observations.copy(), env.action_masks(), actions.copy())
        result = step(actions)
        seen.append((*before, result[1].copy(), result[2].copy()))
        return result

    env.step = record  # type: ignore[method-assign]
    model.learn(16 * 16)
    buffer = model.rollout_buffer
    # train() has flattened the buffer, game by game
    for t, (observations, masks, actions, rewards, dones) in enumerate(seen):
        rows = np.arange(16) * 16 + t
        assert np.array_equal(buffer.observations[rows], observations)
        assert np.array_equal(buffer.action_masks[rows].astype(bool), masks)
        assert np.array_equal(buffer.actions[rows, 0], actions)
        assert np.array_equal(buffer.rewards[t], rewards)
        assert masks[np.arange(16), actions].all()
        if t + 1 < len(seen):
            assert np.array_equal(buffer.episode_starts[t + 1].astype(bool), dones)


def test_a_truncated_game_is_worth_what_the_value_head_says(game: Game) -> None:
    opponents = [make_policy("random", game)]
    env = SelfPlayVecEnv(game, 16, opponents, options={"max_steps": 20})
    config = tiny_config(game, rollout_steps=16)
    model = make_model(config, env)
    network = copy_network(model, game)
    expected = []
    step = env.step

    def record(actions: np.ndarray) -> Any:
        result = step(actions)
        rewards = result[1].copy()
        for row, info in enumerate(result[3]):
            if info.get("TimeLimit.truncated"):
                last = torch.from_numpy(info["terminal_observation"][None])
                rewards[row] += config.gamma * float(network(last)[1])
        expected.append(rewards)
        return result

    env.step = record  # type: ignore[method-assign]
    model.learn(16 * 16)
    assert np.count_nonzero(expected) >= 8
    assert np.allclose(model.rollout_buffer.rewards, expected, atol=1e-5)


def test_pool_members_never_change_and_differ(game: Game) -> None:
    bots = [make_policy("random", game)]
    pool = OpponentPool(bots, [1.0], latest_weight=2.0, past_weight=3.0, max_past=2, seed=0)
    assert pool.opponents() == (bots, [1.0])
    assert pool.add(game, tiny_network(game, 0), 0)
    assert pool.opponents()[1] == [1.0, 5.0]
    assert not pool.add(game, tiny_network(game, 0), 10)  # the same weights once more
    observations, masks = positions(game)
    for k in range(1, 6):
        assert pool.add(game, tiny_network(game, k), k)
    policies, weights = pool.opponents()
    assert weights == [1.0, 1.5, 1.5, 2.0]
    assert policies[0] is bots[0] and pool.snapshots[-1].decisions == 5
    for snapshot in pool.snapshots:
        assert weights_digest(snapshot.network) == snapshot.digest
        again = NetworkPolicy(game, tiny_network(game, snapshot.decisions), "x", deterministic=True)
        same = NetworkPolicy(game, snapshot.network, "y", deterministic=True)
        assert np.array_equal(again.act(observations, masks), same.act(observations, masks))
    assert len({snapshot.digest for snapshot in pool.snapshots}) == 3
    assert len({snapshot.name for snapshot in pool.snapshots}) == 3


@pytest.mark.parametrize("scale", [1.0, 1e2, 1e4, 1e6])
def test_masked_probabilities_survive_extreme_logits(game: Game, scale: float) -> None:
    assert torch.distributions.Distribution._validate_args  # validation is left on
    generator = torch.Generator().manual_seed(0)
    _, masks = positions(game, n=512)
    for spread in (1.0, 0.0):
        noise = torch.randn(masks.shape, generator=generator) * spread
        illegal_high = torch.where(torch.from_numpy(masks) == 0, scale, -scale)
        for logits in (noise * scale, illegal_high + noise):
            logits = logits.clone().requires_grad_(True)
            distribution = MaskableCategorical(logits=logits, masks=masks)
            assert (distribution.probs[torch.from_numpy(masks) == 0] == 0).all()
            actions = distribution.sample()
            assert masks[np.arange(512), actions.numpy()].all()
            loss = distribution.log_prob(actions).mean() + distribution.entropy().mean()
            loss.backward()
            assert logits.grad is not None and torch.isfinite(logits.grad).all()


@pytest.mark.parametrize("fill", [0.0, 1e30, -1e30])
def test_a_network_policy_is_legal_with_any_weights(game: Game, fill: float) -> None:
    network = tiny_network(game)
    network.action_head.weight.fill_(fill)
    network.action_head.bias.copy_(torch.linspace(-1e30, 1e30, len(game.actions)))
    observations, masks = positions(game, n=256)
    for deterministic in (True, False):
        policy = NetworkPolicy(game, network, "extreme", deterministic=deterministic)
        assert masks[np.arange(256), policy.act(observations, masks)].all()


def test_a_search_gets_probabilities_of_legal_actions_and_values(game: Game) -> None:
    network = tiny_network(game)
    observations, masks = positions(game, n=256)
    policy = NetworkPolicy(game, network, "asked", deterministic=True)
    probabilities, values = policy.evaluate(observations, masks)
    assert probabilities.shape == masks.shape and values.shape == (256,)
    assert (probabilities[masks == 0] == 0).all() and (probabilities[masks == 1] > 0).all()
    assert np.allclose(probabilities.sum(1), 1, atol=1e-6)
    assert np.array_equal(probabilities.argmax(1), policy.act(observations, masks))
    assert np.array_equal(values, network(torch.from_numpy(observations))[1].numpy())


# Whole runs


@pytest.mark.slow
def test_a_short_run_leaves_a_checkpoint_logs_and_results(game: Game, tmp_path: Path) -> None:
    config = tmp_path / "tiny.toml"
    config.write_text(TINY.format(game=game.name, decisions=600))
    out, errors = start_run(config, tmp_path / "run").communicate(timeout=600)
    assert "Traceback" not in errors, errors
    assert "600 decisions" in out and "opponents: random" in out and "win %" in out
    names = {path.name.split(".")[0] for path in (tmp_path / "run").iterdir()}
    assert names == {"checkpoint", "config", "evaluation", "events"}
    policy = CheckpointPolicy(tmp_path / "run" / "checkpoint.safetensors", game)
    assert policy.card.decisions == 640  # whole rollouts
    assert policy.card.config["hidden_sizes"] == [16]
    results = json.loads((tmp_path / "run" / "evaluation.json").read_text())
    assert [match["opponent"] for match in results["matches"]] == ["random", "greedy"]
    assert all(match["illegal"] == match["opponent_illegal"] == 0 for match in results["matches"])
    assert _logged(tmp_path / "run") >= {
        "anchor/win_rate_random",
        "anchor/win_rate_greedy",
        "anchor/draw_rate_greedy",
        "anchor/game_length_random",
        "train/entropy_loss",
        "train/approx_kl",
        "train/explained_variance",
        "time/fps",
    }


def _logged(folder: Path) -> set[str]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder))
    events.Reload()
    return set(events.Tags()["scalars"])


@pytest.mark.slow
def test_ctrl_c_leaves_a_usable_checkpoint(tmp_path: Path) -> None:
    game = GAMES["crapo"]
    config = tmp_path / "tiny.toml"
    config.write_text(TINY.format(game=game.name, decisions=10**9))
    run = start_run(config, tmp_path / "run")
    checkpoint = tmp_path / "run" / "checkpoint.safetensors"
    deadline = time.monotonic() + 300
    while not checkpoint.exists() and time.monotonic() < deadline:
        time.sleep(0.2)
    assert checkpoint.exists(), "no update was made"
    before = CheckpointPolicy(checkpoint, game).card.decisions
    run.send_signal(signal.SIGINT)
    out, errors = run.communicate(timeout=300)
    assert run.returncode == 0, errors
    assert "Traceback" not in errors
    assert "stopping after this update" in out and "win %" in out
    assert before <= CheckpointPolicy(checkpoint, game).card.decisions < 10**9
    assert (tmp_path / "run" / "evaluation.json").exists()


def test_a_bad_command_line_is_one_line_of_text(tmp_path: Path) -> None:
    for arguments in (["none.toml"], [str(ROOT / "configs" / "crapo_quick.toml"), "--seed", "-1"]):
        command = [sys.executable, "-m", "training.train", *arguments, "--out", str(tmp_path / "x")]
        answer = subprocess.run(
            command,
            cwd=ROOT,
            capture_output=True,
            text=True,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
        )
        assert answer.returncode == 1
        assert answer.stderr.startswith("error: ") and answer.stderr.count("\n") == 1
        assert not (tmp_path / "x").exists()
