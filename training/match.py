"""Two policies against each other in this process: quick measurements during a training run.

Tournaments that are published run through `training.evaluate`, where policies are kept apart.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from crapo_env.bots.policy import Policy
from crapo_env.game import Game
from training.evaluation.policies import ask
from training.evaluation.records import Outcome
from training.evaluation.results import Meeting, Results
from training.evaluation.schedule import make_units
from training.evaluation.table import Table

WIN, DRAW, LOSS = Outcome.WIN, Outcome.DRAW, Outcome.LOSS


@dataclass(frozen=True)
class Match:
    """What happened when a policy, alone on each seat in turn, played an opponent."""

    meeting: Meeting  # policy 0 is the measured one, 1 its opponent

    def share(self, outcome: Outcome) -> float:
        """Return the share of all games with this outcome for the policy."""
        return self.meeting.share(0, outcome)

    def score(self) -> float:
        """Return the mean share of the win, draws and capped games shared evenly."""
        return float(self.meeting.deal_scores(0).mean())

    @property
    def illegal(self) -> int:
        """How many games the policy lost by an illegal move or an error."""
        return int(self.meeting.faults[self.meeting.seats == 0].sum())

    @property
    def lengths(self) -> np.ndarray:
        """The decisions of all players in each game, (deals, seats)."""
        lengths: np.ndarray = self.meeting.decisions.sum(axis=2)
        return lengths


def play_match(
    game: Game,
    policy: Policy,
    opponent: Policy,
    seeds: np.ndarray,
    options: Mapping[str, Any] | None = None,
) -> Match:
    """Play every deal from every seat, all side by side, and return what happened.

    Args:
        game: the game.
        policy: the policy that is measured.
        opponent: plays all other seats.
        seeds: (d,) uint64.
        options: rule options.
    """
    options = game.read_options(options or {})
    others = int(game.new_games(1, options)["num_players"][0]) - 1
    lineup = (0,) + (1,) * others
    policies, results = (policy, opponent), Results(2)
    for unit in make_units([lineup], seeds.tolist(), 0, len(seeds), len(seeds)):
        table = Table(game, options, unit.plans)
        while questions := table.questions():
            answers = [ask(policies[q.policy], q.observations, q.masks) for q in questions]
            results.add(table.play(list(zip(questions, answers, strict=True))))
    return Match(results.meetings()[lineup])
