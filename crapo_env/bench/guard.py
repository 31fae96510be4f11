"""Guards the kernels against becoming slower, by counting instructions instead of time.

`python -m crapo_env.bench.guard` plays fixed games under Valgrind and compares the instructions
per decision with those recorded in `tests/instruction_counts.json`; it fails where they have grown
by more than 5 %. `--record` writes them anew. The kernels are compiled for an old processor, so
that every machine of one architecture counts the same, whatever else it is doing.
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

TOLERANCE = 0.05
RECORD = Path(__file__).parents[2] / "tests" / "instruction_counts.json"
COUNTER = ("valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null")
# Any x86 since 2009, which already counts bits in one instruction; elsewhere the least common one.
PROCESSOR = "x86-64-v2" if platform.machine() in ("x86_64", "AMD64") else "generic"
SWITCHES = {
    "NUMBA_CPU_NAME": PROCESSOR,
    "NUMBA_CPU_FEATURES": "",
    "PYTHONHASHSEED": "0",
    # Idle threads of BLAS wait in loops, whose instructions would be counted too.
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}
GAMES = 1024  # of the batch
LENGTHS = {"playout": 256, "step": 256}  # games to the end; steps of the batch


class Work(NamedTuple):
    """Instructions and decisions of one run."""

    instructions: int
    decisions: int


def play(name: str, work: str, length: int) -> int:
    """Do one kind of work and return how many decisions that were."""
    import numpy as np

    from crapo_env.batch import Batch, sample_legal
    from crapo_env.registry import find_game

    game = find_game(name)
    if work == "playout":
        seeds = np.arange(length, dtype=np.uint64)
        games = game.new_games(length, {})
        game.reset(games, seeds)
        return game.playout(games, seeds)
    batch = Batch(game, GAMES)
    batch.reset(0)
    actions = np.zeros(GAMES, np.int64)
    generators = np.arange(1, GAMES + 1, dtype=np.uint64)
    for _ in range(length):
        sample_legal(batch.legal, batch.num_legal, generators, actions)
        batch.step(actions)
    return length * GAMES


def play_all(longer: str) -> None:
    """Do a little of every work, of the one named `longer` much, and print the decisions."""
    from crapo_env.registry import GAMES

    decisions = 0
    for name in GAMES:
        for work, length in LENGTHS.items():
            path = f"{name} {work}"
            decisions += play(name, work, length if path == longer else 1)
    print(decisions)


def list_works() -> list[str]:
    """Return the names of all counted works."""
    from crapo_env.registry import GAMES

    return [f"{name} {work}" for name in GAMES for work in LENGTHS]


def run_child(longer: str, counter: Sequence[str] = COUNTER) -> Work:
    """Do the work in a process of its own and count; without a counter the instructions are 0.

    Raises:
        RuntimeError: if it failed or the counter printed no count.
    """
    switches = {name: text for name, text in os.environ.items() if name != "NUMBA_DISABLE_JIT"}
    command = [*counter, sys.executable, "-m", "crapo_env.bench.guard", "--play", longer]
    child = subprocess.run(command, env=switches | SWITCHES, capture_output=True, text=True)
    refs = [line.split(":")[1] for line in child.stderr.splitlines() if "I   refs:" in line]
    if child.returncode != 0 or (counter and not refs):
        raise RuntimeError(f"the counted run failed:\n{child.stderr[-2000:]}")
    return Work(int(refs[0].replace(",", "")) if refs else 0, int(child.stdout))


def count_all(say: Callable[[str], None]) -> dict[str, Any]:
    """Count all works and return what is recorded: the versions, counts per decision, decisions.

    Start and compilation cancel: each count is the difference between two runs.
    """
    say("compiling for an old processor")
    run_child("", counter=())
    say("counting the start")
    start = run_child("")
    counts, decisions = {}, {}
    for path in list_works():
        say(f"counting {path}")
        work = run_child(path)
        decisions[path] = work.decisions - start.decisions
        counts[path] = round((work.instructions - start.instructions) / decisions[path], 1)
    return {"made with": describe_compiler(), "instructions": counts, "decisions": decisions}


def describe_compiler() -> dict[str, str]:
    """Return what decides the instructions besides the source."""
    packages = {name: version(name) for name in ("numba", "llvmlite", "numpy")}
    return {
        "machine": platform.machine(),
        "processor": PROCESSOR,
        "python": platform.python_version(),
    } | packages


def compare(
    recorded: Mapping[str, Any], counted: Mapping[str, Any], tolerance: float = TOLERANCE
) -> tuple[list[str], list[str]]:
    """Compare two counts.

    Returns:
        A line for every work, and a line for everything that is wrong.
    """
    lines, wrong = [], []
    for path in {**recorded["instructions"], **counted["instructions"]}:
        before, now = (count["instructions"].get(path) for count in (recorded, counted))
        if before is None or now is None:
            where = "recorded" if before is None else "counted any more"
            wrong.append(f"{path}: not {where}")
        elif recorded["decisions"][path] != counted["decisions"][path]:
            played = f"{counted['decisions'][path]} decisions, not {recorded['decisions'][path]}"
            wrong.append(f"{path}: the same seeds play otherwise, {played}")
        else:
            growth = now / before - 1
            lines.append(f"{path}: {now:,.0f} instructions per decision, {growth:+.1%}")
            if growth > tolerance:
                wrong.append(f"{path}: {growth:+.1%} instructions, more than {tolerance:+.0%}")
    return lines, wrong


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m crapo_env.bench.guard", description=__doc__)
    parser.add_argument("--record", action="store_true", help="write the counts anew")
    parser.add_argument("--counts", type=Path, default=RECORD, help="the file of recorded counts")
    parser.add_argument("--play", help=argparse.SUPPRESS)  # the counted process
    parsed = parser.parse_args(arguments)
    if parsed.play is not None:
        play_all(parsed.play)
        return
    if shutil.which(COUNTER[0]) is None:
        parser.error("valgrind is not installed; Debian and Ubuntu have it as package valgrind")
    if not parsed.record and not parsed.counts.is_file():
        parser.error(f"no counts are recorded in {parsed.counts}; --record writes them")
    counted = count_all(lambda text: print(f"{text} ...", file=sys.stderr))
    if parsed.record:
        parsed.counts.write_text(json.dumps(counted, indent=2) + "\n")
        print("\n".join(f"{path}: {n:,.0f}" for path, n in counted["instructions"].items()))
    else:
        report(json.loads(parsed.counts.read_text()), counted)


def report(recorded: Mapping[str, Any], counted: Mapping[str, Any]) -> None:
    """Print the comparison and leave with status 1 if something is wrong."""
    lines, wrong = compare(recorded, counted)
    print("\n".join(lines))
    for name, text in recorded["made with"].items():
        if counted["made with"].get(name) != text:
            print(
                f"note: recorded with {name} {text}, counted with {counted['made with'].get(name)}"
            )
    if wrong:
        print("\n".join(wrong), file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
