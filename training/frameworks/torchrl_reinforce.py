"""A policy gradient in TorchRL by self-play on the native batch, without any opponent.

`python -m training.frameworks.torchrl_reinforce` plays every seat with one policy, credits each
decision with what its seat received in the end, and prints the mean returns against random play
before and after.
"""

import argparse
from collections.abc import Sequence

import torch
from tensordict import TensorDictBase
from tensordict.nn import (
    ProbabilisticTensorDictModule,
    ProbabilisticTensorDictSequential,
    TensorDictModule,
)
from torch import nn
from torchrl.modules import MaskedCategorical

from crapo_env.adapters.torchrl import BatchEnv
from training.option_text import read_option


def make_policy(env: BatchEnv) -> ProbabilisticTensorDictSequential:
    """Return a policy that draws among the legal actions."""
    size, actions = env.batch.observations.shape[1], env.batch.masks.shape[1]
    network = nn.Sequential(nn.Linear(size, 128), nn.ReLU(), nn.Linear(128, actions))
    return ProbabilisticTensorDictSequential(
        TensorDictModule(lambda seen: seen.float(), ["observation"], ["seen"]),
        TensorDictModule(network, ["seen"], ["logits"]),
        ProbabilisticTensorDictModule(
            in_keys={"logits": "logits", "mask": "action_mask"},
            out_keys=["action"],
            distribution_class=MaskedCategorical,
            return_log_prob=True,
            default_interaction_type="random",
        ),
    )


def play(env: BatchEnv, policy: ProbabilisticTensorDictSequential | None) -> TensorDictBase:
    """Play every game once to its end, at random without a policy."""
    return env.rollout(10_000, policy, break_when_any_done=False, break_when_all_done=True)


def decisions(games: TensorDictBase) -> torch.Tensor:
    """Return which steps were decisions in games that went on, (n, steps) bool."""
    over: torch.Tensor = games["done"].squeeze(-1)
    return ~over


def credit(games: TensorDictBase) -> torch.Tensor:
    """Return what the seat on turn received from then on, (n, steps)."""
    paid = games["next", "reward"] * decisions(games).unsqueeze(-1)
    to_come = paid.flip(1).cumsum(1).flip(1)
    received: torch.Tensor = to_come.gather(-1, games["player"]).squeeze(-1)
    return received


def score(env: BatchEnv, policy: ProbabilisticTensorDictSequential) -> float:
    """Return the mean return of seat 0 against random play by the others."""
    shown, total = env.reset(), torch.zeros(env.batch_size)
    with torch.no_grad():
        while not shown["done"].all():
            own = policy(shown.clone())["action"]
            others = env.rand_action(shown.clone())["action"]
            shown["action"] = torch.where(shown["player"].squeeze(-1) == 0, own, others)
            following = env.step(shown)["next"]
            total += following["reward"][:, 0]
            shown = following.exclude("reward")
    return float(total.mean())


def main(arguments: Sequence[str] | None = None) -> tuple[float, float]:
    """Train, and return the mean returns against random play before and after."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", default="reis_nos_cantos")
    parser.add_argument("--options", nargs="*", default=["target=1"], help="rules, NAME=VALUE")
    parser.add_argument("--updates", type=int, default=40)
    parser.add_argument("--num-envs", type=int, default=64)
    parser.add_argument("--evaluate", type=int, default=512, help="games of an evaluation")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(arguments)
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    options = dict(map(read_option, args.options))
    env = BatchEnv(args.game, args.num_envs, seed=args.seed, **options)
    judge = BatchEnv(args.game, args.evaluate, seed=2**62, **options)
    policy = make_policy(env)
    optimiser = torch.optim.Adam(policy.parameters(), lr=1e-3)
    before = score(judge, policy)
    for _ in range(args.updates):
        with torch.no_grad():
            games = play(env, policy)
        kept = decisions(games)
        batch = games.select("observation", "action_mask", "action")[kept]
        gain = credit(games)[kept]
        log_prob = policy.get_dist(batch.clone()).log_prob(batch["action"])
        loss = -(log_prob * (gain - gain.mean())).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    after = score(judge, policy)
    print(f"{args.game}: mean return against random play {before:+.3f}, then {after:+.3f}")
    return before, after


if __name__ == "__main__":
    main()
