"""Strengths on one scale: Bradley-Terry for two seats, Luce's choice for more.

A seat wins in proportion to the strength of its policy, P(k) = c_k s_k / sum_j c_j s_j where c_k
seats of a lineup hold policy k; with two seats that is the model of Bradley and Terry (1952), with
more that of Luce (1959). Elo = 400 log10(s_k / s_anchor). A draw is shared evenly.

Every lineup also counts one even game that was never played: it keeps the strength of a policy that
always wins or always loses finite. Such policies are flagged, their strength is only a bound.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csgraph

from training.evaluation.intervals import interval
from training.evaluation.results import Meeting
from training.evaluation.schedule import Lineup

SCALE = 400 / math.log(10)  # Elo points of a factor e
PRIOR_GAMES = 1.0  # even ones of each lineup
MAX_STEP = 2.0  # of an iteration, in logarithms of strength


@dataclass(frozen=True)
class Rating:
    """The strength of a policy.

    An end of the interval that the games do not bound is infinite. All is NaN if the policy met
    neither the anchor nor anybody who did, and so on.
    """

    elo: float
    low: float
    high: float
    flag: str  # "", "only wins", "only losses" or "not compared", as seen from the anchor


def fit(counts: np.ndarray, shares: np.ndarray, games: np.ndarray, anchor: int) -> np.ndarray:
    """Return the Elo (b, k) of greatest likelihood for `b` samples of the same games.

    Newton's method on the logarithms of strength, which are concave to climb.

    Args:
        counts: (l, k) seats of each policy in each lineup.
        shares: (b, l, k) share of the wins.
        games: (b, l) how many games.
        anchor: policy with 0 Elo.
    """
    free = [k for k in range(counts.shape[1]) if k != anchor]
    even = counts / counts.sum(axis=1, keepdims=True)
    won = games[:, :, None] * shares + PRIOR_GAMES * even
    weights = games + PRIOR_GAMES
    logs = np.zeros((len(shares), counts.shape[1]))
    for _ in range(200):
        strengths = counts * np.exp(logs - logs.max(axis=1, keepdims=True))[:, None, :]
        chances = strengths / strengths.sum(axis=2, keepdims=True)
        slope = (won - weights[:, :, None] * chances).sum(axis=1)
        weighted = weights[:, :, None] * chances
        curve = np.einsum("blk,blj->bkj", weighted, chances)
        curve[:, np.arange(len(counts[0])), np.arange(len(counts[0]))] -= weighted.sum(axis=1)
        curve = curve[:, free][:, :, free] - 1e-9 * np.eye(len(free))
        step = np.linalg.solve(-curve, slope[:, free, None])[..., 0].clip(-MAX_STEP, MAX_STEP)
        logs[:, free] += step
        if np.abs(step).max(initial=0) < 1e-9:
            break
    elo: np.ndarray = SCALE * (logs - logs[:, [anchor]])
    return elo


class Ladder:
    """The ratings of all policies of a tournament."""

    def __init__(self, meetings: Mapping[Lineup, Meeting], num_policies: int, anchor: int) -> None:
        self.anchor = anchor
        self._num_policies = num_policies
        self._meetings = list(meetings.values())
        self._counts = np.array(
            [[lineup.count(k) for k in range(num_policies)] for lineup in meetings]
        )
        self._shares = [meeting.deal_shares(num_policies) for meeting in self._meetings]

    def rate(self, confidence: float = 0.95, samples: int = 1000, seed: int = 0) -> list[Rating]:
        """Return the rating of every policy, intervals by a bootstrap over deals.

        A deal that several lineups have played is drawn for all of them together.
        """
        last = max(int(meeting.deals.max()) for meeting in self._meetings) + 1
        drawn = np.random.default_rng(seed).multinomial(last, np.full(last, 1 / last), samples)
        weights = np.concatenate([np.ones((1, last)), drawn])  # first the games themselves
        elo = self._fit(weights)
        tail = 50 * (1 - confidence)
        low, high = np.percentile(elo[1:], [tail, 100 - tail], axis=0)
        above, below = self._unbounded()
        bound = self._fit_bound(confidence)
        ratings = []
        for k in range(self._num_policies):
            ends = float(low[k]), float(high[k])
            flag = ""
            if above[k] and below[k]:
                ratings.append(Rating(math.nan, math.nan, math.nan, "not compared"))
                continue
            if above[k]:
                ends, flag = (min(float(bound[k]), ends[0]), math.inf), "only wins"
            elif below[k]:
                ends, flag = (-math.inf, max(float(bound[k]), ends[1])), "only losses"
            ratings.append(Rating(float(elo[0, k]), *ends, flag))
        return ratings

    def _fit(self, weights: np.ndarray) -> np.ndarray:
        """Fit every row of weights (b, deals)."""
        shares = np.zeros((len(weights), len(self._meetings), self._num_policies))
        games = np.zeros((len(weights), len(self._meetings)))
        for i, (meeting, taken) in enumerate(zip(self._meetings, self._shares, strict=True)):
            own = weights[:, meeting.deals]
            total = own.sum(axis=1)
            shares[:, i] = own @ taken / np.maximum(total, 1e-9)[:, None]
            games[:, i] = total * meeting.seats.shape[1]
        return fit(self._counts, shares, games, self.anchor)

    def _fit_bound(self, confidence: float) -> np.ndarray:
        """Fit with every lineup that one policy always won at the low end of its interval."""
        shares = np.stack([taken.mean(axis=0) for taken in self._shares])
        games = np.array(
            [meeting.seats.shape[0] * meeting.seats.shape[1] for meeting in self._meetings]
        )
        for i, taken in enumerate(self._shares):
            for k in np.flatnonzero((taken == 1).all(axis=0)):
                low = interval(taken[:, k], confidence)[0]
                others = np.where(np.arange(self._num_policies) == k, 0, self._counts[i])
                shares[i] = (1 - low) * others / others.sum()
                shares[i, k] = low
        (bound,) = fit(self._counts, shares[None], games[None].astype(float), self.anchor)
        return np.asarray(bound)

    def _unbounded(self) -> tuple[np.ndarray, np.ndarray]:
        """Return which policies have no upper and which no lower bound, as seen from the anchor.

        Strength is bounded by whoever took a part of a win from a policy, and by whoever took one
        from these, and so on up to the anchor. Without either bound nothing was compared.
        """
        scored = np.zeros((self._num_policies, self._num_policies))
        for counts, taken in zip(self._counts, self._shares, strict=True):
            scored[np.ix_(taken.sum(axis=0) > 0, counts > 0)] = 1
        steps: np.ndarray = csgraph.shortest_path(scored, unweighted=True)  # inf: never
        return np.isinf(steps[self.anchor]), np.isinf(steps[:, self.anchor])
