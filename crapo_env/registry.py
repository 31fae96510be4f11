"""The one list of games."""

from difflib import get_close_matches

from crapo_env import crapo, reis_nos_cantos
from crapo_env.game import Game

GAMES: dict[str, Game] = {game.name: game for game in (crapo.GAME, reis_nos_cantos.GAME)}


def find_game(name: str) -> Game:
    """Return the game with the given name.

    Raises:
        ValueError: if there is none, naming those that exist.
    """
    if name not in GAMES:
        close = get_close_matches(name, GAMES, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ";"
        raise ValueError(f"there is no game {name!r}{hint} the games are {', '.join(GAMES)}")
    return GAMES[name]
