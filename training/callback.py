"""What happens between SB3's updates: opponents, schedules, measurements, logs, checkpoints."""

from collections import defaultdict, deque
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

from crapo_env.adapters.sb3 import SelfPlayVecEnv
from crapo_env.bots.policy import Policy
from crapo_env.game import Game
from training.checkpoint import make_card, save_checkpoint
from training.config import Config
from training.display import Display
from training.interrupt import Interrupt
from training.learner import copy_network
from training.match import DRAW, WIN, play_match
from training.network import Network, NetworkPolicy
from training.selfplay import OpponentPool

RECENT_GAMES = 200  # of which the progress bar shows the share won
SNAPSHOTS = "snapshots"  # all snapshots together, in logs


class SelfPlayCallback(BaseCallback):
    """Keeps the pool of opponents, measures, logs and stores the learner.

    Logged besides what SB3 logs itself: `selfplay/*` over the games that ended in a rollout, with
    sampled moves; `anchor/*` from measurements on training deals, with deterministic moves.
    """

    model: MaskablePPO

    def __init__(
        self,
        config: Config,
        game: Game,
        env: SelfPlayVecEnv,
        pool: OpponentPool,
        anchors: Sequence[Policy],
        checkpoint: Path,
        display: Display,
        interrupt: Interrupt,
    ) -> None:
        super().__init__()
        self.config = config
        self.game = game
        self.env = env
        self.pool = pool
        self.anchors = anchors
        self.checkpoint = checkpoint
        self.display = display
        self.interrupt = interrupt
        self.updates = -1  # no rollout yet
        self._recent: dict[str, deque[bool]] = defaultdict(lambda: deque(maxlen=RECENT_GAMES))
        self._ended: list[tuple[str, str, int]] = []  # outcome, opponent, length; this rollout
        self._bots = {bot.name for bot in pool.bots}

    def network(self) -> Network:
        """Return a copy of the learner's present network."""
        return copy_network(self.model, self.game)

    def save(self) -> None:
        """Write the checkpoint of the present network."""
        network = self.network()
        card = make_card(self.game, self.config.as_dict(), network, self.num_timesteps)
        save_checkpoint(self.checkpoint, network, card)

    def _on_rollout_start(self) -> None:
        """Go from an update to the next rollout."""
        torch.set_num_threads(1)  # small networks gain nothing from more
        self.updates += 1
        config = self.config
        if self.updates % config.snapshot_every == 0:
            self.pool.add(self.game, self.network(), self.num_timesteps)
            self.env.set_opponents(*self.pool.opponents())
        if self.updates > 0 and self.updates % config.anchor_every == 0:
            self._measure()
            self.save()
        left = 1 - self.num_timesteps / config.total_timesteps
        change = config.entropy_coef - config.final_entropy_coef
        self.model.ent_coef = config.final_entropy_coef + max(left, 0.0) * change

    def _on_step(self) -> bool:
        """Note the games that ended; stop the run if that was asked for."""
        for row in np.flatnonzero(self.locals["dones"]):
            info = self.locals["infos"][row]
            name = info["opponent"] if info["opponent"] in self._bots else SNAPSHOTS
            self._recent[name].append(info["outcome"] == "win")
            self._ended.append((info["outcome"], name, info["num_steps"]))
        wins = {name: float(np.mean(games)) for name, games in sorted(self._recent.items())}
        self.display.update(self.num_timesteps, wins)
        return not self.interrupt.requested

    def _on_rollout_end(self) -> None:
        """Log the games of this rollout."""
        torch.set_num_threads(self.config.torch_threads)
        games, self._ended = self._ended, []
        self.logger.record("train/entropy_coef", self.model.ent_coef)
        if not games:
            return
        outcomes = np.array([outcome for outcome, _, _ in games])
        names = np.array([name for _, name, _ in games])
        self.logger.record("selfplay/games", len(games))
        self.logger.record("selfplay/draw_rate", np.mean(outcomes == "draw"))
        self.logger.record("selfplay/truncated_rate", np.mean(outcomes == "truncated"))
        self.logger.record("selfplay/game_length", np.mean([length for _, _, length in games]))
        for name in np.unique(names):
            share = np.mean(outcomes[names == name] == "win")
            self.logger.record(f"selfplay/win_rate_{name}", share)

    def _measure(self) -> None:
        """Play the anchors with deterministic moves, on deals that training may use."""
        policy = NetworkPolicy(self.game, self.network(), "learner", deterministic=True)
        seeds = np.arange(self.config.anchor_deals, dtype=np.uint64)
        texts = []
        for anchor in self.anchors:
            match = play_match(self.game, policy, anchor, seeds, self.config.options)
            self.logger.record(f"anchor/win_rate_{anchor.name}", match.share(WIN))
            self.logger.record(f"anchor/draw_rate_{anchor.name}", match.share(DRAW))
            self.logger.record(f"anchor/game_length_{anchor.name}", match.lengths.mean())
            texts.append(f"v {anchor.name} {100 * match.share(WIN):.0f} %")
        minutes, seconds = divmod(int(self.display.seconds()), 60)
        results = ", ".join(texts)
        self.display.line(f"{minutes:3}:{seconds:02}  {self.num_timesteps:,} decisions: {results}")
