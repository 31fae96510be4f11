"""How long it takes to start: each measurement is a process of its own."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from crapo_env.game import Game
from crapo_env.registry import GAMES

_CLOCKS = """
import json, time
wall, cpu = time.perf_counter(), time.process_time()
{}
print(json.dumps([time.process_time() - cpu, time.perf_counter() - wall]))
"""
_FIRST_STEP = """
from crapo_env import {} as module
env = module.env()
env.reset(seed=0)
env.step(int(env.last()[0]["action_mask"].argmax()))
"""


@dataclass
class Start:
    """A way to start, with the seconds of processor time and on the clock of every trial.

    Attributes:
        name: its row in the table.
        code: what is timed.
        cold: whether nothing has been compiled before.
    """

    name: str
    code: str
    cold: bool = False
    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)

    def try_once(self) -> tuple[float, float]:
        """Start a process and return its seconds of processor time and on the clock."""
        with tempfile.TemporaryDirectory() as folder:
            switches = os.environ | ({"NUMBA_CACHE_DIR": folder} if self.cold else {})
            command = [sys.executable, "-c", _CLOCKS.format(self.code)]
            child = subprocess.run(command, env=switches, capture_output=True, text=True)
        if child.returncode != 0:
            raise RuntimeError(f"{self.name} failed:\n{child.stderr[-2000:]}")
        cpu, wall = json.loads(child.stdout.splitlines()[-1])
        return cpu, wall

    def median(self) -> tuple[float, float]:
        """Return the medians of processor time and time on the clock."""
        return float(np.median(self.cpu)), float(np.median(self.wall))


def _to_first_step(game: Game) -> str:
    return _FIRST_STEP.format(game.id)


def list_starts() -> list[Start]:
    """Return what is to be started."""
    games = list(GAMES.values())
    warm = [Start(f"import crapo_env.{g.id} to first step, warm", _to_first_step(g)) for g in games]
    cold = [
        Start(f"the same, cold: {game.name} compiled", _to_first_step(game), True) for game in games
    ]
    return [Start("import crapo_env", "import crapo_env"), *warm, *cold]


def measure_starts(trials: int, cold: bool, say: Callable[[str], None]) -> list[Start]:
    """Start everything so many times, in turns; what is cold once, and only if asked to."""
    starts = list_starts()
    for start in starts:
        if not start.cold:
            start.try_once()  # fills the caches
    for trial in range(trials):
        say(f"starts, {trial + 1} of {trials}")
        for start in starts:
            if not start.cold or (cold and trial == 0):
                cpu, wall = start.try_once()
                start.cpu.append(cpu)
                start.wall.append(wall)
    return starts
