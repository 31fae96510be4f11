"""The games of a unit side by side: who is asked what, and what becomes of the answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from crapo_env.batch import NO_ACTION, Batch
from crapo_env.game import Game
from training.evaluation.records import Fault, GameRecord, final_points, score_seats
from training.evaluation.schedule import Plan


@dataclass(frozen=True)
class Question:
    """What one policy is asked, `n` of its games at once; copies, so that nothing leads back."""

    policy: int
    rows: np.ndarray  # (n,) games of the table
    observations: np.ndarray  # (n, size) int8
    masks: np.ndarray  # (n, num_actions) int8

    def split(self) -> list["Question"]:
        """Return a question for each game."""
        return [
            Question(self.policy, self.rows[i : i + 1], self.observations[[i]], self.masks[[i]])
            for i in range(len(self.rows))
        ]


@dataclass
class Answer:
    """Actions (n,) int64 for a question; where there is none, why, by place in the question."""

    actions: np.ndarray
    seconds: float = 0.0
    faults: dict[int, tuple[str, str]] = field(default_factory=dict)  # kind and text


class Table:
    """Games in play. Ask `questions`, give all answers to `play`, until there are no more."""

    def __init__(self, game: Game, options: Mapping[str, Any], plans: Sequence[Plan]) -> None:
        self.game = game
        self.plans = list(plans)
        self.batch = Batch(game, len(plans), options, auto_reset=False)
        self.batch.reset(np.array([plan.seed for plan in plans], np.uint64))
        self.in_play = self.batch.num_legal > 0
        self._seats = np.array([plan.seats for plan in plans])
        self._actions: list[list[int]] = [[] for _ in plans]
        self._decisions = np.zeros(self._seats.shape, np.int64)
        self._seconds = np.zeros(self._seats.shape)
        self._returns = np.zeros(self._seats.shape)

    def questions(self) -> list[Question]:
        """Return what has to be answered before the next `play`; nothing once all games ended."""
        rows = np.flatnonzero(self.in_play)
        movers = self._seats[rows, self.batch.current_player[rows]]
        questions = []
        for policy in np.unique(movers):
            own = rows[movers == policy]
            observations, masks = self.batch.observations[own], self.batch.masks[own]
            questions.append(Question(int(policy), own, observations, masks))
        return questions

    def play(self, answered: Sequence[tuple[Question, Answer]]) -> list[GameRecord]:
        """Play the answers and return the games that ended."""
        actions = np.full(len(self.plans), NO_ACTION)
        ended = []
        for question, answer in answered:
            rows = question.rows
            legal = self._take(question, answer)
            actions[rows[legal]] = answer.actions[legal]
            for i in np.flatnonzero(~legal):
                kind, text = answer.faults.get(int(i)) or ("illegal", str(answer.actions[i]))
                ended.append(self.fail(int(rows[i]), kind, text))
        self.batch.step(actions)
        self._returns += self.batch.rewards
        for row in np.flatnonzero(actions != NO_ACTION):
            self._actions[row].append(int(actions[row]))
        over = np.flatnonzero(self.in_play & (self.batch.num_legal == 0))
        return ended + [self._end(int(row), None) for row in over]

    def fail(self, row: int, kind: str, text: str) -> GameRecord:
        """End a game that the player on turn loses, because there is no legal answer of his."""
        return self._end(row, Fault(int(self.batch.current_player[row]), kind, text))

    def open_plans(self) -> list[Plan]:
        """Return the games that go on."""
        return [self.plans[row] for row in np.flatnonzero(self.in_play)]

    def _take(self, question: Question, answer: Answer) -> np.ndarray:
        """Count the answers and return which are legal (n,) bool."""
        rows = question.rows
        seats = self.batch.current_player[rows]
        self._decisions[rows, seats] += 1
        self._seconds[rows, seats] += answer.seconds / len(rows)
        inside = (answer.actions >= 0) & (answer.actions < question.masks.shape[1])
        chosen = np.where(inside, answer.actions, 0)
        legal: np.ndarray = inside & (self.batch.masks[rows, chosen] != 0)
        legal[list(answer.faults)] = False
        return legal

    def _end(self, row: int, fault: Fault | None) -> GameRecord:
        self.in_play[row] = False
        state = self.batch.games[row : row + 1]
        outcomes, scores = score_seats(self._returns[row], bool(state["truncated"][0]), fault)
        points = final_points(self.game, state, len(scores))
        return GameRecord(
            plan=self.plans[row],
            actions=tuple(self._actions[row]),
            outcomes=outcomes,
            scores=scores,
            points=None if points is None else tuple(points[0].tolist()),
            decisions=tuple(self._decisions[row].tolist()),
            ms=tuple((1000 * self._seconds[row]).round(3).tolist()),  # as they are written
            fault=fault,
        )
