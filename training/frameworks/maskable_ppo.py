"""Stable-Baselines3's MaskablePPO by self-play on `adapters.sb3`, without the rest of `training`.

`python -m training.frameworks.maskable_ppo` trains one seat against random and greedy play and
prints the mean return of the last games. With `--save model.zip` the model is kept, and after
`python -m training.sb3_zip model.zip --game GAME` it can be evaluated like any checkpoint.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from sb3_contrib import MaskablePPO

from crapo_env.adapters.sb3 import SelfPlayVecEnv
from crapo_env.bots import make_policy
from crapo_env.registry import find_game
from training.option_text import read_option


def main(arguments: Sequence[str] | None = None) -> tuple[float, float]:
    """Train, and return the mean returns of the first and of the last games."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", default="reis_nos_cantos")
    parser.add_argument("--options", nargs="*", default=["target=1"], help="rules, NAME=VALUE")
    parser.add_argument("--opponents", nargs="+", default=["random", "greedy"])
    parser.add_argument("--steps", type=int, default=200_000, help="decisions of the learner")
    parser.add_argument("--num-envs", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--save", type=Path, metavar="ZIP", help="where the model goes")
    args = parser.parse_args(arguments)
    torch.set_num_threads(1)
    game = find_game(args.game)
    opponents = [make_policy(spec, game, k) for k, spec in enumerate(args.opponents)]
    options = dict(map(read_option, args.options))
    env = SelfPlayVecEnv(
        game, args.num_envs, opponents, options=options, seed=args.seed, skip_forced=True
    )
    model = MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=64,
        batch_size=512,
        n_epochs=4,
        gamma=0.997,
        seed=args.seed,
        stats_window_size=1000,
        policy_kwargs={"net_arch": [128, 128]},
    )
    scores = []
    for steps in (args.steps // 10, args.steps - args.steps // 10):
        model.learn(steps, reset_num_timesteps=False)
        scores.append(float(np.mean([info["r"] for info in model.ep_info_buffer or []])))
        model.ep_info_buffer = None
    if args.save:
        model.save(args.save)
    before, after = scores
    names = " and ".join(args.opponents)
    print(f"{args.game}: mean return against {names} {before:+.3f} at first, {after:+.3f} at last")
    return before, after


if __name__ == "__main__":
    main()
