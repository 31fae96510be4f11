"""Where the numbers of a run go: `metrics.jsonl`, one line an update, TensorBoard, a tracker."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch.utils.tensorboard import SummaryWriter

from training.storage import write_whole
from training.tracking import Tracker

METRICS = "metrics.jsonl"


class Logs:
    """The logs of a run, used as a context manager."""

    def __init__(self, folder: Path, updates: int, tracker: Tracker | None = None) -> None:
        """Open the logs; lines after so many updates, of a run that was cut off, are dropped."""
        self._tracker = tracker
        self._path = folder / METRICS
        kept = [line for line in read_metrics(self._path) if line["update"] <= updates]
        self.seconds = kept[-1]["seconds"] if kept else 0.0  # of the run so far
        write_whole(self._path, "".join(json.dumps(line) + "\n" for line in kept).encode())
        self._writer = SummaryWriter(str(folder), purge_step=_next_step(kept))

    def __enter__(self) -> "Logs":
        return self

    def __exit__(self, *_: object) -> None:
        self._writer.close()
        if self._tracker is not None:
            self._tracker.close()

    def write(
        self, update: int, decisions: int, seconds: float, numbers: Mapping[str, float]
    ) -> None:
        """Add the numbers of an update."""
        line = {"update": update, "decisions": decisions, "seconds": round(seconds, 3)}
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line | dict(numbers)) + "\n")
        for name, number in numbers.items():
            self._writer.add_scalar(name, number, decisions)
        if self._tracker is not None:
            self._tracker.write(decisions, numbers)


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """Return the lines of `metrics.jsonl`, none if there is no file, a torn last one left out.

    Raises:
        ValueError: if another line is no JSON.
    """
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    numbers: list[dict[str, Any]] = []
    for k, line in enumerate(lines):
        try:
            numbers.append(json.loads(line))
        except json.JSONDecodeError:
            if k + 1 < len(lines):
                raise ValueError(f"line {k + 1} of {path} is no JSON") from None
    return numbers


def _next_step(kept: list[dict[str, Any]]) -> int:
    return int(kept[-1]["decisions"]) + 1 if kept else 0
