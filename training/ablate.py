"""What each choice of a recipe is worth: `python -m training.ablate configs/ablations/crapo.toml`.

Every variant of the file is trained with every seed for the same number of decisions, then plays
one opponent on deals of training, deterministically. Results are added to `--out` as they come;
what is there already is not trained again.
"""

import argparse
import json
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from rich.console import Console
from rich.table import Table

from crapo_env.registry import find_game
from training.config import Config, read_config
from training.evaluation.intervals import interval
from training.match import DRAW
from training.run import Run
from training.storage import write_whole
from training.train import meet_anchor


def train_variant(config: Config, opponent: str, deals: int) -> dict[str, Any]:
    """Train with one setting and return how it does, draws counting as half a win."""
    begun = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        run = Run(find_game(config.game), config, Path(folder))
        while not run.finished:
            run.step()
    minutes = (time.process_time() - begun) / 60
    match = meet_anchor(run, opponent, deals)
    return {
        "config": config.as_dict(),
        "decisions": run.decisions,
        "cpu_minutes": round(minutes, 2),
        "score": match.score(),
        "interval": interval(match.meeting.deal_scores(0)),
        "drawn": match.share(DRAW),
    }


def read_plan(path: Path) -> tuple[dict[str, Any], dict[str, list[Config]]]:
    """Return the file of an ablation and, by variant, the settings for each seed.

    Raises:
        ValueError: if the file is missing or malformed, or a setting is of no use.
    """
    try:
        plan = tomllib.loads(path.read_text(encoding="utf-8"))
        base = path.parent / plan["config"]
        variants = {
            name: [
                read_config(base, plan["settings"] | changes | {"seed": seed})
                for seed in plan["seeds"]
            ]
            for name, changes in plan["variants"].items()
        }
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror}") from None
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path} is not TOML: {error}") from None
    except KeyError as error:
        raise ValueError(f"{path} has no entry {error}") from None
    return plan, variants


def read_results(out: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the results in a file, by variant and settings, none if there is no file."""
    lines = out.read_text(encoding="utf-8").splitlines() if out.exists() else []
    return {(r["variant"], json.dumps(r["config"])): r for r in map(json.loads, lines)}


def ablate(
    plan: Mapping[str, Any], variants: Mapping[str, list[Config]], out: Path, console: Console
) -> list[dict[str, Any]]:
    """Train what is missing in `out`, and return all results; see `read_plan`.

    Raises:
        ValueError: if the results in `out` cannot be read.
    """
    known = read_results(out)
    results = []
    for name, configs in variants.items():
        for config in configs:
            key = name, json.dumps(config.as_dict())
            if key not in known:
                known[key] = {"variant": name} | train_variant(
                    config, plan["opponent"], plan["deals"]
                )
                text = "".join(json.dumps(result) + "\n" for result in known.values())
                write_whole(out, text.encode())
                console.print(f"{name}, seed {config.seed}: {100 * known[key]['score']:.1f} %")
            results.append(known[key])
    return results


def list_variants(results: Iterable[dict[str, Any]]) -> Iterator[tuple[str, str, float, float]]:
    """Yield of each variant its name, the scores by seed and their mean in per cent, minutes."""
    known = list(results)
    for name in dict.fromkeys(result["variant"] for result in known):
        own = [result for result in known if result["variant"] == name]
        own.sort(key=lambda result: int(result["config"]["seed"]))
        scores = [100 * result["score"] for result in own]
        each = ", ".join(f"{score:.1f}" for score in scores)
        yield name, each, mean(scores), mean(result["cpu_minutes"] for result in own)


def make_table(results: Iterable[dict[str, Any]], opponent: str) -> Table:
    """Return all results, a variant a row."""
    table = Table("variant", f"% v {opponent}, by seed", "mean", "minutes of a processor")
    for name, each, score, minutes in list_variants(results):
        table.add_row(name, each, f"{score:.1f}", f"{minutes:.1f}")
    return table


def main(arguments: Sequence[str] | None = None) -> None:
    """Do the ablation of the command line."""
    parser = argparse.ArgumentParser(prog="training.ablate", description=__doc__)
    parser.add_argument("plan", type=Path, help="TOML file in configs/ablations/")
    parser.add_argument("--out", type=Path, required=True, help="results, one JSON line each")
    asked = parser.parse_args(arguments)
    console = Console()
    try:
        plan, variants = read_plan(asked.plan)
        results = ablate(plan, variants, asked.out, console)
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")
    console.print(make_table(results, plan["opponent"]))


if __name__ == "__main__":
    main()
