"""Environments that do nothing: what PettingZoo's protocol alone costs, whatever the game."""

import random
from functools import partial
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from crapo_env.bench.engine import play_back, play_randomly
from crapo_env.bench.measure import Path, Run

OBSERVATION, ACTIONS, LEGAL, LENGTH = 600, 200, 10, 500


Env = AECEnv[str, dict[str, np.ndarray], int]


class DoNothing(Env):
    """Two agents take turns for 500 decisions; written the way that PettingZoo documents."""

    metadata = {"name": "do_nothing_v0", "render_modes": [], "is_parallelizable": False}  # noqa: RUF012

    def __init__(self) -> None:
        self.possible_agents = ["player_0", "player_1"]
        self.render_mode = None
        box = spaces.Box(0, 1, (OBSERVATION,), np.int8)
        mask = spaces.Box(0, 1, (ACTIONS,), np.int8)
        self._observation_space = spaces.Dict({"observation": box, "action_mask": mask})
        self._action_space = spaces.Discrete(ACTIONS)
        self._observation = np.zeros(OBSERVATION, np.int8)
        self._mask = np.zeros(ACTIONS, np.int8)
        self._mask[:LEGAL] = 1

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the same space for both agents."""
        return self._observation_space

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the same space for both agents."""
        return self._action_space

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start again."""
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._steps = 0
        self.agent_selection = self.agents[0]

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """Return fresh arrays."""
        return {"observation": self._observation.copy(), "action_mask": self._mask.copy()}

    def step(self, action: Any) -> None:
        """Pass the turn on."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0
        self._steps += 1
        if self._steps == LENGTH:
            self.terminations = dict.fromkeys(self.agents, True)
        self.agent_selection = self.possible_agents[self._steps % 2]
        self._accumulate_rewards()

    def close(self) -> None:
        """Hold nothing that needs closing."""


def wrap(env: Env) -> Env:
    """Put PettingZoo's three stock wrappers around an environment, in their usual order."""
    env = wrappers.TerminateIllegalWrapper(env, illegal_reward=-1)
    env = wrappers.AssertOutOfBoundsWrapper(env)
    return wrappers.OrderEnforcingWrapper(env)


def prepare(wrapped: bool, back: bool) -> Run:
    """Prepare recorded or random play of an environment that does nothing."""
    env = wrap(DoNothing()) if wrapped else DoNothing()
    if not back:
        return partial(play_randomly, env)
    draw = random.Random(0)
    return partial(play_back, env, [(0, [draw.randrange(LEGAL) for _ in range(LENGTH)])])


def list_paths() -> list[Path]:
    """Return the reference lines."""
    group = "an AEC environment that does nothing, fresh arrays"
    return [
        Path(f"nothing, {how}, {what}", group, "limit", partial(prepare, wrapped, back))
        for wrapped, how in ((False, "bare"), (True, "3 stock wrappers"))
        for back, what in ((True, "last+step"), (False, "random NumPy pick"))
    ]
