"""How threads share the games of one step: a few at a time, each those of its own part first.

Nothing depends on who steps which games, nor on whether the others come at all, so a thread that
wakes late costs little. Those of a part mostly meet the core that stepped them last. The hand-over
holds no interpreter lock: a helper that has nothing to do looks at the board for a moment before it
sleeps, because waking up takes longer than most steps.
"""

import os
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from queue import SimpleQueue
from typing import Any

import numba
import numpy as np
from numba.core import cgutils
from numba.extending import intrinsic

from crapo_env.jit import njit

# The board is an int64 array. What many write stands on cache lines of its own.
LINE = 16  # entries, two lines, as they come in pairs
DONE = 0  # games stepped
ASLEEP = LINE  # helpers that have to be woken
GAMES, SIZE, TURN, AUTO_RESET = range(2 * LINE, 2 * LINE + 4)  # games taken at a time: TURN
NEXT = 3 * LINE  # of each thread's part, a line apart: first game that nobody has taken

TURNS = 16  # of each thread in one step, so that the last to finish is not long behind
LOOKS = 12_000  # at the board before a thread goes to sleep, some 60 us
NAP = 5e-5  # seconds


def _address(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Return the address of the entry of the board that the first two arguments name."""
    kind = signature.args[0]
    board = context.make_array(kind)(context, builder, arguments[0])
    return cgutils.get_item_pointer(context, builder, kind, board, [arguments[1]])


@intrinsic
def _load(typing_context: Any, board: Any, entry: Any) -> tuple[Any, Callable[..., Any]]:
    """Read an entry that other threads change; the fence also slows down who looks again."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.fence("seq_cst")
        address = _address(context, builder, signature, arguments)
        return builder.load_atomic(address, "seq_cst", 8)

    return numba.int64(board, numba.intp), generate


def _exchange(operation: str) -> Any:
    """Return an intrinsic that changes an entry in one stroke and returns what it was."""

    @intrinsic
    def change(
        typing_context: Any, board: Any, entry: Any, value: Any
    ) -> tuple[Any, Callable[..., Any]]:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            address = _address(context, builder, signature, arguments)
            return builder.atomic_rmw(operation, address, arguments[2], "seq_cst")

        return numba.int64(board, numba.intp, numba.int64), generate

    return change


_swap, _add = _exchange("xchg"), _exchange("add")


@njit
def next_turn(board: Any, thread: int, looks: int, done: int) -> tuple[int, int]:
    """Report games as done and return the next to step as a range; an empty one says to stop.

    A helper, `thread` above 0, counts as asleep before its last look: the caller opens a step
    before it counts the sleepers, so one of them always sees the other.
    """
    _add(board, DONE, done)
    low, high = _take(board, thread)
    while low == high and looks > 0:
        looks -= 1
        low, high = _take(board, thread)
    if low == high and thread > 0:
        _add(board, ASLEEP, 1)
        low, high = _take(board, thread)
        if low < high:
            _add(board, ASLEEP, -1)
    return low, high


@njit
def _take(board: Any, thread: int) -> tuple[int, int]:
    """Take some games, of the thread's own part first: its core remembers them."""
    for k in range(thread, thread + board[SIZE]):
        part = k % board[SIZE]
        entry, end = NEXT + LINE * part, _begin(board, part + 1)
        if _load(board, entry) < end:
            first = _add(board, entry, board[TURN])
            if first < end:
                return first, min(first + board[TURN], end)
    return 0, 0


@njit
def _begin(board: Any, part: int) -> int:
    """Return the first game of a part."""
    return board[GAMES] * part // board[SIZE]


@njit
def _is_done(board: Any, looks: int) -> bool:
    """Look until all games are stepped; return whether they are."""
    for _ in range(looks):
        if _load(board, DONE) == board[GAMES]:
            return True
    return False


@njit
def _open(board: Any) -> int:
    """Lay out the games of a step; return how many helpers to wake, which now count as awake."""
    _swap(board, DONE, 0)
    for part in range(board[SIZE]):
        _swap(board, NEXT + LINE * part, _begin(board, part))
    sleepers = max(0, _load(board, ASLEEP))  # below 0: one found work after it had been counted
    _add(board, ASLEEP, -sleepers)
    return sleepers


def _help(bell: SimpleQueue[bool], step: Callable[[], None], failures: list[Exception]) -> None:
    """Run a helper: sleep until the bell rings, then step games; False ends it."""
    try:
        while bell.get():
            step()
    except Exception as error:
        failures.append(error)


def _dismiss(bell: SimpleQueue[bool], helpers: int) -> None:
    for _ in range(helpers):
        bell.put(False)


class Crew:
    """Threads that step the games of a batch together with the one that calls.

    They end with this object and belong to the process that made it.
    """

    def __init__(self, share: Callable[..., None], arrays: Sequence[np.ndarray], size: int) -> None:
        """Start the threads beside the caller's own.

        Args:
            share: see `Game.share`.
            arrays: those of a batch that `share` takes, the games first.
            size: number of threads, the caller's too.
        """
        games, *others = arrays
        n = len(games)
        self.process = os.getpid()
        self._actions = np.zeros(n, np.int64)
        self._board = np.zeros(NEXT + LINE * size, np.int64)
        self._board[NEXT:] = self._board[[GAMES, DONE]] = n
        self._board[SIZE] = size
        self._board[TURN] = max(1, n // (size * TURNS))
        self._board[ASLEEP] = size - 1
        self._step = partial(share, games, self._actions, *others, self._board)
        self._bell: SimpleQueue[bool] = SimpleQueue()
        self._failures: list[Exception] = []
        weakref.finalize(self, _dismiss, self._bell, size - 1)
        for thread in range(1, size):
            work = (self._bell, partial(self._step, thread, LOOKS), self._failures)
            threading.Thread(target=_help, args=work, name="crapo_env", daemon=True).start()

    def step(self, actions: np.ndarray, auto_reset: bool) -> None:
        """Step all games, see `Batch.step`; no action may be illegal, nor a step unfinished."""
        self._actions[:] = actions
        self._board[AUTO_RESET] = auto_reset
        for _ in range(_open(self._board)):
            self._bell.put(True)
        self._finish()

    def wait(self) -> None:
        """Finish a step that an interrupt broke off, if there is one.

        Raises:
            Exception: whatever a helper has raised; its games are lost.
        """
        if not _is_done(self._board, 1):
            self._finish()

    def _finish(self) -> None:
        """Step the games that nobody has taken and wait for the helpers."""
        self._step(0, 0)
        while not _is_done(self._board, LOOKS):
            if self._failures:
                raise self._failures[0]
            time.sleep(NAP)
