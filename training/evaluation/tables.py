"""The tables of a tournament on a terminal; all shares are per cent."""

from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from training.evaluation.texts import (
    cell,
    elo_text,
    explain,
    list_notes,
    match_cells,
    policy_label,
    title,
)


def make_tables(summary: dict[str, Any]) -> Group:
    """Return cross table, ratings and details of a summary."""
    return Group(
        Text(title(summary), style="bold"),
        _cross_table(summary),
        _ratings(summary),
        _matches(summary, ("win %", "draw %", "loss %", "cap %", "points")),
        _matches(summary, ("W/D/L/C by seat", "games", "distinct", "faults")),
        _matches(summary, ("less luck", "needs", "length")),
        *(Text(line) for line in [*list_notes(summary), explain(summary)]),
    )


def _table(*columns: str, left: int = 1) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    for i, column in enumerate(columns):
        table.add_column(column, justify="left" if i < left else "right", no_wrap=i >= left)
    return table


def _cross_table(summary: dict[str, Any]) -> Table:
    names = [policy["name"] for policy in summary["policies"]]
    head = "score % v" if summary["players"] == 2 else "alone, score % v others"
    table = _table(head, *names)
    for name in names:
        table.add_row(name, *(cell(summary, name, other) for other in names))
    return table


def _ratings(summary: dict[str, Any]) -> Table:
    table = _table("policy", "Elo", "interval", "Nash", "decisions", "ms each", "faults")
    nash = summary["nash_average"]
    for policy in sorted(summary["policies"], key=lambda row: -(row["elo"] or 0)):
        ms = policy["ms_per_decision"]
        table.add_row(
            policy_label(policy),
            *elo_text(policy),
            "" if nash is None else f"{100 * nash[policy['name']]:.0f} %",
            f"{policy['decisions']:,}",
            "" if ms is None else f"{ms:.3g}",
            ", ".join(f"{n} {kind}" for kind, n in policy["faults"].items() if n) or "0",
        )
    return table


def _matches(summary: dict[str, Any], columns: Sequence[str]) -> Table:
    """Return some columns of the table of lineups; those without any value are left out."""
    rows = [match_cells(match) for match in summary["matches"]]
    shown = [column for column in columns if any(row[column] for row in rows)]
    table = _table("policy", "against", *shown, left=2)
    for row in rows:
        table.add_row(row["policy"], row["against"], *(row[column] for column in shown))
    return table
