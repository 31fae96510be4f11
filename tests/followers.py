"""Every adapter behind one face, so that one suite can hold each against the AEC environment.

A `Follower` shows whole games, whoever is on turn; a `SeatFollower` the games of one seat, whose
opponents play the first legal action. Frameworks are imported when a follower is made.
"""

from abc import ABC, abstractmethod
from collections import deque
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from conftest import Setting

from crapo_env.batch import Batch
from crapo_env.chance import DEAL
from crapo_env.registration import GYMNASIUM_ENVIRONMENTS
from crapo_env.seeds import FIRST_EVALUATION_SEED

OPPONENT = "first_legal"
GYMNASIUM_NAMES = {name: environment for environment, name in GYMNASIUM_ENVIRONMENTS.items()}


class Follower(ABC):
    """A game in an adapter, with the seats' returns so far in `returns` (seats,)."""

    framework = ""  # module without which the adapter cannot be
    pays_late = False  # whether a seat is paid no sooner than it is on turn again

    def __init__(self, setting: Setting) -> None:
        pytest.importorskip(self.framework)
        self.setting = setting
        self.returns = np.zeros(len(setting.env().possible_agents))

    @abstractmethod
    def start(self, seed: int) -> None:
        """Deal the game of a seed."""

    @abstractmethod
    def look(self) -> tuple[int, np.ndarray, np.ndarray]:
        """Return the seat on turn, its observation and its mask."""

    @abstractmethod
    def step(self, action: int) -> None:
        """Play an action and add what the seats received to `returns`."""

    @abstractmethod
    def ended(self) -> tuple[bool, bool]:
        """Return whether the game was terminated, and whether it was truncated."""


class OpenSpiel(Follower):
    """Chance gives what it gave in the AEC environment of the same seed."""

    framework = "pyspiel"

    def start(self, seed: int) -> None:
        from crapo_env.adapters import openspiel

        self.twin = self.setting.env()
        self.twin.reset(seed=seed)
        self.state = openspiel.state_of(self.twin)
        self.returns[:] = 0

    def look(self) -> tuple[int, np.ndarray, np.ndarray]:
        seat = self.state.current_player()
        assert seat >= 0
        tensor = np.array(self.state.information_state_tensor())
        assert np.array_equal(tensor, self.state.observation_tensor())
        mask = np.array(self.state.legal_actions_mask())
        for action in self.state.legal_actions():
            text = self.state.action_to_string(action)
            assert text == self.twin.action_to_string(action)
        return seat, tensor, mask

    def step(self, action: int) -> None:
        from crapo_env.adapters import openspiel

        before = self.twin.state().view(self.twin.game.dtype)
        self.twin.step(action)
        after = self.twin.state().view(self.twin.game.dtype)
        self.state.apply_action(action)
        openspiel.give_outcomes(self.state, before, action, after)
        self.returns += self.state.rewards()
        assert np.allclose(self.returns, self.state.returns(), atol=1e-5)

    def ended(self) -> tuple[bool, bool]:
        over = self.state.is_terminal()
        truncated = bool(self.state.play.games["truncated"][0])
        return over and not truncated, truncated


class Guide:
    """Stands for Shimmy's random generator and chooses what it is told."""

    def __init__(self) -> None:
        self.outcomes: deque[int] = deque()

    def choice(self, outcomes: Any, p: Any) -> int:
        outcome = self.outcomes.popleft()
        assert outcome in outcomes
        return outcome


class Shimmy(Follower):
    """Our OpenSpiel games turned into PettingZoo environments again."""

    framework = "shimmy"

    def start(self, seed: int) -> None:
        from shimmy import openspiel_compatibility

        from crapo_env.adapters import openspiel

        self.twin, self.guide = self.setting.env(), Guide()
        self.twin.reset(seed=seed)
        parameters = openspiel.as_parameters(self.twin.game, self.twin.options)
        games = self.twin.state().view(self.twin.game.dtype)
        self.guide.outcomes.extend(self.twin.game.chance.read(games, DEAL, games))
        self.env = openspiel.as_pettingzoo(self.setting.game.name, **parameters)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                openspiel_compatibility.seeding, "np_random", lambda seed: (self.guide, seed)
            )
            self.env.reset(seed=seed)
        self.returns[:] = 0

    def look(self) -> tuple[int, np.ndarray, np.ndarray]:
        seen, _, _, _, info = self.env.last()
        return self.env.possible_agents.index(self.env.agent_selection), seen, info["action_mask"]

    def step(self, action: int) -> None:
        before = self.twin.state().view(self.twin.game.dtype)
        self.twin.step(action)
        after = self.twin.state().view(self.twin.game.dtype)
        self.guide.outcomes.extend(self.twin.game.chance.read(before, action, after))
        self.env.step(action)
        assert not self.guide.outcomes
        self.returns += [self.env.rewards[agent] for agent in self.env.possible_agents]

    def ended(self) -> tuple[bool, bool]:
        over = all(self.env.terminations.values())
        truncated = bool(
            self.env.game_state.play.games["truncated"][0]
        )  # OpenSpiel has no such end
        return over and not truncated, truncated


class TorchRLWrapper(Follower):
    """TorchRL's wrapper of the AEC environment."""

    framework = "torchrl"

    def start(self, seed: int) -> None:
        from crapo_env.adapters.torchrl import wrap

        self.env = wrap(self.setting.game, **self.setting.options)
        self.shown = self.env.reset(seed=seed)
        self.agents = self.env.possible_agents
        self.returns[:] = 0

    def look(self) -> tuple[int, np.ndarray, np.ndarray]:
        on_turn = [
            seat for seat, agent in enumerate(self.agents) if self.shown[agent, "mask"].all()
        ]
        assert len(on_turn) == 1
        agent = self.agents[on_turn[0]]
        seen = self.shown[agent, "observation", "observation"][0].numpy()
        return on_turn[0], seen, self.shown[agent, "action_mask"][0].numpy()

    def step(self, action: int) -> None:
        from torchrl.envs.utils import step_mdp

        agent = self.agents[self.look()[0]]
        shown = self.env.rand_action(self.shown)
        shown[agent, "action"][0] = action
        shown = self.env.step(shown)
        self.returns += [shown["next", agent, "reward"].item() for agent in self.agents]
        self.shown = step_mdp(shown)

    def ended(self) -> tuple[bool, bool]:
        return bool(self.shown["terminated"]), bool(self.shown["truncated"])


class TorchRLBatch(Follower):
    """The game in the middle of a native TorchRL batch; the others play at random."""

    framework = "torchrl"
    ROW = 1

    def start(self, seed: int) -> None:
        from crapo_env.adapters.torchrl import BatchEnv

        self.env = BatchEnv(self.setting.game, 3, **self.setting.options)
        self.env.set_seed(seed - self.ROW)
        self.shown = self.env.reset()
        self.returns[:] = 0

    def look(self) -> tuple[int, np.ndarray, np.ndarray]:
        row = self.shown[self.ROW]
        seen, mask = row["observation"].numpy(), row["action_mask"].numpy()
        return row["player"].item(), seen, mask

    def step(self, action: int) -> None:
        shown = self.env.rand_action(self.shown)
        shown["action"][self.ROW] = action
        following = self.env.step(shown)["next"]
        self.returns += following["reward"][self.ROW].numpy()
        self.shown = following.exclude("reward")

    def ended(self) -> tuple[bool, bool]:
        row = self.shown[self.ROW]
        return bool(row["terminated"]), bool(row["truncated"])


class RLlib(Follower):
    """RLlib's multi-agent environment."""

    framework = "ray.rllib"
    pays_late = True

    def start(self, seed: int) -> None:
        from crapo_env.adapters.rllib import make_env

        self.env = make_env({"game": self.setting.game.name, **self.setting.options})
        self.shown, _ = self.env.reset(seed=seed)
        self.flags = ({"__all__": False}, {"__all__": False})
        self.returns[:] = 0

    def look(self) -> tuple[int, np.ndarray, np.ndarray]:
        (agent,) = self.shown
        assert self.env.observation_spaces[agent].contains(self.shown[agent])
        seen, mask = self.shown[agent]["observations"], self.shown[agent]["action_mask"]
        return self.env.possible_agents.index(agent), seen, mask

    def step(self, action: int) -> None:
        (agent,) = self.shown
        self.shown, rewards, *flags, _ = self.env.step({agent: action})
        self.flags = tuple(flags)
        for agent, reward in rewards.items():
            self.returns[self.env.possible_agents.index(agent)] += reward

    def ended(self) -> tuple[bool, bool]:
        return self.flags[0]["__all__"], self.flags[1]["__all__"]


FOLLOWERS = (OpenSpiel, Shimmy, TorchRLWrapper, TorchRLBatch, RLlib)


class SeatFollower(ABC):
    """One seat's games, one after the other, in an adapter."""

    framework = "gymnasium"

    def __init__(self, setting: Setting, seed: int) -> None:
        pytest.importorskip(self.framework)
        self.setting = setting
        self.start(seed)

    @abstractmethod
    def start(self, seed: int) -> None:
        """Deal the first game."""

    @abstractmethod
    def hidden(self) -> tuple[Batch, int]:
        """Return the batch behind the adapter and the game's row in it, for tests alone."""

    def record(self) -> np.ndarray:
        """Return the hidden state, (1,)."""
        batch, row = self.hidden()
        return batch.games[row : row + 1]

    @abstractmethod
    def look(self) -> tuple[int, np.ndarray, np.ndarray]:
        """Return the seat that acts, its observation and its mask."""

    @abstractmethod
    def step(self, action: int) -> tuple[float, bool, bool]:
        """Play and deal anew after an end; return reward, terminated, truncated."""


class Gymnasium(SeatFollower):
    """One game."""

    def start(self, seed: int) -> None:
        name = GYMNASIUM_NAMES[self.setting.game.name]
        self.env = gym.make(name, opponent=OPPONENT, **self.setting.options).unwrapped
        self.seen, self.info = self.env.reset(seed=seed)

    def hidden(self) -> tuple[Batch, int]:
        return self.env._batch, 0

    def look(self) -> tuple[int, np.ndarray, np.ndarray]:
        assert np.array_equal(self.env.action_masks(), self.info["action_mask"])
        return self.env.seat, self.seen, self.info["action_mask"]

    def step(self, action: int) -> tuple[float, bool, bool]:
        self.seen, reward, *flags, self.info = self.env.step(action)
        if any(flags):
            self.seen, self.info = self.env.reset()
        return reward, *flags


class GymnasiumVector(SeatFollower):
    """The game in the middle of a native vector; the others play at random."""

    ROW = 1

    def start(self, seed: int) -> None:
        name, options = GYMNASIUM_NAMES[self.setting.game.name], self.setting.options
        self.env = gym.make_vec(
            name, num_envs=3, opponent=OPPONENT, autoreset_mode="SameStep", **options
        )
        self.seen, self.info = self.env.reset(seed=seed)
        self.rng = np.random.default_rng(seed)

    def hidden(self) -> tuple[Batch, int]:
        return self.env._batch, self.ROW

    def look(self) -> tuple[int, np.ndarray, np.ndarray]:
        return int(self.env.seats[self.ROW]), self.seen[self.ROW], self.masks()[self.ROW]

    def masks(self) -> np.ndarray:
        return self.info["action_mask"]

    def step(self, action: int) -> tuple[float, bool, bool]:
        actions = np.array([self.rng.choice(np.flatnonzero(mask)) for mask in self.masks()])
        actions[self.ROW] = action
        self.seen, *given, self.info = self.env.step(actions)
        reward, *flags = (values[self.ROW].item() for values in given)
        return reward, *flags


class SB3(SeatFollower):
    """The game in the middle of the self-play environment of training."""

    framework = "stable_baselines3"
    ROW = 1

    def start(self, seed: int) -> None:
        from crapo_env.adapters.sb3 import SelfPlayVecEnv
        from crapo_env.bots import make_policy

        game, options = self.setting
        self.env = SelfPlayVecEnv(
            game, 3, [make_policy(OPPONENT, game)], options=options, seed=seed
        )
        self.seen = self.env.reset()
        self.rng = np.random.default_rng(seed)

    def hidden(self) -> tuple[Batch, int]:
        return self.env.batch, self.ROW

    def look(self) -> tuple[int, np.ndarray, np.ndarray]:
        return int(self.env.learner[self.ROW]), self.seen[self.ROW], self.masks()[self.ROW]

    def masks(self) -> np.ndarray:
        return self.env.env_method("action_masks")[0]

    def step(self, action: int) -> tuple[float, bool, bool]:
        actions = np.array([self.rng.choice(np.flatnonzero(mask)) for mask in self.masks()])
        actions[self.ROW] = action
        self.seen, rewards, ended, infos = self.env.step(actions)
        truncated = bool(infos[self.ROW].get("TimeLimit.truncated"))
        return rewards[self.ROW].item(), bool(ended[self.ROW]) and not truncated, truncated


class Tianshou(SeatFollower):
    """The environment for Tianshou's masked DQN, in Tianshou's own vectorisation."""

    framework = "tianshou"

    def start(self, seed: int) -> None:
        from tianshou.env import DummyVectorEnv

        from crapo_env.adapters.tianshou import MaskedEnv

        game, options = self.setting
        self.env = DummyVectorEnv([lambda: MaskedEnv(game.name, opponent=OPPONENT, **options)] * 2)
        self.shown, _ = self.env.reset(seed=seed % FIRST_EVALUATION_SEED)

    def hidden(self) -> tuple[Batch, int]:
        return self.env.workers[1].env.unwrapped._batch, 0

    def look(self) -> tuple[int, np.ndarray, np.ndarray]:
        shown = self.shown[1]
        return self.env.workers[1].env.unwrapped.seat, shown["obs"], shown["mask"]

    def step(self, action: int) -> tuple[float, bool, bool]:
        shown, rewards, *flags, _ = self.env.step(np.array([action]), 1)
        self.shown = [None, shown[0]]
        terminated, truncated = (bool(flag[0]) for flag in flags)
        if terminated or truncated:
            self.shown = [None, self.env.reset(1)[0][0]]
        return rewards[0].item(), terminated, truncated


SEAT_FOLLOWERS = (Gymnasium, GymnasiumVector, SB3, Tianshou)
