"""Train by self-play: `python -m training.train configs/crapo.toml`.

The run writes its state, a checkpoint, `metrics.jsonl` and TensorBoard logs into its folder, then
measures the checkpoint on held-out deals. Ctrl-C ends the training early and does the rest; SIGTERM
only saves. `--resume FOLDER` goes on with a run that was stopped, however it was.
"""

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from rich.console import Console

from crapo_env.bots import make_policy
from crapo_env.registry import find_game
from training.config import Config, describe_settings, read_config, read_setting
from training.deals import default_path, read_deals
from training.display import Display
from training.evaluation.request import make_request
from training.evaluation.run import run_tournament
from training.evaluation.tables import make_tables
from training.interrupt import Interrupt
from training.logs import Logs
from training.match import DRAW, WIN, Match, play_match
from training.network import NetworkPolicy
from training.run import CHECKPOINT, STATE, Run, read_run_config
from training.tracking import TRACKERS, Tracker

FINAL_OPPONENTS = ("random", "greedy")
CONFIG = "config.toml"


def train(run: Run, logs: Logs, display: Display, interrupt: Interrupt) -> None:
    """Train until the decisions are made or an interrupt, and save.

    Raises:
        OSError: if something cannot be written; what was saved before stays whole.
    """
    config = run.config
    while not run.finished and not interrupt.requested:
        numbers = run.step()
        if run.updates % config.anchor_every == 0 or run.finished:
            numbers |= measure(run, display)
        # Before the state: a resumed run drops lines after its state, but cannot fill a gap.
        logs.write(run.updates, run.decisions, display.seconds(), numbers)
        if run.updates % config.save_every == 0:
            run.save()
        display.update(run.decisions, numbers)
    run.save()


def train_watched(run: Run, console: Console, tracker: Tracker | None = None) -> Interrupt:
    """Train with logs, a progress bar and an orderly end by Ctrl-C; return what was asked for.

    Raises:
        OSError: if something cannot be written.
    """
    with Logs(run.folder, run.updates, tracker) as logs:
        display = Display(console, run.config.total_timesteps, logs.seconds)
        with Interrupt(lambda: display.line("stopping after this update")) as interrupt, display:
            train(run, logs, display, interrupt)
    return interrupt


def meet_anchor(run: Run, spec: str, deals: int) -> Match:
    """Let the learner, deterministic, play a fixed policy on deals that training may use."""
    torch.set_num_threads(1)
    game, config = run.game, run.config
    learner = NetworkPolicy(game, run.copy_network(), "learner", deterministic=True)
    seeds, options = np.arange(deals, dtype=np.uint64), config.options | config.anchor_options
    return play_match(game, learner, make_policy(spec, game, config.seed), seeds, options)


def measure(run: Run, display: Display) -> dict[str, float]:
    """Play the anchors and return the numbers to log, see `meet_anchor`."""
    config, numbers, texts = run.config, {}, []
    for spec in config.anchors:
        match = meet_anchor(run, spec, config.anchor_deals)
        numbers[f"anchor/win_rate_{spec}"] = match.share(WIN)
        numbers[f"anchor/draw_rate_{spec}"] = match.share(DRAW)
        numbers[f"anchor/game_length_{spec}"] = float(match.lengths.mean())
        texts.append(f"v {spec} {100 * match.share(WIN):.0f} %")
    minutes, seconds = divmod(int(display.seconds()), 60)
    display.line(f"{minutes:3}:{seconds:02}  {run.decisions:,} decisions: {', '.join(texts)}")
    return numbers


def evaluate(config: Config, checkpoint: Path, console: Console) -> None:
    """Print and write how the checkpoint does on held-out deals."""
    specs = [f"checkpoint:{checkpoint}", *FINAL_OPPONENTS]
    game = find_game(config.game)
    request = make_request(game, config.options, specs, pairs=config.eval_deals, workers=2)
    out = checkpoint.with_name("evaluation")
    shutil.rmtree(out, ignore_errors=True)  # of a checkpoint before this run was resumed
    console.print(make_tables(run_tournament(request, console, out)))


def describe_run(config: Config, folder: Path) -> str:
    """Return what the run is going to do."""
    game = find_game(config.game)
    weights = [*config.bot_weights, config.latest_weight, config.past_weight]
    names = [*config.bots, "the learner himself", "his snapshots"]
    shares = (
        f"{name} {100 * weight / sum(weights):.0f} %"
        for name, weight in zip(names, weights, strict=True)
        if weight > 0
    )
    layers = " x ".join(str(size) for size in config.hidden_sizes)
    return (
        f"{game.id}: {config.total_timesteps:,} decisions with PPO, "
        f"{config.num_envs} games side by side, seed {config.seed}, "
        f"actor and critic {len(game.features.position)} > {layers} > 1\n"
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
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("config", nargs="?", type=Path, help="TOML file in configs/")
    source.add_argument("--resume", type=Path, metavar="FOLDER", help="go on with this run")
    parser.add_argument("--seed", type=int, help="instead of that of the config")
    parser.add_argument("--total-timesteps", type=int, help="instead of those of the config")
    parser.add_argument("--torch-threads", type=int, help="instead of those of the config")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="any other setting, its value as in TOML, such as --set shaping=0.0",
    )
    parser.add_argument("--track", choices=TRACKERS, help="also log to W&B or MLflow")
    parser.add_argument("--out", type=Path, help="folder of the run (default: a new one in runs/)")
    return parser.parse_args(arguments)


def _read(asked: argparse.Namespace) -> tuple[Config, Path]:
    """Return the settings and the folder of the run that the command line asks for."""
    names = ("seed", "total_timesteps", "torch_threads")
    given = {name: getattr(asked, name) for name in names if getattr(asked, name) is not None}
    given |= dict(map(read_setting, asked.set))
    if asked.resume:
        if given or asked.out:
            raise ValueError("--resume goes on with the settings and in the folder of the run")
        return read_run_config(asked.resume), asked.resume
    config = read_config(asked.config, given)
    folder = asked.out or free_folder(asked.config, config.seed)
    if (folder / STATE).exists():
        raise ValueError(f"{folder} holds a run; go on with --resume {folder} or name another")
    return config, folder


def _prepare(asked: argparse.Namespace) -> Run:
    """Return the run, begun or resumed, once all that its end needs is there too."""
    config, folder = _read(asked)
    game = find_game(config.game)
    read_deals(default_path(game), game, config.eval_deals)
    for spec in (*config.bots, *config.anchors):
        make_policy(spec, game, config.seed)
    run = Run(game, config, folder)
    if asked.resume:
        run.resume()
    else:
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(asked.config, folder / CONFIG)
        run.save()
    return run


def main(arguments: Sequence[str] | None = None) -> None:
    """Do the run of the command line."""
    asked = _parse(arguments)
    console = Console()
    try:
        run = _prepare(asked)
        settings = run.config.as_dict()
        tracker = Tracker(asked.track, run.folder, settings) if asked.track else None
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")
    console.print(describe_run(run.config, run.folder), highlight=False, soft_wrap=True)
    try:
        interrupt = train_watched(run, console, tracker)
    except OSError as error:
        sys.exit(f"error: {error}; go on with --resume {run.folder} from what was saved")
    checkpoint = run.folder / CHECKPOINT
    console.print(f"checkpoint: {checkpoint}", highlight=False, soft_wrap=True)
    if interrupt.terminated:
        return
    try:
        evaluate(run.config, checkpoint, console)
    except KeyboardInterrupt:
        sys.exit("evaluation left out; the checkpoint is complete")


if __name__ == "__main__":
    main()
