"""The examples of the adapters' page run, and its table names what there is."""

import re
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
ADAPTERS = ROOT / "crapo_env" / "adapters"
PAGE = (ADAPTERS / "README.md").read_text(encoding="utf-8")


def run_example(heading: str) -> dict[str, object]:
    """Run the first Python example under a heading and return its names."""
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    code = re.search(r"```python\n(.*?)```", section, re.DOTALL)
    assert code is not None
    names: dict[str, object] = {}
    exec(code[1], names)
    return names


def test_the_port_of_rlcards_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    payoffs = run_example("For users of RLCard")["payoffs"]
    assert sorted(payoffs.values()) == pytest.approx([-0.5, -0.5, 1.0])
    assert "player_2" in capsys.readouterr().out


def test_the_port_of_pgxs_example_runs() -> None:
    names = run_example("For users of pgx")
    batch, returns = names["batch"], names["returns"]
    assert (batch.ended > 0).sum() <= len(batch) and not batch.num_legal.any()
    assert np.array_equal(returns[:, 0], -returns[:, 1]) and set(np.unique(returns)) <= {-1, 0, 1}


def test_the_example_of_openspiel_runs(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pyspiel")
    state = run_example("OpenSpiel")["state"]
    assert state.is_terminal() and "END" in capsys.readouterr().out


def test_every_adapter_is_in_the_table_and_every_example_exists() -> None:
    table = PAGE.split("\n## ")[0]
    for path in ADAPTERS.glob("*.py"):
        assert f"`{path.name}" in table or f"`{path.stem}." in table, path
    modules = re.findall(r"python -m (training[\w.]+)", PAGE)
    assert len(modules) > 5
    for module in modules:
        assert (ROOT / f"{module.replace('.', '/')}.py").exists(), module


def test_maskable_ppo_learns_on_the_self_play_environment() -> None:
    pytest.importorskip("sb3_contrib")
    from training.frameworks import maskable_ppo

    before, after = maskable_ppo.main(["--steps", "60000", "--opponents", "greedy"])
    assert after > before + 0.1
