"""Tianshou's masked DQN against a bot of the package.

`python -m training.frameworks.tianshou_dqn` trains on short matches of Reis nos cantos and prints
the mean returns of greedy play before and after.
"""

import argparse
from collections.abc import Sequence
from typing import Any

import torch
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import MLP
from torch import nn

from crapo_env.adapters.tianshou import MaskedEnv
from training.option_text import read_option


class QNetwork(nn.Module):
    """Action values from the vector "obs"; the policy masks them."""

    def __init__(self, size: int, actions: int) -> None:
        super().__init__()
        self.layers = MLP(input_dim=size, output_dim=actions, hidden_sizes=(128, 64))

    def forward(self, obs: Any, state: Any = None, info: Any = None) -> tuple[torch.Tensor, Any]:
        """Return values (n, actions) of observations (n, size)."""
        return self.layers(torch.as_tensor(obs, dtype=torch.float32)), state


def make_algorithm(env: MaskedEnv, *, greedy: float = 0.0, explore: float = 0.2) -> DQN:
    """Return a double DQN for an environment."""
    network = QNetwork(len(env.game.fields), len(env.game.actions))
    policy = DiscreteQLearningPolicy(
        model=network,
        action_space=env.action_space,
        observation_space=env.observation_space,
        eps_training=explore,
        eps_inference=greedy,
    )
    return DQN(
        policy=policy, optim=AdamOptimizerFactory(lr=5e-4), gamma=0.99, target_update_freq=200
    )


def score(algorithm: DQN, envs: DummyVectorEnv, games: int) -> float:
    """Return the mean return of greedy play."""
    collector = Collector[Any](algorithm, envs)
    collector.reset()
    return float(collector.collect(n_episode=games).returns.mean())


def main(arguments: Sequence[str] | None = None) -> tuple[float, float]:
    """Train, and return the mean returns before and after."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", default="reis_nos_cantos")
    parser.add_argument("--options", nargs="*", default=["target=1"], help="rules, NAME=VALUE")
    parser.add_argument("--opponent", default="greedy")
    parser.add_argument("--steps", type=int, default=40_000, help="decisions of the learner")
    parser.add_argument("--evaluate", type=int, default=200, help="games of an evaluation")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(arguments)
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    options = dict(map(read_option, args.options))

    def make() -> MaskedEnv:
        return MaskedEnv(args.game, opponent=args.opponent, **options)

    envs, test_envs = DummyVectorEnv([make] * 8), DummyVectorEnv([make] * 8)
    envs.seed(args.seed)
    test_envs.seed(args.seed + 100)
    algorithm = make_algorithm(make())
    before = score(algorithm, test_envs, args.evaluate)
    collector = Collector[Any](algorithm, envs, VectorReplayBuffer(20_000, len(envs)))
    collector.reset()
    collector.collect(n_step=1000)
    algorithm.run_training(
        OffPolicyTrainerParams(
            training_collector=collector,
            max_epochs=1,
            epoch_num_steps=args.steps,
            collection_step_num_env_steps=64,
            update_step_num_gradient_steps_per_sample=0.1,
            batch_size=128,
            verbose=False,
            show_progress=False,
        )
    )
    after = score(algorithm, test_envs, args.evaluate)
    print(f"{args.game}: mean return against {args.opponent} {before:+.3f}, then {after:+.3f}")
    return before, after


if __name__ == "__main__":
    main()
