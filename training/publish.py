"""Ship a trained policy: `python -m training.publish runs/crapo-seed0 crapo --results RESULTS`.

The checkpoint of a run becomes `crapo_env/checkpoints/NAME.safetensors`, and beside it comes a card
in JSON: what the weights say of themselves, the command, the licence and the results.
"""

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from crapo_env.registry import find_game
from training.checkpoint import SHIPPED, load_checkpoint, read_card
from training.run import CHECKPOINT

MAX_BYTES = 4_000_000
LICENCE = "MIT"
NUMBERS = ("against", "alone", "deals", "games", "win", "win_interval", "draw", "loss", "score")


def publish(run: Path, name: str, results: Sequence[Path], folder: Path = SHIPPED) -> Path:
    """Copy the checkpoint of a run and write its card; return the path of the checkpoint.

    Raises:
        ValueError: if the checkpoint is no good or too large, or results are no JSON.
    """
    source = run / CHECKPOINT
    if not source.is_file() or source.stat().st_size > MAX_BYTES:
        raise ValueError(f"{source} must be a file of at most {MAX_BYTES:,} bytes")
    card = read_card(source)
    load_checkpoint(source, find_game(card.game))
    metrics = [_read_results(path, run.absolute().name) for path in results]
    seed = card.config["seed"]
    facts: dict[str, Any] = asdict(card) | {
        "command": f"python -m training.train configs/{name}.toml --seed {seed}",
        "licence": LICENCE,
        "metrics": metrics,
    }
    folder.mkdir(exist_ok=True)
    target = folder / f"{name}.safetensors"
    shutil.copyfile(source, target)
    target.with_suffix(".json").write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    return target


def _read_results(path: Path, name: str) -> dict[str, Any]:
    """Return what an evaluation's `results.json` says of the run called `name`, in short."""
    try:
        results = json.loads(path.read_text(encoding="utf-8"))
        own = [match for match in results["matches"] if match["policy"] == name]
        if not own:
            raise ValueError(f"{path} says nothing of {name}")
        return {
            "options": results["options"],
            "deals": results["deals"]["from"],
            "matches": [{key: match[key] for key in NUMBERS} for match in own],
        }
    except (OSError, json.JSONDecodeError, KeyError, TypeError) as error:
        raise ValueError(f"{path} cannot be read as results: {error!r}") from None


def main(arguments: Sequence[str] | None = None) -> None:
    """Publish the run of the command line."""
    parser = argparse.ArgumentParser(prog="training.publish", description=__doc__)
    parser.add_argument("run", type=Path, help="folder of the run")
    parser.add_argument("name", help="of the config in configs/ and of the shipped policy")
    parser.add_argument(
        "--results", nargs="*", type=Path, default=[], help="results.json of evaluations"
    )
    asked = parser.parse_args(arguments)
    try:
        print(publish(asked.run, asked.name, asked.results))
    except ValueError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
