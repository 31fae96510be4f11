"""Trackers get the numbers of a run, and a resumed run goes on in the same record."""

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("sb3_contrib")

from training import train
from training.logs import Logs
from training.tracking import TRACKERS, Tracker


class Recorder(ModuleType):
    """Stands for either package and notes how it is called."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)

        def call(*args: Any, **kwargs: Any) -> SimpleNamespace:
            self.calls.append((name, args, kwargs))
            return SimpleNamespace(id="abc", info=SimpleNamespace(run_id="abc"))

        return call

    def asked(self, name: str) -> list[dict[str, Any]]:
        """Return the keyword arguments of all calls of a function."""
        return [kwargs for called, _, kwargs in self.calls if called == name]


@pytest.mark.parametrize("name", TRACKERS)
def test_numbers_go_to_the_tracker(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = Recorder(name)
    monkeypatch.setitem(sys.modules, name, package)
    for update in (1, 2):
        with Logs(tmp_path, update - 1, Tracker(name, tmp_path, {"seed": 7})) as logs:
            logs.write(update, 100 * update, 0.5, {"train/entropy": 1.5})
    begin, log, end = {
        "wandb": ("init", "log", "finish"),
        "mlflow": ("start_run", "log_metrics", "end_run"),
    }[name]
    key = "id" if name == "wandb" else "run_id"
    assert [kwargs[key] for kwargs in package.asked(begin)] == [None, "abc"]
    written = [(args, kwargs) for called, args, kwargs in package.calls if called == log]
    assert written == [(({"train/entropy": 1.5},), {"step": n}) for n in (100, 200)]
    assert len(package.asked(end)) == 2
    if name == "mlflow":  # W&B gets the settings as it begins; those of MLflow are written once
        settings = [args for called, args, _ in package.calls if called == "log_params"]
        assert settings == [({"seed": 7},)]
    else:
        assert package.asked(begin)[0]["config"] == {"seed": 7}


@pytest.mark.parametrize("name", TRACKERS)
def test_a_missing_tracker_is_named_before_the_training(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    config = Path(__file__).parent.parent / "configs" / "crapo_quick.toml"
    out = tmp_path / "run"
    with pytest.raises(SystemExit, match=f"error: --track {name}: .*; pip install {name}"):
        train.main([str(config), "--track", name, "--out", str(out), "--set", "num_envs=8"])
    assert not (out / "metrics.jsonl").exists()
