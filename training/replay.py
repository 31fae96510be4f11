"""Play recorded games again and compare: `python -m training.replay DIR/games.jsonl`.

`--show N` prints game N (from 1) move by move.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track

from crapo_env.env import CardGameEnv
from crapo_env.registry import find_game
from training.evaluation.records import check_replay


def read_games(path: Path) -> list[dict[str, Any]]:
    """Return the games of a file.

    Raises:
        ValueError: if it cannot be read or a line is not JSON.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror}") from None
    games = []
    for number, line in enumerate(lines, 1):
        try:
            games.append(dict(json.loads(line)))
        except (ValueError, TypeError):
            raise ValueError(f"line {number} of {path} is no game: {line[:40]!r}") from None
    return games


def describe_moves(values: dict[str, Any]) -> Iterator[str]:
    """Yield a line for every move of a game."""
    game = find_game(str(values["game"]).rpartition("_v")[0])
    env = CardGameEnv(game, **values["options"])
    env.reset(values["seed"], {"deck": values["deck"]} if values.get("deck") else None)
    for number, action in enumerate(values["actions"], 1):
        seat = env.possible_agents.index(env.agent_selection)
        yield f"{number:4} {values['seats'][seat]} (seat {seat}): {env.action_to_string(action)}"
        env.step(action)
    yield f"outcomes by seat: {', '.join(values['outcomes'])}"
    if values["fault"]:
        yield f"seat {values['fault']['seat']} {values['fault']['kind']}: {values['fault']['text']}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Replay the games of the command line."""
    parser = argparse.ArgumentParser(prog="training.replay", description=__doc__)
    parser.add_argument("games", type=Path, help="file games.jsonl of an evaluation")
    parser.add_argument("--show", type=int, metavar="N", help="print this game move by move")
    asked = parser.parse_args(arguments)
    console = Console()
    try:
        games = read_games(asked.games)
        if asked.show is None:
            chosen = range(1, len(games) + 1)
        elif 1 <= asked.show <= len(games):
            chosen = range(asked.show, asked.show + 1)
        else:
            raise ValueError(f"--show must be from 1 to {len(games)}, not {asked.show}")
        for number in track(chosen, "replaying", console=console, disable=not console.is_terminal):
            try:
                check_replay(games[number - 1])
            except (KeyError, ValueError) as error:
                raise ValueError(f"line {number} of {asked.games}: {error}") from None
        if asked.show is not None:
            for line in describe_moves(games[asked.show - 1]):
                print(line)
    except ValueError as error:
        sys.exit(f"error: {error}")
    print(f"{len(chosen)} games end as recorded")


if __name__ == "__main__":
    main()
