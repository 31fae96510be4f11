"""The commands that draw a run and that measure a recipe."""

import json
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("sb3_contrib")

import torch
from tiny_training import tiny_config

from crapo_env.game import Game
from training import plot, speed


def write_metrics(folder: Path, *lines: dict[str, float]) -> Path:
    folder.mkdir()
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "metrics.jsonl").write_text(text)
    return folder


def test_curves_of_runs_become_a_picture(tmp_path: Path) -> None:
    lines = [{"update": k, "decisions": 1000 * k, "train/entropy": 1.0 / k} for k in (1, 2, 3)]
    lines[2]["anchor/win_rate_random"] = 0.9
    first = write_metrics(tmp_path / "a", *lines)
    second = write_metrics(tmp_path / "b", *lines[:2])
    plot.main([str(first), str(second)])
    assert (first / "curves.png").read_bytes().startswith(b"\x89PNG")
    assert plot.list_panels([lines]) == ["anchor/win_rate_random", "train/entropy"]
    with pytest.raises(SystemExit, match=r"error: .* has no metrics.jsonl with a line in it"):
        plot.main([str(tmp_path / "none")])


def test_the_parts_of_a_recipe_and_its_limits_are_measured(game: Game, tmp_path: Path) -> None:
    config = tiny_config(game, rollout_decisions=512, minibatch_size=256, num_envs=32)
    results = speed.measure(config, 2, tmp_path)
    assert all(len(values) == 2 for values in results["all"].values())
    speeds = results["decisions_per_second"]
    assert speeds["products"] > speeds["recipe"] > 0 and speeds["MaskablePPO"] > 0
    shares = results["shares"]
    assert set(shares) == {*speed.PARTS, "bookkeeping"}
    assert sum(shares.values()) == pytest.approx(1)
    assert all(0 < share < 1 for share in shares.values())
    assert results["actions_per_decision"] > 2


def test_the_products_are_those_of_the_network(game: Game, tmp_path: Path) -> None:
    """Forward, gradient of the weights, and gradient of the inputs but for the first layer."""
    factors = speed._training_products([(10, 6), (6, 1)], 20, torch.rand)
    shapes = [(tuple(left.shape), tuple(right.shape)) for left, right in factors]
    first, second = (
        [((20, 10), (10, 6)), ((10, 20), (20, 6))],
        [((20, 6), (6, 1)), ((6, 20), (20, 1))],
    )
    assert shapes == [*first, *second, ((20, 1), (1, 6))]
