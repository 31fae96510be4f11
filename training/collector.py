"""Games played side by side, and what the learner can learn from them.

A *stream* is one seat of one game. A decision of a stream is rewarded with all that its seat
receives until the stream's next decision or the end of the game, whoever caused it, and can be
learned from once that is known. Until then it waits, also across updates. Nothing assumes that
players alternate. Axis letters: `n` a game, `p` a seat; `rows` are indices of games.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from crapo_env.batch import NO_ACTION, Batch
from crapo_env.game import Game
from crapo_env.seeds import FIRST_EVALUATION_SEED
from training.config import Config
from training.league import LEARNER, League
from training.network import Network, draw, list_afterstates, list_positions
from training.ppo import Decisions, ragged_rows

OPEN, ENDED = -2, -1  # what follows a decision: not known yet; the end of the game
_COLUMNS = ("counts", "positions", "chosen", "log_probs", "values", "streams")


@dataclass
class Games:
    """What became of the games that ended in a collection, from the view of the home seat."""

    wins: int = 0
    draws: int = 0
    truncated: int = 0
    lengths: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        """Return the number of games."""
        return len(self.lengths)


class Collector:
    """Plays `config.num_envs` games and collects the decisions of the learner.

    One seat of each game, the *home* seat, is always the learner's; it moves on by one with every
    deal. The league says who plays the others until the end of the game. Where that is the learner
    too, he learns from these seats as well.
    """

    def __init__(
        self, game: Game, config: Config, league: League, rng: np.random.Generator
    ) -> None:
        """Deal the games. All that is random here comes from `rng`, which others may share."""
        self.game = game
        self.config = config
        self.league = league
        self.rng = rng
        n = config.num_envs
        options = config.options | config.training_options
        self.batch = Batch(game, n, options, auto_reset=False)
        num_seats = self.batch.rewards.shape[1]
        self.num_seats = num_seats
        self._all = np.arange(n)
        self.home = self._all % num_seats  # (n,) a seat that is the learner's
        self.owners = np.full((n, num_seats), LEARNER)  # (n, p) keys of the league
        self.credit = np.zeros((n, num_seats), np.float32)  # received since the last decision
        self.returns = np.zeros((n, num_seats), np.float32)  # received in this game
        self.last = np.full(n * num_seats, OPEN)  # by stream, its last decision in the buffer
        self.games = Games()
        self._waiting: dict[str, np.ndarray] | None = None
        self._deal(self._all)

    def collect(self, network: Network, shaping: float) -> Decisions:
        """Play until `config.rollout_decisions` can be learned from.

        Args:
            network: the learner.
            shaping: weight of the potential in the rewards.
        """
        self._begin()
        while self._size - np.count_nonzero(self.last >= 0) < self.config.rollout_decisions:
            self._step(network)
        return self._finish(shaping)

    def _begin(self) -> None:
        """Start a buffer with the decisions that were waiting."""
        self.games = Games()
        room = 2 * self.config.rollout_decisions + 2 * self.last.size
        self._next = np.full(room, OPEN)  # the stream's next decision, ENDED or OPEN
        self._rewards = np.zeros(room, np.float32)
        self._chunks: list[dict[str, np.ndarray]] = []
        self._bounds = [0]
        if self._waiting is not None:
            self._append(self._waiting)

    def _append(self, chunk: dict[str, np.ndarray]) -> None:
        """Add decisions of different streams, the next of each."""
        streams = chunk["streams"]
        index = self._size + np.arange(len(streams))
        self.last[streams] = index
        self._chunks.append(chunk)
        self._bounds.append(self._size + len(streams))

    @property
    def _size(self) -> int:
        """Number of decisions in the buffer."""
        return self._bounds[-1]

    def _step(self, network: Network) -> None:
        """Move every game by one decision, whoever makes it."""
        batch = self.batch
        actions = np.full(len(batch), NO_ACTION)
        free = np.ones(len(batch), bool)
        if self.config.skip_forced:
            free = batch.num_legal > 1
            actions[~free] = batch.legal[~free, 0]
        owners = self.owners[self._all, batch.current_player]
        rows = np.flatnonzero(free & (owners == LEARNER))
        if len(rows):
            self._decide(network, rows, actions)
        others = np.flatnonzero(free & (owners != LEARNER))
        actions[others] = self.league.act(owners[others], batch, others, self.rng)
        batch.step(actions)
        self.credit += batch.rewards
        self.returns += batch.rewards
        if batch.ended.any():
            self._end(network, np.flatnonzero(batch.ended))

    def _decide(self, network: Network, rows: np.ndarray, actions: np.ndarray) -> None:
        """Let the learner play the games `rows` and note his decisions."""
        batch = self.batch
        seats = batch.current_player[rows].astype(np.int64)
        counts = batch.num_legal[rows].astype(np.int64)
        afterstates = list_afterstates(self.game, batch.games, rows, batch.legal, batch.num_legal)
        positions = list_positions(network, batch.games, rows, seats)
        with torch.no_grad():
            logits = network.scores(torch.from_numpy(afterstates), torch.from_numpy(counts))
            values = network.values(torch.from_numpy(positions)).numpy()
            log_probs = logits.log_softmax(1).numpy()
        chosen = draw(logits.numpy(), self.rng)
        streams = rows * self.num_seats + seats
        self._settle(streams)
        actions[rows] = batch.legal[rows, chosen]
        self._append(
            {
                "afterstates": afterstates,
                "counts": counts,
                "positions": positions,
                "chosen": chosen,
                "log_probs": log_probs[np.arange(len(rows)), chosen],
                "values": values,
                "streams": streams,
            }
        )

    def _settle(self, streams: np.ndarray) -> None:
        """Reward the last decisions of streams that are about to decide again."""
        before = self.last[streams]
        known = before >= 0
        self._next[before[known]] = self._size + np.flatnonzero(known)
        self._rewards[before[known]] = self.credit.reshape(-1)[streams[known]]
        self.credit.reshape(-1)[streams] = 0

    def _end(self, network: Network, rows: np.ndarray) -> None:
        """Give the last decisions of the games that ended their due, and deal anew."""
        streams = (rows[:, None] * self.num_seats + np.arange(self.num_seats)).reshape(-1)
        streams = streams[self.last[streams] >= 0]
        last = self.last[streams]
        self._next[last] = ENDED
        self._rewards[last] = self.credit.reshape(-1)[streams]
        truncated = self.batch.games["truncated"][streams // self.num_seats] == 1
        if truncated.any():  # a limit is no result: what would have followed is estimated
            cut = streams[truncated]
            positions = list_positions(
                network, self.batch.games, cut // self.num_seats, cut % self.num_seats
            )
            with torch.no_grad():
                values = network.values(torch.from_numpy(positions)).numpy()
            self._rewards[last[truncated]] += self.config.gamma * values / self.config.reward_scale
        self._report(rows)
        self._deal(rows)

    def _report(self, rows: np.ndarray) -> None:
        """Count the results of games that ended, and tell them to the league."""
        games = self.batch.games
        truncated = games["truncated"][rows] == 1
        results = np.where(truncated, 0.0, np.sign(self.returns[rows, self.home[rows]]))
        self.games.wins += int((results > 0).sum())
        self.games.draws += int(((results == 0) & ~truncated).sum())
        self.games.truncated += int(truncated.sum())
        self.games.lengths += games["num_steps"][rows].tolist()
        for row, result in zip(rows.tolist(), results.tolist(), strict=True):
            for key in set(self.owners[row].tolist()) - {LEARNER}:
                self.league.report(key, result)

    def _deal(self, rows: np.ndarray) -> None:
        """Start new games in `rows`: the home seat one on, new opponents, new cards."""
        self.home[rows] = (self.home[rows] + 1) % self.num_seats
        self.owners[rows] = self.league.draw((len(rows), self.num_seats), self.rng)
        self.owners[rows, self.home[rows]] = LEARNER
        seeds = self.rng.integers(FIRST_EVALUATION_SEED, size=len(rows), dtype=np.uint64)
        self.batch.redeal(rows, seeds)
        self.credit[rows] = 0
        self.returns[rows] = 0
        self.last.reshape(-1, self.num_seats)[rows] = OPEN

    def _finish(self, shaping: float) -> Decisions:
        """Return the decisions whose reward is known; keep the others waiting."""
        columns = {name: np.concatenate([c[name] for c in self._chunks]) for name in _COLUMNS}
        afterstates = np.concatenate([c["afterstates"] for c in self._chunks])
        advantages = self._estimate(columns, shaping)
        following = self._next[: self._size]
        starts = np.cumsum(columns["counts"]) - columns["counts"]

        waiting = np.flatnonzero(following == OPEN)
        self._waiting = {name: column[waiting] for name, column in columns.items()}
        rows = ragged_rows(starts[waiting], columns["counts"][waiting])
        self._waiting["afterstates"] = afterstates[rows]
        self.last[:] = OPEN
        known = np.flatnonzero(following != OPEN)
        learned = {name: column[known] for name, column in columns.items() if name != "streams"}
        return Decisions(
            **learned,
            afterstates=afterstates,
            first=starts[known],
            advantages=advantages[known],
            returns=learned["values"] + advantages[known],
        )

    def _estimate(self, columns: dict[str, np.ndarray], shaping: float) -> np.ndarray:
        """Return the generalised advantage estimates (Schulman et al. 2016) of all decisions.

        The reward of a decision is shaped by gamma times the potential at the stream's next
        decision, 0 at the end, minus the potential at this one (Ng, Harada and Russell 1999).
        """
        gamma = self.config.gamma
        weights = self.game.features.potential
        used = np.flatnonzero(weights)  # a few columns
        potential = shaping * (columns["positions"][:, used] @ weights[used])
        values = columns["values"]
        rewards = self.config.reward_scale * self._rewards[: self._size] - potential
        following = self._next[: self._size]
        advantages = np.zeros(self._size, np.float32)
        for low, high in zip(self._bounds[-2::-1], self._bounds[:0:-1], strict=True):
            goes_on = following[low:high] >= 0
            after = np.where(goes_on, following[low:high], 0)
            ahead = np.where(goes_on, values[after] + potential[after], 0)
            trace = np.where(goes_on, advantages[after], 0)
            delta = rewards[low:high] + gamma * ahead - values[low:high]
            estimate = delta + gamma * self.config.gae_lambda * trace
            advantages[low:high] = np.where(following[low:high] == OPEN, 0, estimate)
        return advantages

    def state(self) -> dict[str, Any]:
        """Return all arrays that a resumed run needs, beside those of the generator."""
        waiting = {} if self._waiting is None else self._waiting
        return {
            "games": self.batch.games.view(np.uint8).copy(),
            "home": self.home,
            "owners": self.owners,
            "credit": self.credit,
            "returns": self.returns,
            **{f"waiting.{name}": array for name, array in waiting.items()},
        }

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Go on where `state` was taken."""
        self.batch.games[:] = state["games"].view(self.game.dtype)
        self.batch.refresh()
        for name in ("home", "owners", "credit", "returns"):
            getattr(self, name)[:] = state[name]
        waiting = {
            name.removeprefix("waiting."): array
            for name, array in state.items()
            if name.startswith("waiting.")
        }
        self._waiting = waiting or None
