"""Ratings: known gaps are found as often as stated, the unbounded is flagged, circles are seen."""

import itertools
import math

import numpy as np
import pytest

pytest.importorskip("scipy")

from training.evaluation.elo import Ladder
from training.evaluation.metagame import alpha_rank, find_cycles, nash_average
from training.evaluation.records import Outcome
from training.evaluation.results import Meeting
from training.evaluation.schedule import Lineup, list_lineups, list_seatings

GAPS = np.array([0.0, 100.0, 300.0, 700.0])  # neighbours 100, 200 and 400 apart


def simulate(
    elo: np.ndarray, num_seats: int, num_deals: int, rng: np.random.Generator, luck: float = 0.0
) -> dict[Lineup, Meeting]:
    """Return games in which seats win in proportion to strength.

    Luck of the deal makes the games of a deal alike without changing how often anybody wins: with
    that probability all games of a deal in a lineup use the same random number.
    """
    meetings = {}
    for lineup in list_lineups(len(elo), num_seats):
        seats = np.array([list_seatings(lineup, d) for d in range(num_deals)])
        strengths = 10 ** (elo[seats] / 400)
        chances = strengths / strengths.sum(axis=2, keepdims=True)
        order = np.argsort(seats, axis=2, kind="stable")  # the number decides among policies
        ranked = np.take_along_axis(chances, order, axis=2).cumsum(axis=2)
        alike = rng.random((num_deals, 1)) < luck
        numbers = np.where(alike, rng.random((num_deals, 1)), rng.random(seats.shape[:2]))
        place = (numbers[..., None] > ranked).sum(axis=2, keepdims=True).clip(max=num_seats - 1)
        won = np.zeros(seats.shape)
        np.put_along_axis(won, np.take_along_axis(order, place, axis=2), 1.0, axis=2)
        meetings[lineup] = make_meeting(lineup, seats, won)
    return meetings


def make_meeting(lineup: Lineup, seats: np.ndarray, scores: np.ndarray) -> Meeting:
    """Return a meeting with these scores; a deal is as long as it takes."""
    ones = np.ones(seats.shape)
    outcomes = np.where(scores == 1, Outcome.WIN, np.where(scores == 0, Outcome.LOSS, Outcome.DRAW))
    deals = np.arange(len(seats))
    none = np.zeros(seats.shape, bool)
    return Meeting(lineup, deals, seats, scores, outcomes, None, ones, ones, none, seats.size)


@pytest.mark.slow
@pytest.mark.parametrize(("num_seats", "luck"), [(2, 0.0), (2, 0.6), (3, 0.3)])
def test_known_gaps_are_found_as_often_as_stated(num_seats: int, luck: float) -> None:
    rng = np.random.default_rng(7)
    repeats, inside, found = 300, np.zeros(4), []
    for seed in range(repeats):
        ladder = Ladder(simulate(GAPS, num_seats, 200, rng, luck), 4, anchor=0)
        ratings = ladder.rate(samples=400, seed=seed)
        inside += [r.low <= gap <= r.high for r, gap in zip(ratings, GAPS, strict=True)]
        found.append([rating.elo for rating in ratings])
    assert inside[0] == repeats  # the anchor is 0 by definition
    covered, error = inside[1:] / repeats, math.sqrt(0.95 * 0.05 / repeats)
    assert (np.abs(covered - 0.95) < 3.3 * error).all(), covered  # the chance of so many misses
    assert covered.mean() > 0.925
    means, errors = np.mean(found, axis=0), np.std(found, axis=0) / math.sqrt(repeats)
    assert np.abs(means - GAPS)[1:] == pytest.approx(0, abs=6)
    assert (errors[1:] < 3).all()


def test_the_interval_is_wider_when_the_games_of_a_deal_agree() -> None:
    rng = np.random.default_rng(0)
    widths = []
    for luck in (0.0, 1.0):
        rating = Ladder(simulate(GAPS[:2], 2, 2000, rng, luck), 2, anchor=0).rate(samples=300)[1]
        widths.append(rating.high - rating.low)
    assert widths[1] / widths[0] == pytest.approx(math.sqrt(2), rel=0.15)


def test_two_policies_have_the_closed_form() -> None:
    seats = np.array([list_seatings((0, 1), d) for d in range(400)])
    scores = np.where(seats == 1, 1.0, 0.0)
    scores[:100] = 1 - scores[:100]  # policy 1 takes 75 %
    rating = Ladder({(0, 1): make_meeting((0, 1), seats, scores)}, 2, anchor=0).rate()[1]
    odds = (600 + 0.5) / (200 + 0.5)
    assert rating.elo == pytest.approx(400 * math.log10(odds), abs=1e-6)
    assert rating.flag == "" and rating.low < rating.elo < rating.high


def test_a_policy_that_always_wins_or_loses_is_finite_and_flagged() -> None:
    rng = np.random.default_rng(1)
    meetings = simulate(np.array([0.0, 150.0, 0.0, 0.0]), 2, 60, rng)
    for lineup, meeting in list(meetings.items()):
        for k, share in ((3, 1.0), (2, 0.0)):
            if k in lineup and not (k == 2 and 3 in lineup):
                scores = np.where(meeting.seats == k, share, 1 - share)
                meetings[lineup] = make_meeting(lineup, meeting.seats, scores)
    ratings = Ladder(meetings, 4, anchor=0).rate(samples=200)
    assert [r.flag for r in ratings] == ["", "", "only losses", "only wins"]
    assert all(math.isfinite(r.elo) for r in ratings)
    top, bottom = ratings[3], ratings[2]
    assert top.high == math.inf and bottom.low == -math.inf
    assert 200 < top.low < top.elo and bottom.elo < bottom.high < -200
    assert top.low < 800  # 60 deals won prove no more
    assert ratings[1].low < 150 < ratings[1].high  # the others are not disturbed


def test_a_chain_of_wins_bounds_a_policy() -> None:
    """Policy 2 never lost to the anchor, but it did to policy 1, which did to the anchor."""
    meetings = simulate(np.zeros(3), 2, 60, np.random.default_rng(2))
    meeting = meetings[0, 2]
    meetings[0, 2] = make_meeting((0, 2), meeting.seats, np.where(meeting.seats == 2, 1.0, 0.0))
    assert [r.flag for r in Ladder(meetings, 3, anchor=0).rate(samples=50)] == ["", "", ""]


def test_policies_that_were_not_compared_have_no_rating() -> None:
    meetings = simulate(np.array([0.0, 100.0, 200.0, 300.0]), 2, 60, np.random.default_rng(5))
    apart = {lineup: meetings[lineup] for lineup in ((0, 1), (2, 3))}
    ratings = Ladder(apart, 4, anchor=0).rate(samples=50)
    assert [r.flag for r in ratings] == ["", "", "not compared", "not compared"]
    assert math.isfinite(ratings[1].elo) and math.isnan(ratings[2].elo)
    alone = Ladder({(1, 2): meetings[1, 2]}, 4, anchor=0).rate(samples=50)
    assert [r.flag for r in alone] == ["", *["not compared"] * 3]


def test_the_same_seed_gives_the_same_intervals() -> None:
    meetings = simulate(GAPS, 2, 50, np.random.default_rng(3))
    ladder = Ladder(meetings, 4, anchor=1)
    assert ladder.rate(samples=50, seed=1) == ladder.rate(samples=50, seed=1)
    assert ladder.rate(samples=50, seed=1) != ladder.rate(samples=50, seed=2)
    assert ladder.rate(samples=50)[1].elo == 0


# Circles


ROCK_PAPER_SCISSORS = np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]]) / 2


def test_the_nash_average_of_a_circle_is_even_and_copies_change_nothing() -> None:
    assert nash_average(ROCK_PAPER_SCISSORS) == pytest.approx(np.full(3, 1 / 3), abs=1e-4)
    copied = ROCK_PAPER_SCISSORS[np.ix_([0, 0, 1, 2], [0, 0, 1, 2])]
    assert nash_average(copied) == pytest.approx([1 / 6, 1 / 6, 1 / 3, 1 / 3], abs=1e-3)


def test_the_nash_average_of_a_ladder_is_its_top() -> None:
    ladder = np.sign(np.subtract.outer(np.arange(4), np.arange(4))) * 0.2
    assert nash_average(ladder) == pytest.approx([0, 0, 0, 1], abs=1e-5)
    weak = np.zeros((4, 4))
    weak[:3, :3] = ROCK_PAPER_SCISSORS
    weak[:3, 3], weak[3, :3] = 0.3, -0.3
    assert nash_average(weak) == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0], abs=1e-4)


def test_nobody_beats_the_nash_average() -> None:
    rng = np.random.default_rng(4)
    for k in (2, 3, 5, 8):
        for _ in range(5):
            scores = rng.uniform(-0.5, 0.5, (k, k))
            game = (scores - scores.T) / 2
            mixture = nash_average(game)
            assert mixture.sum() == pytest.approx(1) and (mixture >= 0).all()
            assert (game @ mixture).max() < 1e-5


def test_cycles_are_found() -> None:
    beats = np.zeros((5, 5), bool)
    for i, j in itertools.pairwise([0, 1, 2, 0]):
        beats[i, j] = True
    beats[:3, 3] = beats[3, 4] = True
    assert find_cycles(beats) == [[0, 1, 2]]
    beats[2, 0] = False
    assert find_cycles(beats) == []


def test_alpha_rank_of_a_circle_is_even() -> None:
    pytest.importorskip("open_spiel")
    assert alpha_rank(ROCK_PAPER_SCISSORS) == pytest.approx(np.full(3, 1 / 3), abs=1e-3)
    ladder = np.sign(np.subtract.outer(np.arange(3), np.arange(3))) * 0.2
    assert alpha_rank(ladder) == pytest.approx([0, 0, 1], abs=1e-3)
