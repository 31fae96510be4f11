"""Plays what a request asks for, shows how far it is, and stops when told or when it is enough."""

import itertools
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from training.evaluation.folder import REPORT, Folder
from training.evaluation.intervals import interval
from training.evaluation.policies import Description
from training.evaluation.report import write_report
from training.evaluation.request import Request
from training.evaluation.results import Results
from training.evaluation.schedule import Unit, make_units
from training.evaluation.summary import summarise
from training.evaluation.tournament import Limit, Tournament
from training.interrupt import Interrupt

SECONDS_BETWEEN_INTERVALS = 2.0  # of the progress bar


def widest(results: Results, confidence: float) -> float:
    """Return the half-width of the widest interval of all scores, 1 if there is none yet."""
    half_widths = [
        (high - low) / 2
        for lineup, meeting in results.meetings().items()
        for policy in set(lineup)
        for low, high in [interval(meeting.deal_scores(policy), confidence)]
    ]
    return max(half_widths, default=1.0)


def run_tournament(
    request: Request,
    console: Console,
    out: Path | None = None,
    *,
    resume: bool = False,
    drop_changed: bool = False,
) -> dict[str, Any]:
    """Play a tournament and return its summary; with `out` also write the folder.

    The first Ctrl-C ends the play; what was finished counts.

    Args:
        request: what is played.
        console: for what is told meanwhile.
        out: the folder.
        resume: whether to go on with a folder that is there.
        drop_changed: see `Folder.open`.

    Raises:
        ValueError: if a policy or the folder cannot be used.
    """
    results = Results(len(request.specs))
    interrupt = Interrupt(lambda: console.print("stopping; finished games are kept"))
    limit = Limit(request.ms)
    setup = request.setup()
    game, options = request.found_game, request.options
    with (
        interrupt,
        Tournament(game, options, setup, request.workers, limit) as tournament,
        _open_folder(out, request, tournament.descriptions) as folder,
    ):
        if folder is not None:
            results.add(folder.open(resume=resume, drop_changed=drop_changed))
        ended = _play(request, tournament, results, folder, interrupt, console)
        summary = summarise(request, results, tournament.descriptions, ended)
        if folder is not None and out is not None:
            folder.write_results(summary)
            write_report(out / REPORT, summary)
    return summary


def _open_folder(
    out: Path | None, request: Request, policies: list[Description]
) -> Folder | nullcontext[None]:
    return nullcontext() if out is None else Folder(out, request, policies)


def _play(
    request: Request,
    tournament: Tournament,
    results: Results,
    folder: Folder | None,
    interrupt: Interrupt,
    console: Console,
) -> str:
    """Play what is missing and return why the play ended."""
    progress = Progress(
        TextColumn("{task.completed:,.0f} of {task.total:,.0f} games"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[width]}"),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    total = request.num_games
    task = progress.add_task("games", total=total, completed=results.num_games, width="")
    next_look = time.monotonic()
    with progress:
        for first, last in itertools.pairwise([0, *request.looks]):
            for records in tournament.play(_missing_units(request, results, first, last)):
                new = [r for r in records if not results.has(r.plan.deal, r.plan.seats)]
                results.add(new)
                if folder is not None:
                    folder.write_games(new)
                if not progress.disable and time.monotonic() > next_look:
                    half = widest(results, request.confidence)
                    progress.update(task, width=f"widest interval ±{100 * half:.1f} %")
                    next_look = time.monotonic() + SECONDS_BETWEEN_INTERVALS
                progress.update(task, completed=results.num_games)
                if interrupt.requested:
                    return "interrupted"
            if request.until_ci and widest(results, request.confidence) <= request.until_ci:
                return "narrow enough"
    return "all games played"


def _missing_units(request: Request, results: Results, first: int, last: int) -> Iterator[Unit]:
    """Yield the units that are not complete.

    They are played whole: asked about other games beside them, a network may round otherwise. Where
    every move is asked for alone, only what is missing is played.
    """
    for unit in make_units(request.lineups, request.seeds, first, last, request.batch):
        wanted = [plan for plan in unit.plans if plan.deal < request.num_deals(plan.lineup)]
        missing = [plan for plan in wanted if not results.has(plan.deal, plan.seats)]
        if missing:
            yield Unit(tuple(missing if request.ms is not None else wanted))
