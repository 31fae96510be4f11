"""OpenSpiel's DQN against random play on a game of the package, by default a small Reis nos cantos.

`python -m training.frameworks.openspiel_dqn` trains for a minute and prints the mean returns before
and after, over fresh games, of the learner in every seat.
"""

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from open_spiel.python import rl_environment
from open_spiel.python.algorithms import random_agent
from open_spiel.python.pytorch import dqn

import crapo_env.adapters.openspiel  # noqa: F401  registers the games

GAME = "reis_nos_cantos_small(ranks=5,hand_cards=2,crosses=2)"


def play_episode(env: Any, agents: Sequence[Any], *, evaluate: bool) -> list[float]:
    """Play one game and return what every seat received."""
    step = env.reset()
    returns = np.zeros(env.num_players)
    while not step.last():
        action = agents[step.observations["current_player"]].step(step, is_evaluation=evaluate)
        step = env.step([action.action])
        returns += step.rewards
    for agent in agents:
        agent.step(step, is_evaluation=evaluate)
    return list(returns)


def score(env: Any, agent: Any, others: Sequence[Any], games: int) -> float:
    """Return the mean return of an agent over games in which it takes every seat in turn."""
    results = []
    for k in range(games):
        seat = k % env.num_players
        agents = [*others[:seat], agent, *others[seat + 1 :]]
        agent.player_id = agent._player_id = seat  # it reads its own legal actions
        results.append(play_episode(env, agents, evaluate=True)[seat])
    return float(np.mean(results))


def main(arguments: Sequence[str] | None = None) -> tuple[float, float]:
    """Train, and return the mean returns against random play before and after."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", default=GAME, help="name and parameters in OpenSpiel")
    parser.add_argument("--episodes", type=int, default=10_000)
    parser.add_argument("--evaluate", type=int, default=500, help="games of an evaluation")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(arguments)
    torch.set_num_threads(1)
    np.random.seed(args.seed)  # OpenSpiel's agents draw from the global generator
    env = rl_environment.Environment(args.game)
    env.seed(args.seed)
    size, actions = env.observation_spec()["info_state"][0], env.action_spec()["num_actions"]
    agent = dqn.DQN(
        0,
        state_representation_size=size,
        num_actions=actions,
        hidden_layers_sizes=(64,),
        batch_size=32,
        replay_buffer_capacity=20_000,
        learning_rate=1e-3,
        optimizer_str="adam",
        learn_every=4,
        update_target_network_every=200,
        epsilon_decay_duration=args.episodes * 2,
        seed=args.seed,
    )
    others = [random_agent.RandomAgent(seat, actions) for seat in range(env.num_players)]
    before = score(env, agent, others, args.evaluate)
    for k in range(args.episodes):
        seat = k % env.num_players
        agent.player_id = agent._player_id = seat
        play_episode(env, [*others[:seat], agent, *others[seat + 1 :]], evaluate=False)
    after = score(env, agent, others, args.evaluate)
    print(f"{args.game}: mean return against random play {before:+.3f} before, {after:+.3f} after")
    return before, after


if __name__ == "__main__":
    main()
