"""Write `seeds/leaderboard.md`: `python -m training.leaderboard --pairs 200 --few-pairs 20`.

Every game and number of players has a table of the bots in `BOTS` and of the shipped checkpoints
that were trained for it. Games go to `--runs`; what is there already, of the same policies, is not
played again.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from crapo_env.game import Game
from crapo_env.registry import GAMES, find_game
from training.checkpoint import SHIPPED, CheckpointPolicy
from training.evaluation.folder import GAMES as GAMES_FILE
from training.evaluation.request import make_request
from training.evaluation.run import run_tournament
from training.evaluation.texts import cell, elo_text, list_cycles, title

BOTS = ("random", "first_legal", "greedy", "heuristic", "planner", "search:playouts=100")
FEW = ("search",)  # so slow that they play on fewer deals
TARGET = Path(__file__).parents[1] / "seeds" / "leaderboard.md"
HEAD = """# Leaderboard

Written by `{command}`.
All policies of a table met on the published evaluation deals, every deal from every seat; with
three or four players each alone among copies of each other one, and mixed. Elo: random = 0, 95 %
intervals over deals; `!` marks a policy that only won or only lost as seen from random, of which
the Elo is no estimate. Nash: share in the mixture of policies that nobody beats. A cell is the
score of the row's policy in per cent, alone among copies of the column's, draws shared evenly, with
its 95 % interval; `!` marks only wins or only losses. All moves but those of random are
deterministic.
"""


def list_seatings(game: Game) -> list[dict[str, Any]]:
    """Return the options of a game for every number of players."""
    option = next((o for o in game.options if o.name == "num_players"), None)
    if option is None or option.range is None:
        return [{}]
    return [{"num_players": n} for n in range(option.range[0], option.range[1] + 1)]


def list_shipped(game: Game, options: dict[str, Any]) -> list[str]:
    """Return the specs of the shipped checkpoints for a game and its options."""
    specs = []
    for path in sorted(SHIPPED.glob("*.safetensors")):
        try:
            CheckpointPolicy(path, game).check_options(options)
        except ValueError:  # for another game or number of players
            continue
        specs.append(f"checkpoint:{path.stem}")
    return specs


def make_section(summary: dict[str, Any]) -> str:
    """Return the Markdown of one table."""
    names = [policy["name"] for policy in summary["policies"]]
    ranking = sorted(summary["policies"], key=lambda policy: -policy["elo"])
    lines = [f"\n## {title(summary)}\n"]
    lines.append("| | policy | Elo | interval | Nash | decisions | ms each | faults |")
    lines.append("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for place, policy in enumerate(ranking, 1):
        name, elo = policy["name"], " | ".join(elo_text(policy))
        nash = summary["nash_average"][name]
        faults = sum(policy["faults"].values())
        lines.append(
            f"| {place} | {name} | {elo} | {100 * nash:.0f} % | {policy['decisions']:,} | "
            f"{policy['ms_per_decision']:.3g} | {faults} |"
        )
    lines += ["", "| | " + " | ".join(names) + " |", "| --- |" + " --- |" * len(names)]
    for policy in ranking:
        name = policy["name"]
        lines.append(f"| {name} | " + " | ".join(cell(summary, name, o) for o in names) + " |")
    if cycles := list_cycles(summary):
        lines += ["", *cycles]
    return "\n".join([*lines, "", f"Hash of the tables: {summary['tables_hash']}.", ""])


def make_leaderboard(asked: argparse.Namespace, console: Console) -> str:
    """Play all tables and return the page.

    Raises:
        ValueError: if a number is out of range or a policy cannot be had.
    """
    command = f"python -m training.leaderboard --pairs {asked.pairs} --few-pairs {asked.few_pairs}"
    page = HEAD.format(command=command)
    for game in [find_game(name) for name in asked.game or GAMES]:
        for seating in list_seatings(game):
            request = make_request(
                game,
                seating,
                [*BOTS, *list_shipped(game, game.read_options(seating))],
                pairs=asked.pairs,
                few=FEW,
                few_pairs=asked.few_pairs,
                batch=asked.batch,
                workers=asked.workers,
            )
            folder = asked.runs / "-".join([game.name, *map(str, seating.values())])
            console.print(f"{folder}: {request.num_games:,} games")
            begun = (folder / GAMES_FILE).exists()
            summary = run_tournament(request, console, folder, resume=begun)
            if not summary["complete"]:
                raise ValueError("interrupted; the same command goes on")
            page += make_section(summary)
    return page


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the leaderboard."""
    parser = argparse.ArgumentParser(prog="training.leaderboard", description=__doc__)
    add = parser.add_argument
    add("--game", choices=list(GAMES), action="append", help="default: all")
    add("--pairs", type=int, default=200, metavar="N", help="number of deals")
    add("--few-pairs", type=int, default=20, metavar="N", help=f"deals of {', '.join(FEW)}")
    add("--batch", type=int, default=20, help="deals played side by side")
    add("--workers", type=int, default=1, metavar="K", help="processes for the policies")
    add("--runs", type=Path, default=Path("runs/leaderboard"), help="where the games go")
    add("--out", type=Path, default=TARGET, help="the page (default: seeds/leaderboard.md)")
    asked = parser.parse_args(arguments)
    try:
        page = make_leaderboard(asked, Console(stderr=True))
        asked.out.write_text(page, encoding="utf-8")
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")
    print(f"written: {asked.out}")


if __name__ == "__main__":
    main()
