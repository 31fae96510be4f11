"""How speed is measured: all paths take turns in short slices, and medians over the rounds count.

The unit is the processor time of the process, all its threads together: what one undisturbed core
does, however busy the machine is. The time on the clock is kept beside it.
"""

import gc
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Run = Callable[[int], int]  # does its work so many times and returns how many units that were


@dataclass(frozen=True)
class Path:
    """Something to measure.

    Attributes:
        name: its row in the table.
        group: the heading under which the row stands.
        kind: "ours", "peer", or "limit" for an environment that does nothing.
        make: prepares the work, untimed, and returns what is then timed.
        unit: what is counted.
        facts: what reports use: game, batch, threads.
    """

    name: str
    group: str
    kind: str
    make: Callable[[], Run]
    unit: str = "decisions"
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Missing:
    """A path that was not measured, and why."""

    name: str
    group: str
    reason: str


@dataclass(frozen=True)
class Sample:
    """One slice: units done, seconds of processor time and on the clock."""

    units: int
    cpu: float
    wall: float


@dataclass
class Series:
    """A path, prepared, with its samples, one a round."""

    path: Path
    run: Run
    repeats: int  # of the work in one slice
    samples: list[Sample] = field(default_factory=list)

    def rates(self, clock: str = "cpu") -> np.ndarray:
        """Return units per second in every round, by the clock "cpu" or "wall"."""
        return np.array([sample.units / getattr(sample, clock) for sample in self.samples])

    def median(self, clock: str = "cpu") -> float:
        """Return the median rate."""
        return float(np.median(self.rates(clock)))

    def spread(self) -> tuple[float, float]:
        """Return the rates that 10 % and 90 % of the rounds stay below."""
        low, high = np.quantile(self.rates(), (0.1, 0.9))
        return float(low), float(high)

    def ratio(self, reference: "Series") -> float:
        """Return how often the reference's rate fits in this one, the median over the rounds."""
        return float(np.median(self.rates() / reference.rates()))


def time_slice(run: Run, repeats: int) -> Sample:
    """Time one slice; both clocks tick at least once in it."""
    wall, cpu = time.perf_counter(), time.process_time()
    units = run(repeats)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return Sample(units, max(cpu, 1e-9), max(wall, 1e-9))


def calibrate(run: Run, seconds: float) -> int:
    """Return how many repeats fill a slice, after a first one that compiles."""
    run(1)
    repeats = 1
    while True:
        sample = time_slice(run, repeats)
        if sample.cpu >= seconds / 4:
            return max(1, round(repeats * seconds / sample.cpu))
        repeats *= 4


def prepare(path: Path, seconds: float) -> Series | Missing:
    """Make a path ready; a peer that fails is reported as missing, an error of ours is raised."""
    try:
        run = path.make()
        return Series(path, run, calibrate(run, seconds))
    except Exception as error:  # whatever another library of another version may raise
        if path.kind != "peer":
            raise
        text = f"{type(error).__name__}: {error}".partition("\n")[0]
        return Missing(path.name, path.group, f"failed: {text}")


def run_rounds(series: Sequence[Series], rounds: int) -> Iterator[int]:
    """Give every path one slice a round, in an order drawn anew for each, and yield each round.

    What the preparation left behind is hidden from the garbage collector, which would else walk
    through all imported libraries in the slices of those who allocate.
    """
    order = list(series)
    shuffle = random.Random(0).shuffle
    gc.collect()
    gc.freeze()
    try:
        for i in range(rounds):
            shuffle(order)
            for entry in order:
                entry.samples.append(time_slice(entry.run, entry.repeats))
            yield i
    finally:
        gc.unfreeze()
