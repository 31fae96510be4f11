"""The command that trains the variants of a recipe."""

import json
from pathlib import Path

import pytest

pytest.importorskip("sb3_contrib")

from tiny_training import tiny_config

from crapo_env.registry import find_game
from training import ablate
from training.ablate import read_plan

ROOT = Path(__file__).parent.parent


def write_plan(folder: Path, *variants: str, deals: int = 3) -> Path:
    """Write a config and the plan of an ablation of it."""
    config = tiny_config(find_game("reis_nos_cantos"))
    names = ("num_envs", "rollout_decisions", "minibatch_size")
    lines = [f"{name} = {getattr(config, name)}" for name in names]
    (folder / "tiny.toml").write_text("\n".join(['game = "reis_nos_cantos"', *lines]))
    plan = folder / "plan.toml"
    plan.write_text(
        f'config = "tiny.toml"\nseeds = [0, 1]\nopponent = "first_legal"\ndeals = {deals}\n'
        "[settings]\ntotal_timesteps = 600\nhidden_sizes = [8]\ntorch_threads = 1\n[variants]\n"
        + "\n".join(variants)
    )
    return plan


def read_results(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_every_variant_is_trained_with_every_seed_and_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "results.jsonl"
    plan = write_plan(tmp_path, "base = {}", "short = { gamma = 0.5 }")
    ablate.main([str(plan), "--out", str(out)])
    results = read_results(out)
    found = [(r["variant"], r["config"]["seed"], r["config"]["gamma"]) for r in results]
    assert found == [("base", 0, 0.998), ("base", 1, 0.998), ("short", 0, 0.5), ("short", 1, 0.5)]
    for result in results:
        low, high = result["interval"]
        assert 0 <= low <= result["score"] <= high <= 1
        assert result["decisions"] >= 600
    assert "short, seed 1" in capsys.readouterr().out

    plan = write_plan(tmp_path, "base = {}", "short = { gamma = 0.6 }")
    ablate.main([str(plan), "--out", str(out)])
    assert read_results(out)[:4] == results  # kept
    again = [(r["variant"], r["config"]["gamma"]) for r in read_results(out)[4:]]
    assert again == [("short", 0.6), ("short", 0.6)]
    assert "base" not in capsys.readouterr().out.partition("variant")[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = {", "is not TOML"),
        ("x = { gama = 1.0 }", "no setting 'gama'; did you mean 'gamma'"),
    ],
)
def test_a_bad_plan_is_one_line_of_text(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SystemExit, match=f"error: .*{message}"):
        ablate.main([str(write_plan(tmp_path, text)), "--out", str(tmp_path / "out")])


def test_a_plan_needs_all_its_entries(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text("seeds = [0]")
    with pytest.raises(ValueError, match="has no entry 'config'"):
        read_plan(plan)
    with pytest.raises(ValueError, match=r"cannot read .*none"):
        read_plan(tmp_path / "none")


def test_the_published_plans_can_be_read() -> None:
    plans = sorted((ROOT / "configs" / "ablations").glob("*.toml"))
    assert plans
    for path in plans:
        plan, variants = read_plan(path)
        assert len(plan["seeds"]) >= 2
        assert len({str(configs[0]) for configs in variants.values()}) == len(variants)
