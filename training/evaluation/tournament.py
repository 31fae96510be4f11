"""Plays all games of a tournament, policies in processes of their own, as many as wanted.

The games themselves are kept here. A policy that takes too long, raises or ends its process loses
the game in question; the process is replaced, and games that were in progress there are played
again from their deals, which gives the same games.
"""

import math
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import wait
from typing import Any

import numpy as np

from crapo_env.game import Game
from training.evaluation.box import START_SECONDS, Box, BoxDiedError, Setup
from training.evaluation.policies import Description
from training.evaluation.records import GameRecord
from training.evaluation.schedule import Plan, Unit
from training.evaluation.table import Answer, Question, Table

PATIENCE_MS = 10_000.0  # for a move when no limit is given
FIRST_SECONDS = 30.0  # for the first move of a policy in a process, which may load or compile
UNITS_AT_ONCE = 4  # of a process
GRACE_SECONDS = 1.0  # beyond the limit, before a process counts as hanging


@dataclass(frozen=True)
class Limit:
    """How long a move may take."""

    ms: float | None = None  # None: only what hangs is ended

    @property
    def each_alone(self) -> bool:
        """Return whether every move is asked for by itself, so that its time is known."""
        return self.ms is not None

    def seconds(self, moves: int) -> float:
        """Return how long to wait for so many moves."""
        return moves * (self.ms or PATIENCE_MS) / 1000 + GRACE_SECONDS

    def is_late(self, seconds: float) -> bool:
        """Return whether a move that took so long comes too late."""
        return self.ms is not None and 1000 * seconds > self.ms


class Tournament:
    """Boxes for the policies and the loop that keeps all of them busy; a context manager."""

    def __init__(
        self, game: Game, options: Mapping[str, Any], setup: Setup, workers: int, limit: Limit
    ) -> None:
        self.game = game
        self.options = dict(options)
        self.setup = setup
        self.limit = limit
        self.descriptions: list[Description] = []
        self.hung: set[int] = set()  # policies whose process had to be ended
        self._lanes = [_Lane(self, limit) for _ in range(workers)]

    def __enter__(self) -> "Tournament":
        """Start the first process, which finds out whether all policies can be had.

        Raises:
            ValueError: if one cannot.
        """
        first = self._lanes[0]
        try:
            first.start()
            self.descriptions = first.wait_for_start()
        except BaseException:
            first.box.kill()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for lane in self._lanes:
            lane.box.kill()

    def play(self, units: Iterable[Unit]) -> Iterator[list[GameRecord]]:
        """Play all games and yield them as they end, nothing now and then while they go on."""
        waiting = deque(units)
        while waiting or any(lane.busy for lane in self._lanes):
            for lane in self._lanes:
                while lane.free and waiting:
                    lane.take(waiting.popleft().plans, self.limit.each_alone)
            busy = {lane.box.connection: lane for lane in self._lanes if lane.busy}
            timeout = max(0.0, min(lane.deadline for lane in busy.values()) - time.monotonic())
            ready = set(wait(busy, min(timeout, 0.2)))
            ended: list[GameRecord] = []
            for connection, lane in busy.items():
                if connection in ready:
                    ended += lane.receive()
                elif time.monotonic() > lane.deadline:
                    ended += lane.give_up("late", f"no answer within {lane.allowed:.1f} s")
            yield ended

    def game_name(self, plan: Plan) -> str:
        """Return what tells a game apart from all others: its deal and who sits where."""
        seats = ", ".join(self.setup.specs[policy] for policy in plan.seats)
        return f"{plan.seed} {seats}"


class _Play:
    """A unit in play: its table, and what is left to be asked and answered in this step."""

    def __init__(self, tournament: Tournament, plans: Sequence[Plan], each_alone: bool) -> None:
        self.table = Table(tournament.game, tournament.options, plans)
        self.each_alone = each_alone
        self.names = np.array([tournament.game_name(plan) for plan in plans])
        self.parts: deque[list[Question]] = deque()  # one message each; the first is being answered
        self.answered: list[tuple[Question, Answer]] = []

    def step(self) -> list[GameRecord]:
        """Play the answers of a step and prepare the next one; return the games that ended."""
        ended = self.table.play(self.answered)
        self.prepare()
        return ended

    def prepare(self) -> None:
        """Find out what is to be asked; nothing once all games have ended."""
        questions = self.table.questions()
        if self.each_alone:
            alone = [part for question in questions for part in question.split()]
            self.parts = deque([part] for part in alone)
        else:
            self.parts = deque([questions] if questions else [])
        self.answered = []


class _Lane:
    """One box and the few units that are played with it: while it thinks of one, others step."""

    def __init__(self, tournament: Tournament, limit: Limit) -> None:
        self.box = Box(tournament.setup)
        self.deadline = math.inf
        self.allowed = 0.0  # seconds
        self._tournament = tournament
        self._limit = limit
        self._started = False
        self._starting = False  # whether the process has not reported yet
        self._warm: set[int] = set()  # policies that have moved in this process
        self._queue: deque[_Play] = deque()  # the box answers them in this order

    @property
    def busy(self) -> bool:
        """Return whether a unit is in play."""
        return bool(self._queue)

    @property
    def free(self) -> bool:
        """Return whether one more unit would keep the box busier."""
        return len(self._queue) < UNITS_AT_ONCE

    def start(self) -> None:
        """Start a process in the box."""
        self.box.start()
        self._started = self._starting = True
        self._warm = set()
        self._allow(START_SECONDS)

    def wait_for_start(self) -> list[Description]:
        """Return what the policies are once the process has reported.

        Raises:
            ValueError: if it cannot make them.
        """
        try:
            message = self.box.receive() if self.box.connection.poll(START_SECONDS) else "no answer"
        except BoxDiedError:
            message = "the process ended while it loaded them"
        if not isinstance(message, list):
            raise ValueError(f"{message}")
        self._starting = False
        return message

    def take(self, plans: Sequence[Plan], each_alone: bool) -> None:
        """Begin to play a unit."""
        if not self._started:
            self.start()
        play = _Play(self._tournament, plans, each_alone)
        play.prepare()
        self._enqueue(play)

    def receive(self) -> list[GameRecord]:
        """Take the next message of the box; return the games that ended by it."""
        if self._starting:
            self.wait_for_start()
            for play in self._queue:
                self._send(play)
            self._expect()
            return []
        try:
            answers = self.box.receive()
        except BoxDiedError:
            return self.give_up("died", "its process ended")
        play, ended = self._queue.popleft(), []
        for question, answer in zip(play.parts.popleft(), answers, strict=True):
            self._judge(question.policy, answer)
            play.answered.append((question, answer))
        if not play.parts:
            ended = play.step()
        if play.parts:
            self._enqueue(play)
        else:
            self.box.forget(play.names.tolist())
            self._expect()
        return ended

    def give_up(self, kind: str, text: str) -> list[GameRecord]:
        """Replace the process and play its games again.

        If it was asked about one game only, the policy asked loses that game. Otherwise the games
        are asked about one by one from now on, to find out which it is.
        """
        self.box.kill()
        self._started = False
        if self._starting:
            raise ValueError(f"the policies cannot be loaded again: {text}")
        plays, self._queue = self._queue, deque()
        first, ended = plays[0], []
        if first.each_alone:
            (question,) = first.parts[0]
            self._tournament.hung.add(question.policy)
            ended = [first.table.fail(int(question.rows[0]), kind, text)]
        for play in plays:
            if plans := play.table.open_plans():
                self.take(plans, play.each_alone or play is first)
        return ended

    def _judge(self, policy: int, answer: Answer) -> None:
        """Make an answer that came too late a fault; a first move may load what it needs."""
        if policy in self._warm and self._limit.is_late(answer.seconds) and not answer.faults:
            text = f"{1000 * answer.seconds:.1f} ms, allowed are {self._limit.ms:g}"
            answer.faults[0] = ("late", text)
        self._warm.add(policy)

    def _enqueue(self, play: _Play) -> None:
        """Put a unit at the end of the queue and send the box its next message."""
        self._queue.append(play)
        if not self._starting:
            self._send(play)
            self._expect()

    def _send(self, play: _Play) -> None:
        self.box.send(
            [(question, play.names[question.rows].tolist()) for question in play.parts[0]]
        )

    def _expect(self) -> None:
        """Set the time at which the answer for the first unit of the queue is overdue."""
        if self._queue:
            questions = self._queue[0].parts[0]
            moves = sum(len(question.rows) for question in questions)
            cold = {question.policy for question in questions} - self._warm - self._tournament.hung
            self._allow(self._limit.seconds(moves) + FIRST_SECONDS * len(cold))

    def _allow(self, seconds: float) -> None:
        self.allowed = seconds
        self.deadline = time.monotonic() + seconds
