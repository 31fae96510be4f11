"""A training run: all that changes while it goes on, one update after the other, and its state.

The state holds the network, the optimiser, the games under way, the decisions that wait for their
reward, the league, all counters and the generator. A run that is stopped and resumed therefore goes
on as if it had never been stopped: on one thread, byte for byte.
"""

import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from crapo_env.game import Game
from training.checkpoint import load_checkpoint, make_card, save_checkpoint
from training.collector import Collector
from training.config import Config, make_config
from training.league import League, Member, weights_digest
from training.network import Network
from training.ppo import Weights, update
from training.storage import read_state, write_state

STATE = "state.safetensors"
CHECKPOINT = "checkpoint.safetensors"
SNAPSHOTS = "snapshots"
ADAM = ("step", "exp_avg", "exp_avg_sq")  # what the optimiser knows of each parameter
ADAM_EPSILON = 1e-5  # that of SB3


class Run:
    """A learner, his opponents and his games.

    Attributes:
        updates: made so far.
        decisions: learned from so far.
    """

    def __init__(self, game: Game, config: Config, folder: Path) -> None:
        """Begin a run that keeps its files in `folder`."""
        self.game = game
        self.config = config
        self.folder = folder
        self.updates = 0
        self.decisions = 0
        torch.manual_seed(config.seed)
        self.network = self._make_network()
        self.optimizer = torch.optim.Adam(self.network.parameters(), eps=ADAM_EPSILON)
        self.rng = np.random.default_rng(config.seed)
        self.league = League(game, config)
        self.collector = Collector(game, config, self.league, self.rng)

    def _make_network(self) -> Network:
        """Return an untrained network."""
        config = self.config
        dtype = torch.bfloat16 if config.bf16 else torch.float32
        return Network(
            self.game,
            config.hidden_sizes,
            sees_hidden=config.sees_hidden,
            dtype=dtype,
            leave_out=config.leave_out,
        )

    @property
    def finished(self) -> bool:
        """Whether all decisions are made."""
        return self.decisions >= self.config.total_timesteps

    def schedule(self, first: float, last: float) -> float:
        """Return a value on the line from the first to the last decision."""
        done = min(1.0, self.decisions / self.config.total_timesteps)
        return first + done * (last - first)

    def step(self) -> dict[str, float]:
        """Collect decisions, learn from them, and return what there is to log."""
        config = self.config
        begun = time.perf_counter()
        torch.set_num_threads(1)  # small batches gain nothing from more
        if self.updates % config.snapshot_every == 0 and config.past_weight > 0:
            self._add_snapshot()
        self.league.start_rollout(self.updates)
        shaping = self.schedule(config.shaping, config.final_shaping)
        decisions = self.collector.collect(self.network, shaping)
        collected = time.perf_counter()
        torch.set_num_threads(config.torch_threads)
        rate = self.schedule(config.learning_rate, config.final_learning_rate)
        entropy = self.schedule(config.entropy_coef, config.final_entropy_coef)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        losses = update(
            self.network,
            self.optimizer,
            decisions,
            Weights(config.clip_range, entropy, config.value_coef, config.max_grad_norm),
            epochs=config.epochs,
            minibatch_size=config.minibatch_size,
            rng=self.rng,
        )
        learned = time.perf_counter()
        self.updates += 1
        self.decisions += len(decisions)
        logs = {f"train/{name}": value for name, value in losses.items()}
        logs |= {"train/learning_rate": rate, "train/entropy_coef": entropy}
        logs |= {"train/shaping": shaping} | self._describe_games()
        logs["selfplay/legal_actions"] = float(decisions.counts.mean())
        logs["time/decisions_per_second"] = len(decisions) / (learned - begun)
        logs["time/share_collecting"] = (collected - begun) / (learned - begun)
        logs["time/share_learning"] = (learned - collected) / (learned - begun)
        return logs

    def _describe_games(self) -> dict[str, float]:
        """Return what became of the games that ended in the last collection."""
        games, league = self.collector.games, self.league
        logs = {"selfplay/games": float(len(games)), "league/elo": league.rating}
        if len(games):
            logs["selfplay/win_rate"] = games.wins / len(games)
            logs["selfplay/draw_rate"] = games.draws / len(games)
            logs["selfplay/truncated_rate"] = games.truncated / len(games)
            logs["selfplay/game_length"] = float(np.mean(games.lengths))
        for key, member in league.members.items():
            if member.network is None and member.games > 0:
                logs[f"league/score_{self.config.bots[key]}"] = member.score / member.games
        past = [league.members[key] for key in league.past]
        if any(member.games > 0 for member in past):
            played = sum(member.games for member in past)
            logs["league/score_snapshots"] = sum(member.score for member in past) / played
        return logs

    def _add_snapshot(self) -> None:
        """Freeze the network as an opponent: in the league and, for good, on the disk."""
        copy = self.copy_network()
        if self.league.add(copy, self.decisions, self.collector.owners) is not None:
            self.save_network(self._snapshot_path(weights_digest(copy)), copy)

    def _snapshot_path(self, digest: str) -> Path:
        return self.folder / SNAPSHOTS / f"{digest}.safetensors"

    def copy_network(self) -> Network:
        """Return the present network as one that never changes."""
        copy = self._make_network()
        copy.load_state_dict(self.network.state_dict())
        return copy.eval().requires_grad_(False)

    def save_network(self, path: Path, network: Network) -> None:
        """Write a checkpoint, unless there is one: a snapshot's name says what is in it."""
        if path.name == CHECKPOINT or not path.exists():
            card = make_card(self.game, self.config.as_dict(), network, self.decisions)
            save_checkpoint(path, network, card)

    def save(self) -> None:
        """Write the checkpoint, then the state that `resume` goes on from.

        Raises:
            OSError: if a file cannot be written; the older ones stay whole.
        """
        self.save_network(self.folder / CHECKPOINT, self.copy_network())
        arrays = {f"collector.{k}": array for k, array in self.collector.state().items()}
        for name, tensor in self.network.state_dict().items():
            arrays[f"network.{name}"] = tensor.numpy()
        for i, known in self.optimizer.state_dict()["state"].items():
            for name in ADAM:
                arrays[f"adam.{i}.{name}"] = known[name].numpy()
        members = {
            key: [member.name, member.rating, member.games, member.score]
            for key, member in self.league.members.items()
        }
        facts = {
            "config": self.config.as_dict(),
            "tables_hash": self.game.tables_hash(),
            "features": self.game.features.digest(),
            "updates": self.updates,
            "decisions": self.decisions,
            "rng": self.rng.bit_generator.state,
            "rating": self.league.rating,
            "past": self.league.past,
            "next_key": self.league.next_key,
            "members": members,
        }
        write_state(self.folder / STATE, arrays, facts)

    def resume(self) -> None:
        """Go on from the state in the folder.

        Raises:
            ValueError: if there is none, or it is of other settings or another version.
        """
        arrays, facts = read_state(self.folder / STATE)
        self._check(facts)

        def part(prefix: str) -> dict[str, np.ndarray]:
            return {
                name.removeprefix(prefix): array
                for name, array in arrays.items()
                if name.startswith(prefix)
            }

        tensors = {name: torch.from_numpy(array) for name, array in part("network.").items()}
        self.network.load_state_dict(tensors)
        self._restore_optimizer(part("adam."))
        self._restore_league(facts)
        self.collector.restore(part("collector."))
        self.updates, self.decisions = facts["updates"], facts["decisions"]
        self.rng.bit_generator.state = facts["rng"]

    def _check(self, facts: dict[str, Any]) -> None:
        """Refuse the state of another version of the game or of its features."""
        here = {"tables_hash": self.game.tables_hash(), "features": self.game.features.digest()}
        for name, value in here.items():
            if facts.get(name) != value:
                raise ValueError(
                    f"{self.folder / STATE} was made with {name} = {facts.get(name)!r}, "
                    f"here it is {value!r}"
                )

    def _restore_optimizer(self, arrays: dict[str, np.ndarray]) -> None:
        """Give the optimiser its memory back."""
        state = self.optimizer.state_dict()
        state["state"] = {
            i: {name: torch.from_numpy(arrays[f"{i}.{name}"]) for name in ADAM}
            for i in range(len(list(self.network.parameters())))
            if f"{i}.{ADAM[0]}" in arrays
        }
        self.optimizer.load_state_dict(state)

    def _restore_league(self, facts: dict[str, Any]) -> None:
        """Give the league its members back, their weights read from the disk."""
        league = self.league
        league.rating, league.past = facts["rating"], facts["past"]
        league.next_key = facts["next_key"]
        league.members = {}
        for key, (name, rating, games, score) in facts["members"].items():
            member = Member(name, rating, games, score)
            if int(key) >= len(self.config.bots):
                digest = name.rpartition("-")[2]
                path = self._snapshot_path(digest)
                member.network, _ = load_checkpoint(path, self.game)
                if weights_digest(member.network) != digest:
                    raise ValueError(f"{path} does not hold the weights that its name says")
            league.members[int(key)] = member


def read_run_config(folder: Path) -> Config:
    """Return the settings of the run in a folder.

    Raises:
        ValueError: if there is no state, or its settings are not of this version.
    """
    _, facts = read_state(folder / STATE)
    return make_config(facts["config"])
