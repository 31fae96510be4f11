"""Train by self-play with MaskablePPO: `python -m training.train configs/crapo_quick.toml`.

The run writes TensorBoard logs and a checkpoint into its folder, then measures the checkpoint
against random and greedy on held-out deals. Ctrl-C ends the training early and does the rest.
"""

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from rich.console import Console
from stable_baselines3.common.logger import configure

from crapo_env.adapters.sb3 import SelfPlayVecEnv
from crapo_env.bots import make_policy
from crapo_env.bots.policy import Policy
from crapo_env.game import Game
from crapo_env.registry import find_game
from training.callback import SelfPlayCallback
from training.checkpoint import CheckpointPolicy
from training.config import Config, describe_settings, read_config
from training.deals import default_path, read_deals
from training.display import Display
from training.evaluate import make_tables, play_all, write_results
from training.interrupt import Interrupt
from training.learner import copy_network, make_model
from training.selfplay import OpponentPool

FINAL_OPPONENTS = ("random", "greedy")
CHECKPOINT = "checkpoint.safetensors"


def make_pool(config: Config, game: Game) -> OpponentPool:
    """Return the pool of opponents, without a snapshot yet."""
    return OpponentPool(
        [make_policy(spec, game, config.seed + i) for i, spec in enumerate(config.bots)],
        config.bot_weights,
        latest_weight=config.latest_weight,
        past_weight=config.past_weight,
        max_past=config.max_past,
        seed=config.seed,
    )


def make_anchors(config: Config, game: Game) -> list[Policy]:
    """Return the policies that the learner is measured against."""
    return [make_policy(spec, game, config.seed) for spec in config.anchors]


def train(config: Config, folder: Path, display: Display, interrupt: Interrupt) -> Path:
    """Train until the decisions are made or an interrupt; return the path of the checkpoint."""
    game = find_game(config.game)
    torch.set_num_threads(1)
    pool = make_pool(config, game)
    env = SelfPlayVecEnv(
        game,
        config.num_envs,
        pool.bots,
        options=config.options | config.training_options,
        seed=config.seed,
        skip_forced=config.skip_forced,
    )
    model = make_model(config, env)
    pool.add(game, copy_network(model, game), 0)
    env.set_opponents(*pool.opponents())
    model.set_logger(configure(str(folder), ["tensorboard"]))
    checkpoint = folder / CHECKPOINT
    callback = SelfPlayCallback(
        config, game, env, pool, make_anchors(config, game), checkpoint, display, interrupt
    )
    model.learn(config.total_timesteps, callback)
    callback.save()
    model.logger.close()
    return checkpoint


def evaluate(config: Config, checkpoint: Path, seeds: np.ndarray, console: Console) -> None:
    """Print and write how the checkpoint does on held-out deals."""
    game = find_game(config.game)
    torch.set_num_threads(1)
    policy = CheckpointPolicy(checkpoint, game)
    opponents = [make_policy(spec, game, 1) for spec in FINAL_OPPONENTS]
    options = game.read_options(config.options)
    matches = play_all(game, [policy], opponents, seeds, options, console)
    console.print(make_tables(matches, f"{game.id}, {len(seeds)} held-out deals from every seat"))
    write_results(checkpoint.with_name("evaluation.json"), game, options, matches)


def describe_run(config: Config, folder: Path) -> str:
    """Return what the run is going to do."""
    game = find_game(config.game)
    weights = [*config.bot_weights, config.latest_weight, config.past_weight]
    names = [*config.bots, "latest snapshot", "older snapshots"]
    shares = (
        f"{name} {100 * weight / sum(weights):.0f} %"
        for name, weight in zip(names, weights, strict=True)
    )
    layers = " x ".join(str(size) for size in config.hidden_sizes)
    return (
        f"{game.id}: {config.total_timesteps:,} decisions with MaskablePPO, "
        f"{config.num_envs} games side by side, seed {config.seed}, "
        f"network {len(game.fields)} > {layers} > {len(game.actions)}\n"
        f"opponents: {', '.join(shares)}\n"
        f"then {config.eval_deals} held-out deals against {' and '.join(FINAL_OPPONENTS)}\n"
        f"writes to {folder} (tensorboard --logdir {folder.parent}); Ctrl-C ends the training early"
    )


def free_folder(config_path: Path, seed: int) -> Path:
    """Return a folder under runs/ that does not exist yet."""
    first = Path("runs") / f"{config_path.stem}-seed{seed}"
    count = 1
    folder = first
    while folder.exists():
        count += 1
        folder = first.with_name(f"{first.name}-{count}")
    return folder


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="training.train",
        description=__doc__,
        epilog="settings of a config:\n" + describe_settings(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("config", type=Path, help="TOML file, such as configs/crapo_quick.toml")
    parser.add_argument("--seed", type=int, help="instead of that of the config")
    parser.add_argument("--total-timesteps", type=int, help="instead of those of the config")
    parser.add_argument("--out", type=Path, help="folder of the run (default: a new one in runs/)")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    """Do the run of the command line."""
    asked = _parse(arguments)
    overrides = {"seed": asked.seed, "total_timesteps": asked.total_timesteps}
    console = Console()
    try:
        given = {name: value for name, value in overrides.items() if value is not None}
        config = read_config(asked.config, given)
        game = find_game(config.game)
        seeds = read_deals(default_path(game), game, config.eval_deals)
        make_pool(config, game), make_anchors(config, game)
        folder = asked.out or free_folder(asked.config, config.seed)
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(asked.config, folder / "config.toml")
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")
    console.print(describe_run(config, folder), highlight=False, soft_wrap=True)
    display = Display(console, config.total_timesteps)
    with Interrupt(lambda: display.line("stopping after this update")) as interrupt, display:
        checkpoint = train(config, folder, display, interrupt)
    console.print(f"checkpoint: {checkpoint}", highlight=False, soft_wrap=True)
    try:
        evaluate(config, checkpoint, seeds, console)
    except KeyboardInterrupt:
        sys.exit("evaluation left out; the checkpoint is complete")


if __name__ == "__main__":
    main()
