"""How fast a recipe trains: `python -m training.speed configs/crapo.toml`.

In turn, so that a busy machine slows all alike: updates of the recipe, updates of plain MaskablePPO
on the same game, and the matrix products alone that the recipe's network needs for as many
decisions. All times are of the processor, on one thread, and the medians are compared. Then a
profile says where the recipe's time goes.
"""

import argparse
import cProfile
import json
import pstats
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import torch
from rich.console import Console
from rich.table import Table
from sb3_contrib import MaskablePPO

from crapo_env.adapters.sb3 import SelfPlayVecEnv
from crapo_env.bots import make_policy
from crapo_env.registry import find_game
from training.config import Config, read_config, read_setting
from training.run import Run

WARM_UP = 3  # updates with a full league before the first that counts
PLAIN_SIZES = [256, 256]  # of MaskablePPO's two networks, actor and critic


def timed(work: Callable[[], int]) -> float:
    """Return how many decisions a second of the processor did."""
    begun = time.process_time()
    decisions = work()
    return decisions / (time.process_time() - begun)


def make_plain(config: Config) -> Callable[[], int]:
    """Return a function that does one update of MaskablePPO against random play."""
    game = find_game(config.game)
    options = config.options | config.training_options
    opponents = [make_policy("random", game, config.seed)]
    env = SelfPlayVecEnv(
        game, config.num_envs, opponents, options=options, skip_forced=config.skip_forced
    )
    n_steps = max(1, config.rollout_decisions // config.num_envs)
    model = MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=n_steps,
        batch_size=config.minibatch_size,
        n_epochs=config.epochs,
        policy_kwargs={"net_arch": PLAIN_SIZES},
        device="cpu",
    )

    def work() -> int:
        model.learn(n_steps * config.num_envs, reset_num_timesteps=False)
        return n_steps * config.num_envs

    return work


def make_products(run: Run, actions: float) -> Callable[[], int]:
    """Return a function that does the matrix products of one update and nothing else.

    Args:
        run: whose network and batches they are.
        actions: how many legal actions a decision has on average.
    """
    config = run.config
    batch, games = config.minibatch_size, config.num_envs
    actor, critic = (_shapes(part) for part in (run.network.actor, run.network.critic))
    steps = [(actor, round(batch * actions)), (critic, batch)]
    plays = [(actor, round(games * actions)), (critic, games)]
    make = partial(torch.rand, dtype=run.network.dtype)
    learning = [
        product for shapes, rows in steps for product in _training_products(shapes, rows, make)
    ]
    playing = [(make(rows, a), make(a, b)) for shapes, rows in plays for a, b in shapes]

    def work() -> int:
        for _ in range(config.rollout_decisions // games):
            for left, right in playing:
                left @ right
        for _ in range(config.epochs * config.rollout_decisions // batch):
            for left, right in learning:
                left @ right
        return config.rollout_decisions

    return work


def _shapes(part: torch.nn.Module) -> list[tuple[int, int]]:
    """Return inputs and outputs of the linear layers."""
    layers = [layer for layer in part.modules() if isinstance(layer, torch.nn.Linear)]
    return [(layer.in_features, layer.out_features) for layer in layers]


def _training_products(
    shapes: Sequence[tuple[int, int]], rows: int, make: Callable[[int, int], torch.Tensor]
) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Return the factors of forward and backward: the first layer passes no gradient on."""
    factors = []
    for k, (before, after) in enumerate(shapes):
        inputs, outputs = make(rows, before), make(rows, after)
        factors += [(inputs, make(before, after)), (inputs.T, outputs)]
        if k > 0:
            factors.append((outputs, make(after, before)))
    return factors


# The parts of an update: functions, each with the caller that it counts for ("" for any).
PARTS = {
    "environment": (("batch.py", "step", ""), ("collector.py", "_deal", "")),
    "features": (
        ("network.py", "list_afterstates", "_decide"),
        ("network.py", "list_positions", "_decide"),
    ),
    "opponents": (("league.py", "act", ""),),
    "network in games": (("network.py", "scores", "_decide"), ("network.py", "values", "_decide")),
    "learning": (("ppo.py", "update", ""),),
}


def profile(run: Run, updates: int) -> dict[str, float]:
    """Return the shares of the parts of so many updates; what is left over is bookkeeping."""
    profiler = cProfile.Profile(time.process_time)
    for _ in range(updates):
        profiler.runcall(run.step)
    stats = pstats.Stats(profiler).stats  # type: ignore[attr-defined]

    def spent(file: str, name: str, caller: str) -> float:
        """Return the time within a function, what it called included."""
        return sum(
            float(times[3])
            for (path, _, function), (_, _, _, _, callers) in stats.items()
            if function == name and Path(path).name == file
            for (_, _, by), times in callers.items()
            if caller in ("", by)
        )

    total = sum(call[3] for (_, _, name), call in stats.items() if name == "step" and not call[4])
    shares = {
        part: sum(spent(*function) for function in functions) / total
        for part, functions in PARTS.items()
    }
    return shares | {"bookkeeping": 1 - sum(shares.values())}


def measure(config: Config, repeats: int, folder: Path) -> dict[str, Any]:
    """Return speeds in decisions a second, their ratios and the shares of the parts."""
    torch.set_num_threads(1)
    config = replace(config, torch_threads=1)
    run = Run(find_game(config.game), replace(config, snapshot_every=1), folder)
    for _ in range(config.max_past + WARM_UP):
        actions = run.step()["selfplay/legal_actions"]
    run.config = config

    def train() -> int:
        before = run.decisions
        run.step()
        return run.decisions - before

    works = {
        "recipe": train,
        "MaskablePPO": make_plain(config),
        "products": make_products(run, actions),
    }
    speeds: dict[str, list[float]] = {name: [] for name in works}
    works["MaskablePPO"]()
    for _ in range(repeats):
        for name, work in works.items():
            speeds[name].append(timed(work))
    medians = {name: median(values) for name, values in speeds.items()}
    return {
        "config": config.as_dict(),
        "actions_per_decision": actions,
        "decisions_per_second": medians,
        "all": speeds,
        "against_MaskablePPO": medians["recipe"] / medians["MaskablePPO"],
        "against_products": medians["recipe"] / medians["products"],
        "shares": profile(run, repeats),
    }


def make_report(results: dict[str, Any]) -> Table:
    """Return the results as a table."""
    table = Table("what", "decisions/s", "recipe against it", title=results["config"]["game"])
    speeds = results["decisions_per_second"]
    for name, speed in speeds.items():
        table.add_row(name, f"{speed:,.0f}", f"{speeds['recipe'] / speed:.2f}")
    shares = (f"{part} {100 * share:.0f} %" for part, share in results["shares"].items())
    table.caption = "Where the recipe's time goes: " + ", ".join(shares)
    return table


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the recipe of the command line."""
    parser = argparse.ArgumentParser(prog="training.speed", description=__doc__)
    parser.add_argument("config", type=Path, help="TOML file in configs/")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="see training.train"
    )
    parser.add_argument("--repeats", type=int, default=5, help="measurements of each (default: 5)")
    parser.add_argument("--json", type=Path, metavar="PATH", help="write the results there too")
    asked = parser.parse_args(arguments)
    try:
        config = read_config(asked.config, dict(map(read_setting, asked.set)))
    except ValueError as error:
        sys.exit(f"error: {error}")
    with tempfile.TemporaryDirectory() as folder:
        results = measure(config, asked.repeats, Path(folder))
    Console().print(make_report(results))
    if asked.json:
        asked.json.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
