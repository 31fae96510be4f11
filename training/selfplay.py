"""Whom the learner plays against: bots, his latest snapshot and a few of his past ones."""

import hashlib
from collections.abc import Sequence

import numpy as np

from crapo_env.bots.policy import Policy
from crapo_env.game import Game
from training.network import Network, NetworkPolicy


def weights_digest(network: Network) -> str:
    """Return a hash of all weights: networks with the same digest play alike."""
    digest = hashlib.sha256()
    for name, tensor in sorted(network.state_dict().items()):
        digest.update(name.encode() + tensor.numpy().tobytes())
    return digest.hexdigest()[:16]


class Snapshot(NetworkPolicy):
    """The learner as he once was. It draws its moves, so that its games differ."""

    def __init__(self, game: Game, network: Network, decisions: int, seed: int) -> None:
        self.digest = weights_digest(network)
        name = f"snapshot-{decisions}-{self.digest[:6]}"
        super().__init__(game, network, name, deterministic=False, seed=seed)
        self.decisions = decisions


class OpponentPool:
    """Opponents and how often each is to be drawn.

    The weight of the past is shared equally by the snapshots before the latest; while there are
    none it goes to the latest.
    """

    def __init__(
        self,
        bots: Sequence[Policy],
        bot_weights: Sequence[float],
        *,
        latest_weight: float,
        past_weight: float,
        max_past: int,
        seed: int,
    ) -> None:
        self.bots = list(bots)
        self.bot_weights = list(bot_weights)
        self.latest_weight = latest_weight
        self.past_weight = past_weight
        self.max_past = max_past
        self.snapshots: list[Snapshot] = []  # oldest first
        self._rng = np.random.default_rng(seed)

    def add(self, game: Game, network: Network, decisions: int) -> bool:
        """Take a network into the pool that nobody changes any more, if its weights are new there.

        When the pool is full a random past snapshot leaves, so that old and young ones stay.
        """
        if any(snapshot.digest == weights_digest(network) for snapshot in self.snapshots):
            return False
        seed = int(self._rng.integers(2**31))
        self.snapshots.append(Snapshot(game, network, decisions, seed))
        if len(self.snapshots) > self.max_past + 1:
            del self.snapshots[self._rng.integers(self.max_past)]
        return True

    def opponents(self) -> tuple[list[Policy], list[float]]:
        """Return all opponents and their weights."""
        past = self.snapshots[:-1]
        weights = self.bot_weights + [self.past_weight / len(past) for _ in past]
        if self.snapshots:
            weights.append(self.latest_weight + (0 if past else self.past_weight))
        return [*self.bots, *self.snapshots], weights
