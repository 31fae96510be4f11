"""A training run: its settings, its network as a policy, what it leaves behind."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("safetensors")

import torch
from conftest import Setting
from tiny_training import positions, tiny_network, tiny_run
from traces import walk

from crapo_env.game import Game
from crapo_env.registry import GAMES
from training import train as train_module
from training.checkpoint import CheckpointPolicy, load_checkpoint
from training.config import Config, describe_settings, make_config, read_config
from training.logs import read_metrics
from training.network import NetworkPolicy, list_afterstates
from training.run import CHECKPOINT

ROOT = Path(__file__).parents[1]
TINY = """
game = "{game}"
total_timesteps = {decisions}
num_envs = 16
rollout_decisions = 256
minibatch_size = 64
hidden_sizes = [16]
snapshot_every = 1
max_past = 2
anchor_every = 2
anchor_deals = 1
eval_deals = 2
torch_threads = 1
"""


def start_run(config: Path, folder: Path) -> subprocess.Popen[str]:
    """Start a training run as a user would, warnings as errors where Python's own are concerned."""
    command = [sys.executable, "-W", "error::UserWarning", "-m", "training.train", str(config)]
    return subprocess.Popen(
        [*command, "--out", str(folder)],
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
        ("minibatch_size = 99999", "minibatch_size 99999 must be at most rollout_decisions"),
        ('leave_out = ["hand_"]', "leave_out names hand_; there are "),
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


# The network as a policy


def test_bfloat16_is_for_training_alone(game: Game, tmp_path: Path) -> None:
    """Products are rounded while training; weights and the policy at play are float32."""
    run = tiny_run(game, tmp_path, bf16=True)
    before = run.copy_network()
    run.step()
    assert not torch.equal(run.network.actor.layers[0].weight, before.actor.layers[0].weight)
    run.save()
    network, _ = load_checkpoint(run.folder / CHECKPOINT, game)
    assert network.dtype == torch.float32
    rows = torch.randint(0, 3, (500, len(game.features.position)), dtype=torch.int8)
    plain, rounded = network.values(rows), run.copy_network().values(rows)
    assert plain.dtype == rounded.dtype == torch.float32
    assert not torch.equal(plain, rounded)
    assert torch.allclose(plain, rounded, atol=0.02 * float(plain.abs().max()))
    assert len(rounded.unique()) > 400  # the last layer is not rounded


@pytest.mark.parametrize("fill", [0.0, 1e30, -1e30])
def test_a_network_policy_is_legal_with_any_weights(game: Game, fill: float) -> None:
    network = tiny_network(game)
    network.actor.layers[-1].weight.fill_(fill)
    network.actor.layers[0].weight.mul_(1e3)
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
    assert np.isfinite(values).all() and len(np.unique(values)) > 100
    one_by_one = [policy.evaluate(observations[i : i + 1], masks[i : i + 1]) for i in range(64)]
    assert np.allclose([v[0] for _, v in one_by_one], values[:64], atol=1e-5)
    assert np.allclose([p[0] for p, _ in one_by_one], probabilities[:64], atol=1e-5)


def test_what_is_left_out_counts_for_nothing(game: Game, tmp_path: Path) -> None:
    """After training too, and in the checkpoint, which knows nothing of it."""
    name = game.features.position.fields[1].name
    run = tiny_run(game, tmp_path, leave_out=[name])
    untrained = run.copy_network()
    run.step()
    path = tmp_path / "checkpoint.safetensors"
    run.save_network(path, run.copy_network())
    network, _ = load_checkpoint(path, game)
    features = np.random.default_rng(0).integers(
        0, game.features.position.high + 1, (50, len(game.features.position)), np.int8
    )
    changed = features.copy()
    game.features.position.split(changed)[name][...] = 0
    one, two, other = (
        torch.from_numpy(array) for array in (features, changed, features[::-1].copy())
    )
    for part, before in ((network.actor, untrained.actor), (network.critic, untrained.critic)):
        assert torch.equal(part(one), part(two)) and not torch.equal(part(one), before(one))
        assert not torch.equal(part(one), part(other))


@pytest.mark.parametrize("sees_hidden", [False, True])
def test_a_policy_judges_by_what_is_public(seating: Setting, sees_hidden: bool) -> None:
    """Redrawing what the player cannot know changes neither probabilities nor value."""
    game = seating.game
    network = tiny_network(game, sees_hidden=sees_hidden)
    policy = NetworkPolicy(game, network, "fair", deterministic=True)
    for count, batch in enumerate(walk(seating, 16, 200)):
        seat = int(batch.current_player[0])
        own = np.flatnonzero((batch.current_player == seat) & (batch.num_legal > 0))
        if count % 19:
            continue
        other = game.resample_hidden(batch.games, seat, count)
        observations = np.empty_like(batch.observations)
        game.observe(other, seat, observations)
        one = policy.evaluate(batch.observations[own], batch.masks[own])
        two = policy.evaluate(observations[own], batch.masks[own])
        assert np.array_equal(one[0], two[0]) and np.array_equal(one[1], two[1])


def test_the_policy_in_training_is_the_one_at_play(game: Game) -> None:
    """The learner reads states, a checkpoint observations: their probabilities are the same."""
    network = tiny_network(game)
    policy = NetworkPolicy(game, network, "at play", deterministic=True)
    for count, batch in enumerate(walk(Setting(game, {}), 16, 200)):
        rows = np.flatnonzero(batch.num_legal > 1)
        if count % 19:
            continue
        afterstates = list_afterstates(game, batch.games, rows, batch.legal, batch.num_legal)
        counts = torch.from_numpy(batch.num_legal[rows].astype(np.int64))
        shares = network.scores(torch.from_numpy(afterstates), counts).softmax(1).numpy()
        probabilities, _ = policy.evaluate(batch.observations[rows], batch.masks[rows])
        assert np.allclose(probabilities[batch.masks[rows] == 1], shares[shares > 0], atol=1e-6)


# Whole runs


@pytest.mark.slow
def test_a_short_run_leaves_a_checkpoint_logs_and_results(game: Game, tmp_path: Path) -> None:
    config = tmp_path / "tiny.toml"
    config.write_text(TINY.format(game=game.name, decisions=4000))
    out, errors = start_run(config, tmp_path / "run").communicate(timeout=600)
    assert "Traceback" not in errors, errors
    assert "4,000 decisions" in out and "opponents: random" in out and "win %" in out
    names = {path.name.split(".")[0] for path in (tmp_path / "run").iterdir()}
    files = {"checkpoint", "config", "evaluation", "events", "metrics", "snapshots", "state"}
    assert names == files
    policy = CheckpointPolicy(tmp_path / "run" / "checkpoint.safetensors", game)
    assert 4000 <= policy.card.decisions < 4500  # whole updates
    assert policy.card.config["hidden_sizes"] == [16]
    results = json.loads((tmp_path / "run" / "evaluation" / "results.json").read_text())
    names = [policy["name"] for policy in results["policies"]]
    assert names == ["run", "random", "greedy"]
    assert all(match["faults"] == 0 for match in results["matches"])
    assert _logged(tmp_path / "run") >= {
        "anchor/win_rate_random",
        "anchor/win_rate_greedy",
        "anchor/draw_rate_greedy",
        "anchor/game_length_random",
        "train/entropy",
        "train/approx_kl",
        "train/explained_variance",
        "selfplay/game_length",
        "selfplay/draw_rate",
        "selfplay/truncated_rate",
        "league/elo",
        "time/decisions_per_second",
        "time/share_collecting",
    }
    lines = read_metrics(tmp_path / "run" / "metrics.jsonl")
    assert [line["update"] for line in lines] == list(range(1, len(lines) + 1))
    assert lines[-1]["decisions"] == policy.card.decisions
    shares = [line["time/share_collecting"] + line["time/share_learning"] for line in lines]
    assert shares == pytest.approx([1.0] * len(lines))


def _logged(folder: Path) -> set[str]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder))
    events.Reload()
    return set(events.Tags()["scalars"])


def test_any_setting_can_be_changed_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Config] = []
    monkeypatch.setattr(train_module, "train", lambda run, *_: seen.append(run.config))
    monkeypatch.setattr(train_module, "evaluate", lambda *_: None)
    config, out = str(ROOT / "configs" / "crapo_quick.toml"), str(tmp_path / "run")
    changes = ["--set", "gamma=1", "--set", "hidden_sizes=[8, 4]", "--seed", "3"]
    train_module.main([config, "--out", out, *changes])
    assert (seen[0].gamma, seen[0].hidden_sizes, seen[0].seed) == (1.0, (8, 4), 3)
    assert seen[0].total_timesteps == read_config(config).total_timesteps


def test_a_bad_command_line_is_one_line_of_text(tmp_path: Path) -> None:
    config = str(ROOT / "configs" / "crapo_quick.toml")
    for arguments in (
        ["none.toml"],
        [config, "--seed", "-1"],
        [config, "--set", "gamma=high"],
        [config, "--set", "gama=0.9"],
    ):
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
