"""Two policies against each other: every deal is played once from every seat, side by side.

Axis letters: `d` a deal, `p` the seat of the measured policy; its opponent plays all other seats.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from crapo_env.batch import NO_ACTION, Batch
from crapo_env.bots.policy import Policy
from crapo_env.game import Game

WIN, DRAW, LOSS, TRUNCATED = range(4)
Z_95 = 1.959964  # half-width of a 95 % interval in standard deviations


@dataclass(frozen=True)
class Match:
    """What happened when `policy` played `opponent`."""

    policy: str
    opponent: str
    deterministic: bool
    opponent_deterministic: bool
    outcomes: np.ndarray  # (d, p) WIN, DRAW, LOSS or TRUNCATED, for the policy
    decisions: np.ndarray  # (d, p) by the policy
    lengths: np.ndarray  # (d, p) decisions of all players
    illegal: int  # games lost by an illegal proposal of the policy
    opponent_illegal: int  # games won that way
    distinct_games: int  # games that differ in the deal or in an action

    def share(self, outcome: int) -> float:
        """Return the share of all games with this outcome."""
        return float((self.outcomes == outcome).mean())

    def seat_wins(self) -> list[float]:
        """Return the share of games won from each seat."""
        return [float(share) for share in (self.outcomes == WIN).mean(axis=0)]

    def deals_by_wins(self) -> list[int]:
        """Return how many deals were won from no seat, from one, and so on."""
        num_seats = self.outcomes.shape[1]
        wins = (self.outcomes == WIN).sum(axis=1)
        return [int(n) for n in np.bincount(wins, minlength=num_seats + 1)]

    def score(self) -> float:
        """Return the share of wins, half of the draws added: the two sides of a match sum to 1."""
        return self.share(WIN) + self.share(DRAW) / 2

    def win_interval(self) -> tuple[float, float]:
        """Return the 95 % interval of the share of games won."""
        return interval((self.outcomes == WIN).mean(axis=1))


def interval(shares: np.ndarray) -> tuple[float, float]:
    """Return the 95 % interval of a share from independent deals, not from the games within a deal.

    This is Wilson's interval with as many trials as would give the mean the variance that the deals
    show. If all deals agree on 0 or 1 there is none to see, and each deal counts as one trial.

    Args:
        shares: (d,) the share of games won in each deal.
    """
    n, mean = len(shares), float(shares.mean())
    variance = float(shares.var(ddof=1)) / n if n > 1 else math.inf
    if mean in (0.0, 1.0) or math.isinf(variance):
        trials = float(n)
    elif variance == 0:
        return mean, mean
    else:
        trials = mean * (1 - mean) / variance
    spread = Z_95**2 / trials
    centre = (mean + spread / 2) / (1 + spread)
    half = Z_95 * math.sqrt(mean * (1 - mean) / trials + spread / (4 * trials)) / (1 + spread)
    return min(mean, max(0.0, centre - half)), max(mean, min(1.0, centre + half))


def play_match(
    game: Game,
    policy: Policy,
    opponent: Policy,
    seeds: np.ndarray,
    options: Mapping[str, Any] | None = None,
    report: Callable[[int, int], None] | None = None,
) -> Match:
    """Play every deal from every seat and return what happened.

    An illegal proposal loses the game for whoever made it; the game ends there.

    Args:
        game: the game.
        policy: the policy that is measured.
        opponent: plays all other seats.
        seeds: (d,) uint64.
        options: rule options.
        report: called now and then with the number of games that have ended and that of all games.
    """
    table = _Table(game, seeds, options or {})
    while len(rows := table.rows_in_play()):
        own = table.batch.current_player[rows] == table.seats[rows]
        table.decisions[rows[own]] += 1
        table.play(((policy, rows[own]), (opponent, rows[~own])))
        if report:
            report(len(table.batch) - len(rows), len(table.batch))
    return table.match(policy, opponent)


class _Table:
    """All games of a match, with what must be remembered of each."""

    def __init__(self, game: Game, seeds: np.ndarray, options: Mapping[str, Any]) -> None:
        num_seats = int(game.new_games(1, options)["num_players"][0])
        self.shape = (len(seeds), num_seats)
        self.batch = Batch(game, len(seeds) * num_seats, options, auto_reset=False)
        self.batch.reset(np.repeat(seeds, num_seats))
        self.seats = np.tile(np.arange(num_seats), len(seeds))  # of the measured policy
        self.decisions = np.zeros(len(self.batch), np.int64)  # by it
        self.returns = np.zeros_like(self.batch.rewards)
        self.at_fault = np.full(len(self.batch), -1)  # seat of an illegal proposal
        self.traces = np.repeat(seeds, num_seats)  # hash of the deal and all actions

    def rows_in_play(self) -> np.ndarray:
        """Return the games that go on."""
        return np.flatnonzero((self.batch.num_legal > 0) & (self.at_fault < 0))

    def play(self, moves: tuple[tuple[Policy, np.ndarray], ...]) -> None:
        """Let each policy act in its games; a game with an illegal proposal ends."""
        actions = np.full(len(self.batch), NO_ACTION)
        for policy, rows in moves:
            if len(rows) > 0:
                proposed = policy.act(self.batch.observations[rows], self.batch.masks[rows])
                inside = (proposed >= 0) & (proposed < self.batch.masks.shape[1])
                legal = inside & (self.batch.masks[rows, np.where(inside, proposed, 0)] != 0)
                actions[rows[legal]] = proposed[legal]
                wrong = rows[~legal]
                self.at_fault[wrong] = self.batch.current_player[wrong]
        self.batch.step(actions)
        self.returns += self.batch.rewards
        moved = actions != NO_ACTION
        self.traces[moved] = _mix(self.traces[moved] ^ actions[moved].astype(np.uint64))

    def match(self, policy: Policy, opponent: Policy) -> Match:
        """Return what happened once all games have ended."""
        faults = self.at_fault[self.at_fault >= 0]
        own_faults = int((self.at_fault == self.seats).sum())
        return Match(
            policy=policy.name,
            opponent=opponent.name,
            deterministic=policy.deterministic,
            opponent_deterministic=opponent.deterministic,
            outcomes=self._outcomes().reshape(self.shape),
            decisions=self.decisions.reshape(self.shape),
            lengths=self.batch.games["num_steps"].astype(np.int64).reshape(self.shape),
            illegal=own_faults,
            opponent_illegal=len(faults) - own_faults,
            distinct_games=len(set(self.traces.tolist())),
        )

    def _outcomes(self) -> np.ndarray:
        own = self.returns[np.arange(len(self.seats)), self.seats]
        result = np.where(own > 0, WIN, np.where(own < 0, LOSS, DRAW))
        result[self.batch.games["truncated"] != 0] = TRUNCATED
        lost = self.at_fault == self.seats
        return np.where(self.at_fault < 0, result, np.where(lost, LOSS, WIN))


def _mix(x: np.ndarray) -> np.ndarray:
    """Scramble uint64 numbers one to one, so that the order of actions counts."""
    x = (x ^ (x >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    mixed: np.ndarray = x ^ (x >> np.uint64(32))
    return mixed
