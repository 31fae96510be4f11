"""Approximate best responses: a weak policy is exploited, and no more is claimed than was found."""

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("scipy")

from tiny_training import tiny_config, tiny_network

from crapo_env.registry import find_game
from training.best_response import RESULT, describe, find_target, judge, main, make_settings
from training.checkpoint import make_card, save_checkpoint

GAME = find_game("reis_nos_cantos")
ROUND = {"target": 1}
RECIPE = """
game = "crapo"
num_envs = 64
rollout_decisions = 2048
minibatch_size = 512
hidden_sizes = [32]
learning_rate = {rate}
final_learning_rate = {rate}
torch_threads = 1
anchor_deals = 1
"""


def run(folder: Path, target: str, *arguments: str, rate: float = 1e-3) -> dict[str, Any]:
    """Run the command with a tiny recipe and return its result."""
    recipe = folder / "recipe.toml"
    recipe.write_text(RECIPE.format(rate=rate))
    out = folder / "response"
    main([target, "--config", str(recipe), "--out", str(out), *arguments])
    return dict(json.loads((out / RESULT).read_text()))


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    path = tmp_path / "frozen.safetensors"
    network = tiny_network(GAME, seed=5)  # not what a run with seed 0 begins with
    card = make_card(GAME, tiny_config(GAME, options=ROUND).as_dict(), network, 1)
    save_checkpoint(path, network, card)
    return path


@pytest.mark.slow
def test_a_weak_policy_is_exploited(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--game", GAME.name, "--option", "target=1"]
    bound = run(tmp_path, "random", *options, "--decisions", "40000", "--pairs", "50")
    assert 40_000 <= bound["decisions"] < 50_000 and bound["deals"] == 50
    assert bound["target"] == "random" and bound["par"] == 0.5
    assert bound["exploitability_at_least"] > 0.15
    low, _ = bound["score_interval"]
    assert bound["exploitability_at_least"] == pytest.approx(low - 0.5)
    assert "Lower bound of the exploitability" in capsys.readouterr().out


@pytest.mark.slow
def test_a_checkpoint_is_where_its_response_begins(tmp_path: Path, checkpoint: Path) -> None:
    bound = run(tmp_path, str(checkpoint), "--decisions", "2048", "--pairs", "20", rate=1e-12)
    assert bound["target"] == "frozen"
    assert bound["score"] == 0.5  # it is still the same policy, which is exactly even
    assert bound["exploitability_at_least"] == 0


def test_the_learner_meets_the_frozen_policy_alone(tmp_path: Path, checkpoint: Path) -> None:
    target = find_target(str(checkpoint), None, {})
    assert target.game is GAME and target.options["target"] == 1
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(RECIPE.format(rate=1e-3))
    config = make_settings(target, recipe, 5000, 3)
    assert (config.game, config.options) == (GAME.name, target.options)
    assert config.bots == (f"checkpoint:{checkpoint}",)
    assert config.latest_weight == config.past_weight == 0
    assert config.hidden_sizes == tiny_network(GAME).hidden_sizes  # not those of the recipe
    assert (config.num_envs, config.total_timesteps, config.seed) == (64, 5000, 3)


def test_the_bound_is_the_low_end_of_the_interval() -> None:
    match = {
        "policy": "new",
        "against": ["old", "old"],
        "alone": True,
        "deals": 200,
        "par": 1 / 3,
        "score": 0.5,
        "score_interval": [0.45, 0.55],
    }
    summary = {
        "policies": [{"name": "new"}, {"name": "old"}],
        "matches": [match],
        "confidence": 0.95,
    }
    bound = judge(summary, 1000)
    assert bound["exploitability_found"] == pytest.approx(1 / 6)
    assert bound["exploitability_at_least"] == pytest.approx(0.45 - 1 / 3)
    text = describe(bound)
    assert "50.0 % [45.0, 55.0] on 200 held-out deals, par 33.3 %" in text
    assert "Lower bound of the exploitability: 11.7 points above par" in text
    match["score_interval"] = [0.2, 0.4]
    assert judge(summary, 1000)["exploitability_at_least"] == 0
    match["alone"] = False
    with pytest.raises(ValueError, match="no deal was played from every seat"):
        judge(summary, 1000)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gredy", "--out", "x"], "no policy 'gredy'; did you mean 'greedy'?"),
        (["checkpoint:none", "--out", "x"], "there is no checkpoint none"),
        (["greedy", "--out", "x", "--decisions", "0"], "total_timesteps must be above 0, not 0"),
        (["greedy", "--out", "x", "--pairs", "0"], "--pairs must be at least 1, not 0"),
        (["greedy", "--out", "x", "--option", "spades=1"], "no option 'spades'"),
        (["FROZEN", "--out", "x", "--game", "crapo"], "is for the game 'reis_nos_cantos', not"),
    ],
)
def test_a_bad_request_is_one_line(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    checkpoint: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as error:
        main([str(checkpoint) if word == "FROZEN" else word for word in arguments])
    text = str(error.value)
    assert text.startswith("error: ") and message in text and "\n" not in text
    assert not (tmp_path / "x" / RESULT).exists()
