"""The result of a run: gathered in one `Result`, written as a table and as JSON."""

import datetime
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from crapo_env.bench.measure import Missing, Series
from crapo_env.bench.startup import Start

PACKAGES = ("numba", "llvmlite", "numpy", "gymnasium", "pettingzoo")
PEER_PACKAGES = ("open_spiel", "rlcard", "pgx", "jax")
HEADER = ("", "a CPU second", "10-90 %", "each", "a second on the clock", "ratio")
Row = tuple[str, ...]


@dataclass
class Result:
    """All that a run has found."""

    settings: dict[str, Any]
    machine: dict[str, Any]
    series: list[Series]
    missing: list[Missing]
    reference: Series
    games: dict[str, dict[str, float]]
    starts: list[Start]


def _processor() -> str:
    """Return the name of the processor, which Python itself does not know on Linux."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(
            line.partition(":")[2].strip() for line in lines if line.startswith("model name")
        )
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def _commit() -> str:
    """Return the commit of the source, marked if files were changed since; empty outside git."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    try:
        found = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True)
    except OSError:  # no git
        return ""
    return found.stdout.strip()


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def load_average() -> list[float]:
    """Return how busy the machine is, empty where the system does not say."""
    return [round(load, 2) for load in os.getloadavg()] if hasattr(os, "getloadavg") else []


def describe_machine() -> dict[str, Any]:
    """Return when and on what this runs."""
    return {
        "date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in (*PACKAGES, *PEER_PACKAGES)},
        "commit": _commit(),
        "load before": load_average(),
    }


def format_rate(rate: float) -> str:
    """Return a rate with three digits: 2.31 M, 108 k, 950."""
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if rate >= size:
            return f"{_three_digits(rate / size)} {unit}"
    return _three_digits(rate)


def format_time(seconds: float) -> str:
    """Return a time with three digits in a unit that fits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{_three_digits(seconds / size)} {unit}"
    return f"{_three_digits(seconds / 1e-9)} ns"


def _three_digits(number: float) -> str:
    return f"{number:.{2 if number < 10 else 1 if number < 100 else 0}f}"


def find_ratio(series: Series, reference: Series) -> float | None:
    """Return the ratio to the reference, None if they count different things."""
    return series.ratio(reference) if series.path.unit == reference.path.unit else None


def series_row(series: Series, reference: Series) -> Row:
    """Return the table's row of a path."""
    low, high = series.spread()
    each = format_time(1 / series.median())
    ratio = find_ratio(series, reference)
    return (
        series.path.name,
        f"{format_rate(series.median())} {series.path.unit}",
        f"{format_rate(low)} - {format_rate(high)}",
        each,
        format_rate(series.median("wall")),
        "" if ratio is None else f"{ratio:.3g}",
    )


def missing_row(missing: Missing) -> Row:
    """Return the row of a path that was not measured."""
    return (missing.name, "not measured", "", "", "", "")


def list_sections(result: Result) -> list[tuple[str, list[Row]]]:
    """Return the speed rows under their headings, in the order in which the paths are listed."""
    rows = [(s.path.group, series_row(s, result.reference)) for s in result.series]
    rows += [(m.group, missing_row(m)) for m in result.missing]
    order = list(dict.fromkeys(group for group, _ in rows))
    rows.sort(key=lambda row: order.index(row[0]))
    return [
        (group, [row for _, row in found]) for group, found in groupby(rows, lambda row: row[0])
    ]


def thread_lines(series: Sequence[Series]) -> list[str]:
    """Return how much faster several threads are than one, on the clock, for every such batch."""
    lines = []
    for shared in series:
        facts = shared.path.facts
        for one in series:
            if facts.get("threads", 1) > 1 and one.path.facts == facts | {"threads": 1}:
                gains = shared.rates("wall") / one.rates("wall")
                low, gain, high = np.quantile(gains, (0.1, 0.5, 0.9))
                cores = np.median(shared.rates("wall") / shared.rates("cpu"))
                lines.append(
                    f"{shared.path.name}: {gain:.2f} ({low:.2f} - {high:.2f}), "
                    f"on {cores:.2f} cores that the system gave"
                )
    return lines


def missing_lines(missing: Sequence[Missing]) -> list[str]:
    """Return why paths were not measured, those with the same reason together."""
    reasons = dict.fromkeys(entry.reason for entry in missing)
    return [
        f"{', '.join(entry.name for entry in missing if entry.reason == reason)}: {reason}"
        for reason in reasons
    ]


def game_lines(games: dict[str, dict[str, float]]) -> list[str]:
    """Return the sizes of every game."""
    return [
        f"{name}: state {facts['state']:.0f}, observation {facts['observation']:.0f}, "
        f"mask {facts['mask']:.0f}, all that a batch holds {facts['in a batch']:.0f} bytes; "
        f"{facts['decisions']:.0f} decisions in a random game"
        for name, facts in games.items()
    ]


def start_lines(starts: Sequence[Start]) -> list[str]:
    """Return the times of all starts."""
    lines = []
    for start in starts:
        if start.cpu:
            cpu, wall = map(format_time, start.median())
            many = f"{len(start.cpu)} trial" + "s" * (len(start.cpu) > 1)
            lines.append(f"{start.name}: {cpu} of processor time, {wall} on the clock ({many})")
        else:
            lines.append(f"{start.name}: not measured (left out by --quick)")
    return lines


def machine_lines(result: Result) -> list[str]:
    """Return when, where and with what this was measured."""
    machine, settings = result.machine, result.settings
    before, after = (machine[f"load {when}"][:1] for when in ("before", "after"))
    versions = [f"{name} {text}" for name, text in machine["versions"].items()]
    return [
        f"{machine['date']}, commit {machine['commit'] or 'unknown'}, {machine['system']}",
        f"{machine['processor']}, {machine['cores']} cores, load {before} before, {after} after",
        f"Python {machine['python']}, {', '.join(versions)}",
        f"{settings['repeats']} rounds of {settings['seconds']} s for every path; medians over the "
        f"rounds; ratio to {result.reference.path.name!r}",
    ]


def list_notes(result: Result) -> list[tuple[str, list[str]]]:
    """Return what stands below the table, under headings."""
    return [
        ("Not measured", missing_lines(result.missing)),
        ("Work of two threads, one thread being 1, on the clock", thread_lines(result.series)),
        ("Memory of a game", game_lines(result.games)),
        ("Start", start_lines(result.starts)),
        ("Measured", machine_lines(result)),
    ]


def print_result(result: Result) -> None:
    """Print the table, with rich if it is installed, else as plain text."""
    sections, notes = list_sections(result), list_notes(result)
    try:
        _print_rich(sections)
    except ModuleNotFoundError:
        _print_plain(sections)
    for heading, lines in notes:
        if lines:
            print("\n".join(["", heading, *("  " + line for line in lines)]))


def _print_rich(sections: Sequence[tuple[str, list[Row]]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for i, title in enumerate(HEADER):
        table.add_column(title, justify="right" if i else "left", no_wrap=i == 0)
    for heading, rows in sections:
        table.add_section()
        table.add_row(Text(heading, style="bold"))
        for row in rows:
            table.add_row(*(Text(("" if i else "  ") + cell) for i, cell in enumerate(row)))
    Console(width=None if sys.stdout.isatty() else 160).print(table)


def _print_plain(sections: Sequence[tuple[str, list[Row]]]) -> None:
    rows = [HEADER, *(row for _, found in sections for row in found if row[2])]
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEADER))]

    def show(row: Row) -> None:
        cells = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        cells = cells if row[2] else [row[1]]
        print("  ".join(["  " + row[0].ljust(widths[0]), *cells]).rstrip())

    show(HEADER)
    for heading, found in sections:
        print(heading)
        for row in found:
            show(row)


def write_json(result: Result, path: Path) -> None:
    """Write everything, each single sample included."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(to_json(result), indent=1) + "\n")


def to_json(result: Result) -> dict[str, Any]:
    """Return the result as JSON; rates are in units per second."""
    return {
        "machine": result.machine,
        "settings": result.settings | {"reference": result.reference.path.name},
        "paths": [_series_json(series, result.reference) for series in result.series],
        "not measured": [asdict(missing) for missing in result.missing],
        "games": result.games,
        "starts": [{"name": s.name, "cpu": s.cpu, "wall": s.wall} for s in result.starts],
    }


def _series_json(series: Series, reference: Series) -> dict[str, Any]:
    path = series.path
    return {
        "name": path.name,
        "group": path.group,
        "kind": path.kind,
        "unit": path.unit,
        "facts": path.facts,
        "per cpu second": series.median(),
        "10-90 %": series.spread(),
        "per second on the clock": series.median("wall"),
        "ratio": find_ratio(series, reference),
        "samples": [asdict(sample) for sample in series.samples],
    }
