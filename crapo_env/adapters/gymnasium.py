"""Gymnasium environments of any registered game: one seat acts, policies play the others.

`SingleAgentEnv` is one game, `SingleAgentVectorEnv` many side by side on one `Batch`; both deal the
same cards from the same seed. Axis letters: `n` a game; `rows` are indices of games.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.utils.seeding import np_random
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from crapo_env.batch import NO_ACTION, Batch, first_illegal
from crapo_env.bots.opponents import check_seat, draw_game, make_opponents, read_opponents
from crapo_env.bots.policy import Policy
from crapo_env.game import Game
from crapo_env.registry import find_game


def make_spaces(game: Game) -> tuple[spaces.Box, spaces.Discrete]:
    """Return the observation space and the action space of one seat."""
    high = game.fields.high
    observations = spaces.Box(np.zeros_like(high), high, dtype=np.int8)
    return observations, spaces.Discrete(len(game.actions))


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
        check_seat(seat, self._num_seats)
        self._fixed_seat = seat
        self._opponents = read_opponents(opponent, self._num_seats - 1)
        self._policies = make_opponents(self._opponents, self.game, 0)
        self.seat = 0 if seat is None else seat
        batch = self._batch
        self._games = batch.games
        self._seen = (batch.observations, batch.masks, batch.legal, batch.num_legal)
        self.observation_space, self.action_space = make_spaces(self.game)

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Deal a game, or the cards of `options={"deck": [...]}`, and play to the seat's turn."""
        super().reset(seed=seed)
        if seed is not None:
            start = int(self.np_random.integers(2**31))
            self._policies = make_opponents(self._opponents, self.game, start)
        while True:
            self.seat, deal = draw_game(self.np_random, self._num_seats, self._fixed_seat)
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


class SingleAgentVectorEnv(VectorEnv[np.ndarray, np.ndarray, np.ndarray]):
    """`num_envs` games of `SingleAgentEnv` side by side, without a loop over them.

    Game `i` deals the same cards as a `SingleAgentEnv` with the same seed. All games share their
    opponents, so that each opponent is asked once for all games in which it is on turn.

    Observations are (n, size) int8, always new arrays; `info["action_mask"]` is (n, actions) int8,
    zero for a game that is over. What follows the end of a game is set by `autoreset_mode`, as
    Gymnasium defines it; with SAME_STEP the ended game is in `info["final_obs"]` and
    `info["final_info"]`.
    """

    metadata = {"render_modes": ["ansi"], "autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(
        self,
        game: Game | str,
        num_envs: int = 1,
        opponent: str | Policy | Sequence[str | Policy] = "random",
        seat: int | None = None,
        render_mode: str | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        **options: Any,
    ) -> None:
        """Make the games; call `reset` before `step`.

        Args:
            game: a game or its name.
            num_envs: number of games.
            opponent: as for `SingleAgentEnv`.
            seat: as for `SingleAgentEnv`.
            render_mode: None, or "ansi": `render` returns a tuple of texts.
            autoreset_mode: NEXT_STEP: the step after an end deals anew, whatever its action, with
                reward 0; SAME_STEP: the step that ends a game deals anew; DISABLED: call
                `reset(options={"reset_mask": ...})`.
            **options: rule options of the game.

        Raises:
            ValueError: if an argument or option is wrong.
        """
        self.game = find_game(game) if isinstance(game, str) else game
        if render_mode not in (None, "ansi"):
            raise ValueError(f"render_mode must be None or 'ansi', not {render_mode!r}")
        self.render_mode = render_mode
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = self.metadata | {"autoreset_mode": self.autoreset_mode}
        self.num_envs = num_envs
        self._batch = Batch(self.game, num_envs, options, auto_reset=False)
        self._num_seats = self._batch.rewards.shape[1]
        check_seat(seat, self._num_seats)
        self._fixed_seat = seat
        self._opponents = read_opponents(opponent, self._num_seats - 1)
        self._policies = make_opponents(self._opponents, self.game, 0)
        self._rows = np.arange(num_envs)
        self.seats = np.zeros(num_envs, np.int64)  # (n,) the seat that acts
        self._generators: list[np.random.Generator] = []
        self._credit = np.zeros(num_envs)  # (n,) what the seat received in this step
        self.single_observation_space, self.single_action_space = make_spaces(self.game)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Deal all games, or those of `options={"reset_mask": (n,) bool}`.

        Args:
            seed: game `i` gets `seed + i`, or its own of a list. None goes on with the generators.
            options: `{"deck": [...]}` deals written cards, "reset_mask" says in which games.

        Raises:
            ValueError: if the mask or the number of seeds is wrong.
        """
        options = options or {}
        rows = self._read_reset_mask(options.get("reset_mask"))
        self._seed_games(rows, seed)
        self._deal(rows, options.get("deck"))
        dealt = np.zeros(self.num_envs, bool)
        dealt[rows] = True
        return self._batch.observations.copy(), self._info(dealt)

    def _read_reset_mask(self, mask: Any) -> np.ndarray:
        """Return the games to deal: all, or those of a mask."""
        if mask is None or not self._generators:
            return self._rows
        mask = np.asarray(mask)
        if mask.shape != (self.num_envs,) or mask.dtype != bool or not mask.any():
            raise ValueError(
                f"reset_mask must be ({self.num_envs},) bool with a True in it, not {mask!r}"
            )
        return np.flatnonzero(mask)

    def _seed_games(self, rows: np.ndarray, seed: int | Sequence[int | None] | None) -> None:
        """Start the generators of the games that get a seed, and the opponents' with the first."""
        if seed is None or isinstance(seed, int | np.integer):
            seed = [None if seed is None else int(seed) + i for i in range(self.num_envs)]
        if len(seed) != self.num_envs:
            raise ValueError(f"{self.num_envs} games take as many seeds, not {len(seed)}")
        if not self._generators:
            self._generators = [np_random(None)[0] for _ in seed]
        starts = []
        for row in rows.tolist():
            if seed[row] is not None:
                self._generators[row] = np_random(seed[row])[0]
                starts.append(int(self._generators[row].integers(2**31)))
        if starts:
            self._policies = make_opponents(self._opponents, self.game, starts[0])

    def _deal(self, rows: np.ndarray, deck: Sequence[str] | None = None) -> None:
        """Deal games anew until the seat that acts is on turn in each."""
        while len(rows) > 0:
            deals = np.zeros(len(rows), np.uint64)
            for k, row in enumerate(rows.tolist()):
                generator = self._generators[row]
                self.seats[row], deals[k] = draw_game(generator, self._num_seats, self._fixed_seat)
            self._batch.redeal(rows, deals, deck)
            self._play_others()
            rows = rows[self._over()[rows]]

    def step(
        self, actions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Play an action (n,) of the seat in every game, then the others until it decides again.

        Raises:
            RuntimeError: before the first `reset`, and for an ended game with DISABLED.
            ValueError: if there is not one integer for each game.
        """
        if not self._generators:
            raise RuntimeError("no game is under way: call reset() first")
        actions = np.asarray(actions)
        if actions.shape != (self.num_envs,) or actions.dtype.kind not in "iu":
            raise ValueError(f"{self.num_envs} games take as many integers, not {actions!r}")
        waiting = self._over()
        if waiting.any() and self.autoreset_mode == AutoresetMode.DISABLED:
            ended = np.flatnonzero(waiting).tolist()
            raise RuntimeError(f"games {ended} are over: call reset(options={{'reset_mask': ...}})")
        self._deal(np.flatnonzero(waiting))
        self._credit[:] = 0
        self._play_own(np.where(waiting, NO_ACTION, actions), waiting)
        self._play_others()
        return self._report()

    def _play_own(self, actions: np.ndarray, waiting: np.ndarray) -> None:
        """Play the actions of the seats; an illegal one loses."""
        illegal = np.zeros(self.num_envs, bool)
        if first_illegal(self._batch.masks, actions) >= 0 or (actions[~waiting] == NO_ACTION).any():
            in_range = (actions >= 0) & (actions < self._batch.masks.shape[1])
            allowed = self._batch.masks[self._rows, np.where(in_range, actions, 0)] == 1
            illegal = ~waiting & ~(in_range & allowed)
        self._step(np.where(illegal, NO_ACTION, actions))
        if illegal.any():
            self._batch.games["terminated"][illegal] = 1
            self._batch.refresh()
            self._credit[illegal] = -1

    def _report(
        self,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Return what the step gave, and deal anew what ended if that is due now."""
        over = self._over()
        terminated = over & (self._batch.games["terminated"] == 1)
        rewards = self._credit.copy()
        observations = self._batch.observations.copy()
        for row in np.flatnonzero(over).tolist():  # the last mover's view stands there
            one = observations[row : row + 1]
            self.game.observe(self._batch.games[row : row + 1], int(self.seats[row]), one)
        final: dict[str, Any] = {}
        if over.any() and self.autoreset_mode == AutoresetMode.SAME_STEP:
            seen = np.full(self.num_envs, None, object)
            for row in np.flatnonzero(over).tolist():
                seen[row] = observations[row].copy()
            final = {"final_obs": seen, "_final_obs": over, "_final_info": over.copy()}
            final["final_info"] = {
                "action_mask": np.zeros_like(self._batch.masks),
                "_action_mask": over.copy(),
            }
            self._deal(np.flatnonzero(over))
            observations[over] = self._batch.observations[over]
        info = final | self._info(np.ones(self.num_envs, bool))
        return observations, rewards, terminated, over & ~terminated, info

    def _over(self) -> np.ndarray:
        over: np.ndarray = self._batch.num_legal == 0
        return over

    def _step(self, actions: np.ndarray) -> None:
        """Step the batch and note what the seats received."""
        self._batch.step(actions)
        self._credit += self._batch.rewards[self._rows, self.seats]

    def _play_others(self) -> None:
        """Play until in every game the seat is on turn or the game is over."""
        batch = self._batch
        while True:
            ahead = (batch.current_player - self.seats) % self._num_seats
            ahead[self._over()] = 0
            if not ahead.any():
                return
            actions = np.full(self.num_envs, NO_ACTION)
            for k, policy in enumerate(self._policies, start=1):
                rows = np.flatnonzero(ahead == k)
                if len(rows) > 0:
                    actions[rows] = policy.act(batch.observations[rows], batch.masks[rows])
            self._step(actions)

    def _info(self, given: np.ndarray) -> dict[str, Any]:
        return {"action_mask": self._batch.masks.copy(), "_action_mask": given}

    def action_masks(self) -> np.ndarray:
        """Return what the seats may do, (n, actions) bool, zero for a game that is over."""
        return self._batch.masks.astype(bool)

    def render(self) -> tuple[str, ...] | None:
        """Return the tables as the seats see them, by the render mode."""
        if self.render_mode is None:
            gym.logger.warn("render() shows nothing without a render mode, such as 'ansi'")
            return None
        games = self._batch.games
        seats = enumerate(self.seats.tolist())
        return tuple(self.game.render(games[row : row + 1], seat) for row, seat in seats)
