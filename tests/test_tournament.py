"""Tournaments: policies that misbehave lose their games, and the table does not depend on luck."""

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import odd_policies
import pytest

pytest.importorskip("torch")
pytest.importorskip("scipy")

from rich.console import Console
from tiny_training import tiny_config, tiny_network

from crapo_env import bots
from crapo_env.bots import register_loader
from crapo_env.registry import find_game
from training.checkpoint import make_card, save_checkpoint
from training.evaluation.folder import GAMES, RESULTS
from training.evaluation.policies import ask
from training.evaluation.records import GameRecord
from training.evaluation.request import Request, make_request
from training.evaluation.results import Results
from training.evaluation.run import run_tournament
from training.evaluation.schedule import make_units
from training.evaluation.tournament import Limit, Tournament

GAME = find_game("reis_nos_cantos")
SHORT = {"target": 1}  # a single round


@pytest.fixture(autouse=True)
def odd_loader(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(bots, "_LOADERS", dict(bots._LOADERS))
    register_loader("odd", odd_policies.TARGET)
    yield


def request(
    *specs: str, pairs: int = 4, options: dict[str, Any] = SHORT, **settings: Any
) -> Request:
    return make_request(GAME, options, specs, pairs=pairs, **settings)


def play(asked: Request) -> list[GameRecord]:
    """Play all games of a request, in the order of deals and seats."""
    units = list(make_units(asked.lineups, asked.seeds, 0, len(asked.seeds), asked.batch))
    limit = Limit(asked.ms)
    game, options = asked.found_game, asked.options
    with Tournament(game, options, asked.setup(), asked.workers, limit) as tournament:
        records = [record for ended in tournament.play(units) for record in ended]
    assert len(records) == sum(len(unit.plans) for unit in units)
    return sorted(records, key=lambda record: (record.plan.deal, record.plan.seats))


def played(records: list[GameRecord]) -> list[tuple[Any, ...]]:
    return [(r.plan, r.actions, r.outcomes, r.fault and r.fault.kind) for r in records]


def check_faults(records: list[GameRecord], kind: str) -> str:
    """Check that policy 0 lost some games by such a fault, and policy 1 none; return the text."""
    faults = [(record, record.fault) for record in records if record.fault is not None]
    assert 0 < len(faults) < len(records)
    for record, fault in faults:
        assert fault.kind == kind
        assert record.plan.seats[fault.seat] == 0
        assert record.scores[fault.seat] == 0 and sum(record.scores) == 1
        assert record.outcomes[fault.seat].name == "LOSS"
    return faults[0][1].text


@pytest.mark.parametrize(
    ("what", "kind", "text"),
    [
        ("fail", "raised", "RuntimeError: I am"),
        ("leave", "raised", "SystemExit: 3"),
        ("talk", "raised", "TypeError: actions must be 1 integers"),
        ("cheat", "illegal", ""),
    ],
)
def test_a_policy_that_errs_loses_that_game(what: str, kind: str, text: str) -> None:
    records = play(request(f"odd:{what}", "greedy", pairs=12))
    assert text in check_faults(records, kind)
    well = {r.plan: r for r in play(request("odd:never", "greedy", pairs=12))}
    for record in records:
        if record.fault is None:
            assert record.actions == well[record.plan].actions


@pytest.mark.slow
@pytest.mark.parametrize(("what", "kind"), [("hang", "late"), ("sleep", "late"), ("die", "died")])
def test_a_policy_that_hangs_or_dies_loses_that_game(what: str, kind: str) -> None:
    records = play(request(f"odd:{what}", "greedy", pairs=2, ms=1000))
    check_faults(records, kind)


@pytest.mark.slow
def test_a_hang_without_a_limit_is_found_among_many_games(monkeypatch: pytest.MonkeyPatch) -> None:
    from training.evaluation import tournament

    monkeypatch.setattr(tournament, "PATIENCE_MS", 100.0)
    monkeypatch.setattr(tournament, "FIRST_SECONDS", 8.0)
    records = play(request("odd:hang", "greedy", pairs=3))
    assert "no answer within" in check_faults(records, "late")


def test_a_policy_sees_no_game_and_cannot_spoil_one() -> None:
    clean = play(request("odd:never", "greedy"))
    assert all(record.fault is None for record in clean)
    for what in ("spy", "spoil"):
        records = play(request(f"odd:{what}", "greedy"))
        assert [played([r])[0][1:] for r in records] == [played([r])[0][1:] for r in clean]


def test_a_question_stays_as_it_was_asked() -> None:
    policy = odd_policies.OddPolicy(GAME, "spoil")
    observations = np.zeros((3, len(GAME.fields)), np.int8)
    masks = np.zeros((3, len(GAME.actions)), np.int8)
    masks[:, 5] = 1
    assert ask(policy, observations, masks).actions.tolist() == [5, 5, 5]
    assert not observations.any() and masks.sum() == 3


def test_the_games_do_not_depend_on_workers_batches_or_limits() -> None:
    options = SHORT | {"num_players": 3}
    asked = {"pairs": 6, "options": options}
    one = played(play(request("random", "greedy", "heuristic", **asked)))
    assert len({actions for _, actions, *_ in one}) > 0.9 * len(one)  # two of them are alike
    for changed in ({"workers": 2, "batch": 1}, {"batch": 4}, {"ms": 5000.0}):
        assert played(play(request("random", "greedy", "heuristic", **asked, **changed))) == one
    other = played(play(request("random", "greedy", "heuristic", **asked, seed=1)))
    assert other != one


def test_a_policy_that_remembers_is_made_anew_for_every_game() -> None:
    one = played(play(request("odd:forgetful", "greedy", pairs=5)))
    assert played(play(request("odd:forgetful", "greedy", pairs=5, batch=1, workers=2))) == one


def test_policies_that_cannot_be_had_are_named_before_a_game() -> None:
    for specs, text in (
        (("odd:broken", "greedy"), "this policy cannot be made"),
        (("gredy", "greedy"), "did you mean 'greedy'"),
        (("checkpoint:none", "greedy"), "there is no checkpoint none"),
    ):
        with pytest.raises(ValueError, match=text):
            play(request(*specs))


# Folders


def quiet_run(asked: Request, out: Path, **arguments: Any) -> dict[str, Any]:
    return run_tournament(asked, Console(quiet=True), out, **arguments)


def without_times(summary: dict[str, Any]) -> dict[str, Any]:
    """Return a summary without what is measured with a clock."""
    text = json.dumps(summary, sort_keys=True)
    summary = json.loads(text)
    for row in [*summary["policies"], *summary["matches"]]:
        del row["ms_per_decision"]
    return summary


def test_a_resumed_tournament_ends_with_the_same_table(tmp_path: Path) -> None:
    asked = request("random", "greedy", "heuristic", pairs=6, batch=2)
    whole = quiet_run(asked, tmp_path / "whole")
    lines = (tmp_path / "whole" / GAMES).read_text().splitlines(keepends=True)
    assert len(lines) == 3 * 2 * 6 and whole["complete"] and whole["games"] == len(lines)
    quiet_run(request("random", "greedy", "heuristic", pairs=2, batch=2), tmp_path / "part")
    part = tmp_path / "part" / GAMES
    part.write_text("".join(lines[:7]) + lines[7][:50])  # as a crash may leave it
    resumed = quiet_run(asked, tmp_path / "part", resume=True)
    assert without_times(resumed) == without_times(whole)
    assert sorted(map(_game, part.read_text().splitlines())) == sorted(map(_game, lines))
    again = quiet_run(asked, tmp_path / "part", resume=True)
    assert without_times(again) == without_times(whole)
    assert len(part.read_text().splitlines()) == len(lines)


def _game(line: str) -> str:
    return str({name: value for name, value in json.loads(line).items() if name != "ms"})


def test_policies_can_be_added_to_a_tournament(tmp_path: Path) -> None:
    asked = request("random", "greedy", "heuristic", pairs=3)
    whole = quiet_run(asked, tmp_path / "whole")
    quiet_run(request("random", "heuristic", pairs=3), tmp_path / "part")
    before = (tmp_path / "part" / GAMES).read_text()
    added = quiet_run(asked, tmp_path / "part", resume=True)
    assert without_times(added) == without_times(whole)
    after = (tmp_path / "part" / GAMES).read_text()
    assert after.startswith(before) and after.count("\n") == 3 * before.count("\n")


def test_games_of_changed_policies_can_be_dropped(tmp_path: Path) -> None:
    """The file of a checkpoint is another one; random is not asked for any more."""
    network = tiny_network(GAME)
    card = make_card(GAME, tiny_config(GAME, options=SHORT).as_dict(), network, 0)
    file = tmp_path / "mine.safetensors"
    save_checkpoint(file, network, card)
    quiet_run(request("random", "greedy", "heuristic", str(file), pairs=3), tmp_path / "run")
    games = tmp_path / "run" / GAMES
    before = games.read_text().splitlines()
    save_checkpoint(file, tiny_network(GAME, seed=1), card)
    asked = request("greedy", "heuristic", str(file), pairs=3)
    with pytest.raises(ValueError, match="was played with policies"):
        quiet_run(asked, tmp_path / "run", resume=True)
    assert games.read_text().splitlines() == before
    games.write_text("\n".join(before)[:-9])  # as a crash may leave it
    other = request("greedy", "heuristic", str(file), pairs=3, seed=5)
    with pytest.raises(ValueError, match="seed 0, now it is 5"):
        quiet_run(other, tmp_path / "run", resume=True, drop_changed=True)
    summary = quiet_run(asked, tmp_path / "run", resume=True, drop_changed=True)
    assert without_times(summary) == without_times(quiet_run(asked, tmp_path / "anew"))
    kept = [line for line in before if set(json.loads(line)["seats"]) == {"greedy", "heuristic"}]
    after = games.read_text().splitlines()
    assert len(kept) == 6 and kept == after[:6] and len(after) == 18
    quiet_run(asked, tmp_path / "run", resume=True, drop_changed=True)
    assert games.read_text().splitlines() == after


def test_slow_policies_play_on_fewer_deals_and_in_no_mixed_lineup() -> None:
    asked = request(
        "random",
        "first_legal",
        "greedy",
        "heuristic",
        pairs=9,
        options={"num_players": 3},
        few=("heuristic",),
        few_pairs=2,
        rungs=(("heuristic", "greedy", 4),),
    )
    deals = {
        tuple(asked.specs[policy] for policy in lineup): asked.num_deals(lineup)
        for lineup in asked.lineups
    }
    assert deals.pop(("random", "first_legal", "greedy")) == 9
    assert deals.pop(("greedy", "greedy", "heuristic")) == 4
    assert len(deals) == 11 and all(len(set(lineup)) == 2 for lineup in deals)
    assert all(n == (2 if "heuristic" in lineup else 9) for lineup, n in deals.items())


def test_games_of_other_settings_are_not_resumed(tmp_path: Path) -> None:
    asked = request("random", "greedy", pairs=2)
    quiet_run(asked, tmp_path)
    with pytest.raises(ValueError, match="exists already; go on with it by --resume"):
        quiet_run(asked, tmp_path)
    for other, text in (
        (request("random", "heuristic", pairs=2), "policies .*'greedy'.* now it is .*'heuristic'"),
        (request("random", "greedy", pairs=2, seed=5), "seed 0, now it is 5"),
        (request("random", "greedy", pairs=2, options={}), "'target': 1, .*'target': 25"),
        (request("random", "greedy", pairs=2, fresh=1), "deals .* now it is 'fresh, seed 1'"),
    ):
        with pytest.raises(ValueError, match=text):
            quiet_run(other, tmp_path, resume=True)
    with pytest.raises(ValueError, match="there is nothing to resume"):
        quiet_run(asked, tmp_path / "none", resume=True)
    (tmp_path / GAMES).write_text("spades\n")
    with pytest.raises(ValueError, match="not a game of these policies: 'spades'"):
        quiet_run(asked, tmp_path, resume=True)
    assert json.loads((tmp_path / RESULTS).read_text())["settings"]["seed"] == 0


def test_ctrl_c_keeps_what_was_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import os
    import signal

    asked = request("random", "greedy", "heuristic", pairs=8, batch=1)
    add = Results.add
    counted = []

    def interrupt(results: Results, records: Any) -> None:
        records = list(records)
        counted.extend(records)
        add(results, records)
        if len(counted) == 9:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(Results, "add", interrupt)
    summary = quiet_run(asked, tmp_path)
    monkeypatch.undo()
    register_loader("odd", odd_policies.TARGET)
    assert summary["ended"] == "interrupted" and not summary["complete"]
    lines = (tmp_path / GAMES).read_text().splitlines()
    assert 9 <= len(lines) == summary["games"] < 3 * 2 * 8
    assert json.loads((tmp_path / RESULTS).read_text())["ended"] == "interrupted"
    resumed = quiet_run(asked, tmp_path, resume=True)
    assert resumed["complete"] and resumed["games"] == 3 * 2 * 8


def test_the_play_stops_when_the_intervals_are_narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    from training.evaluation import request as requests

    monkeypatch.setattr(requests, "FIRST_LOOK", 4)
    asked = request("random", "greedy", pairs=64, batch=4, until_ci=0.2)
    assert asked.looks == [4, 8, 16, 32, 64]
    assert asked.confidence == pytest.approx(0.99)
    summary = run_tournament(asked, Console(quiet=True))
    deals = summary["deals"]["complete"]
    assert summary["ended"] == "narrow enough" and deals in asked.looks[:-1]
    ends = [match["score_interval"] for match in summary["matches"]]
    assert all(high - low <= 0.4 for low, high in ends)
    strict = request("random", "greedy", pairs=8, batch=4, until_ci=1e-9)
    assert run_tournament(strict, Console(quiet=True))["ended"] == "all games played"


def test_slow_policies_may_play_fewer_deals() -> None:
    slow = {"few": ("planner:nodes=9",), "few_pairs": 2}
    asked = request("random", "greedy", "planner:nodes=9", pairs=5, **slow)
    summary = run_tournament(asked, Console(quiet=True))
    assert summary["games"] == asked.num_games == 2 * (5 + 2 + 2)
    for match in summary["matches"]:
        meets_slow = "planner:nodes=9" in (match["policy"], *match["against"])
        assert match["deals"] == (2 if meets_slow else 5)
    assert all(policy["elo"] is not None for policy in summary["policies"])


def test_the_progress_bar_shows_games_time_and_interval() -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=150)
    run_tournament(request("random", "greedy", pairs=6, batch=1), console)
    assert "of 12 games" in screen.getvalue() and "left" in screen.getvalue()
    assert re.search(r"widest interval ±\d+\.\d %", screen.getvalue())


def test_fresh_deals_are_new_and_begin_alike() -> None:
    few, many = request("random", "greedy", fresh=3), request("random", "greedy", fresh=3, pairs=9)
    assert few.seeds == many.seeds[:4] and len(set(many.seeds)) == 9
    assert min(many.seeds) >= 2**63
    assert request("random", "greedy", fresh=4).seeds != few.seeds
    assert np.array_equal(request("random", "greedy").seeds, 2**63 + np.arange(4, dtype=np.uint64))
