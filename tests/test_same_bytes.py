"""The same seed gives the same bytes in every process, compiled or not.

The digests are of all that environments show (see `traces`), over whole games of every seating.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import SEATINGS
from traces import digest, random_picks, start, trace

TRACES = Path(__file__).parent / "traces.py"
PACKAGE_ROOT = Path(sys.modules["crapo_env"].__file__).parents[1]
SEEDS = (6,)  # short games, for the sake of the process that does not compile


def run_traces(**environment: str) -> list[str]:
    """Return the digests that another process prints, one line per seating."""
    path = os.pathsep.join([str(PACKAGE_ROOT), os.environ.get("PYTHONPATH", "")])
    result = subprocess.run(
        [sys.executable, "-W", "error", str(TRACES), *map(str, SEEDS)],
        env=os.environ | {"PYTHONPATH": path} | environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


@pytest.fixture(scope="module")
def expected() -> list[str]:
    """Return the digests of this process."""
    return [digest(seating, SEEDS) for seating in SEATINGS]


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONHASHSEED": "1"},
        {"PYTHONHASHSEED": "4242"},
        {"NUMBA_DISABLE_JIT": "1"},
    ],
    ids=lambda environment: "-".join(f"{k}={v}" for k, v in environment.items()),
)
def test_another_process_sees_the_same(environment: dict[str, str], expected: list[str]) -> None:
    assert run_traces(**environment) == expected


def test_the_same_process_sees_the_same_again(expected: list[str]) -> None:
    for seating, line in zip(SEATINGS, expected, strict=True):
        assert line == digest(seating, SEEDS)


def test_the_digest_notices_one_other_move() -> None:
    for seating in SEATINGS:
        picks = random_picks(0, 50)
        other = [*picks[:25], picks[25] + 1, *picks[26:]]
        assert trace(start(seating, 0), picks) != trace(start(seating, 0), other)
        assert trace(start(seating, 0), picks) != trace(start(seating, 1), picks)
