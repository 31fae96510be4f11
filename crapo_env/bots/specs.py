"""Reading specs: a bot's name and its settings, such as `search:playouts=400,horizon=6`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from crapo_env.bots.policy import Policy
from crapo_env.game import Game


@dataclass(frozen=True)
class Setting:
    """A number that a spec may set, or one of some words, of which the number is the index."""

    name: str
    default: int
    low: int
    high: int
    meaning: str
    words: tuple[str, ...] = ()

    def read(self, text: str) -> int | None:
        """Return the number that a text stands for, None if it stands for none."""
        if self.words:
            return self.words.index(text) if text in self.words else None
        return int(text) if text.isdecimal() else None

    def describe(self) -> str:
        """Return name, default and meaning as text."""
        default = "|".join(self.words) if self.words else self.default
        return f"{self.name}={default} ({self.meaning})"


def choice(name: str, meaning: str, words: tuple[str, ...]) -> Setting:
    """Return a setting that is one of some words, the first by default."""
    return Setting(name, 0, 0, len(words) - 1, meaning, words)


@dataclass(frozen=True)
class Bot:
    """A policy that a spec can name: what it does, how it is made, what can be set."""

    text: str
    maker: Callable[..., Policy]  # (game, seed, **settings)
    settings: tuple[Setting, ...] = ()

    def make(self, spec: str, game: Game, seed: int) -> Policy:
        """Return the policy of a spec that begins with the name of this bot.

        Raises:
            ValueError: if a setting is unknown, malformed or out of range.
        """
        chosen = self.read(spec)
        defaults: dict[str, Any] = {setting.name: setting.default for setting in self.settings}
        policy = self.maker(game, seed, **defaults | chosen)
        policy.name = spec
        return policy

    def read(self, spec: str) -> dict[str, int]:
        """Return the settings written in a spec.

        Raises:
            ValueError: if one is unknown, malformed or out of range.
        """
        name, colon, rest = spec.partition(":")
        known = {setting.name: setting for setting in self.settings}
        chosen: dict[str, int] = {}
        for item in rest.split(",") if colon else ():
            key, equals, value = item.partition("=")
            number = known[key].read(value) if key in known and key not in chosen else None
            if number is None or not equals:
                raise ValueError(f"{item!r} in {spec!r} is no setting of {name}: {self.describe()}")
            if not known[key].low <= number <= known[key].high:
                bounds = f"from {known[key].low} to {known[key].high}"
                raise ValueError(f"{key} of {name} is {bounds}, not {value}")
            chosen[key] = number
        return chosen

    def describe(self) -> str:
        """Return the settings with their defaults as text."""
        if not self.settings:
            return "it has none"
        return ", ".join(setting.describe() for setting in self.settings)
