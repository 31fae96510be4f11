"""Self-play with RLlib, on one machine or on many: masked PPO in a league of its own snapshots.

`python -m training.rllib_selfplay --game crapo --num-env-runners 2 --out runs/rllib` trains and
saves after every iteration; the same command with `--restore` goes on where it was stopped or
killed. With `--address auto` it uses the Ray cluster of this machine, with any number of runners.
"""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ray

from crapo_env.adapters import rllib
from training.option_text import read_option

OBJECT_STORE = 400 * 2**20  # bytes, on one machine


def read_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the command line."""
    parser = argparse.ArgumentParser(prog="python -m training.rllib_selfplay", description=__doc__)
    parser.add_argument("--game", default="crapo")
    parser.add_argument("--option", action="append", default=[], help="rule option, NAME=VALUE")
    parser.add_argument("--num-env-runners", type=int, default=0, help="processes that play")
    parser.add_argument("--iterations", type=int, default=20, help="in all, with those restored")
    parser.add_argument("--batch-size", type=int, default=4096, help="decisions of an iteration")
    parser.add_argument("--hidden", type=int, nargs="+", default=[256, 256], help="layer sizes")
    parser.add_argument("--snapshot-every", type=int, default=5, help="iterations")
    parser.add_argument("--out", type=Path, default=Path("runs/rllib"), help="folder of the run")
    parser.add_argument("--restore", action="store_true", help="go on from what is in the folder")
    parser.add_argument("--address", help="of a Ray cluster, `auto` for this machine's")
    return parser.parse_args(arguments)


def start_ray(address: str | None, runners: int) -> None:
    """Join a cluster, or start Ray on this machine with what the run needs."""
    if address is not None:
        ray.init(address=address)
    else:
        ray.init(num_cpus=runners + 1, include_dashboard=False, object_store_memory=OBJECT_STORE)


def build(args: argparse.Namespace) -> Any:
    """Return the algorithm, new or restored."""

    class League(rllib.SelfPlayLeague):
        snapshot_every = args.snapshot_every

    restoring = args.restore and (args.out / rllib.LEAGUE_FILE).exists()
    config = rllib.make_config(
        args.game,
        dict(map(read_option, args.option)),
        num_env_runners=args.num_env_runners,
        league=rllib.saved_league(args.out) if restoring else ("past_0",),
        hidden_sizes=args.hidden,
        batch_size=args.batch_size,
        callbacks=League,
    )
    return rllib.restore(config, args.out) if restoring else config.build_algo()


def main(arguments: Sequence[str] | None = None) -> None:
    """Train and save."""
    args = read_arguments(arguments)
    start_ray(args.address, args.num_env_runners)
    algorithm = build(args)
    print(f"iteration {algorithm.iteration}, league {' '.join(rllib.league_of(algorithm))}")
    while algorithm.iteration < args.iterations:
        start = time.monotonic()
        results = algorithm.train()["env_runners"]
        seconds = time.monotonic() - start
        rllib.save(algorithm, args.out)
        rate = results["num_env_steps_sampled"] / seconds
        mean = results.get("module_episode_returns_mean", {}).get(rllib.MAIN, float("nan"))
        print(
            f"iteration {algorithm.iteration}, league of {len(rllib.league_of(algorithm))}, "
            f"{rate:.0f} decisions/s, mean return of the learner {mean:+.3f}",
            flush=True,
        )
    algorithm.stop()
    ray.shutdown()


if __name__ == "__main__":
    main()
