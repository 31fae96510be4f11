"""Compare policies on duplicate deals: `python -m training.evaluate POLICY... --game crapo`.

A POLICY is a spec such as `greedy`, or a checkpoint, as `checkpoint:PATH` or as a path that ends in
`.safetensors` or `.zip`. All of them and the fixed ones of `--against` play each other; every deal
is played from every seat. With `--out` the folder gets `results.json`, `games.jsonl` and
`report.html`. Ctrl-C keeps what is finished, `--resume` goes on.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from crapo_env.registry import find_game
from training.evaluation.request import Request, make_request
from training.evaluation.run import run_tournament
from training.evaluation.tables import make_tables
from training.option_text import read_option

AGAINST = ("random", "greedy")


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(prog="training.evaluate", description=__doc__)
    add = parser.add_argument
    add("policies", nargs="+", metavar="POLICY", help="spec or checkpoint")
    add(
        "--against",
        nargs="*",
        default=list(AGAINST),
        metavar="SPEC",
        help=f"fixed policies that play too (default: {' '.join(AGAINST)})",
    )
    add("--game", default="crapo", help="name of the game (default: crapo)")
    add("--option", action="append", default=[], metavar="NAME=VALUE", help="rule")
    add("--pairs", type=int, default=500, metavar="N", help="number of deals (default: 500)")
    add("--few", nargs="*", default=[], metavar="SPEC", help="slow policies that play fewer deals")
    add("--few-pairs", type=int, default=50, metavar="N", help="deals of these (default: 50)")
    add("--deals", metavar="FILE", help="of deals (default: seeds/eval_<game>.txt)")
    add("--fresh-deals", type=int, metavar="SEED", help="draw new deals instead")
    add("--until-ci", type=float, metavar="W", help="stop when all scores are known to +-W")
    add("--width", type=float, default=0.01, help="tell the games needed for this half-width")
    add("--ms", type=float, help="limit of a move in milliseconds; who is later loses the game")
    add("--sampled", action="store_true", help="checkpoints draw their moves")
    add("--seed", type=int, default=0, help="of the policies' own randomness")
    add("--batch", type=int, default=20, help="deals played side by side; few for slow policies")
    add("--workers", type=int, default=1, metavar="K", help="processes for the policies")
    add("--out", type=Path, metavar="DIR", help="write results, games and a report there")
    add("--resume", action="store_true", help="go on with the games in DIR")
    return parser


def read_request(asked: argparse.Namespace) -> Request:
    """Return the request of a command line.

    Raises:
        ValueError: if something in it is wrong.
    """
    if asked.resume and asked.out is None:
        raise ValueError("--resume needs the folder of the games: --out DIR")
    game = find_game(asked.game)
    return make_request(
        game,
        game.read_options(dict(read_option(text) for text in asked.option)),
        [*asked.policies, *asked.against],
        pairs=asked.pairs,
        deals=asked.deals,
        fresh=asked.fresh_deals,
        until_ci=asked.until_ci,
        width=asked.width,
        few=tuple(asked.few),
        few_pairs=asked.few_pairs,
        ms=asked.ms,
        sampled=asked.sampled,
        seed=asked.seed,
        batch=asked.batch,
        workers=asked.workers,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Play the tournament of the command line and print its tables."""
    asked = make_parser().parse_args(arguments)
    console = Console()
    try:
        summary = run_tournament(read_request(asked), console, asked.out, resume=asked.resume)
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")
    console.print(make_tables(summary))
    if asked.out:
        console.print(f"written: {asked.out}", highlight=False, soft_wrap=True)


if __name__ == "__main__":
    main()
