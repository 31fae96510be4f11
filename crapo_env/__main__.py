"""`python -m crapo_env`: lists the bots, or prints a whole game of random moves."""

import argparse
import os
import sys
from collections.abc import Sequence

from crapo_env.batch import Batch
from crapo_env.bots import list_policies, make_policy
from crapo_env.game import Game
from crapo_env.registry import GAMES, find_game


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m crapo_env", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("bots", help="list the policies of every game")
    random_game = commands.add_parser("random-game", help="print a game of random legal moves")
    random_game.add_argument("game", help=", ".join(GAMES))
    random_game.add_argument("--seed", type=int, default=0, help="of the deal and the moves")
    parsed = parser.parse_args(arguments)
    try:
        if parsed.command == "bots":
            print_bots()
        else:
            print_random_game(find_game(parsed.game), parsed.seed)
        sys.stdout.flush()
    except ValueError as error:
        parser.error(str(error))
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_bots() -> None:
    """Print what `make_policy` takes for every game."""
    for game in GAMES.values():
        print(game.name)
        for spec, text in list_policies(game).items():
            print(f"  {spec:16} {text}")


def print_random_game(game: Game, seed: int) -> None:
    """Print every move of a random game and, before it, the table as the mover sees it."""
    policy = make_policy("random", game, seed)
    batch = Batch(game, 1, auto_reset=False)
    batch.reset(seed)
    while not batch.ended[0]:
        action = policy.act(batch.observations, batch.masks)
        seat = int(batch.current_player[0])
        print(game.render(batch.games, seat))
        print(f"player_{seat}: {game.action_to_string(batch.games, int(action[0]))}\n")
        batch.step(action)
    print(game.render(batch.games, None), end="")


if __name__ == "__main__":
    main()
