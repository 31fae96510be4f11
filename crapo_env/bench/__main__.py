"""`python -m crapo_env.bench`: measures every path beside the peers that are installed."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path as File

from crapo_env.bench import engine, limits, peers
from crapo_env.bench.measure import Missing, Path, Series, prepare, run_rounds
from crapo_env.bench.picture import write_picture
from crapo_env.bench.report import (
    Result,
    describe_machine,
    load_average,
    print_result,
    write_json,
)
from crapo_env.bench.startup import measure_starts
from crapo_env.registry import GAMES

REFERENCE = "OpenSpiel crazy_eights"  # the fastest peer called from Python
SUBSTITUTE = "nothing, 3 stock wrappers, random NumPy pick"  # where OpenSpiel is not installed
QUICK = {"repeats": 2, "seconds": 0.005}
FULL = {"repeats": 9, "seconds": 0.2}

Say = Callable[[str], None]


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = argparse.ArgumentParser(prog="python -m crapo_env.bench", description=__doc__)
    add = parser.add_argument
    add("--quick", action="store_true", help="every path once or twice, as a test; no figures")
    add("--repeats", type=int, help=f"rounds, {FULL['repeats']} if not given")
    add("--seconds", type=float, help=f"of a path in a round, {FULL['seconds']} if not given")
    add("--only", default="", help="measure only the paths whose name contains this text")
    add("--reference", help=f"path that ratios refer to, {REFERENCE!r} if it is measured")
    add("--json", type=File, help="file for all samples")
    add("--picture", type=File, help="file for the picture, such as bench.png; needs matplotlib")
    return parser


def prepare_all(text: str, seconds: float, say: Say) -> tuple[list[Series], list[Missing]]:
    """Make all paths ready whose name contains a text, and those that ratios may refer to."""
    series, missing = [], []
    for path in [*engine.list_paths(), *peers.list_paths(), *limits.list_paths()]:
        if text not in path.name and path.name not in (REFERENCE, SUBSTITUTE):
            continue
        say(f"preparing {path.name}")
        ready = prepare(path, seconds) if isinstance(path, Path) else path
        if isinstance(ready, Series):
            series.append(ready)
        else:
            missing.append(ready)
    return series, missing


def find_reference(series: Sequence[Series], name: str | None) -> Series:
    """Return the path that ratios refer to.

    Raises:
        ValueError: if it is named, but was not measured.
    """
    measured = {s.path.name: s for s in series}
    if name is None:
        return measured.get(REFERENCE, measured[SUBSTITUTE])
    if name not in measured:
        raise ValueError(f"{name!r} was not measured; measured were {', '.join(measured)}")
    return measured[name]


def measure(arguments: argparse.Namespace, say: Say) -> Result:
    """Measure everything that was asked for."""
    chosen = QUICK if arguments.quick else FULL
    repeats = arguments.repeats or int(chosen["repeats"])
    seconds = arguments.seconds or chosen["seconds"]
    machine = describe_machine()
    series, missing = prepare_all(arguments.only, seconds, say)
    reference = find_reference(series, arguments.reference)
    for i in run_rounds(series, repeats):
        say(f"round {i + 1} of {repeats}")
    starts = measure_starts(1 if arguments.quick else 5, not arguments.quick, say)
    machine["load after"] = load_average()
    games = {name: engine.describe_game(game) for name, game in GAMES.items()}
    settings = {"repeats": repeats, "seconds": seconds, "quick": arguments.quick}
    return Result(settings, machine, series, missing, reference, games, starts)


def make_say() -> Say:
    """Return what tells how far it has come: one line that changes in a terminal, else nothing."""
    if not sys.stderr.isatty():
        return lambda text: None
    return lambda text: print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = make_parser()
    parsed = parser.parse_args(arguments)
    say = make_say()
    try:
        result = measure(parsed, say)
    except ValueError as error:
        parser.error(str(error))
    say("")
    print_result(result)
    if parsed.json:
        write_json(result, parsed.json)
    if parsed.picture:
        write_picture(result, parsed.picture)


if __name__ == "__main__":
    main()
