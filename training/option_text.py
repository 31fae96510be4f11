"""Rule options as they are written on a command line."""

import json
from typing import Any


def read_option(text: str) -> tuple[str, Any]:
    """Return name and value, a number, a truth value or a word, of an option `name=value`."""
    name, _, value = text.partition("=")
    try:
        return name, json.loads(value.lower() if value in ("True", "False") else value)
    except json.JSONDecodeError:
        return name, value
