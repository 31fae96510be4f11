"""Flat search over the lines of one turn, with paired playouts over redraws of the hidden cards.

The playouts are shared out by sequential halving: all lines get some, the better half more, and so
on. All that is random is fixed by the seed and the observation, so equal questions get equal
answers.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from crapo_env.bots.planning import SEAT
from crapo_env.bots.policy import Policy
from crapo_env.bots.tree import MAX_NODES, NODE_DTYPE, NUM_SLOTS
from crapo_env.cards import mix64
from crapo_env.game import Game
from crapo_env.jit import njit

MAX_LENGTH = 48  # of a line; longer ones are not simulated
CHUNK = 8  # simulations between two looks at the clock


@dataclass(frozen=True)
class SearchKernels:
    """What a game provides for the search, see `crapo_search`."""

    list_lines: Callable[..., int]
    simulate: Callable[..., None]
    ranks: np.ndarray  # priorities of the playouts
    weights: np.ndarray  # of the value


@njit
def hash_row(row: np.ndarray, seed: np.uint64) -> np.uint64:
    """Return a number that depends on all values of an observation and on a seed."""
    total = mix64(np.uint64(seed) + np.uint64(1))
    for value in row:
        total = mix64(total + np.uint64(np.int64(value) + 129))
    return total


class SearchPolicy(Policy):
    """Finds the best lines of its turn and compares them by playouts.

    Attributes:
        visits: for each row of the last call, how many playouts every line got, best line by the
            planner first; empty where there was nothing to choose.
    """

    def __init__(
        self,
        game: Game,
        seed: int,
        *,
        kernels: SearchKernels,
        playouts: int,
        ms: int,
        lines: int,
        nodes: int,
        horizon: int,
        noise: int,
        trust: int,
    ) -> None:
        """Make a search policy.

        Args:
            game: the game.
            seed: of the redraws and of the playouts.
            kernels: of the game.
            playouts: how many a decision may use.
            ms: if not 0, milliseconds that a decision may use instead.
            lines: how many lines are compared.
            nodes: budget of the planner that finds them.
            horizon: turns after which a playout is valued.
            noise: per cent of random moves in the playouts.
            trust: how many playouts the planner's value of a line counts for.
        """
        super().__init__(game, "search", deterministic=ms == 0)
        self._kernels = kernels
        self._seed = np.uint64(seed)
        self._playouts = playouts
        self._seconds = ms / 1000
        self._lines = lines
        self._nodes = nodes
        self._horizon = horizon
        self._trust = trust
        self._noise = round(noise / 100 * 2**16)
        self.visits: list[np.ndarray] = []

    def choose(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Return the first move of the best line for each row."""
        states = np.empty(MAX_NODES, self.game.dtype)
        nodes, slots = np.empty(MAX_NODES, NODE_DTYPE), np.empty(NUM_SLOTS, np.int32)
        lines = np.empty((self._lines, MAX_LENGTH), np.int16)
        chances = np.empty(self._lines)
        actions = np.empty(len(masks), np.int64)
        self.visits = []
        roots = self.game.states_behind(observations, SEAT, 0)
        for i in range(len(masks)):
            states[0] = roots[i]
            kernels, visits = self._kernels, np.zeros(0, np.int64)
            legal = np.flatnonzero(masks[i])
            n, chosen = 0, 0
            if len(legal) > 1:
                n = kernels.list_lines(
                    nodes, states, slots, masks[i], self._nodes, kernels.weights, lines, chances
                )
            if n > 1 and (lines[:n, 0] != lines[0, 0]).any():
                seed = np.uint64(hash_row(observations[i], self._seed))
                chosen, visits = self._compare(roots[i : i + 1], lines[:n], chances[:n], seed)
            actions[i] = self._first(lines[chosen]) if n > 0 else legal[0]
            self.visits.append(visits)
        return actions

    def _first(self, line: np.ndarray) -> int:
        """Return the first action of a line; an empty one ends the turn."""
        return int(line[0]) if line[0] >= 0 else len(self.game.actions) - 1

    def _compare(
        self, roots: np.ndarray, lines: np.ndarray, chances: np.ndarray, seed: np.uint64
    ) -> tuple[int, np.ndarray]:
        """Return the index of the best line and the playouts that each got."""
        alive = np.arange(len(lines))
        totals, visits = self._trust * chances, np.zeros(len(lines), np.int64)
        phases = math.ceil(math.log2(len(lines)))
        begin, done = time.perf_counter(), 0
        for phase in range(phases):
            planned = max(1, self._playouts // (phases * len(alive)))
            deadline = begin + self._seconds * (phase + 1) / phases
            while planned > 0:
                size = min(CHUNK, planned) if self._seconds else planned
                self._simulate(roots, lines, alive, done, done + size, seed, totals)
                visits[alive] += size
                done += size
                if not self._seconds:
                    planned -= size
                elif time.perf_counter() >= deadline:
                    break
            order = np.argsort(-totals[alive], kind="stable")
            alive = np.sort(alive[order[: (len(alive) + 1) // 2]])
        return int(alive[0]), visits

    def _simulate(
        self,
        roots: np.ndarray,
        lines: np.ndarray,
        alive: np.ndarray,
        first: int,
        last: int,
        seed: np.uint64,
        totals: np.ndarray,
    ) -> None:
        """Add the results of some simulations to the totals of the lines that are left."""
        kernels, added = self._kernels, np.zeros(len(alive))
        kernels.simulate(
            roots,
            lines[alive],
            first,
            last,
            seed,
            self._horizon,
            self._noise,
            kernels.ranks,
            kernels.weights,
            added,
        )
        totals[alive] += added
