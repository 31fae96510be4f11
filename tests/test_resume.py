"""A run that is stopped, however it is, goes on as if it had never been stopped."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("safetensors")
pytest.importorskip("rich")

from tiny_training import tiny_config, tiny_run

from crapo_env.game import Game
from crapo_env.registry import GAMES
from training.checkpoint import CheckpointPolicy
from training.logs import Logs
from training.run import CHECKPOINT, STATE, Run, read_run_config
from training.storage import read_state, write_state
from training.train import train

ROOT = Path(__file__).parents[1]
UPDATES = 6
SETTINGS = """
game = "{game}"
total_timesteps = {decisions}
num_envs = 16
rollout_decisions = 256
minibatch_size = 64
hidden_sizes = [16]
bot_weights = [0.1, 0.2]
snapshot_every = 2
max_past = 2
anchor_every = 3
anchor_deals = 1
save_every = 1
eval_deals = 2
torch_threads = 1
"""


def start_run(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start a training run as a user would, Python's own warnings as errors."""
    command = [sys.executable, "-W", "error::UserWarning", "-m", "training.train", *arguments]
    return subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "100", "OMP_NUM_THREADS": "1"},
    )


def write_settings(folder: Path, game: Game, decisions: int) -> Path:
    path = folder / "tiny.toml"
    path.write_text(SETTINGS.format(game=game.name, decisions=decisions))
    return path


def wait_for_update(folder: Path, update: int) -> None:
    """Wait until a run has stored so many updates."""
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        if (folder / STATE).exists() and read_state(folder / STATE)[1]["updates"] >= update:
            return
        time.sleep(0.05)
    raise AssertionError("the run made no update")


@pytest.mark.parametrize("stop", [1, 3, 5])
def test_a_resumed_run_equals_an_unbroken_one(game: Game, tmp_path: Path, stop: int) -> None:
    """Byte for byte: weights, optimiser, games, waiting decisions, league, generator, counters."""
    whole = tiny_run(game, tmp_path / "whole")
    logs = [whole.step() for _ in range(UPDATES)]
    whole.save()
    first = tiny_run(game, tmp_path / "parts")
    for _ in range(stop):
        first.step()
    first.save()
    second = Run(game, read_run_config(first.folder), first.folder)
    second.resume()
    again = [second.step() for _ in range(UPDATES - stop)]
    second.save()
    for name in (STATE, CHECKPOINT):
        assert (first.folder / name).read_bytes() == (whole.folder / name).read_bytes()
    for one, other in zip(logs[stop:], again, strict=True):
        for name in one.keys() - {key for key in one if key.startswith("time/")}:
            assert one[name] == other[name], name
    names = {path.name for path in (whole.folder / "snapshots").iterdir()}
    assert names == {path.name for path in (first.folder / "snapshots").iterdir()}
    assert len(names) == 3


def test_a_full_disk_leaves_the_newest_whole_state(
    game: Game, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tiny_run(game, tmp_path)
    run.step()
    run.save()
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    run.step()

    def fail(file: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(OSError, match="No space left"):
            run.save()
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    again = Run(game, run.config, tmp_path)
    again.resume()
    assert again.updates == 1


def test_a_state_of_another_version_or_a_damaged_one_is_refused(game: Game, tmp_path: Path) -> None:
    run = tiny_run(game, tmp_path)
    run.step()
    run.step()
    run.step()
    run.save()
    arrays, facts = read_state(tmp_path / STATE)
    for name in ("tables_hash", "features"):
        write_state(tmp_path / STATE, arrays, facts | {name: "0123"})
        with pytest.raises(ValueError, match=f"made with {name} = '0123', here it is"):
            tiny_run(game, tmp_path).resume()
    write_state(tmp_path / STATE, arrays, facts)
    snapshots = sorted((tmp_path / "snapshots").iterdir())
    snapshots[0].write_bytes(snapshots[1].read_bytes())  # no longer what its name says
    with pytest.raises(ValueError, match="does not hold the weights that its name says"):
        tiny_run(game, tmp_path).resume()
    (tmp_path / STATE).write_bytes((tmp_path / STATE).read_bytes()[:-7])
    with pytest.raises(ValueError, match="cannot be used"):
        tiny_run(game, tmp_path).resume()
    (tmp_path / STATE).unlink()
    with pytest.raises(ValueError, match="to go on from"):
        tiny_run(game, tmp_path).resume()


def test_settings_come_back_as_they_were(game: Game, tmp_path: Path) -> None:
    config = tiny_config(game, seed=2**63 - 1, options={"max_steps": 5000})
    run = Run(game, config, tmp_path)
    run.save()
    assert read_run_config(tmp_path) == config


@pytest.mark.slow
def test_a_killed_run_resumes_and_its_logs_fit_together(tmp_path: Path) -> None:
    """SIGKILL at any moment: what was saved is whole, and no line is there twice."""
    game = GAMES["reis_nos_cantos"]
    settings, folder = write_settings(tmp_path, game, 4000), tmp_path / "run"
    run = start_run(folder, str(settings), "--out", str(folder))
    wait_for_update(folder, 2)
    run.kill()
    run.communicate(timeout=60)
    CheckpointPolicy(folder / CHECKPOINT, game)
    with (folder / "metrics.jsonl").open("a") as file:
        file.write('{"update": 99')  # a line that was being written
    out, errors = start_run(folder, "--resume", str(folder)).communicate(timeout=600)
    assert "Traceback" not in errors and "win %" in out, errors
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert [line["update"] for line in lines] == list(range(1, len(lines) + 1))
    assert lines[-1]["decisions"] >= 4000 > lines[-2]["decisions"]
    assert [line["seconds"] for line in lines] == sorted(line["seconds"] for line in lines)
    other = tmp_path / "whole"
    start_run(other, str(settings), "--out", str(other)).communicate(timeout=600)
    assert (other / CHECKPOINT).read_bytes() == (folder / CHECKPOINT).read_bytes()
    assert (other / STATE).read_bytes() == (folder / STATE).read_bytes()


def test_an_update_is_not_saved_before_its_line_is_written(game: Game, tmp_path: Path) -> None:
    """Or a run that is killed between the two resumes with a gap in its logs."""

    class FullDisk(Logs):
        def write(self, *_: object) -> None:
            raise OSError("no space")

    run = tiny_run(game, tmp_path, save_every=1)
    run.save()
    display = SimpleNamespace(seconds=lambda: 0.0)
    with FullDisk(tmp_path, 0) as logs, pytest.raises(OSError, match="no space"):
        train(run, logs, display, SimpleNamespace(requested=False))
    assert run.updates == 1 and read_state(tmp_path / STATE)[1]["updates"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_asked_to_stop_saves_first(tmp_path: Path, number: signal.Signals) -> None:
    game = GAMES["reis_nos_cantos"]
    folder = tmp_path / "run"
    settings = write_settings(tmp_path, game, 10**9)
    run = start_run(folder, str(settings), "--out", str(folder))
    wait_for_update(folder, 1)
    run.send_signal(number)
    out, errors = run.communicate(timeout=300)
    assert run.returncode == 0 and "Traceback" not in errors, errors
    assert "stopping after this update" in out
    _, facts = read_state(folder / STATE)
    policy = CheckpointPolicy(folder / CHECKPOINT, game)
    assert policy.card.decisions == facts["decisions"] > 0
    assert (folder / "evaluation").exists() == (number == signal.SIGINT)
    refused = start_run(folder, str(settings), "--out", str(folder))
    assert "holds a run; go on with --resume" in refused.communicate(timeout=60)[1]
