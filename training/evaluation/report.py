"""The report: one HTML file with tables and plots, light or dark, that needs no network."""

import io
from pathlib import Path
from typing import Any

import jinja2
from matplotlib.figure import Figure

from training.evaluation.texts import (
    cell,
    elo_text,
    explain,
    find_match,
    list_notes,
    match_cells,
    policy_label,
    title,
)

INK = "#010203"  # stands for the colour of the text, which the reader's browser decides
COLOURS = {"win": "#2e9e5b", "draw": "#999999", "loss": "#d0574a", "capped": "#8a6fc7"}


def write_report(path: Path, summary: dict[str, Any]) -> None:
    """Write the report of a summary, see `summarise`."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("training.evaluation", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    text = environment.get_template("report.html.jinja").render(
        summary=summary,
        title=title(summary),
        names=[policy["name"] for policy in summary["policies"]],
        ranking=sorted(summary["policies"], key=lambda row: -(row["elo"] or 0)),
        cell=cell,
        shade=_shade,
        elo_text=elo_text,
        label=policy_label,
        matches=[match_cells(match) for match in summary["matches"]],
        notes=list_notes(summary),
        explanation=explain(summary),
        plots=[_plot_elo(summary), _plot_outcomes(summary)] if summary["matches"] else [],
    )
    path.write_text(text, encoding="utf-8")


def _shade(summary: dict[str, Any], name: str, other: str) -> str:
    """Return the background of a cell of the cross table: green above par, red below."""
    match = find_match(summary, name, other)
    if match is None:
        return "transparent"
    gain = match["score"] - match["par"]
    colour = COLOURS["win" if gain > 0 else "loss"]
    size = abs(gain) / (1 - match["par"] if gain > 0 else match["par"])
    return f"{colour}{round(20 + 130 * size):02x}"


def _plot_elo(summary: dict[str, Any]) -> str:
    """Return the ratings with their intervals as SVG; an open interval ends in an arrow."""
    rated = [row for row in summary["policies"] if row["elo"] is not None]
    rows = sorted(rated, key=lambda row: row["elo"])
    figure, axes = _make_axes(len(rows))
    for y, row in enumerate(rows):
        low, high = row["elo_interval"]
        ends = [row["elo"] if end is None else end for end in (low, high)]
        axes.plot(ends, [y, y], color=INK, linewidth=2)
        axes.plot(row["elo"], y, "o", color=INK)
        for end, marker in ((low, "<"), (high, ">")):
            if end is None:
                axes.plot(row["elo"], y, marker, color=COLOURS["loss"], markersize=11)
    axes.set_yticks(range(len(rows)), [row["name"] for row in rows])
    axes.set_xlabel(f"Elo ({summary['anchor']} = 0)", color=INK)
    return _as_svg(figure)


def _plot_outcomes(summary: dict[str, Any]) -> str:
    """Return how each policy alone fared against the others, as SVG."""
    matches = [match for match in summary["matches"] if match["alone"]]
    rows = [match_cells(match) for match in matches]
    figure, axes = _make_axes(len(rows))
    left = [0.0] * len(rows)
    for name, colour in COLOURS.items():
        shares = [100 * match[name] for match in matches]
        axes.barh(range(len(rows)), shares, left=left, color=colour, label=name)
        left = [a + b for a, b in zip(left, shares, strict=True)]
    labels = [f"{row['policy']} v {row['against']}" for row in rows]
    axes.set_yticks(range(len(rows)), labels)
    axes.set_xlabel("% of games", color=INK)
    axes.set_xlim(0, 100)
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.invert_yaxis()
    handles, names = axes.get_legend_handles_labels()
    figure.legend(
        handles,
        names,
        ncols=4,
        loc="outside upper center",
        frameon=False,
        labelcolor=INK,
        fontsize=8,
    )
    return _as_svg(figure)


def _make_axes(rows: int) -> tuple[Figure, Any]:
    figure = Figure(figsize=(5, 1 + 0.25 * rows), layout="constrained")  # as wide as a phone
    axes = figure.add_subplot()
    axes.patch.set_alpha(0)
    axes.tick_params(colors=INK, labelsize=8)
    for spine in axes.spines.values():
        spine.set_edgecolor(INK)
    return figure, axes


def _as_svg(figure: Figure) -> str:
    """Return a figure as an SVG element that takes the colour of the text around it."""
    buffer = io.StringIO()
    metadata = {"Date": None, "Creator": None}
    figure.savefig(buffer, format="svg", transparent=True, metadata=metadata)
    text = buffer.getvalue()
    return text[text.index("<svg") :].replace(INK, "currentColor")
