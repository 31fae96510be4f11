"""How much can be won against a policy: `python -m training.best_response CHECKPOINT`.

A learner trains against the frozen policy alone, by the code and the settings of `training.train`.
What it then scores on held-out deals is a lower bound of what the best answer to the policy would:
a longer training may find more, and a bound of 0 proves little.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from rich.console import Console

from crapo_env.game import Game
from crapo_env.registry import find_game
from training.archive import is_zip
from training.checkpoint import find_checkpoint, load_checkpoint, read_card
from training.config import Config, make_config, read_config
from training.evaluation.policies import split_spec
from training.evaluation.request import make_request
from training.evaluation.run import run_tournament
from training.evaluation.tables import make_tables
from training.evaluation.texts import find_match
from training.network import Network
from training.option_text import read_option
from training.run import CHECKPOINT, STATE, Run
from training.sb3_zip import read_card as read_sb3_card
from training.storage import write_whole
from training.train import train_watched

RESULT = "best_response.json"


@dataclass(frozen=True)
class Target:
    """The policy that is to be exploited."""

    spec: str
    game: Game
    options: dict[str, Any]
    network: Network | None  # where a learner can begin, if its network is of our kind


def find_target(spec: str, game: str | None, options: Mapping[str, Any]) -> Target:
    """Return the target; a checkpoint says itself which game and rules it is for.

    Raises:
        ValueError: if it cannot be had, or is not for that game or these options.
    """
    path, search = split_spec(spec)
    if path is None:
        found = find_game(game or "crapo")
        return Target(spec, found, found.read_options(options), None)
    file = find_checkpoint(path)
    if is_zip(file):
        card = read_sb3_card(file)
        name, trained = str(card["game"]), dict(card["options"])
    else:
        own = read_card(file)
        name, trained = own.game, own.options
    if game not in (None, name):
        raise ValueError(f"{spec} is for the game {name!r}, not {game!r}")
    found = find_game(name)
    network = None if is_zip(file) else load_checkpoint(file, found)[0]
    full = f"checkpoint:{path}{search}"
    return Target(full, found, found.read_options(trained | dict(options)), network)


def make_settings(target: Target, recipe: Path | None, decisions: int, seed: int) -> Config:
    """Return the settings of the learner, whose only opponent is the target.

    Args:
        target: the policy.
        recipe: a config of `training.train`, of which game, options and opponents are replaced.
        decisions: the budget.
        seed: of the run.

    Raises:
        ValueError: if one is out of range.
    """
    values: dict[str, Any] = {} if recipe is None else read_config(recipe).as_dict()
    values |= {
        "game": target.game.name,
        "options": target.options,
        "seed": seed,
        "total_timesteps": decisions,
        "bots": [target.spec],
        "bot_weights": [1.0],
        "latest_weight": 0.0,
        "past_weight": 0.0,
        "anchors": [target.spec],
    }
    if target.network is not None:
        values["hidden_sizes"] = target.network.hidden_sizes
        values["sees_hidden"] = target.network.sees_hidden
    return make_config(values)


def respond(target: Target, config: Config, folder: Path, console: Console) -> Path:
    """Train against the target; return the checkpoint of the response.

    If the target's network can be had the learner begins as its copy.
    """
    run = Run(target.game, config, folder)
    if target.network is not None:
        run.network.load_state_dict(target.network.state_dict())
    train_watched(run, console)
    return folder / CHECKPOINT


def judge(summary: dict[str, Any], decisions: int) -> dict[str, Any]:
    """Return the lower bound that a tournament of response and target gives.

    Args:
        summary: of the tournament; the response is its first policy, the target its second.
        decisions: that the response has learned from.
    """
    response, target = (policy["name"] for policy in summary["policies"][:2])
    match = find_match(summary, response, target)
    if match is None:
        raise ValueError("no deal was played from every seat, so there is no bound")
    low, high = match["score_interval"]
    return {
        "target": target,
        "decisions": decisions,
        "deals": match["deals"],
        "par": match["par"],
        "score": match["score"],
        "score_interval": [low, high],
        "confidence": summary["confidence"],
        "exploitability_found": match["score"] - match["par"],
        "exploitability_at_least": max(0.0, low - match["par"]),
    }


def describe(bound: Mapping[str, Any]) -> str:
    """Return a bound in words."""
    low, high = bound["score_interval"]
    return (
        f"Approximate best response to {bound['target']} after {bound['decisions']:,} decisions: "
        f"it scores {100 * bound['score']:.1f} % [{100 * low:.1f}, {100 * high:.1f}] on "
        f"{bound['deals']} held-out deals, par {100 * bound['par']:.1f} %.\n"
        f"Lower bound of the exploitability: {100 * bound['exploitability_at_least']:.1f} points "
        f"above par ({100 * bound['confidence']:.3g} % interval over deals). "
        "A longer training may find more."
    )


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(prog="training.best_response", description=__doc__)
    add = parser.add_argument
    add("policy", metavar="CHECKPOINT", help="checkpoint, or a spec such as greedy")
    add("--game", help="name of the game, if the policy does not say it itself")
    add("--option", action="append", default=[], metavar="NAME=VALUE", help="rule")
    add("--decisions", type=int, default=2_000_000, metavar="N", help="budget of the training")
    add("--config", type=Path, help="recipe of training.train for all other settings")
    add("--pairs", type=int, default=500, metavar="N", help="held-out deals of the measurement")
    add("--seed", type=int, default=0, help="of the training")
    add("--workers", type=int, default=1, metavar="K", help="processes of the measurement")
    add("--out", type=Path, required=True, metavar="DIR", help="new folder of the run")
    return parser


def main(arguments: Sequence[str] | None = None) -> None:
    """Train and measure the response of the command line."""
    asked = make_parser().parse_args(arguments)
    console = Console()
    torch.set_num_threads(1)
    try:
        if (asked.out / STATE).exists():
            raise ValueError(f"{asked.out} holds a run already; name another folder")
        options = dict(read_option(text) for text in asked.option)
        target = find_target(asked.policy, asked.game, options)
        config = make_settings(target, asked.config, asked.decisions, asked.seed)
        specs = [f"checkpoint:{asked.out / CHECKPOINT}", target.spec]
        request = make_request(
            target.game, target.options, specs, pairs=asked.pairs, workers=asked.workers
        )
        respond(target, config, asked.out, console)
        summary = run_tournament(request, console, asked.out / "evaluation")
        bound = judge(summary, read_card(asked.out / CHECKPOINT).decisions)
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")
    write_whole(asked.out / RESULT, (json.dumps(bound, indent=2) + "\n").encode())
    console.print(make_tables(summary))
    console.print(describe(bound), highlight=False, soft_wrap=True)


if __name__ == "__main__":
    main()
