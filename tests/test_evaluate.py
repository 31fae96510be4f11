"""The evaluation: paired deals, intervals over deals, forfeits, and deals that no training uses."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import Setting

pytest.importorskip("safetensors")

from crapo_env.batch import Batch
from crapo_env.bots import make_policy
from crapo_env.bots.policy import Policy
from crapo_env.game import Game
from crapo_env.registry import GAMES
from training.deals import NUM_DEALS, default_path, digest_deals, format_deals, read_deals
from training.evaluate import main, read_option, summarise
from training.match import DRAW, LOSS, TRUNCATED, WIN, Match, _Table, interval, play_match

ROOT = Path(__file__).parents[1]
SEEDS = np.arange(2**63, 2**63 + 24, dtype=np.uint64)


class Cheat(Policy):
    """Plays well until it has made some decisions, then proposes what its mask forbids."""

    def __init__(self, game: Game, proposal: int | None) -> None:
        super().__init__(game, "cheat", deterministic=True)
        self.proposal = proposal

    def choose(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        if self.proposal is None:
            return np.argmin(masks, axis=1)
        return np.full(len(masks), self.proposal)


def test_a_policy_against_itself_is_exactly_even(game: Game) -> None:
    for spec in ("greedy", "first_legal"):
        policy, twin = make_policy(spec, game), make_policy(spec, game)
        match = play_match(game, policy, twin, SEEDS)
        assert match.score() == 0.5
        assert match.share(WIN) == match.share(LOSS)
        assert match.distinct_games == len(SEEDS)  # both seatings of a deal are one game


def test_the_two_sides_of_a_match_agree(game: Game) -> None:
    first, second = make_policy("greedy", game), make_policy("first_legal", game)
    there = play_match(game, first, second, SEEDS)
    back = play_match(game, second, first, SEEDS)
    mirrored = back.outcomes[:, ::-1]
    swap = np.array([LOSS, DRAW, WIN, TRUNCATED])
    assert np.array_equal(there.outcomes, swap[mirrored])
    assert np.array_equal(there.lengths, back.lengths[:, ::-1])
    assert there.score() + back.score() == pytest.approx(1)
    assert np.array_equal(there.decisions + back.decisions[:, ::-1], there.lengths)


def test_every_deal_is_played_from_every_seat_as_the_engine_plays_it(seating: Setting) -> None:
    game, options = seating
    policy, opponent = make_policy("greedy", game), make_policy("first_legal", game)
    seeds = SEEDS[:6]
    match = play_match(game, policy, opponent, seeds, options)
    num_seats = match.outcomes.shape[1]
    assert num_seats == int(game.new_games(1, options)["num_players"][0])
    for d, seed in enumerate(seeds):
        for seat in range(num_seats):
            batch = Batch(game, 1, options, auto_reset=False)
            batch.reset(seeds[d : d + 1])
            assert batch.games["seed"][0] == seed
            total, decisions = 0.0, 0
            while not batch.ended[0]:
                own = batch.current_player[0] == seat
                decisions += int(own)
                mover = policy if own else opponent
                batch.step(mover.act(batch.observations, batch.masks))
                total += float(batch.rewards[0, seat])
            expected = WIN if total > 0 else LOSS if total < 0 else DRAW
            assert match.outcomes[d, seat] == expected
            assert match.decisions[d, seat] == decisions
            assert match.lengths[d, seat] == batch.games["num_steps"][0]


def test_known_strength_is_found(game: Game) -> None:
    match = play_match(game, make_policy("greedy", game), make_policy("random", game), SEEDS)
    low, high = match.win_interval()
    assert 0.75 < low < match.share(WIN) <= high
    assert match.illegal == match.opponent_illegal == 0
    assert match.distinct_games == match.outcomes.size
    assert sum(match.share(outcome) for outcome in range(4)) == pytest.approx(1)
    assert np.mean(match.seat_wins()) == pytest.approx(match.share(WIN))


def test_the_outcome_is_the_sign_of_what_the_own_seat_received(game: Game) -> None:
    table = _Table(game, SEEDS[:3], {})
    table.returns[:] = [[1, -1], [1, -1], [0, 0], [0, 0], [-0.1, 0.1], [-0.1, 0.1]]
    outcomes = table.match(make_policy("random", game), make_policy("random", game)).outcomes
    assert outcomes.tolist() == [[WIN, LOSS], [DRAW, DRAW], [LOSS, WIN]]


def test_truncated_games_are_no_wins_and_no_draws(game: Game) -> None:
    policy = make_policy("random", game)
    match = play_match(game, policy, policy, SEEDS, {"max_steps": 10})
    assert match.share(TRUNCATED) == 1
    assert match.share(WIN) == match.share(DRAW) == match.share(LOSS) == 0


@pytest.mark.parametrize("proposal", [None, -1, 10_000])
def test_an_illegal_proposal_loses_and_is_counted(game: Game, proposal: int | None) -> None:
    cheat, other = Cheat(game, proposal), make_policy("random", game)
    match = play_match(game, cheat, other, SEEDS)
    assert match.illegal == match.outcomes.size == 2 * len(SEEDS)
    assert match.opponent_illegal == 0
    assert match.share(LOSS) == 1
    back = play_match(game, other, cheat, SEEDS)
    assert back.opponent_illegal == back.outcomes.size
    assert back.illegal == 0
    assert back.share(WIN) == 1


def test_the_interval_is_over_deals_not_games() -> None:
    deals = np.array([1.0, 0.0] * 50)  # both games of a deal agree: 200 games, but 100 results
    low, high = interval(deals)
    assert (low, high) == pytest.approx((0.404, 0.596), abs=0.003)
    assert interval(np.full(100, 0.5)) == (0.5, 0.5)  # each deal split: no luck is left
    mixed = np.array([1.0, 0.5, 0.5, 0.0] * 25)
    assert interval(mixed)[0] > low and interval(mixed)[1] < high
    low, high = interval(np.ones(100))
    assert 0.96 < low < 0.97 and high == 1
    low, high = interval(np.zeros(100))
    assert low == 0 and 0.03 < high < 0.04
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


def test_shares_and_summary_of_a_match() -> None:
    match = Match(
        policy="a",
        opponent="b",
        deterministic=True,
        opponent_deterministic=False,
        outcomes=np.array([[WIN, WIN], [WIN, LOSS], [DRAW, TRUNCATED]]),
        decisions=np.full((3, 2), 5),
        lengths=np.full((3, 2), 10),
        illegal=0,
        opponent_illegal=1,
        distinct_games=6,
    )
    summary = summarise(match)
    assert summary["win"] == 0.5 and summary["draw"] == summary["truncated"] == 1 / 6
    assert summary["win_by_seat"] == [2 / 3, 1 / 3]
    assert summary["deals_by_wins"] == [1, 1, 1]
    assert summary["decisions"] == 30 and summary["games"] == 6 and summary["deals"] == 3
    assert match.score() == 0.5 + 1 / 12
    assert tuple(summary["win_interval_95"]) == interval(np.array([1.0, 0.5, 0.0]))
    json.dumps(summary)


# The deals


def test_the_evaluation_deals_are_those_of_the_file_and_out_of_training(game: Game) -> None:
    seeds = read_deals(default_path(game), game)
    assert len(seeds) == len(set(seeds.tolist())) == NUM_DEALS
    assert seeds.min() >= 2**63
    assert default_path(game).read_text() == format_deals(game)
    assert len(set(digest_deals(game, seeds))) == NUM_DEALS
    assert digest_deals(game, seeds[5:6]) == digest_deals(game, seeds)[5:6]
    assert np.array_equal(read_deals(default_path(game), game, 7), seeds[:7])


def test_a_file_of_deals_that_is_wrong_is_refused(game: Game, tmp_path: Path) -> None:
    text = format_deals(game, 3)
    other = next(g for g in GAMES.values() if g is not game)
    lines = text.splitlines()
    cases = {
        "has 3 deals, 4 are wanted": text,
        "training may use the seed 5": text + "5 0123456789abcdef\n",
        "is no seed and digest": text + "spades\n",
        f"but {game.id} deals": "\n".join([*lines[:-1], f"{2**63 + 9} {lines[-1].split()[1]}"]),
        "is of another game or version": format_deals(other, 4),
    }
    path = tmp_path / "deals.txt"
    for message, content in cases.items():
        path.write_text(content)
        with pytest.raises(ValueError, match=message):
            read_deals(path, game, 4 if "wanted" in message else None)
    path.write_text(f"{2**64} 0123456789abcdef\n")
    with pytest.raises(ValueError, match="is no seed and digest"):
        read_deals(path, game)
    with pytest.raises(ValueError, match="cannot read the deals"):
        read_deals(tmp_path / "none.txt", game)


# The command


def test_options_are_read_as_written(game: Game) -> None:
    assert read_option("max_steps=7") == ("max_steps", 7)
    for option in game.options:
        for value in option.values:
            assert read_option(f"{option.name}={value}") == (option.name, value)


def test_the_command_prints_a_table_and_writes_results(
    game: Game, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "results.json"
    main(["greedy", "--game", game.name, "--pairs", "4", "--json", str(path)])
    printed = capsys.readouterr().out
    assert "greedy (d)" in printed and "random (s)" in printed and "4 deals" in printed
    results = json.loads(path.read_text())
    assert results["game"] == game.id
    assert [match["opponent"] for match in results["matches"]] == ["random", "greedy"]
    assert results["matches"][1]["win"] == results["matches"][1]["loss"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gredy"], "no policy 'gredy'; did you mean 'greedy'?"),
        (["greedy", "--against", "nobody"], "no policy 'nobody'"),
        (["checkpoint:none"], "there is no checkpoint none"),
        (["none.safetensors"], "there is no checkpoint none.safetensors"),
        (["greedy", "--deals", "none.txt"], "cannot read the deals none.txt"),
        (["greedy", "--pairs", "0"], "--pairs must be at least 1, not 0"),
        (["greedy", "--pairs", "99999"], "has 2000 deals, 99999 are wanted"),
        (["greedy", "--option", "spades=1"], "has no option 'spades'"),
        (["greedy", "--game", "whist"], "no game 'whist'"),
    ],
)
def test_a_bad_request_is_one_line(arguments: list[str], message: str) -> None:
    with pytest.raises(SystemExit) as error:
        main(arguments)
    text = str(error.value)
    assert text.startswith("error: ") and message in text and "\n" not in text


def test_the_module_runs_by_itself() -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "training.evaluate", "--help"]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment)
    assert answer.returncode == 0 and "--against" in answer.stdout
