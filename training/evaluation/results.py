"""All games of a tournament in arrays, and what they say of each policy in each lineup.

Axis letters: `d` a deal, `g` a seating on it, `n` a seat.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from training.evaluation.records import GameRecord, Outcome
from training.evaluation.schedule import Lineup, list_seatings


@dataclass(frozen=True)
class Meeting:
    """The games of one lineup; only deals of which all seatings were played."""

    lineup: Lineup
    deals: np.ndarray  # (d,)
    seats: np.ndarray  # (d, g, n) policy
    scores: np.ndarray  # (d, g, n)
    outcomes: np.ndarray  # (d, g, n)
    points: np.ndarray | None  # (d, g, n)
    decisions: np.ndarray  # (d, g, n)
    ms: np.ndarray  # (d, g, n)
    faults: np.ndarray  # (d, g, n) bool
    distinct_games: int  # that differ in the deal or in an action

    def deal_scores(self, policy: int) -> np.ndarray:
        """Return the mean score of a policy's seats on each deal, (d,)."""
        return self._mean_of(policy, self.scores)

    def deal_shares(self, policies: int) -> np.ndarray:
        """Return the share of the wins that each of so many policies took, (d, policies)."""
        taken = [np.where(self.seats == k, self.scores, 0).sum(axis=2) for k in range(policies)]
        shares: np.ndarray = np.stack(taken, axis=-1).mean(axis=1)
        return shares

    def deal_points(self, policy: int) -> np.ndarray | None:
        """Return by how many points the others had more than the policy, (d,), a mean over games.

        Points are penalties, so above 0 is better. None in a game without points.
        """
        if self.points is None:
            return None
        num_seats = self.points.shape[2]
        others = (self.points.sum(axis=2, keepdims=True) - self.points) / (num_seats - 1)
        return self._mean_of(policy, others - self.points)

    def share(self, policy: int, outcome: Outcome) -> float:
        """Return the share of the policy's seats with this outcome."""
        return float((self.outcomes[self.seats == policy] == outcome).mean())

    def seat_shares(self, policy: int) -> list[dict[str, float]]:
        """Return for each seat the share of every outcome of the policy there."""
        shares = []
        for seat in range(self.seats.shape[2]):
            own = self.outcomes[:, :, seat][self.seats[:, :, seat] == policy]
            shares.append({o.name.lower(): float((own == o).mean()) for o in Outcome})
        return shares

    def deals_by_score(self, policy: int) -> dict[str, int]:
        """Return how many deals gave the policy each score, such as 0, 1/4, 1/2, 3/4 and 1."""
        values, counts = np.unique(self.deal_scores(policy).round(4), return_counts=True)
        return {f"{value:g}": int(n) for value, n in zip(values, counts, strict=True)}

    def variance_factor(self, policy: int) -> float | None:
        """Return how many times less the mean varies than over as many games on separate deals."""
        own = self.seats == policy
        games = np.where(own, self.scores, 0).sum(axis=2) / own.sum(axis=2)  # (d, g)
        if len(games) < 2:
            return None
        paired = games.mean(axis=1).var(ddof=1)
        apart = games.var(axis=0, ddof=1).sum() / games.shape[1] ** 2
        return float(apart / paired) if paired > 1e-15 else None

    def _mean_of(self, policy: int, values: np.ndarray) -> np.ndarray:
        own = self.seats == policy
        means: np.ndarray = np.where(own, values, 0).sum(axis=(1, 2)) / own.sum(axis=(1, 2))
        return means


class Results:
    """Games as they come in."""

    def __init__(self, num_policies: int) -> None:
        self.num_policies = num_policies
        self.num_games = 0
        self.faults: dict[tuple[int, str], int] = defaultdict(int)  # by policy and kind
        self._games: dict[Lineup, dict[int, dict[tuple[int, ...], GameRecord]]] = defaultdict(
            lambda: defaultdict(dict)
        )
        self._digests: dict[tuple[int, tuple[int, ...]], bytes] = {}

    def add(self, records: Iterable[GameRecord]) -> None:
        """Take in games; of one that is there already the first counts."""
        for record in records:
            plan = record.plan
            on_deal = self._games[plan.lineup][plan.deal]
            if plan.seats in on_deal:
                continue
            text = f"{plan.seed} {record.actions}".encode()
            self._digests[plan.deal, plan.seats] = hashlib.sha256(text).digest()[:8]
            on_deal[plan.seats] = _without_actions(record)
            self.num_games += 1
            if record.fault is not None:
                self.faults[plan.seats[record.fault.seat], record.fault.kind] += 1

    def has(self, deal: int, seats: tuple[int, ...]) -> bool:
        """Return whether a game is there."""
        return (deal, seats) in self._digests

    def meetings(self) -> dict[Lineup, Meeting]:
        """Return the games of every lineup that has a whole deal."""
        found = ((lineup, self._meeting(lineup, games)) for lineup, games in self._games.items())
        return {lineup: meeting for lineup, meeting in sorted(found) if meeting is not None}

    def _meeting(
        self, lineup: Lineup, games: Mapping[int, Mapping[tuple[int, ...], GameRecord]]
    ) -> Meeting | None:
        num_seats = len(lineup)  # and as many seatings
        deals = [d for d in sorted(games) if set(list_seatings(lineup, d)) <= set(games[d])]
        if not deals:
            return None
        rows = [[games[d][seats] for seats in list_seatings(lineup, d)] for d in deals]
        flat = [record for row in rows for record in row]
        shape = (len(deals), num_seats, num_seats)

        def array(values: list[tuple[float, ...]]) -> np.ndarray:
            return np.array(values).reshape(shape)

        faults = np.zeros((len(flat), num_seats), bool)
        for i, record in enumerate(flat):
            if record.fault is not None:
                faults[i, record.fault.seat] = True
        has_points = flat[0].points is not None
        return Meeting(
            lineup=lineup,
            deals=np.array(deals),
            seats=array([record.plan.seats for record in flat]),
            scores=array([record.scores for record in flat]),
            outcomes=array([record.outcomes for record in flat]),
            points=array([record.points or () for record in flat]) if has_points else None,
            decisions=array([record.decisions for record in flat]),
            ms=array([record.ms for record in flat]),
            faults=faults.reshape(shape),
            distinct_games=len({self._digests[r.plan.deal, r.plan.seats] for r in flat}),
        )


def _without_actions(record: GameRecord) -> GameRecord:
    """Return a record without what takes most of the memory."""
    return GameRecord(**{**vars(record), "actions": ()})
