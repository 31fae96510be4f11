"""AgileRL's DQN, in its own training loop, against a bot of the package.

`python -m training.frameworks.agilerl_dqn` trains on short matches of Reis nos cantos and prints
the mean returns of greedy play before and after.
"""

import argparse
from collections.abc import Sequence
from typing import Any

import torch
from agilerl.algorithms.dqn import DQN
from agilerl.components.replay_buffer import ReplayBuffer
from agilerl.training.train_off_policy import train_off_policy

from crapo_env.adapters.agilerl import make_vector
from training.option_text import read_option


def make_agent(env: Any) -> DQN:
    """Return a double DQN for a vector environment."""
    return DQN(
        env.single_observation_space,
        env.single_action_space,
        net_config={"encoder_config": {"hidden_size": [128]}, "head_config": {"hidden_size": [64]}},
        batch_size=128,
        lr=5e-4,
        learn_step=16,
        tau=0.01,
    )


def main(arguments: Sequence[str] | None = None) -> tuple[float, float]:
    """Train, and return the mean returns before and after."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", default="reis_nos_cantos")
    parser.add_argument("--options", nargs="*", default=["target=1"], help="rules, NAME=VALUE")
    parser.add_argument("--opponent", default="random")
    parser.add_argument("--steps", type=int, default=40_000, help="decisions of the learner")
    parser.add_argument("--num-envs", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(arguments)
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    options = dict(map(read_option, args.options))
    env = make_vector(args.game, args.num_envs, opponent=args.opponent, **options)
    env.reset(seed=args.seed)
    agent = make_agent(env)
    before = agent.test(env, loop=4)
    train_off_policy(
        env=env,
        env_name=args.game,
        algo="DQN",
        pop=[agent],
        memory=ReplayBuffer(max_size=50_000),
        max_steps=args.steps,
        evo_steps=args.steps // 4,
        eval_loop=1,
        eps_decay=0.995,
        verbose=False,
    )
    env = make_vector(args.game, args.num_envs, opponent=args.opponent, **options)
    env.reset(seed=args.seed + 1)
    after = agent.test(env, loop=4)
    print(f"{args.game}: mean return against {args.opponent} {before:+.3f}, then {after:+.3f}")
    return before, after


if __name__ == "__main__":
    main()
