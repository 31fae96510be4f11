"""RLlib (new API stack): the environment, masked PPO, and a league of the learner's own snapshots.

The learner is the module "main". In every game it has one seat; each other seat belongs to a frozen
snapshot, "past_0", "past_1", ..., drawn for that game alone. Snapshots are added while the run goes
on; a checkpoint names them, so that a restored run knows them all.
"""

import copy
import json
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo.utils.wrappers.base import BaseWrapper

from crapo_env.env import CardGameEnv

try:
    import ray.rllib  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "RLlib is not installed: pip install 'crapo-env[adapters-rllib]'", name=error.name
    ) from error

from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.callbacks.callbacks import RLlibCallback
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

MAIN = "main"
LEAGUE_FILE = "league.json"


class FloatObservations(BaseWrapper[str, dict[str, Any], Any]):
    """The AEC environment with observations as RLlib's masking module wants them.

    `{"observations": (size,) float32, "action_mask": (actions,) float32}`.
    """

    def __init__(self, env: CardGameEnv) -> None:
        super().__init__(env)
        self._spaces: dict[str, spaces.Dict] = {}
        for agent in env.possible_agents:
            high = env.game.fields.high.astype(np.float32)
            actions = int(env.action_space(agent).n)
            self._spaces[agent] = spaces.Dict(
                {
                    "observations": spaces.Box(np.zeros_like(high), high, dtype=np.float32),
                    "action_mask": spaces.Box(0, 1, (actions,), np.float32),
                }
            )

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the observation space of an agent."""
        return self._spaces[agent]

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """Return what an agent sees and may do."""
        seen = self.env.observe(agent) or {}
        return {
            "observations": seen["observation"].astype(np.float32),
            "action_mask": seen["action_mask"].astype(np.float32),
        }


def make_env(config: Mapping[str, Any]) -> PettingZooEnv:
    """Return RLlib's environment of a game.

    Args:
        config: "game", its name, and rule options.
    """
    options = dict(config)
    env = PettingZooEnv(FloatObservations(CardGameEnv(options.pop("game"), **options)))
    env.possible_agents = list(env.env.possible_agents)  # by seat: RLlib's own come from a set
    env.agents = list(env.possible_agents)
    return env


class LeagueMapping:
    """Says which module has which seat of an episode: one the learner, the others snapshots.

    It depends on the episode's name alone, so all of an episode is played by the same modules.
    """

    def __init__(self, seats: Sequence[str], league: Sequence[str]) -> None:
        self.seats = list(seats)
        self.league = list(league)

    def __call__(self, agent_id: str, episode: Any, **_: Any) -> str:
        """Return the module of an agent."""
        name = str(episode.id_)
        if self.seats[zlib.crc32(name.encode()) % len(self.seats)] == agent_id:
            return MAIN
        draw = zlib.crc32(f"{name} {agent_id}".encode())
        return self.league[draw % len(self.league)]


class SelfPlayLeague(RLlibCallback):
    """Adds a snapshot of the learner to the league every so many iterations."""

    snapshot_every = 5
    max_snapshots = 20  # after these the league stays as it is

    def on_train_result(self, *, algorithm: Any, **_: Any) -> None:
        """Take a snapshot if it is due."""
        count = len(league_of(algorithm))
        if algorithm.iteration % self.snapshot_every == 0 and count < self.max_snapshots:
            add_snapshot(algorithm)

    def on_env_runners_recreated(self, *, algorithm: Any, **_: Any) -> None:
        """Give runners that were started anew the snapshots' weights."""
        send_weights(algorithm, league_of(algorithm))


def league_of(algorithm: Any) -> list[str]:
    """Return the names of the snapshots that the learner plays against."""
    mapping: LeagueMapping = algorithm.config.policy_mapping_fn
    return mapping.league


def learner_state(algorithm: Any, module: str) -> dict[str, Any]:
    """Return a copy of a module's weights as the learner has them."""
    path = f"learner/rl_module/{module}"
    state = algorithm.learner_group.get_state(components=path)
    weights: dict[str, Any] = copy.deepcopy(state["learner"]["rl_module"][module])
    return weights


def send_weights(algorithm: Any, modules: Sequence[str]) -> None:
    """Give the runners the learner's copies of modules.

    Ray's own synchronisation skips what is as old as the last one, and so leaves new snapshots with
    the weights that they were drawn with.
    """
    states = {module: learner_state(algorithm, module) for module in modules}

    def take(runner: Any) -> None:
        for module, state in states.items():
            runner.module[module].set_state(state)

    algorithm.env_runner_group.foreach_env_runner(take)


def add_snapshot(algorithm: Any) -> str:
    """Add a frozen copy of the learner to the league of new episodes; return its name."""
    old: LeagueMapping = algorithm.config.policy_mapping_fn
    name = f"past_{len(old.league)}"
    mapping = LeagueMapping(old.seats, [*old.league, name])
    weights = learner_state(algorithm, MAIN)
    algorithm.add_module(
        module_id=name,
        module_spec=RLModuleSpec.from_module(algorithm.get_module(MAIN)),
        new_agent_to_module_mapping_fn=mapping,
        new_should_module_be_updated=[MAIN],
    )
    algorithm.set_state({"learner_group": {"learner": {"rl_module": {name: weights}}}})
    send_weights(algorithm, [name])
    algorithm.config._is_frozen = False  # so that runners started later know the league too
    algorithm.config.multi_agent(policy_mapping_fn=mapping)
    algorithm.config.freeze()
    return name


def make_module_spec(hidden_sizes: Sequence[int]) -> RLModuleSpec:
    """Return the networks of a module: policy and value, legal actions alone."""
    model = DefaultModelConfig(fcnet_hiddens=list(hidden_sizes), vf_share_layers=False)
    return RLModuleSpec(module_class=ActionMaskingTorchRLModule, model_config=model)


def make_config(
    game: str,
    options: Mapping[str, Any] | None = None,
    *,
    num_env_runners: int = 0,
    games_per_runner: int = 8,
    league: Sequence[str] = ("past_0",),
    hidden_sizes: Sequence[int] = (256, 256),
    batch_size: int = 4096,
    callbacks: type[RLlibCallback] = SelfPlayLeague,
) -> PPOConfig:
    """Return the configuration of masked PPO in a league.

    Args:
        game: name of a game.
        options: rule options.
        num_env_runners: processes that play; 0: the driver plays.
        games_per_runner: games that each of them plays side by side.
        league: the snapshots there are from the start, with weights drawn at random.
        hidden_sizes: layers of the networks.
        batch_size: decisions of an iteration.
        callbacks: class of the league.
    """
    env_config = {"game": game, **(options or {})}
    seats = make_env(env_config).possible_agents
    names = [MAIN, *league]
    modules = dict.fromkeys(names, make_module_spec(hidden_sizes))
    return (
        PPOConfig()
        .environment(env=make_env_by_name(), env_config=env_config, disable_env_checking=True)
        .env_runners(
            num_env_runners=num_env_runners,
            num_envs_per_env_runner=games_per_runner,
            rollout_fragment_length="auto",
        )
        .multi_agent(
            policies=set(names),
            policy_mapping_fn=LeagueMapping(seats, league),
            policies_to_train=[MAIN],
        )
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs=modules))
        .training(
            train_batch_size_per_learner=batch_size,
            minibatch_size=min(512, batch_size),
            num_epochs=4,
            lr=3e-4,
            gamma=0.997,
            entropy_coeff=0.01,
        )
        .callbacks(callbacks)
    )


def make_env_by_name() -> str:
    """Register the environment with Ray and return its name there."""
    from ray.tune.registry import register_env

    register_env("crapo_env", make_env)
    return "crapo_env"


def save(algorithm: Any, folder: Path) -> None:
    """Save a run: Ray's checkpoint, and beside it the names of the snapshots."""
    folder.mkdir(parents=True, exist_ok=True)
    algorithm.save_to_path(str((folder / "ray").absolute()))
    (folder / LEAGUE_FILE).write_text(json.dumps(league_of(algorithm)), encoding="utf-8")


def restore(config: PPOConfig, folder: Path) -> Any:
    """Return the algorithm of a saved run; `config` must have the league of its `LEAGUE_FILE`.

    Ray's checkpoints are pickles: restore only what you saved yourself.
    """
    algorithm = config.build_algo()
    algorithm.restore_from_path(str((folder / "ray").absolute()))
    send_weights(algorithm, [MAIN, *league_of(algorithm)])
    return algorithm


def saved_league(folder: Path) -> list[str]:
    """Return the names of the snapshots of a saved run."""
    names: list[str] = json.loads((folder / LEAGUE_FILE).read_text(encoding="utf-8"))
    return names
