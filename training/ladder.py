"""Cross tables of the fixed opponents: `python -m training.ladder` for all games and seatings.

Every policy plays every weaker one of its game's list on evaluation deals, each deal once from
every seat, the other policy on all other seats. A cell is the score of the row's policy in per
cent, a draw counting half, with its 95 % interval over deals.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from typing import Any

from crapo_env.bots import make_policy
from crapo_env.game import Game
from crapo_env.registry import GAMES, find_game
from training.deals import default_path, read_deals
from training.match import DRAW, WIN, Match, interval, play_match

ANCHORS = ("random", "first_legal", "greedy", "heuristic", "planner", "search")  # weakest first
FEW = ("search",)  # kinds so slow that they play fewer deals


def seatings(game: Game) -> list[dict[str, Any]]:
    """Return the options of a game for every number of players."""
    option = next((o for o in game.options if o.name == "num_players"), None)
    if option is None or option.range is None:
        return [{}]
    return [{"num_players": n} for n in range(option.range[0], option.range[1] + 1)]


def cell(match: Match) -> str:
    """Return the score of a match with its interval, in per cent."""
    scores = (match.outcomes == WIN).mean(axis=1) + (match.outcomes == DRAW).mean(axis=1) / 2
    low, high = interval(scores)
    return f"{100 * match.score():.1f} [{100 * low:.1f}, {100 * high:.1f}]"


def cross_table(
    game: Game,
    options: dict[str, Any],
    specs: Sequence[str],
    deals: int,
    few_deals: int,
    seed: int,
) -> list[str]:
    """Play all pairs and return a Markdown table: a row per policy, a column per weaker one."""
    lines = ["| | " + " | ".join(specs[:-1]) + " | ms per decision |"]
    lines.append("| --- |" + " --- |" * len(specs))
    for place, spec in enumerate(specs[1:], start=1):
        cells, took, decisions = [], 0.0, 0
        for other in specs[:place]:
            number = (
                few_deals if {spec.partition(":")[0], other.partition(":")[0]} & {*FEW} else deals
            )
            seeds = read_deals(default_path(game), game, number)
            pair = make_policy(spec, game, seed), make_policy(other, game, seed + 1)
            begin = time.process_time()
            match = play_match(game, *pair, seeds, options)
            took += time.process_time() - begin
            decisions += int(match.decisions.sum())
            cells.append(cell(match))
            print(
                f"{game.name} {options}: {spec} v {other} {cells[-1]}", file=sys.stderr, flush=True
            )
        cells += [""] * (len(specs) - 1 - place)
        lines.append(f"| {spec} | " + " | ".join(cells) + f" | {1000 * took / decisions:.3f} |")
    return lines


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables that the command line asks for."""
    parser = argparse.ArgumentParser(prog="training.ladder", description=__doc__)
    parser.add_argument("specs", nargs="*", metavar="SPEC", help=f"default: {' '.join(ANCHORS)}")
    parser.add_argument("--game", choices=list(GAMES), action="append", help="default: all")
    parser.add_argument("--deals", type=int, default=500, help="of a match")
    parser.add_argument("--few-deals", type=int, default=50, help=f"of a match of {FEW}")
    parser.add_argument("--target", type=int, help="points of a match, where the game has them")
    parser.add_argument("--seed", type=int, default=0, help="of the policies' randomness")
    asked = parser.parse_args(arguments)
    for name in asked.game or GAMES:
        game = find_game(name)
        has_target = any(option.name == "target" for option in game.options)
        target = {"target": asked.target} if asked.target and has_target else {}
        for seating in seatings(game):
            options = seating | target
            table = cross_table(
                game, options, asked.specs or ANCHORS, asked.deals, asked.few_deals, asked.seed
            )
            print(f"\n{game.id} {options or ''}\n")
            print("\n".join(table), flush=True)


if __name__ == "__main__":
    main()
