"""Ctrl-C that lets a run end in order."""

import signal
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Self


class Interrupt:
    """While entered, the first SIGINT or SIGTERM is only noted; a second one interrupts at once.

    Attributes:
        requested: whether there was one.
        terminated: whether it was SIGTERM, after which there is little time.
    """

    def __init__(self, announce: Callable[[], None]) -> None:
        self.requested = False
        self.terminated = False
        self._announce = announce
        self._previous: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._previous[number] = signal.signal(number, self._note)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
        self.terminated = number == signal.SIGTERM
        self._announce()
