"""Whom the learner plays against: himself, bots, and what he was at earlier times.

Every opponent has a key that never changes or comes back. Snapshots are drawn by prioritised
fictitious self-play: the more often the learner fails to beat one, the more often it comes.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch.func import functional_call, stack_module_state, vmap

from crapo_env.batch import Batch
from crapo_env.bots import make_policy
from crapo_env.bots.policy import Policy
from crapo_env.cards import mix64
from crapo_env.game import Game
from training.config import Config
from training.network import Network, draw, list_afterstates, pad

LEARNER = -1  # the key of the learner himself
MEMORY = 400.0  # games of which a result counts; older ones fade
ELO_STEP = 8.0  # rating points for a surprise of one whole game
ELO_SCALE = 400.0


def weights_digest(network: Network) -> str:
    """Return a hash of all weights: networks with the same digest play alike."""
    digest = hashlib.sha256()
    for name, tensor in sorted(network.state_dict().items()):
        digest.update(name.encode() + tensor.numpy().tobytes())
    return digest.hexdigest()[:16]


@dataclass
class Member:
    """An opponent and how the learner has done against it."""

    name: str
    rating: float = 0.0  # Elo
    games: float = 0.0  # faded, see MEMORY
    score: float = 0.0  # wins of the learner and half of the draws, faded
    network: Network | None = None  # of a snapshot

    def share(self) -> float:
        """Return the learner's expected score, cautious while few games were played."""
        return (self.score + 1) / (self.games + 2)


class League:
    """The opponents and how often each is drawn.

    Attributes:
        members: by key, all that may be drawn or are still in a game.
        rating: the learner's Elo; the bots keep 0, the first of them is the anchor.
    """

    def __init__(self, game: Game, config: Config) -> None:
        self.game = game
        self.config = config
        self.members = {key: Member(spec) for key, spec in enumerate(config.bots)}
        self.rating = 0.0
        self.past: list[int] = []  # keys of the snapshots that are drawn, oldest first
        self.next_key = len(config.bots)
        self._bots: dict[int, Policy] = {}
        self._stacked: tuple[Any, ...] = ([],)  # the snapshots' keys, parameters and buffers
        self.start_rollout(0)

    def start_rollout(self, number: int) -> None:
        """Make the bots anew for a rollout, their randomness fixed by its number alone."""
        seed = int(mix64(np.uint64(self.config.seed) + np.uint64(number))) >> 1
        for key, spec in enumerate(self.config.bots):
            self._bots[key] = make_policy(spec, self.game, seed + key)

    def add(self, network: Network, decisions: int, owners: np.ndarray) -> int | None:
        """Take in a network that nobody changes any more; return its key, None if it is no news.

        When there are more than `max_past`, the one that the learner beats most surely leaves, but
        plays its games to the end.

        Args:
            network: the snapshot.
            decisions: how many the learner had made.
            owners: keys of the members that are in a game.
        """
        name = f"snapshot-{decisions}-{weights_digest(network)}"
        if any(name.endswith(self.members[key].name.split("-")[-1]) for key in self.past):
            return None
        key = self.next_key
        self.next_key += 1
        self.members[key] = Member(name, self.rating, network=network)
        self.past.append(key)
        if len(self.past) > self.config.max_past:
            easiest = max(self.past[:-1], key=lambda k: self.members[k].share())
            self.past.remove(easiest)
        used = {*self.past, *np.unique(owners).tolist(), *range(len(self.config.bots))}
        self.members = {k: member for k, member in self.members.items() if k in used}
        return key

    def chances(self) -> tuple[list[int], np.ndarray]:
        """Return the keys that may be drawn and how likely each is."""
        config = self.config
        hardness = np.array([(1 - self.members[key].share()) ** 2 for key in self.past])
        past = config.past_weight * hardness / hardness.sum() if self.past else hardness
        latest = config.latest_weight + (0 if self.past else config.past_weight)
        weights = np.array([latest, *config.bot_weights, *past])
        return [LEARNER, *range(len(config.bots)), *self.past], weights / weights.sum()

    def draw(self, shape: Sequence[int], rng: np.random.Generator) -> np.ndarray:
        """Return so many keys of opponents."""
        keys, chances = self.chances()
        return rng.choice(np.array(keys), shape, p=chances)

    def act(
        self, keys: np.ndarray, batch: Batch, rows: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """Return what the members `keys` (k,) play in the games `rows` (k,)."""
        actions = np.empty(len(rows), np.int64)
        for key, bot in self._bots.items():
            own = np.flatnonzero(keys == key)
            if len(own):
                seen = rows[own]
                actions[own] = bot.act(batch.observations[seen], batch.masks[seen])
        own = np.flatnonzero(keys >= len(self._bots))
        if len(own):
            own = own[np.argsort(keys[own], kind="stable")]
            logits = self._score(keys[own], batch, rows[own])
            actions[own] = batch.legal[rows[own], draw(logits, rng)]
        return actions

    def _score(self, keys: np.ndarray, batch: Batch, rows: np.ndarray) -> np.ndarray:
        """Return the logits of snapshots `keys`, ascending, in the games `rows`.

        All networks are asked at once: each gets as many rows as the one with the most.
        """
        afterstates = list_afterstates(self.game, batch.games, rows, batch.legal, batch.num_legal)
        counts = batch.num_legal[rows].astype(np.int64)
        snapshots = {key: m.network for key, m in self.members.items() if m.network is not None}
        groups = np.searchsorted(list(snapshots), keys)
        sizes = np.bincount(groups, counts, len(snapshots)).astype(np.int64)
        starts = np.arange(len(sizes)) * sizes.max() - (np.cumsum(sizes) - sizes)
        places = np.arange(len(afterstates)) + np.repeat(starts, sizes)
        asked = np.zeros((len(sizes) * sizes.max(), afterstates.shape[1]), np.int8)
        asked[places] = afterstates
        together = torch.from_numpy(asked.reshape(len(sizes), -1, asked.shape[1]))
        with torch.no_grad():
            scores = self._ask(snapshots, together).flatten()[torch.from_numpy(places)]
            padded: np.ndarray = pad(scores, torch.from_numpy(counts)).numpy()
        return padded

    def _ask(self, snapshots: dict[int, Network], afterstates: torch.Tensor) -> torch.Tensor:
        """Return the scores (k, m) that k networks give to afterstates (k, m, size)."""
        actors = [network.actor for network in snapshots.values()]
        if self._stacked[0] != list(snapshots):
            self._stacked = list(snapshots), *stack_module_state(actors)
        _, parameters, buffers = self._stacked
        ask = vmap(partial(functional_call, actors[0]))
        scores: torch.Tensor = ask((parameters, buffers), afterstates)
        return scores

    def report(self, key: int, result: float) -> None:
        """Note a game against a member: 1 the learner won, 0 a draw, -1 he lost."""
        member = self.members[key]
        score = (result + 1) / 2
        fade = 1 - 1 / MEMORY
        member.games = member.games * fade + 1
        member.score = member.score * fade + score
        expected = 1 / (1 + 10 ** ((member.rating - self.rating) / ELO_SCALE))
        self.rating += ELO_STEP * (score - expected)
