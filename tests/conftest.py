"""What the tests share: every registered game in every setting that its own option table allows.

A test that names one of these fixtures runs once per game (`game`), per game and number of players
(`seating`), or per setting (`setting`): each seating, each other value of every option, and all
options changed at once. A new game or option is covered without a change here.
"""

from typing import Any, NamedTuple

import pytest
from hypothesis import settings

from crapo_env.batch import Batch
from crapo_env.env import CardGameEnv
from crapo_env.game import Game, Option
from crapo_env.registry import GAMES

settings.register_profile("repeatable", deadline=None, database=None, derandomize=True)
settings.load_profile("repeatable")


class Setting(NamedTuple):
    """A game and the rule options that it is played with."""

    game: Game
    options: dict[str, Any]

    def __str__(self) -> str:
        """Return the test's id, such as `crapo-aces=optional`."""
        switches = [f"{name}={value}" for name, value in self.options.items()]
        return "-".join([self.game.name, *switches])

    def env(self, **arguments: Any) -> CardGameEnv:
        """Return a fresh environment, not yet reset."""
        return CardGameEnv(self.game, **self.options | arguments)

    def batch(self, n: int, *, auto_reset: bool = True) -> Batch:
        """Return a fresh batch, not yet reset."""
        return Batch(self.game, n, self.options, auto_reset=auto_reset)


def list_seatings(game: Game) -> list[Setting]:
    """Return the default options of a game with each number of players."""
    option = next((o for o in game.options if o.name == "num_players"), None)
    if option is None or option.range is None:
        return [Setting(game, {})]
    low, high = option.range
    return [Setting(game, {"num_players": n}) for n in range(low, high + 1)]


def other_values(option: Option) -> list[Any]:
    """Return values of an option that are not its default; of a range a few small ones."""
    if option.range is None:
        return [value for value in option.values if value != option.default]
    low, high = option.range
    return [n for n in (low, low + 2, low + 50) if n <= high and n != option.default]


def list_variants(game: Game) -> list[Setting]:
    """Return one setting per other value of every option, then all options changed at once."""
    switches = [option for option in game.options if option.name != "num_players"]
    variants = [{o.name: value} for o in switches for value in other_values(o)]
    limited = [o.name for o in switches if o.range is None]
    variants.append({o.name: other_values(o)[0] for o in switches if o.name in limited})
    return [Setting(game, with_seats(game, options)) for options in variants]


def with_seats(game: Game, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options, with all seats taken where they do not fit fewer."""
    try:
        game.read_options(options)
    except ValueError:
        return options | {"num_players": game.max_players}
    return options


SEATINGS = [seating for game in GAMES.values() for seating in list_seatings(game)]
SETTINGS = SEATINGS + [variant for game in GAMES.values() for variant in list_variants(game)]


@pytest.fixture(scope="session", params=GAMES.values(), ids=lambda game: game.name)
def game(request: pytest.FixtureRequest) -> Game:
    return request.param


@pytest.fixture(scope="session", params=SEATINGS, ids=str)
def seating(request: pytest.FixtureRequest) -> Setting:
    return request.param


@pytest.fixture(scope="session", params=SETTINGS, ids=str)
def setting(request: pytest.FixtureRequest) -> Setting:
    return request.param
