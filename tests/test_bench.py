"""`make bench` shows every path, says what it did not measure, and its arithmetic is right."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from crapo_env.bench import engine, limits, peers
from crapo_env.bench.measure import Missing, Run, Sample, Series, prepare, run_rounds
from crapo_env.bench.measure import Path as BenchPath
from crapo_env.bench.report import (
    Result,
    describe_machine,
    format_rate,
    format_time,
    print_result,
)
from crapo_env.game import Game


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, list[dict]], Path]:
    """What a quick run prints, its JSON and its picture."""
    folder = tmp_path_factory.mktemp("bench") / "new folder"
    files = ["--json", folder / "bench.json", "--picture", folder / "bench.png"]
    command = [sys.executable, "-m", "crapo_env.bench", "--quick", *files]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout, json.loads((folder / "bench.json").read_text()), folder / "bench.png"


def test_a_run_prints_and_writes_every_path(quick) -> None:
    text, found, _ = quick
    names = [p.name for p in [*engine.list_paths(), *peers.list_paths(), *limits.list_paths()]]
    listed = [entry["name"] for kind in ("paths", "not measured") for entry in found[kind]]
    assert sorted(listed) == sorted(names)
    assert all(name in text for name in names)


def test_every_sample_is_in_the_json(quick) -> None:
    _, found, _ = quick
    for path in found["paths"]:
        rates = [sample["units"] / sample["cpu"] for sample in path["samples"]]
        assert len(rates) == found["settings"]["repeats"]
        assert path["per cpu second"] == pytest.approx(np.median(rates))
        assert min(rates) <= path["10-90 %"][0] <= path["10-90 %"][1] <= max(rates)


def test_the_json_says_when_on_what_and_with_what(quick) -> None:
    _, found, _ = quick
    machine = found["machine"]
    assert {"date", "processor", "cores", "python", "commit"} <= machine.keys()
    assert machine["versions"]["numba"] and machine["versions"]["pettingzoo"]
    assert found["settings"]["reference"] in [path["name"] for path in found["paths"]]


def test_the_picture_is_one(quick) -> None:
    _, _, picture = quick
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_library_that_is_not_installed_is_named_as_not_measured() -> None:
    library = peers.Library("Nobody", ("no_such_module",), ("ludo", "chess"), lambda _: len, "x")
    reason = "no_such_module not installed (pip install -e .[bench])"
    assert peers.list_paths([library]) == [
        Missing("Nobody ludo", "x", reason),
        Missing("Nobody chess", "x", reason),
    ]


def test_the_table_needs_no_rich(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [BenchPath(f"path {i}", "heading", "ours", lambda: len) for i in (1, 2)]
    series = [Series(path, len, 1, [Sample(500, 1, 2)] * 3) for path in paths]
    missing = [Missing("ludo", "heading", "nobody not installed")]
    machine = describe_machine() | {"load after": []}
    settings = {"repeats": 3, "seconds": 1}
    monkeypatch.setitem(sys.modules, "rich", None)
    monkeypatch.setitem(sys.modules, "rich.console", None)
    print_result(Result(settings, machine, series, missing, series[0], {}, []))
    lines = [line.split("  ") for line in capsys.readouterr().out.splitlines()]
    cells = [[cell.strip() for cell in line if cell] for line in lines]
    assert ["path 2", "500 decisions", "500 - 500", "2.00 ms", "250", "1"] in cells
    assert ["ludo", "not measured"] in cells
    assert ["ludo: nobody not installed"] in cells


def fail() -> Run:
    raise AttributeError("no attribute 'step'\nsecond line")


def test_a_peer_that_fails_is_missing_and_a_path_of_ours_raises() -> None:
    missing = prepare(BenchPath("peer", "x", "peer", fail), 0.01)
    assert missing == Missing("peer", "x", "failed: AttributeError: no attribute 'step'")
    with pytest.raises(AttributeError):
        prepare(BenchPath("own", "x", "ours", fail), 0.01)


def test_rates_count_processor_time_and_ratios_compare_within_a_round() -> None:
    path = BenchPath("path", "x", "ours", lambda: len)
    fast = Series(path, len, 1, [Sample(100, 1, 2), Sample(100, 2, 2), Sample(100, 4, 5)])
    slow = Series(path, len, 1, [Sample(10, 1, 1), Sample(10, 2, 1), Sample(20, 4, 1)])
    assert fast.rates().tolist() == [100, 50, 25]
    assert fast.rates("wall").tolist() == [50, 50, 20]
    assert fast.median() == 50
    assert fast.spread() == pytest.approx((30, 90))
    assert fast.ratio(slow) == 10


def test_every_round_takes_every_path_once_and_in_changing_order() -> None:
    calls: list[str] = []

    def count(name: str) -> Run:
        return lambda repeats: calls.append(name) or repeats

    paths = [BenchPath(name, "x", "ours", lambda: len) for name in "abcd"]
    series = [Series(path, count(path.name), 3) for path in paths]
    assert list(run_rounds(series, 5)) == [0, 1, 2, 3, 4]
    rounds = [calls[i : i + 4] for i in range(0, 20, 4)]
    assert all(sorted(order) == list("abcd") for order in rounds)
    assert len({tuple(order) for order in rounds}) > 1
    assert all([sample.units for sample in entry.samples] == [3] * 5 for entry in series)


@pytest.mark.parametrize(
    ("rate", "text"), [(2_312_000, "2.31 M"), (108_400, "108 k"), (43_210, "43.2 k"), (950, "950")]
)
def test_rates_have_three_digits(rate: float, text: str) -> None:
    assert format_rate(rate) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(9.876, "9.88 s"), (0.0123, "12.3 ms"), (2.87e-6, "2.87 us"), (4.5e-7, "450 ns")],
)
def test_times_have_three_digits(seconds: float, text: str) -> None:
    assert format_time(seconds) == text


def test_batches_start_with_games_in_every_phase(game: Game) -> None:
    steps = engine.make_batch(game, 2048).games["num_steps"]
    length = engine.mean_decisions(game)
    for low in (0, 0.25, 0.5):
        share = np.mean((steps >= low * length) & (steps < (low + 0.25) * length))
        assert 0.1 < share < 0.5


def test_a_recorded_game_is_played_to_its_end(game: Game) -> None:
    run = engine.prepare_play_back(game, copy=True)
    recorded = engine.record_games(game)
    assert run(len(recorded)) == sum(len(actions) for _, actions in recorded)


def test_an_environment_that_does_nothing_ends_bare_and_wrapped() -> None:
    for wrapped in (False, True):
        for back in (False, True):
            assert limits.prepare(wrapped, back)(2) == 2 * limits.LENGTH
