"""Reading specs: a bot's name and its settings, such as `search:playouts=400,horizon=6`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from crapo_env.bots.policy import Policy
from crapo_env.game import Game


@dataclass(frozen=True)
class Setting:
    """A number that a spec may set."""

    name: str
    default: int
    low: int
    high: int
    meaning: str


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
            if key not in known or key in chosen or not equals or not value.isdecimal():
                raise ValueError(f"{item!r} in {spec!r} is no setting of {name}: {self.describe()}")
            setting = known[key]
            if not setting.low <= int(value) <= setting.high:
                bounds = f"from {setting.low} to {setting.high}"
                raise ValueError(f"{key} of {name} is {bounds}, not {value}")
            chosen[key] = int(value)
        return chosen

    def describe(self) -> str:
        """Return the settings with their defaults as text."""
        if not self.settings:
            return "it has none"
        return ", ".join(f"{s.name}={s.default} ({s.meaning})" for s in self.settings)
