"""A Gymnasium environment of any registered game: one seat acts, policies play the others."""

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from crapo_env.batch import Batch
from crapo_env.bots import make_policy
from crapo_env.bots.policy import Policy
from crapo_env.game import Game
from crapo_env.registry import find_game
from crapo_env.seeds import FIRST_EVALUATION_SEED


class SingleAgentEnv(gym.Env[np.ndarray, np.integer[Any]]):
    """One player's view of a game: a step is his action and all moves until he decides again.

    The observation is the (size,) int8 vector of the game's README; the mask of legal actions is in
    `info["action_mask"]` and comes from `action_masks()`. The reward of a step is all that the seat
    received in it, whoever caused it. An illegal action loses: reward -1 and the game is over,
    because Gymnasium's own checks sample without a mask.
    """

    metadata = {"render_modes": ["ansi", "human"], "render_fps": 1}

    def __init__(
        self,
        game: Game | str,
        opponent: str | Policy | Sequence[str | Policy] = "random",
        seat: int | None = None,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        """Make an environment.

        Args:
            game: a game or its name.
            opponent: a policy or its spec (see `python -m crapo_env bots`) for all other seats, or
                one for each of them, clockwise from the learner.
            seat: the seat that acts; None draws it anew for every game.
            render_mode: None, "ansi" (`render` returns the table as the seat sees it) or "human"
                (it is printed).
            **options: rule options of the game.

        Raises:
            ValueError: if an argument or option is wrong.
        """
        self.game = find_game(game) if isinstance(game, str) else game
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise ValueError(f"render_mode must be None, 'ansi' or 'human', not {render_mode!r}")
        self.render_mode = render_mode
        self._batch = Batch(self.game, 1, options, auto_reset=False)
        self._num_seats = self._batch.rewards.shape[1]
        if seat is not None and seat not in range(self._num_seats):
            raise ValueError(f"seat must be None or 0 to {self._num_seats - 1}, not {seat!r}")
        self._fixed_seat = seat
        self._opponents = self._read_opponents(opponent)
        self._policies = self._make_policies(0)
        self.seat = 0 if seat is None else seat
        batch = self._batch
        self._games = batch.games
        self._seen = (batch.observations, batch.masks, batch.legal, batch.num_legal)
        high = self.game.fields.high
        self.observation_space = spaces.Box(np.zeros_like(high), high, dtype=np.int8)
        self.action_space = spaces.Discrete(len(self.game.actions))

    def _read_opponents(self, opponent: Any) -> list[str | Policy]:
        others = self._num_seats - 1
        if isinstance(opponent, str | Policy):
            return [opponent] * others
        if len(opponent) != others:
            raise ValueError(f"{others} other seats take as many opponents, not {len(opponent)}")
        return list(opponent)

    def _make_policies(self, seed: int) -> list[Policy]:
        """Return the opponents; those made from a spec start from the seed."""
        return [
            make_policy(each, self.game, seed + k) if isinstance(each, str) else each
            for k, each in enumerate(self._opponents)
        ]

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Deal a game, or the cards of `options={"deck": [...]}`, and play to the seat's turn."""
        super().reset(seed=seed)
        if seed is not None:
            self._policies = self._make_policies(int(self.np_random.integers(2**31)))
        while True:
            drawn = int(self.np_random.integers(self._num_seats))
            self.seat = drawn if self._fixed_seat is None else self._fixed_seat
            deal = int(self.np_random.integers(FIRST_EVALUATION_SEED, dtype=np.uint64))
            if options is not None and "deck" in options:
                self._batch.deal(options["deck"], deal)
            else:
                self._batch.reset(deal)
            self._play_others(self._batch.current_player.item())
            if not self._over():
                break
        self._show()
        return self._batch.observations[0].copy(), self._info()

    def step(
        self, action: np.integer[Any] | int
    ) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Play an action of the seat and then the others until it decides again.

        Raises:
            RuntimeError: if no game is under way.
        """
        if self._over():
            raise RuntimeError("no game is under way: call reset() first")
        in_range = action in self.action_space
        status = self.game.play(self._games, int(action), *self._seen) if in_range else -1
        if status < 0:
            self._games["terminated"] = 1
            self._batch.refresh()
            return self._batch.observe(self.seat)[0], -1.0, True, False, self._info()
        reward = self._received(status) + self._play_others(status >> 2)
        self._show()
        if self._over():
            terminated = bool(self._games["terminated"][0])
            observation = self._batch.observe(self.seat)[0]
            return observation, reward, terminated, not terminated, self._info()
        return self._batch.observations[0].copy(), reward, False, False, self._info()

    def _over(self) -> bool:
        return self._batch.num_legal.item() == 0

    def _received(self, status: int) -> float:
        """Return what the seat received in a step with this status (see `Game.play`)."""
        return float(self._games["rewards"][0, self.seat]) if status & 2 else 0.0

    def _play_others(self, player: int) -> float:
        """Play until the seat is on turn or the game is over; return what the seat received."""
        batch, received, status = self._batch, 0.0, int(self._over())
        while player != self.seat and not status & 1:
            policy = self._policies[(player - self.seat) % self._num_seats - 1]
            action = policy.choose(batch.observations, batch.masks).item()
            status = self.game.play(self._games, action, *self._seen)
            if status < 0:
                raise ValueError(f"{policy.name}: {batch.explain_illegal(0, action)}")
            received += self._received(status)
            player = status >> 2
        return received

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self._batch.masks[0].copy()}

    def action_masks(self) -> np.ndarray:
        """Return what the seat may do, (num_actions,) bool, as sb3-contrib's MaskablePPO asks."""
        masks: np.ndarray = self._batch.masks[0].astype(bool)
        return masks

    def render(self) -> str | None:
        """Return or print the table as the seat sees it, by the render mode."""
        if self.render_mode is None:
            gym.logger.warn("render() shows nothing without a render mode, such as 'ansi'")
            return None
        text = self.game.render(self._batch.games, self.seat)
        if self.render_mode == "ansi":
            return text
        print(text)
        return None

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()
