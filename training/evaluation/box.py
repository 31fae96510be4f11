"""A process that holds policies and nothing else: no game, no state, no deal.

The tournament asks it over a pipe and ends it when it does not answer in time.
"""

import contextlib
import multiprocessing
import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

from crapo_env.bots import list_loaders, register_loader
from crapo_env.registry import find_game
from training.evaluation.policies import Bench
from training.evaluation.table import Question

START_SECONDS = 300.0  # the first start on a machine compiles


@dataclass(frozen=True)
class Setup:
    """What the policies of a tournament are made from."""

    game: str
    options: dict[str, Any]
    specs: tuple[str, ...]
    seed: int
    sampled: bool
    loaders: dict[str, str] = field(default_factory=list_loaders)  # see `register_loader`


class BoxDiedError(Exception):
    """The process has ended."""


class Box:
    """The tournament's end of the pipe; `start` it before use."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._process: multiprocessing.process.BaseProcess | None = None
        self.connection: Connection

    def start(self) -> None:
        """Start a new process; its first message is a list of `Description` or the error's text."""
        context = multiprocessing.get_context("spawn")
        self.connection, far_end = context.Pipe()
        self._process = context.Process(
            target=run_box, args=(far_end, self._setup), name="policies", daemon=True
        )
        self._process.start()
        far_end.close()

    def send(self, questions: Sequence[tuple[Question, list[str]]]) -> None:
        """Ask questions, each about games with these names."""
        with contextlib.suppress(OSError):  # the end of the process is noticed when receiving
            self.connection.send(
                [(q.policy, games, q.observations, q.masks) for q, games in questions]
            )

    def forget(self, games: Sequence[str]) -> None:
        """Tell the process that games are over."""
        with contextlib.suppress(OSError):
            self.connection.send(tuple(games))

    def receive(self) -> Any:
        """Return the next message: a list of `Description` or of `Answer`, or the text of an error.

        Raises:
            BoxDiedError: if the process has ended.
        """
        try:
            return self.connection.recv()
        except (EOFError, OSError):
            raise BoxDiedError from None

    def kill(self) -> None:
        """End the process, whatever it does."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self.connection.close()
            self._process = None


def run_box(connection: Connection, setup: Setup) -> None:
    """Answer questions until the pipe is closed; the main function of the process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the tournament's to handle
    os.environ["OMP_NUM_THREADS"] = "1"
    for kind, target in setup.loaders.items():
        register_loader(kind, target)
    try:
        game = find_game(setup.game)
        bench = Bench(game, setup.options, setup.specs, setup.seed, sampled=setup.sampled)
        connection.send(bench.describe())
    except Exception as error:
        connection.send(str(error) or type(error).__name__)
        return
    with contextlib.suppress(EOFError, OSError):
        while True:
            message = connection.recv()
            if isinstance(message, tuple):
                bench.forget(message)
            else:
                connection.send([bench.ask(*question) for question in message])
