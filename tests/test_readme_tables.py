"""The tables in the games' READMEs are those of the code.

`python tests/test_readme_tables.py` rewrites them.
"""

import re
from pathlib import Path

import pytest

from crapo_env.game import Game
from crapo_env.registry import GAMES

PACKAGE = Path(__file__).parent.parent / "crapo_env"
MARKED = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def readme_path(game: Game) -> Path:
    return PACKAGE / game.name / "README.md"


def with_tables(game: Game, text: str) -> str:
    """Return the README text with every marked table generated from the game."""
    tables = {
        "options": game.options_markdown(),
        "fields": game.fields.markdown(),
        "actions": game.actions.markdown(),
        "features": game.features.position.markdown(),
        "hidden": game.features.hidden.markdown(),
    }
    return MARKED.sub(lambda match: f"{match[1]}{tables[match[2]]}\n{match[3]}", text)


@pytest.mark.parametrize("game", GAMES.values(), ids=list(GAMES))
def test_tables_are_generated(game: Game) -> None:
    text = readme_path(game).read_text()
    tables = {"options", "fields", "actions", "features", "hidden"}
    assert {match[2] for match in MARKED.finditer(text)} == tables
    assert text == with_tables(game, text)


@pytest.mark.parametrize("game", GAMES.values(), ids=list(GAMES))
def test_specs_state_the_sizes(game: Game) -> None:
    text = readme_path(game).read_text()
    assert f"`Discrete({len(game.actions)})`" in text
    assert f'"observation": ({len(game.fields)},) int8' in text
    assert f"| state | {game.dtype.itemsize} bytes |" in text


if __name__ == "__main__":
    for each in GAMES.values():
        path = readme_path(each)
        path.write_text(with_tables(each, path.read_text()))
