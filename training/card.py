"""The card of a checkpoint: what its weights are for, checked against a schema before anything."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from crapo_env.game import Game
from training.source import package_version, source_commit

FORMAT = 2  # raised when the card or the names of the tensors change
MAX_CARD = 1_000_000  # characters
MAX_WIDTH = 2048  # of a layer; a card that claims more is refused before memory is taken
MAX_LAYERS = 8

_TEXT = {"type": "string", "maxLength": 200}
PURPOSE: dict[str, Any] = {  # what every card says
    "game": _TEXT,
    "version": {"type": "integer"},
    "tables_hash": _TEXT,
    "options": {
        "type": "object",
        "additionalProperties": {"type": ["string", "integer", "boolean"]},
    },
}
_WIDTH = {"type": "integer", "minimum": 1, "maximum": MAX_WIDTH}
SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "format": {"const": FORMAT},
        **PURPOSE,
        "features": _TEXT,
        "hidden_sizes": {"type": "array", "items": _WIDTH, "minItems": 1, "maxItems": MAX_LAYERS},
        "sees_hidden": {"type": "boolean"},
        "decisions": {"type": "integer", "minimum": 0},
        "config": {"type": "object"},
        "package_version": _TEXT,
        "commit": _TEXT,
    },
}
SCHEMA["required"] = list(SCHEMA["properties"])
SCHEMA["additionalProperties"] = False


@dataclass(frozen=True)
class Card:
    """What a checkpoint is for and where it comes from."""

    format: int  # of the file
    game: str
    version: int  # of the game's rules, ids, observations and rewards
    tables_hash: str  # of its action and observation tables
    options: dict[str, Any]  # all rule options that it was trained with
    features: str  # hash of the tables of its features
    hidden_sizes: list[int]  # widths of the layers of actor and critic
    sees_hidden: bool  # whether its critic reads hidden cards
    decisions: int  # of the learner until then
    config: dict[str, Any]  # all settings of the run
    package_version: str
    commit: str  # of the source


def source_facts() -> dict[str, str]:
    """Return the entries of a card that say which source wrote it."""
    return {"package_version": package_version(), "commit": source_commit()}


def read_json(text: str, schema: Mapping[str, Any], what: str) -> dict[str, Any]:
    """Return an object written as JSON once a schema allows it.

    Raises:
        ValueError: if it is too long, no JSON or something else than the schema describes.
    """
    if len(text) > MAX_CARD:
        raise ValueError(f"its {what} has {len(text):,} characters, allowed are {MAX_CARD:,}")
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError(f"it has no {what}") from None
    wanted = schema["properties"]["format"]["const"]
    if isinstance(values, dict) and values.get("format", wanted) != wanted:
        raise ValueError(f"its {what} is of format {values['format']!r}, here it is {wanted!r}")
    error = best_match(Draft202012Validator(schema).iter_errors(values))
    if error is not None:
        sentence = error.message if len(error.message) < 200 else error.message[:200] + "..."
        raise ValueError(f"its {what} is not valid at {error.json_path}: {sentence}")
    return dict(values)


def parse_card(text: str) -> Card:
    """Return the card that is written as JSON.

    Raises:
        ValueError: if there is none or it breaks the schema.
    """
    return Card(**read_json(text, SCHEMA, "card of a checkpoint"))


def check_purpose(values: Mapping[str, Any], game: Game, **also: Any) -> None:
    """Refuse what is for another game, version or table, or differs in what is given besides.

    Raises:
        ValueError: if so, naming both values.
    """
    wanted = {"game": game.name, "version": game.version, "tables_hash": game.tables_hash()}
    for name, value in (wanted | also).items():
        if values[name] != value:
            raise ValueError(f"it is for {name} {values[name]!r}, here it is {value!r}")


def check_options(
    who: str, trained: Mapping[str, Any], options: Mapping[str, Any], also: Mapping[str, Any]
) -> None:
    """Refuse to play under other rules than those of the training.

    Args:
        who: the policy's name.
        trained: all options that it was trained for.
        options: all options that are to be played with.
        also: options that differed in training only, which are as good.

    Raises:
        ValueError: if an option differs, naming both values.
    """
    for name, value in options.items():
        if value not in (trained.get(name), also.get(name, trained.get(name))):
            raise ValueError(
                f"{who} was trained with {name} = {trained.get(name)!r}, here it is {value!r}"
            )
