"""Self-play for Stable-Baselines3: a `VecEnv` straight on a `Batch`, without a loop over its games.

In each game one seat learns and policies play the others, so that the learner sees a one-player
task. A transition runs from one decision of the learner to his next. Axis letters: `n` a game of
the batch, `p` a seat; `rows` are indices of games.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices

from crapo_env.batch import NO_ACTION, Batch
from crapo_env.bots.policy import Policy
from crapo_env.game import Game
from crapo_env.seeds import FIRST_EVALUATION_SEED, check_training_seed

LEARNER = -1  # in the table of opponents: the learner's own seat
NOTHING: dict[str, Any] = {}  # the one info of all games that go on


class SelfPlayVecEnv(VecEnv):
    """`num_envs` games in which one seat each belongs to the learner.

    The learner's seat moves on by one with every deal, so that he plays all seats equally often.
    Every other seat gets one of the opponents, drawn anew for each game and kept until its end.

    The reward of a transition is all that the learner's seat received until his next decision or
    the end of the game, whoever caused it. A game that has ended is dealt anew within the step. A
    deal that ends before the learner's first decision gives no transition and is dealt again.
    """

    def __init__(
        self,
        game: Game | str,
        num_envs: int,
        opponents: Sequence[Policy],
        weights: Sequence[float] | None = None,
        *,
        options: Mapping[str, Any] | None = None,
        seed: int = 0,
        skip_forced: bool = False,
    ) -> None:
        """Make the games; `reset` deals them.

        Args:
            game: a game or its name in the registry.
            num_envs: number of games.
            opponents: see `set_opponents`.
            weights: see `set_opponents`.
            options: rule options of the game.
            seed: of all that is drawn here, below 2**63; the policies have their own.
            skip_forced: play the only legal move without asking anybody.
        """
        self.batch = Batch(game, num_envs, options, auto_reset=False)
        self.game = self.batch.game
        self.num_seats = self.batch.rewards.shape[1]
        self.skip_forced = skip_forced
        self.seed(seed)
        self._rows = np.arange(num_envs)
        self.learner = self._rows % self.num_seats  # (n,) the learner's seat
        self.opponents = np.full((num_envs, self.num_seats), LEARNER)  # (n, p) keys of `_policies`
        self._policies: dict[int, Policy] = {}
        self.set_opponents(opponents, weights)
        self._credit = np.zeros(num_envs, np.float32)  # (n,) received since the last decision
        self._returns = np.zeros(num_envs)  # (n,) received in this game
        self._decisions = np.zeros(num_envs, np.int64)  # (n,) of the learner in this game
        self._start = time.monotonic()
        observation_space = gym.spaces.Box(0, self.game.fields.high, dtype=np.int8)
        super().__init__(num_envs, observation_space, gym.spaces.Discrete(len(self.game.actions)))

    def set_opponents(
        self, policies: Sequence[Policy], weights: Sequence[float] | None = None
    ) -> None:
        """Draw opponents from these policies in all games dealt from now on.

        Games under way keep theirs.

        Args:
            policies: the opponents; a policy object must never change its play.
            weights: in proportion to which they are drawn; equally often if not given.

        Raises:
            ValueError: if there is no policy, one is for another game, or a weight is missing.
        """
        for policy in policies:
            if policy.game is not self.game:
                raise ValueError(f"{policy.name} plays {policy.game.id}, not {self.game.id}")
        chances = np.ones(len(policies)) if weights is None else np.asarray(weights, float)
        if not policies or len(chances) != len(policies) or min(chances) < 0 or sum(chances) <= 0:
            raise ValueError(
                f"{len(policies)} opponents take as many weights of 0 or more, not {weights}"
            )
        in_play = set(np.unique(self.opponents).tolist())
        self._policies = {key: policy for key, policy in self._policies.items() if key in in_play}
        keys = {id(policy): key for key, policy in self._policies.items()}
        for policy in policies:
            if id(policy) not in keys:
                key = max(self._policies, default=LEARNER) + 1
                self._policies[key] = policy
                keys[id(policy)] = key
        self._choices = np.array([keys[id(policy)] for policy in policies])
        self._chances = chances / chances.sum()

    def opponent_of(self, row: int, seat: int) -> Policy:
        """Return the policy that plays a seat, not the learner's, in one game."""
        return self._policies[int(self.opponents[row, seat])]

    def seed(self, seed: int | None = None) -> list[int | None]:
        """Start the generator of deals and opponents anew; takes effect with the next `reset`.

        Raises:
            ValueError: if the seed is kept for evaluation.
        """
        self._seed = check_training_seed(0 if seed is None else seed)
        return [self._seed] * len(self.batch)

    def reset(self) -> np.ndarray:
        """Deal all games and return what the learner sees, (n, size) int8."""
        self._rng = np.random.default_rng(self._seed)
        self.learner = (self._rows - 1) % self.num_seats
        self.opponents[:] = LEARNER
        self._deal_until_learner_decides(self._rows)
        return self.batch.observations.copy()

    def step_async(self, actions: np.ndarray) -> None:
        """Take the learner's actions (n,) for the next `step_wait`."""
        self._actions = np.array(actions, np.int64)

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Play until the learner decides again, and return new arrays."""
        self._decisions += 1
        self._play(self._actions)
        self._play_others()
        ended = self._ended()
        rewards = self._credit.copy()
        self._credit[:] = 0
        infos = [NOTHING] * self.num_envs
        if ended.any():
            rows = np.flatnonzero(ended)
            for row, info in zip(rows, self._describe(rows), strict=True):
                infos[row] = info
            self._deal_until_learner_decides(rows)
        return self.batch.observations.copy(), rewards, ended, infos

    def action_masks(self) -> np.ndarray:
        """Return what the learner may do, (n, number of actions) bool, a new array."""
        return self.batch.masks.astype(bool)

    def _ended(self) -> np.ndarray:
        ended: np.ndarray = self.batch.num_legal == 0
        return ended

    def _play(self, actions: np.ndarray) -> None:
        """Step the batch and credit the learner with what his seat received."""
        self.batch.step(actions)
        received = self.batch.rewards[self._rows, self.learner]
        self._credit += received
        self._returns += received

    def _play_others(self) -> None:
        """Play until every game has ended or waits for a decision of the learner."""
        while True:
            not_his = self.batch.current_player != self.learner
            if self.skip_forced:
                not_his |= self.batch.num_legal == 1
            rows = np.flatnonzero(not_his & (self.batch.num_legal > 0))
            if len(rows) == 0:
                return
            self._play(self._choose(rows))

    def _choose(self, rows: np.ndarray) -> np.ndarray:
        """Return actions (n,) that move the games `rows`, one call to each policy on turn."""
        batch = self.batch
        actions = np.full(self.num_envs, NO_ACTION)
        if self.skip_forced:
            forced = batch.num_legal[rows] == 1
            actions[rows[forced]] = batch.legal[rows[forced], 0]
            rows = rows[~forced]
        owners = self.opponents[rows, batch.current_player[rows]]
        for key in np.unique(owners).tolist():
            own = rows[owners == key]
            actions[own] = self._policies[key].act(batch.observations[own], batch.masks[own])
        return actions

    def _deal_until_learner_decides(self, rows: np.ndarray) -> None:
        while len(rows) > 0:
            self._deal(rows)
            self._play_others()
            rows = np.flatnonzero(self._ended())

    def _deal(self, rows: np.ndarray) -> None:
        """Start new games in `rows`: the learner one seat on, new opponents, new cards."""
        self.learner[rows] = (self.learner[rows] + 1) % self.num_seats
        self.opponents[rows] = self._rng.choice(
            self._choices, (len(rows), self.num_seats), p=self._chances
        )
        self.opponents[rows, self.learner[rows]] = LEARNER
        seeds = self._rng.integers(FIRST_EVALUATION_SEED, size=len(rows), dtype=np.uint64)
        self.batch.redeal(rows, seeds)
        self._credit[rows] = 0
        self._returns[rows] = 0
        self._decisions[rows] = 0

    def _describe(self, rows: np.ndarray) -> list[dict[str, Any]]:
        """Return the infos of games that have ended."""
        seen = np.empty((len(rows), len(self.game.fields)), np.int8)
        for seat in range(self.num_seats):
            own = self.learner[rows] == seat
            part = np.empty((int(own.sum()), seen.shape[1]), np.int8)
            self.game.observe(self.batch.games[rows[own]], seat, part)
            seen[own] = part
        return [self._describe_one(row, seen[k]) for k, row in enumerate(rows.tolist())]

    def _describe_one(self, row: int, seen: np.ndarray) -> dict[str, Any]:
        result = float(self._returns[row])
        truncated = bool(self.batch.games["truncated"][row])
        outcome = "win" if result > 0 else "loss" if result < 0 else "draw"
        others = [self.opponent_of(row, p) for p in range(self.num_seats) if p != self.learner[row]]
        return {
            "terminal_observation": seen,
            "TimeLimit.truncated": truncated,
            "episode": {
                "r": result,
                "l": int(self._decisions[row]),
                "t": round(time.monotonic() - self._start, 6),
            },
            "outcome": "truncated" if truncated else outcome,
            "opponent": " + ".join(policy.name for policy in others),
            "seat": int(self.learner[row]),
            "num_steps": int(self.batch.games["num_steps"][row]),
        }

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Return an attribute once for each game asked for."""
        value = None if attr_name == "render_mode" else getattr(self, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Refuse: the games have no attributes of their own.

        Raises:
            AttributeError: always.
        """
        raise AttributeError(f"the games of SelfPlayVecEnv have no attribute {attr_name!r} to set")

    def env_method(
        self,
        method_name: str,
        *method_args: Any,
        indices: VecEnvIndices = None,
        **method_kwargs: Any,
    ) -> list[Any]:
        """Call a method once; the list holds its one answer for all games."""
        return [getattr(self, method_name)(*method_args, **method_kwargs)]

    def env_is_wrapped(self, wrapper_class: type, indices: VecEnvIndices = None) -> list[bool]:
        """Answer no: nothing is wrapped."""
        return [False for _ in self._get_indices(indices)]
