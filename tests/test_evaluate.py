"""The evaluation: its command, its numbers, its files, and deals that no training uses."""

import html.parser
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Setting

pytest.importorskip("scipy")

from crapo_env.batch import Batch
from crapo_env.bots import make_policy
from crapo_env.game import Game
from crapo_env.registry import find_game
from training import replay
from training.evaluate import main, make_parser, read_request
from training.evaluation.intervals import deals_for, interval, mean_interval, plan_looks
from training.evaluation.records import Fault, Outcome, check_replay, score_seats
from training.evaluation.report import write_report
from training.evaluation.results import Meeting
from training.match import DRAW, WIN, play_match
from training.option_text import read_option

ROOT = Path(__file__).parents[1]
SEEDS = np.arange(2**63, 2**63 + 24, dtype=np.uint64)
LOSS, CAPPED = Outcome.LOSS, Outcome.CAPPED


# Games


def test_a_policy_against_itself_is_exactly_even(game: Game) -> None:
    for spec in ("greedy", "first_legal"):
        match = play_match(game, make_policy(spec, game), make_policy(spec, game), SEEDS)
        assert match.score() == 0.5
        assert match.share(WIN) == match.share(LOSS)
        assert match.meeting.distinct_games == len(SEEDS)  # both seatings of a deal are one game


def test_every_deal_is_played_from_every_seat_as_the_engine_plays_it(seating: Setting) -> None:
    game, options = seating
    policy, opponent = make_policy("greedy", game), make_policy("first_legal", game)
    match = play_match(game, policy, opponent, SEEDS[:5], options)
    meeting = match.meeting
    num_seats = meeting.seats.shape[2]
    assert num_seats == int(game.new_games(1, options)["num_players"][0])
    for d in range(5):
        assert sorted(np.argwhere(meeting.seats[d] == 0)[:, 1]) == list(range(num_seats))
        for g, seats in enumerate(meeting.seats[d]):
            batch = Batch(game, 1, options, auto_reset=False)
            batch.reset(SEEDS[d : d + 1])
            total, decisions = np.zeros(num_seats), np.zeros(num_seats)
            while not batch.ended[0]:
                seat = int(batch.current_player[0])
                decisions[seat] += 1
                mover = (policy, opponent)[seats[seat]]
                batch.step(mover.act(batch.observations, batch.masks))
                total += batch.rewards[0]
            signs = np.sign(total.round(6))
            expected = np.select([signs > 0, signs < 0], [WIN, LOSS], DRAW)
            assert np.array_equal(meeting.outcomes[d, g], expected)
            assert np.array_equal(meeting.decisions[d, g], decisions)
            if game.points:
                totals = batch.games[game.points][0][:num_seats]
                assert np.array_equal(meeting.points[d, g], totals)


def test_known_strength_is_found(game: Game) -> None:
    match = play_match(game, make_policy("greedy", game), make_policy("random", game), SEEDS)
    assert match.score() > 0.85
    assert sum(match.share(outcome) for outcome in Outcome) == pytest.approx(1)
    assert match.meeting.distinct_games == 2 * len(SEEDS)
    assert not match.meeting.faults.any()


def test_capped_games_are_no_wins_and_no_draws(game: Game) -> None:
    policy = make_policy("random", game)
    match = play_match(game, policy, policy, SEEDS, {"max_steps": 10})
    assert match.share(CAPPED) == 1 and match.score() == 0.5
    assert match.share(WIN) == match.share(DRAW) == match.share(LOSS) == 0


def test_outcomes_and_scores_follow_from_what_the_seats_received() -> None:
    def scored(*returns: float, truncated: bool = False, fault: Fault | None = None) -> Any:
        return score_seats(np.array(returns), truncated, fault)

    assert scored(1, -1) == ((WIN, LOSS), (1, 0))
    assert scored(0, 0) == ((DRAW, DRAW), (0.5, 0.5))
    assert scored(0.5, 0.5, -1) == ((WIN, WIN, LOSS), (0.5, 0.5, 0))
    assert scored(0.3, 0.1, -0.2, -0.2) == ((WIN, LOSS, LOSS, LOSS), (1, 0, 0, 0))
    assert scored(0, 0, truncated=True) == ((CAPPED, CAPPED), (0.5, 0.5))
    late = Fault(1, "late", "")
    assert scored(0, 0, 0, fault=late) == ((WIN, LOSS, WIN), (0.5, 0, 0.5))


# Numbers


def test_the_interval_is_over_deals_not_games() -> None:
    deals = np.array([1.0, 0.0] * 50)  # both games of a deal agree: 200 games, but 100 results
    low, high = interval(deals)
    assert (low, high) == pytest.approx((0.404, 0.596), abs=0.003)
    assert interval(np.full(100, 0.5)) == (0.5, 0.5)  # each deal split: no luck is left
    mixed = np.array([1.0, 0.5, 0.5, 0.0] * 25)
    assert interval(mixed)[0] > low and interval(mixed)[1] < high
    wide = interval(mixed, 0.99)
    assert wide[0] < interval(mixed)[0] and wide[1] > interval(mixed)[1]
    low, high = interval(np.ones(100))
    assert 0.96 < low < 0.97 and high == 1
    low, high = interval(np.array([0.5]))
    assert low < 0.1 and high > 0.9


def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    luck = rng.random((2000, 200)) < 0.6  # who the deal favours
    upset = rng.random((2, 2000, 200)) < 0.3
    shares = (luck != upset).mean(axis=0)
    truth = 0.6 * 0.7 + 0.4 * 0.3
    covered = [low <= truth <= high for low, high in map(interval, shares)]
    assert 0.93 < np.mean(covered) < 0.97


def test_a_sequential_stop_keeps_its_promise() -> None:
    """Looking five times at 95 % breaks it, at the corrected level it holds."""
    rng = np.random.default_rng(1)
    games = rng.random((1500, 1600)) < 0.5
    looks = plan_looks(100, 1600)
    assert looks == [100, 200, 400, 800, 1600]

    def misses(confidence: float) -> float:
        missed = [
            any(
                not low <= 0.5 <= high for low, high in (interval(x[:n], confidence) for n in looks)
            )
            for x in games
        ]
        return float(np.mean(missed))

    assert misses(0.95) > 0.08
    assert misses(1 - 0.05 / len(looks)) < 0.05


def test_games_needed_make_the_interval_as_narrow_as_wanted() -> None:
    values = np.random.default_rng(2).random(500) < 0.3
    n = deals_for(values, 0.02)
    low, high = interval(np.resize(values.astype(float), n))
    assert (high - low) / 2 == pytest.approx(0.02, rel=0.02)
    mean, low, high = mean_interval(np.array([1.0, 2.0, 3.0]))
    assert mean == 2 and high - mean == pytest.approx(mean - low) == pytest.approx(1.1316, abs=1e-3)


def _meeting(scores: np.ndarray, points: np.ndarray | None = None) -> Meeting:
    """Return a meeting of two policies that change seats, given policy 0's scores (d, 2)."""
    seats = np.tile([[0, 1], [1, 0]], (len(scores), 1, 1))
    both = np.where(seats == 0, scores[:, :, None], 1 - scores[:, :, None])
    outcomes = np.select([both == 1, both == 0], [WIN, LOSS], DRAW)
    none, ones = np.zeros(seats.shape, bool), np.ones(seats.shape)
    deals = np.arange(len(scores))
    return Meeting((0, 1), deals, seats, both, outcomes, points, ones, ones, none, 1)


def test_the_variance_factor_says_what_pairing_saves() -> None:
    rng = np.random.default_rng(3)
    apart = (rng.random((4000, 2)) < 0.5).astype(float)
    assert _meeting(apart).variance_factor(0) == pytest.approx(1, abs=0.07)
    luck = rng.random(4000) < 0.5  # the deal decides for a seat, but for one game in ten
    upset = rng.random((4000, 2)) < 0.1
    scores = (np.stack([luck, ~luck], axis=1) != upset).astype(float)
    correlation = np.corrcoef(scores.T)[0, 1]
    assert _meeting(scores).variance_factor(0) == pytest.approx(1 / (1 + correlation), rel=0.01)
    assert _meeting(scores).variance_factor(1) == pytest.approx(1 / (1 + correlation), rel=0.01)
    assert _meeting(np.full((5, 2), 0.5)).variance_factor(0) is None


def test_a_meeting_counts_by_seat_and_points() -> None:
    scores = np.array([[1.0, 1.0], [1.0, 0.0], [0.5, 0.0], [1.0, 0.0]])
    points = np.array([[[3, 10], [10, 3]]] * 3 + [[[0, 25], [5, 25]]])
    meeting = _meeting(scores, points)
    assert [seat["win"] for seat in meeting.seat_shares(0)] == [0.75, 0.25]
    assert [seat["loss"] for seat in meeting.seat_shares(1)] == [0.25, 0.75]
    assert meeting.seat_shares(0)[0]["draw"] == 0.25
    assert meeting.deals_by_score(0) == {"0.25": 1, "0.5": 2, "1": 1}
    assert meeting.deal_points(0).tolist() == [7, 7, 7, 2.5]
    assert meeting.deal_points(1).tolist() == [-7, -7, -7, -2.5]
    assert meeting.deal_shares(3).tolist() == [
        [1, 0, 0],
        [0.5, 0.5, 0],
        [0.25, 0.75, 0],
        [0.5, 0.5, 0],
    ]


# The command


def test_options_are_read_as_written(game: Game) -> None:
    assert read_option("max_steps=7") == ("max_steps", 7)
    for option in game.options:
        for value in option.values:
            assert read_option(f"{option.name}={value}") == (option.name, value)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder that the command wrote for a small tournament of three."""
    path = tmp_path_factory.mktemp("evaluation") / "out"
    arguments = ["heuristic", "--game", "reis_nos_cantos", "--option", "num_players=3"]
    main([*arguments, "--option", "target=1", "--pairs", "4", "--out", str(path)])
    return path


def test_the_command_writes_everything(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert {path.name for path in folder.iterdir()} == {
        "games.jsonl",
        "report.html",
        "results.json",
    }
    results = json.loads((folder / "results.json").read_text())
    assert results["complete"] and results["players"] == 3
    assert results["options"]["target"] == 1 and results["options"]["draw_at"] == "start"
    assert [policy["name"] for policy in results["policies"]] == ["heuristic", "random", "greedy"]
    assert all(set(policy["faults"].values()) == {0} for policy in results["policies"])
    assert len(results["matches"]) == 6 * 2 + 3  # each alone against each, from both sides; mixed
    for match in results["matches"]:
        assert match["games"] == 12 and match["deals"] == 4 and match["faults"] == 0
        shares = [match[name] for name in ("win", "draw", "loss", "capped")]
        assert sum(shares) == pytest.approx(1)
        low, high = match["score_interval"]
        assert low <= match["score"] <= high and match["par"] == pytest.approx(1 / 3)
        assert len(match["by_seat"]) == 3 and match["points"] is not None
    ratings = {policy["name"]: policy for policy in results["policies"]}
    assert ratings["random"]["elo"] == 0 and ratings["heuristic"]["elo"] > 100
    games = [json.loads(line) for line in (folder / "games.jsonl").read_text().splitlines()]
    assert len(games) == results["games"] == 7 * 3 * 4
    decided = sum(sum(game["decisions"]) for game in games)
    assert decided == sum(policy["decisions"] for policy in results["policies"])


def test_every_game_can_be_replayed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "games.jsonl"
    replay.main([str(path)])
    assert "84 games end as recorded" in capsys.readouterr().out
    values = replay.read_games(path)[5]
    replay.main([str(path), "--show", "6"])
    shown = capsys.readouterr().out.splitlines()
    assert len(shown) == len(values["actions"]) + 2
    assert shown[0].split()[1] in values["seats"] and "END" in "".join(shown)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"game": "reis_nos_cantos_v9"}, "played with game 'reis_nos_cantos_v9', here it is"),
        ({"tables_hash": "0"}, "played with tables_hash '0', here it is"),
        ({"scores": [1, 1, 1]}, "the replay ends with scores"),
        ({"actions": []}, "after its 0 actions the game is not over"),
        ({"actions": [10_000]}, "out of range"),
        ({"points": [1, 2, 3]}, "ends with points"),
        ({"fault": {"seat": 9, "kind": "late", "text": ""}}, "at the fault of 9"),
        ({"options": {"spades": 1}}, "no option 'spades'"),
    ],
)
def test_a_game_that_was_tampered_with_is_noticed(
    folder: Path, change: dict[str, Any], message: str
) -> None:
    values = replay.read_games(folder / "games.jsonl")[3]
    check_replay(values)
    with pytest.raises(ValueError) as error:
        check_replay(values | change)
    assert message in str(error.value)


def test_a_game_from_a_written_deck_is_replayed() -> None:
    game = find_game("reis_nos_cantos")
    deck = [rank + suit for suit in "hsdc" for rank in "A23456789TJQK"]
    options = game.read_options({"target": 1})
    batch = Batch(game, 1, options, auto_reset=False)
    batch.deal(deck, 5)
    actions, returns = [], np.zeros(2)
    while not batch.ended[0]:
        actions.append(int(batch.legal[0, 0]))
        batch.step(np.array(actions[-1:]))
        returns += batch.rewards[0]
    outcomes, scores = score_seats(returns, False, None)
    values = {
        "game": game.id,
        "tables_hash": game.tables_hash(),
        "options": options,
        "seed": 5,
        "deck": deck,
        "actions": actions,
        "outcomes": [outcome.name.lower() for outcome in outcomes],
        "scores": list(scores),
        "points": batch.games["totals"][0, :2].tolist(),
        "fault": None,
    }
    check_replay(values)
    with pytest.raises(ValueError):
        check_replay(values | {"deck": deck[::-1]})


class _Page(html.parser.HTMLParser):
    """Collects what a page would load, and its tags."""

    def __init__(self) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.loads += [v for k, v in attrs if k in ("src", "href", "data") and v and v[0] != "#"]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_report_is_one_file_for_any_screen(folder: Path) -> None:
    text = (folder / "report.html").read_text()
    page = _Page()
    page.feed(text)
    links = [url for url in page.loads if "w3.org" not in url]
    assert links == [] and "script" not in page.tags and "@import" not in text
    assert not re.search(r"url\((?!#)", text)
    assert page.tags.count("svg") == 2 and page.tags.count("table") == 3
    assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in text
    assert "prefers-color-scheme: dark" in text and "currentColor" in text
    assert "#010203" not in text and "overflow-x: auto" in text
    for word in ("heuristic", "greedy", "reis_nos_cantos_v0", "tables_hash"):
        assert word in page.text


def test_the_report_shows_names_as_text(folder: Path, tmp_path: Path) -> None:
    name = "<script>alert(1)</script>"
    text = (folder / "results.json").read_text().replace("heuristic", name)
    write_report(tmp_path / "report.html", json.loads(text))
    page = _Page()
    page.feed((tmp_path / "report.html").read_text())
    assert "script" not in page.tags and name in page.text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gredy"], "no policy 'gredy'; did you mean 'greedy'?"),
        (["greedy", "--against", "nobody"], "no policy 'nobody'"),
        (["greedy", "--against"], "at least two different policies must play, not greedy"),
        (["checkpoint:none"], "there is no checkpoint none"),
        (["none.safetensors"], "there is no checkpoint none.safetensors"),
        (["greedy", "--deals", "none.txt"], "cannot read the deals none.txt"),
        (["greedy", "--deals", "x", "--fresh-deals", "1"], "cannot be combined"),
        (["greedy", "--few", "planner"], "--few planner does not play; greedy, random do"),
        (["greedy", "--pairs", "0"], "--pairs must be at least 1, not 0"),
        (["greedy", "--workers", "0"], "--workers must be at least 1, not 0"),
        (["greedy", "--ms", "0"], "--ms must be above 0, not 0"),
        (["greedy", "--until-ci", "-1"], "--until-ci must be above 0, not -1"),
        (["greedy", "--fresh-deals", "-1"], "--fresh-deals must be at least 0, not -1"),
        (["greedy", "--pairs", "99999"], "has 2000 deals, 99999 are wanted"),
        (["greedy", "--option", "spades=1"], "has no option 'spades'"),
        (
            ["greedy", "--game", "reis_nos_cantos", "--option", "num_players=5"],
            "from 2 to 4, not 5",
        ),
        (["greedy", "--game", "whist"], "no game 'whist'"),
        (["greedy", "--resume"], "--resume needs the folder of the games"),
    ],
)
def test_a_bad_request_is_one_line(arguments: list[str], message: str) -> None:
    with pytest.raises(SystemExit) as error:
        main(arguments)
    text = str(error.value)
    assert text.startswith("error: ") and message in text and "\n" not in text


def test_all_settings_reach_the_request() -> None:
    given = "planner --ms 7 --until-ci 0.3 --width 0.2 --batch 9 --workers 3 --seed 4 --sampled"
    asked = read_request(make_parser().parse_args([*given.split(), "--pairs", "3"]))
    assert asked.specs == ("planner", "random", "greedy")
    assert (asked.ms, asked.until_ci, asked.width) == (7, 0.3, 0.2)
    assert (asked.batch, asked.workers, asked.seed, asked.sampled) == (9, 3, 4, True)
    assert len(asked.seeds) == 3 and asked.deals == "seeds/eval_crapo.txt"


def test_the_module_runs_by_itself() -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "training.evaluate", "--help"]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment)
    assert answer.returncode == 0 and "--against" in answer.stdout
