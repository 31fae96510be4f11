"""The PettingZoo AEC environment of any registered game: a batch of one behind PettingZoo's API.

All checks that the stock wrappers make (illegal and out-of-range actions, calls out of order) are
made here, because the wrappers cost more than the game. The games' own pages are `crapo_v0` and
`reis_nos_cantos_v0`.
"""

import operator
from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import logger, spaces
from pettingzoo import AECEnv

from crapo_env import saved_env
from crapo_env.batch import Batch
from crapo_env.game import Game
from crapo_env.registry import find_game

_MAX_SEED = 2**64
RENDER_MODES = ("ansi", "human")


class CardGameEnv(AECEnv[str, dict[str, Any], Any]):
    """One game of cards; agents are `player_0`, `player_1`, ... by seat.

    Observation of each agent: `{"observation": (size,) int8, "action_mask": (actions,) int8}`, both
    from the agent's own side; the mask is zero for an agent who is not on turn. The same mask is in
    `infos[agent]["action_mask"]`. The game's README names every entry and every action.
    """

    def __init__(
        self,
        game: Game | str,
        *,
        render_mode: str | None = None,
        illegal: str = "raise",
        copy: bool = True,
        **options: Any,
    ) -> None:
        """Make an environment; call `reset` before anything else.

        Args:
            game: a game or its name.
            render_mode: "ansi": `render` returns the table as text as the agent on turn sees it;
                "human": it is printed, after every `reset` and `step` too.
            illegal: what an illegal action does: "raise" raises `ValueError` and changes nothing;
                "lose" ends the game, the mover gets -1 and the others share +1.
            copy: False hands out the arrays that the next `step` overwrites, which is faster.
            **options: rule options, see `game.options`.

        Raises:
            ValueError: if an option is unknown or a value is wrong.
        """
        super().__init__()
        self.game = find_game(game) if isinstance(game, str) else game
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise ValueError(
                f"render_mode must be None or one of {RENDER_MODES}, not {render_mode!r}"
            )
        if illegal not in ("raise", "lose"):
            raise ValueError(f"illegal must be 'raise' or 'lose', not {illegal!r}")
        self.render_mode = render_mode
        self.illegal = illegal
        self.copy = copy
        self.options = self.game.read_options(options)
        self.metadata = {
            "name": self.game.id,
            "render_modes": list(RENDER_MODES),
            "is_parallelizable": False,
            "render_fps": 1,
        }
        self._adopt(Batch(self.game, 1, self.options, auto_reset=False))
        self.possible_agents = [f"player_{seat}" for seat in range(self._num_seats)]
        self._make_spaces()
        self.agents: list[str] = []
        self._seeded = False

    def _adopt(self, batch: Batch) -> None:
        """Take a batch of one and keep views of its arrays."""
        self._batch = batch
        self._observation = batch.observations[0]
        self._mask = batch.masks[0]
        self._no_moves = np.zeros_like(self._mask)
        self._seen = (batch.observations, batch.masks, batch.legal, batch.num_legal)
        self._players = batch.current_player
        self._num_seats = batch.rewards.shape[1]
        self._num_actions = batch.masks.shape[1]

    def _make_spaces(self) -> None:
        high = self.game.fields.high
        n = len(self.game.actions)
        self._observation_spaces = {
            agent: spaces.Dict(
                {
                    "observation": spaces.Box(np.zeros_like(high), high, dtype=np.int8),
                    "action_mask": spaces.Box(0, 1, (n,), np.int8),
                }
            )
            for agent in self.possible_agents
        }
        self._action_spaces = {agent: spaces.Discrete(n) for agent in self.possible_agents}
        self.state_space = spaces.Box(0, 255, (self.game.dtype.itemsize,), np.uint8)

    def observation_space(self, agent: str) -> spaces.Dict:
        """Return the observation space of an agent, always the same object."""
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """Return the action space of an agent, always the same object."""
        return self._action_spaces[agent]

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Deal a new game.

        Args:
            seed: of the deal, 0 to 2**64 - 1. None goes on with the generator of the game before,
                or, the first time, takes a seed from the operating system.
            options: `{"deck": [...]}` lays out the written cards (names such as `"7h"`) in the
                order of the game's README. Others are ignored, as PettingZoo's tests demand.

        Raises:
            ValueError: if the seed or the deck is malformed; the game before is then unchanged.
        """
        number = self._next_seed(seed)
        if options is not None and "deck" in options:
            self._batch.deal(options["deck"], number)
        else:
            self._batch.reset(number)
        self._seeded = True
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {"action_mask": self._no_moves.copy()} for agent in self.agents}
        self._rewarded = False
        self._skip_agent_selection = None  # type: ignore[assignment]
        self._select(self._players.item())
        if self.render_mode == "human":
            self.render()

    def _next_seed(self, seed: int | None) -> int:
        if seed is None:
            game = self._batch.games[0]
            entropy = [int(game["rng"]), int(game["seed"])] if self._seeded else None
            return int(np.random.SeedSequence(entropy).generate_state(1, np.uint64)[0]) >> 1
        if not isinstance(seed, int | np.integer) or isinstance(seed, bool):
            raise ValueError(f"seed must be an integer or None, not {seed!r}")
        if not 0 <= seed < _MAX_SEED:
            raise ValueError(f"seed must lie in 0 to 2**64 - 1, not {seed!r}")
        return int(seed)

    def _select(self, seat: int, mover: str | None = None) -> None:
        """Point to the agent on turn and give him the new mask, and the mover an empty one."""
        player = self.possible_agents[seat]
        if player != mover:
            self.agent_selection = player
            if mover is not None:
                self.infos[mover] = {"action_mask": self._no_moves.copy()}
        elif not self.copy:
            return  # the mask itself is in the info
        self.infos[player] = {"action_mask": self._mask.copy() if self.copy else self._mask}

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """Return what an agent may know now, in new arrays.

        Raises:
            ValueError: if there is no such agent.
            RuntimeError: before the first `reset`.
        """
        self._check_dealt()
        if agent not in self._action_spaces:
            raise ValueError(f"there is no agent {agent!r}; the agents are {self.possible_agents}")
        seat = self.possible_agents.index(agent)
        on_turn = seat == self._players.item()
        return {
            "observation": self._batch.observe(seat)[0],
            "action_mask": self._mask.copy() if on_turn else self._no_moves.copy(),
        }

    def last(
        self, observe: bool = True
    ) -> tuple[dict[str, np.ndarray] | None, float, bool, bool, dict[str, Any]]:
        """Return observation, reward since the last action, termination, truncation and info.

        All are of the agent on turn; the observation is None without `observe`.

        Raises:
            RuntimeError: before the first `reset` and after the last agent has left.
        """
        if not self.agents:
            self._check_started()
        agent = self.agent_selection
        if not observe:
            observation = None
        elif self.terminations[agent] or self.truncations[agent]:
            observation = self.observe(agent)
        elif self.copy:
            observation = {
                "observation": self._observation.copy(),
                "action_mask": self._mask.copy(),
            }
        else:
            observation = {"observation": self._observation, "action_mask": self._mask}
        return (
            observation,
            self._cumulative_rewards[agent],
            self.terminations[agent],
            self.truncations[agent],
            self.infos[agent],
        )

    def agent_iter(self, max_iter: int = 2**63) -> Any:
        """Yield the agent on turn until all have left; call `step` in between.

        Raises:
            RuntimeError: before the first `reset`.
        """
        self._check_dealt()
        return super().agent_iter(max_iter)

    def step(self, action: Any) -> None:
        """Play an action of the agent on turn; an agent whose game is over takes None.

        Raises:
            ValueError: if the action is illegal, out of range or no integer; nothing is changed.
            RuntimeError: before the first `reset` and after the last agent has left.
        """
        if not self.agents:
            self._check_started()
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        number = action if type(action) is int else self._read_action(action)
        in_range = 0 <= number < self._num_actions
        status = self.game.play(self._batch.games, number, *self._seen) if in_range else -1
        if status < 0:
            status = self._handle_illegal(number)
        self._cumulative_rewards[agent] = 0.0
        if self._rewarded or status & 2:
            self._give(status & 2 != 0)
        if status & 1:
            self._end(agent)
        else:
            self._select(status >> 2, agent)
        if self.render_mode == "human":
            self.render()

    def _read_action(self, action: Any) -> int:
        """Return an action that is no plain int as one."""
        if isinstance(action, bool | np.bool_):
            raise ValueError(f"{self.agent_selection} must play an integer action, not {action!r}")
        try:
            return operator.index(action)
        except TypeError:
            raise ValueError(
                f"{self.agent_selection} must play an integer action, not {action!r}"
            ) from None

    def _handle_illegal(self, action: int) -> int:
        """Raise for an illegal action, or end the game with the mover as its loser.

        Returns what `Game.play` would for such a game.
        """
        if self.illegal == "raise":
            raise ValueError(self._batch.explain_illegal(0, action))
        games, seat = self._batch.games, int(self._players.item())
        games["rewards"][0, : self._num_seats] = 1 / (self._num_seats - 1)
        games["rewards"][0, seat] = -1
        games["terminated"] = 1
        self._batch.refresh()
        return 3 | seat << 2

    def _give(self, rewarded: bool) -> None:
        """Hand out the rewards of a step to every agent."""
        self._rewarded = rewarded
        rewards = self._batch.games["rewards"][0].tolist()
        for agent, reward in zip(self.possible_agents, rewards, strict=False):
            self.rewards[agent] = reward
            self._cumulative_rewards[agent] += reward

    def _end(self, agent: str) -> None:
        """Mark the game as over for every agent and let the seat after the mover leave first."""
        terminated = self._batch.games["terminated"].item() == 1
        for other in self.agents:
            self.terminations[other] = terminated
            self.truncations[other] = not terminated
            self.infos[other] = {"action_mask": self._no_moves.copy()}
        seat = self.possible_agents.index(agent) + 1
        self.agent_selection = self.possible_agents[seat % len(self.possible_agents)]

    def _check_dealt(self) -> None:
        if not self._seeded:
            raise RuntimeError("no game has been dealt: call reset() first")

    def _check_started(self) -> None:
        self._check_dealt()
        if not self.agents:
            raise RuntimeError("the game is over: call reset() first")

    def action_to_string(self, action: int) -> str:
        """Return the text of an action in the current state, such as `S1>2(3)`.

        Raises:
            ValueError: if there is no such action.
        """
        number = operator.index(action)
        if not 0 <= number < self._num_actions:
            raise ValueError(f"action {action} is out of range 0 to {self._num_actions - 1}")
        return self.game.action_to_string(self._batch.games, number)

    def string_to_action(self, text: str) -> int:
        """Return the legal action with the given text, the inverse of `action_to_string`.

        Raises:
            ValueError: if no legal action has this text.
        """
        self._check_started()
        legal = self._batch.legal[0, : self._batch.num_legal[0]].tolist()
        return self.game.string_to_action(self._batch.games, text, legal)

    def state(self) -> np.ndarray:
        """Return the whole state, (state_space.shape) uint8: privileged, with every hidden card.

        The bytes are a record of `game.dtype`: `np.frombuffer(state, game.dtype)` names its fields.
        """
        self._check_dealt()
        return np.frombuffer(self._batch.games.tobytes(), np.uint8).copy()

    def render(self) -> str | None:
        """Return or print the table as text as the agent on turn sees it, by the render mode."""
        self._check_dealt()
        if self.render_mode is None:
            logger.warn(
                "render() shows nothing without a render mode: make the env with render_mode='ansi'"
            )
            return None
        text = self.game.render(self._batch.games, self.possible_agents.index(self.agent_selection))
        if self.render_mode == "ansi":
            return text
        print(text)
        return None

    def close(self) -> None:
        """Do nothing: there is no window or file to close."""

    def to_bytes(self) -> bytes:
        """Return the environment as bytes that `from_bytes` turns into an independent copy.

        The bytes hold the hidden cards. They contain no code and are safe to read from anywhere.
        """
        turn = {name: getattr(self, name) for name in saved_env.TURN} if self._seeded else None
        header = {
            "render_mode": self.render_mode,
            "illegal": self.illegal,
            "copy": self.copy,
            "options": self.options,
            "turn": turn,
        }
        return saved_env.pack(self.game, header, self._batch.games.tobytes())

    @staticmethod
    def from_bytes(data: bytes) -> "CardGameEnv":
        """Return the environment that `to_bytes` wrote.

        Raises:
            ValueError: if the bytes are damaged or of another game or version.
        """
        game, header, games = saved_env.unpack(data)
        env = CardGameEnv(game, **saved_env.read_arguments(header))
        if header.get("turn") is not None:
            game.check_state(games)
            saved_env.check_options(game, env.options, games)
            env._restore(saved_env.read_turn(header["turn"], env.possible_agents, games), games)
        return env

    def _restore(self, turn: dict[str, Any], games: np.ndarray) -> None:
        """Take over a checked record and the AEC bookkeeping that belongs to it."""
        self._batch.games[:] = games
        self._batch.refresh()
        self._seeded = True
        self._rewarded = True
        for name, value in turn.items():
            setattr(self, name, value)
        self.infos = {a: {"action_mask": self.observe(a)["action_mask"]} for a in self.agents}
        on_turn = self.possible_agents[self._players.item()]
        if on_turn in self.infos and not self.copy:
            self.infos[on_turn] = {"action_mask": self._mask}

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle by bytes, with the generators of the spaces."""
        kept = ("_observation_spaces", "_action_spaces")
        return (
            CardGameEnv.from_bytes,
            (self.to_bytes(),),
            {name: getattr(self, name) for name in kept},
        )
