"""Draw the curves of runs: `python -m training.plot runs/crapo-seed0 runs/crapo-seed1`.

Each run's `metrics.jsonl` becomes a line in every panel; the picture is written beside the first.
"""

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot
from matplotlib.axes import Axes

from training.logs import METRICS, read_metrics

COLUMNS = 3
NOT_DRAWN = {"update", "decisions", "seconds"}
GROUPS = ("anchor/win_rate", "anchor/draw_rate", "league/", "selfplay/", "train/", "time/")


def read_run(folder: Path) -> list[dict[str, Any]]:
    """Return the lines of a run's metrics.

    Raises:
        ValueError: if there are none.
    """
    lines = read_metrics(folder / METRICS)
    if not lines:
        raise ValueError(f"{folder} has no {METRICS} with a line in it")
    return lines


def list_panels(runs: Sequence[list[dict[str, Any]]]) -> list[str]:
    """Return the names of all numbers, the most telling first."""
    names = {name for lines in runs for line in lines for name in line} - NOT_DRAWN

    def place(name: str) -> tuple[int, str]:
        return next((i for i, g in enumerate(GROUPS) if name.startswith(g)), len(GROUPS)), name

    return sorted(names, key=place)


def draw(runs: dict[str, list[dict[str, Any]]], path: Path) -> None:
    """Write a picture with a panel for each number and a line for each run."""
    names = list_panels(list(runs.values()))
    rows = math.ceil(len(names) / COLUMNS)
    figure, axes = pyplot.subplots(
        rows, COLUMNS, figsize=(4 * COLUMNS, 2.4 * rows), squeeze=False, layout="constrained"
    )
    for axis, name in zip(axes.flat, names, strict=False):
        draw_panel(axis, name, runs)
    for axis in axes.flat[len(names) :]:
        axis.set_axis_off()
    axes.flat[0].legend(fontsize="small")
    figure.savefig(path, dpi=100)
    pyplot.close(figure)


def draw_panel(axis: Axes, name: str, runs: dict[str, list[dict[str, Any]]]) -> None:
    """Draw one number of all runs over the millions of decisions."""
    for label, lines in runs.items():
        points = [(line["decisions"] / 1e6, line[name]) for line in lines if name in line]
        if points:
            axis.plot(*zip(*points, strict=True), label=label, linewidth=1)
    axis.set_title(name, fontsize="small")
    axis.tick_params(labelsize="x-small")
    axis.grid(alpha=0.3)


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw the runs of the command line."""
    parser = argparse.ArgumentParser(prog="training.plot", description=__doc__)
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="folder of a run")
    parser.add_argument("--out", type=Path, help="picture (default: curves.png in the first run)")
    asked = parser.parse_args(arguments)
    path = asked.out or asked.runs[0] / "curves.png"
    try:
        draw({folder.name: read_run(folder) for folder in asked.runs}, path)
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")
    print(path)


if __name__ == "__main__":
    main()
