"""The deals of an evaluation: seeds that training never uses, and a digest of the cards they give.

`python -m training.deals crapo > seeds/eval_crapo.txt` writes the file of a game. A line holds a
seed and the digest, so that a change of the generator is noticed.
"""

import argparse
import hashlib
import sys
from pathlib import Path

import numpy as np

from crapo_env.game import Game
from crapo_env.registry import find_game
from crapo_env.seeds import FIRST_EVALUATION_SEED

NUM_DEALS = 2000
DIGEST_LENGTH = 16  # hex digits


def default_path(game: Game) -> Path:
    """Return where the evaluation deals of a game lie in the repository."""
    return Path(__file__).parents[1] / "seeds" / f"eval_{game.name}.txt"


def digest_deals(game: Game, seeds: np.ndarray) -> list[str]:
    """Return a hash of what each seed deals under the default options, the generator left out."""
    games = game.new_games(len(seeds), {})
    game.reset(games, seeds)
    games["seed"] = 0
    games["rng"] = 0
    states = (games[i : i + 1].tobytes() for i in range(len(games)))
    return [hashlib.sha256(state).hexdigest()[:DIGEST_LENGTH] for state in states]


def format_deals(game: Game, num_deals: int = NUM_DEALS) -> str:
    """Return the file of evaluation deals of a game."""
    seeds = np.uint64(FIRST_EVALUATION_SEED) + np.arange(num_deals, dtype=np.uint64)
    lines = [
        f"# Evaluation deals of {game.id}, never used in training. A line is a seed from 2**63 on",
        f"# and {DIGEST_LENGTH} hex digits of a hash of what it deals under the default options.",
        f"# Written by `python -m training.deals {game.name}`.",
    ]
    lines += [
        f"{seed} {digest}" for seed, digest in zip(seeds, digest_deals(game, seeds), strict=True)
    ]
    return "\n".join(lines) + "\n"


def read_deals(path: Path | str, game: Game, num_deals: int | None = None) -> np.ndarray:
    """Return the first `num_deals` seeds of a file, all if not given, (n,) uint64.

    Raises:
        ValueError: if the file is missing, malformed or too short, has seeds that training may
            use, or the game deals other cards than it says.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise ValueError(f"cannot read the deals {path}: {error.strerror}") from None
    rows = [(i, line.split()) for i, line in enumerate(lines, 1) if line and line[0] != "#"]
    if num_deals is not None and len(rows) < num_deals:
        raise ValueError(f"{path} has {len(rows)} deals, {num_deals} are wanted")
    rows = rows[:num_deals]
    for i, row in rows:
        if len(row) != 2 or not row[0].isdecimal() or not int(row[0]) < 2**64:
            raise ValueError(f"line {i} of {path} is no seed and digest: {' '.join(row)!r}")
        if int(row[0]) < FIRST_EVALUATION_SEED:
            raise ValueError(f"line {i} of {path}: training may use the seed {row[0]}")
    seeds = np.array([int(row[0]) for _, row in rows], np.uint64)
    for (i, row), digest in zip(rows, digest_deals(game, seeds), strict=True):
        if row[1] != digest:
            raise ValueError(
                f"line {i} of {path}: seed {row[0]} stands for the digest {row[1]}, but {game.id} "
                f"deals {digest}; the file is of another game or version, or the generator changed"
            )
    return seeds


def main(arguments: list[str] | None = None) -> None:
    """Write the evaluation deals of the game named on the command line."""
    parser = argparse.ArgumentParser(prog="training.deals", description="Write evaluation deals.")
    parser.add_argument("game", help="name of the game")
    try:
        game = find_game(parser.parse_args(arguments).game)
    except ValueError as error:
        sys.exit(f"error: {error}")
    sys.stdout.write(format_deals(game))


if __name__ == "__main__":
    main()
