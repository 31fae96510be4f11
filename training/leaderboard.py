"""Write `seeds/leaderboard.md` and the ladder in README.md: `python -m training.leaderboard`.

Every game and number of players has a table of the bots and of the shipped checkpoints that were
trained for it, alone and with a search. Games go to `--runs`; what is there already, of the same
specs and weights, is not played again. After a change to the code of a bot, delete that folder.
"""

import argparse
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from crapo_env.game import Game
from crapo_env.registry import GAMES, find_game
from training.checkpoint import SHIPPED, CheckpointPolicy
from training.evaluation.folder import GAMES as GAMES_FILE
from training.evaluation.request import Request, make_request
from training.evaluation.run import run_tournament
from training.evaluation.texts import cell, elo_text, list_cycles, title

BOTS = ("random", "first_legal", "greedy", "heuristic", "planner")
NETWORK = "checkpoint"  # stands for the shipped one of a table
LED = NETWORK + "+search"
# What the ladder calls the policies that play on fewer deals and in no mixed lineup, by game.
SLOW = {
    "crapo": {
        "search": "search:playouts=400",
        "ismcts": "ismcts:playouts=200",
        LED: f"{LED}:playouts=400,width=16",
    },
    "reis_nos_cantos": {
        "search": "search:playouts=100",
        "ismcts": "ismcts:playouts=200",
        LED: f"{LED}:playouts=96",
    },
}
# Who plays whom in the ladder of README.md, and on how many deals by game if one of them is slow.
RUNGS: tuple[tuple[str, str, dict[str, int]], ...] = (
    ("first_legal", "random", {}),
    ("greedy", "first_legal", {}),
    ("heuristic", "greedy", {}),
    ("planner", "greedy", {}),
    ("planner", "heuristic", {}),
    ("search", "greedy", {"crapo": 20, "reis_nos_cantos": 40}),
    ("search", "planner", {"crapo": 60, "reis_nos_cantos": 100}),
    ("ismcts", "planner", {"crapo": 40, "reis_nos_cantos": 40}),
    (NETWORK, "greedy", {}),
    (NETWORK, "heuristic", {}),
    (LED, "planner", {"crapo": 12, "reis_nos_cantos": 40}),
    (LED, NETWORK, {"crapo": 20, "reis_nos_cantos": 40}),
)
ROOT = Path(__file__).parents[1]
TARGET = ROOT / "seeds" / "leaderboard.md"
README = ROOT / "README.md"
MARKED = re.compile(r"(<!-- ladder -->\n).*?(<!-- end -->)", re.DOTALL)
HEAD = """# Leaderboard

Written by `{command}`.
All policies of a table met on the published evaluation deals, every deal from every seat; with
three or four players each alone among copies of each other one, and the fast ones mixed. Elo:
random = 0, 95 % intervals over deals; `!` marks a policy that only won or only lost as seen from
random, of which the Elo is no estimate. Nash: share in the mixture of policies that nobody beats. A
cell is the score of the row's policy in per cent, alone among copies of the column's, draws shared
evenly, with its 95 % interval; `!` marks only wins or only losses. All moves but those of random
are deterministic. Milliseconds are those of a clock, on a machine that may have done other work.
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


def make_ladder(summaries: Sequence[dict[str, Any]]) -> str:
    """Return the Markdown of the ladder: a column for every table, a row for every rung."""
    heads = [
        f"{summary['game'].rpartition('_v')[0]}, {summary['players']} players, "
        f"par {100 / summary['players']:.3g}"
        for summary in summaries
    ]
    lines = ["| | " + " | ".join(heads) + " |", "| --- |" + " --- |" * len(heads)]
    for first, second, _ in RUNGS:
        names = [find_names(summary, (first, second)) for summary in summaries]
        cells = [
            cell(s, *both) if all(both) else "" for s, both in zip(summaries, names, strict=True)
        ]
        lines.append(f"| {first} v {second} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def find_names(summary: dict[str, Any], rung: tuple[str, str]) -> tuple[str, str]:
    """Return the names that the two policies of a rung have in a table, "" if one is not there."""
    game = summary["game"].rpartition("_v")[0]
    names = {policy["spec"]: policy["name"] for policy in summary["policies"]}
    mine = next((s for s in names if s.startswith(NETWORK) and "+" not in s), NETWORK)
    first, second = (names.get(find_spec(game, name, mine), "") for name in rung)
    return first, second


def find_spec(game: str, name: str, shipped: str) -> str:
    """Return the spec of what the ladder calls `name`, given that of the shipped checkpoint."""
    return SLOW.get(game, {}).get(name, name).replace(NETWORK, shipped)


def make_table_request(game: Game, seating: dict[str, Any], asked: argparse.Namespace) -> Request:
    """Return what is to be played for one table."""
    shipped = list_shipped(game, game.read_options(seating))
    names = [name for name in SLOW.get(game.name, {}) if shipped or NETWORK not in name]
    slow = [find_spec(game.name, name, own) for own in shipped or [""] for name in names]
    slow = list(dict.fromkeys(slow))
    request = make_request(
        game,
        seating,
        [*BOTS, *shipped, *slow],
        pairs=asked.pairs,
        few=tuple(slow),
        few_pairs=asked.few_pairs,
        batch=asked.batch,
        workers=asked.workers,
    )
    rungs = tuple(
        (find_spec(game.name, a, own), find_spec(game.name, b, own), deals.get(game.name, 0))
        for a, b, deals in RUNGS
        for own in shipped or [NETWORK]
    )
    return replace(request, rungs=rungs)


def make_leaderboard(asked: argparse.Namespace, console: Console) -> tuple[str, str]:
    """Play all tables and return the page and the ladder.

    Raises:
        ValueError: if a number is out of range or a policy cannot be had.
    """
    numbers = ("pairs", "few_pairs")
    options = [f"--{name.replace('_', '-')} {getattr(asked, name)}" for name in numbers]
    page = HEAD.format(command=" ".join(["python -m training.leaderboard", *options]))
    summaries = []
    for game in [find_game(name) for name in asked.game or GAMES]:
        for seating in list_seatings(game):
            request = make_table_request(game, seating, asked)
            folder = asked.runs / "-".join([game.name, *map(str, seating.values())])
            console.print(f"{folder}: {request.num_games:,} games")
            begun = (folder / GAMES_FILE).exists()
            summary = run_tournament(request, console, folder, resume=begun, drop_changed=begun)
            if not summary["complete"]:
                raise ValueError("interrupted; the same command goes on")
            page += make_section(summary)
            summaries.append(summary)
    return page, make_ladder(summaries)


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the leaderboard."""
    parser = argparse.ArgumentParser(prog="training.leaderboard", description=__doc__)
    add = parser.add_argument
    add("--game", choices=list(GAMES), action="append", help="default: all, and the README")
    add("--pairs", type=int, default=500, metavar="N", help="number of deals")
    add("--few-pairs", type=int, default=2, metavar="N", help="deals with a slow policy")
    add("--batch", type=int, default=20, help="deals played side by side")
    add("--workers", type=int, default=1, metavar="K", help="processes for the policies")
    add("--runs", type=Path, default=Path("runs/leaderboard"), help="where the games go")
    add("--readme", type=Path, default=README, help="the file with the ladder")
    add("--out", type=Path, default=TARGET, help="the page (default: seeds/leaderboard.md)")
    asked = parser.parse_args(arguments)
    try:
        page, ladder = make_leaderboard(asked, Console(stderr=True))
        asked.out.write_text(page, encoding="utf-8")
        if not asked.game:
            text = asked.readme.read_text(encoding="utf-8")
            text = MARKED.sub(lambda found: found[1] + ladder + found[2], text)
            asked.readme.write_text(text, encoding="utf-8")
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")
    print(f"written: {asked.out}")


if __name__ == "__main__":
    main()
