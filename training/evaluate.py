"""Measure policies on held-out deals: `python -m training.evaluate POLICY... --against random`.

A POLICY is a spec such as `greedy`, or a checkpoint, as `checkpoint:PATH` or as a path that ends in
`.safetensors`. Every deal is played once from every seat, the opponent on all other seats.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from rich import box
from rich.console import Console, Group
from rich.progress import Progress
from rich.table import Table

from crapo_env.bots import make_policy
from crapo_env.bots.policy import Policy
from crapo_env.game import Game
from crapo_env.registry import find_game
from training.checkpoint import CheckpointPolicy
from training.deals import default_path, read_deals
from training.match import DRAW, LOSS, TRUNCATED, WIN, Match, play_match

CHECKPOINT = "checkpoint:"


def find_policy(
    spec: str, game: Game, options: Mapping[str, Any], seed: int, *, sampled: bool = False
) -> Policy:
    """Return the policy of a spec or of the path of a checkpoint.

    Raises:
        ValueError: if there is none, or the checkpoint was trained under other rules.
    """
    if not (spec.startswith(CHECKPOINT) or spec.endswith(".safetensors")):
        return make_policy(spec, game, seed)
    path = spec.removeprefix(CHECKPOINT)
    policy = CheckpointPolicy(path, game, seed, deterministic=not sampled)
    policy.check_options(options)
    return policy


def play_all(
    game: Game,
    policies: Sequence[Policy],
    opponents: Sequence[Policy],
    seeds: Any,
    options: Mapping[str, Any],
    console: Console,
) -> list[Match]:
    """Play every policy against every opponent on the same deals."""
    matches = []
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        for policy in policies:
            for opponent in opponents:
                task = progress.add_task(f"{policy.name} against {opponent.name}", total=len(seeds))

                def report(finished: int, total: int, task: Any = task) -> None:
                    progress.update(task, completed=finished, total=total)

                matches.append(play_match(game, policy, opponent, seeds, options, report))
    return matches


def make_tables(matches: Sequence[Match], title: str) -> Group:
    """Return the tables of results; all shares are per cent of the games."""
    results = Table(title=title, box=box.SIMPLE_HEAD)
    games = Table(caption=_CAPTION, caption_justify="left", box=box.SIMPLE_HEAD)
    for table in (results, games):
        table.add_column("policy")
        table.add_column("against")
    for column in ("win %", "95 %", "draw %", "loss %", "cut %"):
        results.add_column(column, justify="right", no_wrap=True)
    for column in ("by seat", "games", "distinct", "illegal", "moves", "length"):
        games.add_column(column, justify="right", no_wrap=True)
    for match in matches:
        names = (
            f"{match.policy} ({'d' if match.deterministic else 's'})",
            f"{match.opponent} ({'d' if match.opponent_deterministic else 's'})",
        )
        results.add_row(*names, *_result_cells(match))
        games.add_row(*names, *_game_cells(match))
    return Group(results, games)


_CAPTION = (
    "(d) deterministic, (s) sampled. Draws, and games cut off by max_steps, count as no win; the "
    "95 % interval is over deals. By seat: win % from each. Illegal: games lost by an illegal "
    "proposal + those of the opponent. Moves: of the policy in a game; length: of all players."
)


def _result_cells(match: Match) -> list[str]:
    low, high = match.win_interval()
    return [
        f"{100 * match.share(WIN):.1f}",
        f"{100 * low:.1f}-{100 * high:.1f}",
        f"{100 * match.share(DRAW):.1f}",
        f"{100 * match.share(LOSS):.1f}",
        f"{100 * match.share(TRUNCATED):.1f}",
    ]


def _game_cells(match: Match) -> list[str]:
    return [
        " ".join(f"{100 * share:.0f}" for share in match.seat_wins()),
        str(match.outcomes.size),
        str(match.distinct_games),
        f"{match.illegal} + {match.opponent_illegal}",
        f"{match.decisions.mean():.0f}",
        f"{match.lengths.mean():.0f}",
    ]


def summarise(match: Match) -> dict[str, Any]:
    """Return the results of a match as plain values."""
    low, high = match.win_interval()
    return {
        "policy": match.policy,
        "opponent": match.opponent,
        "deterministic": match.deterministic,
        "opponent_deterministic": match.opponent_deterministic,
        "deals": len(match.outcomes),
        "games": match.outcomes.size,
        "distinct_games": match.distinct_games,
        "win": match.share(WIN),
        "win_interval_95": [low, high],
        "draw": match.share(DRAW),
        "loss": match.share(LOSS),
        "truncated": match.share(TRUNCATED),
        "win_by_seat": match.seat_wins(),
        "deals_by_wins": match.deals_by_wins(),
        "illegal": match.illegal,
        "opponent_illegal": match.opponent_illegal,
        "decisions": int(match.decisions.sum()),
        "mean_length": float(match.lengths.mean()),
    }


def write_results(path: Path, game: Game, options: Mapping[str, Any], matches: list[Match]) -> None:
    """Write the results as JSON, with the rules that they were played under."""
    report = {
        "game": game.id,
        "tables_hash": game.tables_hash(),
        "options": dict(options),
        "matches": [summarise(match) for match in matches],
    }
    path.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


def read_option(text: str) -> tuple[str, Any]:
    """Return name and value, a number, a truth value or a word, of an option `name=value`."""
    name, _, value = text.partition("=")
    try:
        return name, json.loads(value.lower() if value in ("True", "False") else value)
    except json.JSONDecodeError:
        return name, value


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="training.evaluate", description=__doc__)
    parser.add_argument("policies", nargs="+", metavar="POLICY", help="spec or checkpoint")
    parser.add_argument(
        "--against", nargs="+", default=["random", "greedy"], metavar="SPEC", help="opponents"
    )
    parser.add_argument("--game", default="crapo", help="name of the game (default: crapo)")
    parser.add_argument("--deals", help="file of deals (default: seeds/eval_<game>.txt)")
    parser.add_argument("--pairs", type=int, default=500, metavar="N", help="number of deals")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="rule")
    parser.add_argument("--sampled", action="store_true", help="checkpoints draw their moves")
    parser.add_argument("--seed", type=int, default=0, help="of the policies' own randomness")
    parser.add_argument("--json", type=Path, metavar="PATH", help="write the results there too")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    """Play the matches of the command line and print their table."""
    asked = _parse(arguments)
    console = Console()
    torch.set_num_threads(1)
    try:
        game = find_game(asked.game)
        options = game.read_options(dict(read_option(text) for text in asked.option))
        if asked.pairs < 1:
            raise ValueError(f"--pairs must be at least 1, not {asked.pairs}")
        seeds = read_deals(asked.deals or default_path(game), game, asked.pairs)
        policies = [
            find_policy(spec, game, options, asked.seed, sampled=asked.sampled)
            for spec in asked.policies
        ]
        opponents = [
            find_policy(spec, game, options, asked.seed + 1, sampled=asked.sampled)
            for spec in asked.against
        ]
    except ValueError as error:
        sys.exit(f"error: {error}")
    matches = play_all(game, policies, opponents, seeds, options, console)
    console.print(make_tables(matches, f"{game.id}, {len(seeds)} deals from every seat"))
    if asked.json:
        write_results(asked.json, game, options, matches)


if __name__ == "__main__":
    main()
