"""The result of a run as a picture: bars of all peers, and the rate over the size of a batch."""

from pathlib import Path
from typing import Any

from crapo_env.bench.measure import Series
from crapo_env.bench.report import Result, format_rate

COLOURS = {"ours": "#0b7a75", "peer": "#9aa5b1", "limit": "#e0c9a6"}
LABELS = {"ours": "crapo_env", "peer": "other libraries", "limit": "PettingZoo, doing nothing"}
SHOWN_BATCHES = (1, 64, 1024)  # among the bars; the curve shows all


def write_picture(result: Result, path: Path) -> None:
    """Draw both panels into a file; its ending decides the format.

    Raises:
        ModuleNotFoundError: if matplotlib is not installed.
    """
    from matplotlib.figure import Figure

    bars = [series for series in result.series if is_bar(series)]
    bars.sort(key=lambda series: series.median())
    figure = Figure(figsize=(13, 1.8 + 0.24 * len(bars)), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    draw_bars(left, bars)
    draw_sweep(right, result.series)
    machine = result.machine
    figure.suptitle("A random legal move, the mask and the observation of every decision")
    figure.supxlabel(
        f"{machine['date'][:10]}, {machine['processor']}, Python {machine['python']}, "
        f"median of {result.settings['repeats']} rounds, line: 10 to 90 %",
        fontsize=8,
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)


def is_bar(series: Series) -> bool:
    """Return whether a path is shown as a bar: the same work on one thread."""
    facts = series.path.facts
    same_work = series.path.unit == "decisions"
    return same_work and facts.get("threads", 1) == 1 and facts.get("batch", 1) in SHOWN_BATCHES


def draw_bars(axes: Any, bars: list[Series]) -> None:
    """Draw a bar for every path, the fastest on top."""
    rates = [series.median() for series in bars]
    for kind, label in LABELS.items():
        rows = [i for i, series in enumerate(bars) if series.path.kind == kind]
        if rows:
            axes.barh(rows, [rates[i] for i in rows], color=COLOURS[kind], label=label)
    for i, series in enumerate(bars):
        low, high = series.spread()
        axes.plot((low, high), (i, i), color="black", linewidth=1)
        axes.text(high * 1.15, i, format_rate(rates[i]), va="center", fontsize=8)
    axes.set_yticks(range(len(bars)), [series.path.name for series in bars], fontsize=8)
    axes.set_xscale("log")
    axes.set_xlim(min(rates) / 2, max(rates) * 4)
    axes.set_ylim(-0.6, len(bars) - 0.4)
    axes.set_xlabel("decisions per second of processor time")
    axes.legend(loc="lower right", fontsize=8)


def draw_sweep(axes: Any, series: list[Series]) -> None:
    """Draw a curve for every game: decisions per second over the size of the batch."""
    for name in dict.fromkeys(s.path.facts["game"] for s in series if "batch" in s.path.facts):
        curve = [
            s for s in series if s.path.facts.get("threads") == 1 and s.path.facts["game"] == name
        ]
        sizes = [s.path.facts["batch"] for s in curve]
        low, high = zip(*(s.spread() for s in curve), strict=True)
        (line,) = axes.plot(sizes, [s.median() for s in curve], marker="o", label=name)
        axes.fill_between(sizes, low, high, color=line.get_color(), alpha=0.2)
    axes.set_xscale("log", base=4)
    axes.xaxis.set_major_formatter("{x:.0f}")
    axes.yaxis.set_major_formatter(lambda rate, _: format_rate(rate))
    axes.set_ylim(bottom=0)
    axes.set_xlabel("games in a batch")
    axes.set_ylabel("decisions per second of processor time")
    axes.grid(alpha=0.3)
    axes.legend()
