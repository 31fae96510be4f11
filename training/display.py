"""What a training run shows: a progress bar on a terminal, plain lines everywhere."""

import time
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn


class Display:
    """The progress of a run, used as a context manager."""

    def __init__(self, console: Console, total: int, seconds: float = 0.0) -> None:
        """Make the display of a run of `total` decisions that has taken `seconds` already."""
        self.console = console
        self._progress = Progress(
            TextColumn("{task.completed:,.0f} of {task.total:,.0f} decisions"),
            BarColumn(),
            TextColumn("{task.fields[speed]:,.0f}/s"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[text]}"),
            console=console,
            disable=not console.is_terminal,
        )
        self._task = self._progress.add_task("training", total=total, speed=0.0, text="")
        self._start = time.monotonic() - seconds

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def seconds(self) -> float:
        """Return the time since the run began."""
        return time.monotonic() - self._start

    def update(self, decisions: int, numbers: Mapping[str, float]) -> None:
        """Show how far the run is and how it does."""
        text = f"entropy {numbers['train/entropy']:.2f}, Elo {numbers['league/elo']:+.0f}"
        speed = numbers["time/decisions_per_second"]
        self._progress.update(self._task, completed=decisions, speed=speed, text=text)

    def line(self, text: str) -> None:
        """Print a line that stays."""
        self._progress.console.print(text, highlight=False, soft_wrap=True)
