"""The guard fails where a kernel needs more instructions, and only there."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from crapo_env.bench import guard

COUNTS: dict[str, Any] = {
    "made with": {"numba": "1"},
    "instructions": {"a step": 1000.0, "b step": 200.0},
    "decisions": {"a step": 10, "b step": 20},
}


def changed(**counts: float | None) -> dict[str, Any]:
    """Return the counts with those of `a` or `b` changed, or left out where None."""
    copy = deepcopy(COUNTS)
    for game, count in counts.items():
        copy["instructions"][f"{game} step"] = count
        if count is None:
            del copy["instructions"][f"{game} step"]
    return copy


def test_equal_counts_pass() -> None:
    lines, wrong = guard.compare(COUNTS, COUNTS)
    assert lines[0] == "a step: 1,000 instructions per decision, +0.0%"
    assert len(lines) == 2
    assert wrong == []


@pytest.mark.parametrize("count", [1049, 950, 10])
def test_a_little_more_and_any_less_pass(count: float) -> None:
    assert guard.compare(COUNTS, changed(a=count))[1] == []


def test_more_than_five_percent_fails_and_names_the_work() -> None:
    _, wrong = guard.compare(COUNTS, changed(a=1051, b=400))
    assert wrong == [
        "a step: +5.1% instructions, more than +5%",
        "b step: +100.0% instructions, more than +5%",
    ]


def test_a_work_that_only_one_side_has_fails() -> None:
    assert guard.compare(COUNTS, changed(b=None))[1] == ["b step: not counted any more"]
    assert guard.compare(changed(b=None), COUNTS)[1] == ["b step: not recorded"]


def test_games_that_play_otherwise_cannot_be_compared() -> None:
    other = changed()
    other["decisions"]["a step"] = 11
    _, wrong = guard.compare(COUNTS, other)
    assert wrong == ["a step: the same seeds play otherwise, 11 decisions, not 10"]


def test_a_report_leaves_with_status_1_if_something_is_wrong(
    capsys: pytest.CaptureFixture[str],
) -> None:
    guard.report(COUNTS, COUNTS | {"made with": {"numba": "2"}})
    assert "note: recorded with numba 1, counted with 2" in capsys.readouterr().out
    with pytest.raises(SystemExit) as left:
        guard.report(COUNTS, changed(a=2000))
    assert left.value.code == 1
    assert "a step: +100.0%" in capsys.readouterr().err


def test_counts_that_are_not_there_are_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard.shutil, "which", lambda name: name)
    with pytest.raises(SystemExit) as left:
        guard.main(["--counts", str(tmp_path / "none.json")])
    assert left.value.code == 2
    assert "--record writes them" in capsys.readouterr().err


def test_without_valgrind_it_says_what_to_install(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard.shutil, "which", lambda name: None)
    with pytest.raises(SystemExit) as left:
        guard.main([])
    assert left.value.code == 2
    assert "valgrind is not installed" in capsys.readouterr().err


def test_the_counted_work_is_the_same_every_time() -> None:
    for path in guard.list_works():
        name, work = path.split()
        assert guard.play(name, work, 2) == guard.play(name, work, 2) > 0


def test_the_recorded_counts_can_be_compared() -> None:
    recorded = json.loads(guard.RECORD.read_text())
    assert guard.compare(recorded, recorded)[1] == []
    assert set(recorded["instructions"]) == set(recorded["decisions"])
