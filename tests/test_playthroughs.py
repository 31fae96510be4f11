"""Recorded games are replayed line by line; what changes them needs a new version of the game.

`python tests/test_playthroughs.py --write` records those that are missing. It never changes one
that exists: raise the version of the game, which is in the file names, and remove the old files.

A file holds a header, then for every move the lines of the table that changed, the legal moves and
the move; at the end the rewards and a digest of all observations and action ids.
"""

import hashlib
import json
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from conftest import SEATINGS, Setting, other_values, with_seats
from traces import LONG, is_over, legal_actions, random_picks

from crapo_env.env import CardGameEnv
from crapo_env.game import Game
from crapo_env.registry import GAMES

FOLDER = Path(__file__).parent / "playthroughs"
SHORT = 45  # moves of a game that shows one option
MAX_TOTAL = 400_000  # bytes of all files


def list_settings() -> dict[str, tuple[Setting, dict[str, Any]]]:
    """Return by file name what to record, and the options that the game is to show at work."""
    found = {}
    for setting in SEATINGS:
        label = "-".join(f"{name}-{value}" for name, value in setting.options.items()) or "default"
        found[f"{setting.game.id}_{label}.txt"] = (setting, {})
    for game in GAMES.values():
        for option in game.options:
            if option.name not in ("num_players", "max_steps"):
                value = other_values(option)[0]
                setting = Setting(game, with_seats(game, {option.name: value}))
                found[f"{game.id}_{option.name}-{value}.txt"] = (setting, {option.name: value})
    return found


SETTINGS = list_settings()


def list_header(setting: Setting, seed: int) -> list[str]:
    return [
        f"game: {setting.game.id}",
        f"tables: {setting.game.tables_hash()}",
        f"options: {json.dumps(setting.options)}",
        f"seed: {seed}",
    ]


def read_header(lines: Sequence[str]) -> tuple[Setting, int]:
    """Return setting and seed of a recorded game."""
    facts = dict(line.split(": ", 1) for line in lines[:4])
    game = next((game for game in GAMES.values() if game.id == facts["game"]), None)
    assert game is not None, f"there is no game {facts['game']}"
    return Setting(game, json.loads(facts["options"])), int(facts["seed"])


def read_moves(lines: Sequence[str]) -> list[str]:
    return [line.removeprefix("move: ") for line in lines if line.startswith("move: ")]


def show_step(env: CardGameEnv, before: list[str]) -> tuple[list[str], list[str]]:
    """Return the lines of the table that are new, and the whole table."""
    table = env.render().splitlines()
    return [line for line in table if line not in before], table


def show_end(env: CardGameEnv, digest: Any) -> list[str]:
    rewards = [f"{agent} {reward:+g}" for agent, reward in env.rewards.items()]
    how = "truncated" if any(env.truncations.values()) else "terminated"
    if not is_over(env):
        how = "not over"
    return [f"end: {how}", f"rewards: {' '.join(rewards)}", f"digest: {digest.hexdigest()[:16]}"]


def digest_step(env: CardGameEnv, digest: Any) -> None:
    for agent in env.possible_agents:
        seen = env.observe(agent)
        digest.update(seen["observation"].tobytes() + seen["action_mask"].tobytes())


def transcribe(setting: Setting, seed: int, moves: Iterator[Any]) -> list[str]:
    """Return the lines of a game; a move is a text, or a number that stands for a legal action."""
    env = setting.env(render_mode="ansi")
    env.reset(seed=seed)
    lines, table, digest = list_header(setting, seed), [], hashlib.sha256()
    for number, move in zip(count(), moves, strict=False):
        if is_over(env):
            break
        digest_step(env, digest)
        new, table = show_step(env, table)
        legal = legal_actions(env)
        action = env.string_to_action(move) if isinstance(move, str) else legal[move % len(legal)]
        lines += ["", f"step {number}", *new]
        lines.append("legal: " + " ".join(env.action_to_string(a) for a in legal))
        lines.append(f"move: {env.action_to_string(action)}")
        env.step(action)
        if any(env.rewards.values()) and not is_over(env):
            lines.append(f"paid: {env.rewards}")
    digest_step(env, digest)
    return [*lines, "", *show_step(env, table)[0], *show_end(env, digest)]


def record(setting: Setting, shown: dict[str, Any]) -> list[str]:
    """Return the shortest whole game of some seeds, or a piece of one where the option matters."""
    if not shown:
        games = [transcribe(setting, seed, iter(random_picks(seed, LONG))) for seed in range(60)]
        return min(games, key=len)
    for base in list_bases(setting.game):
        plain = {name: v for name, v in setting.options.items() if name not in shown} | base
        for seed in range(200):
            one, other = (
                transcribe(Setting(setting.game, options), seed, iter(random_picks(seed, SHORT)))
                for options in (setting.options | base, plain)
            )
            if one[4:-1] != other[4:-1]:
                return one
    raise AssertionError(f"no game shows a difference with {shown}")


def list_bases(game: Game) -> list[dict[str, Any]]:
    """Return options that make games short, for those options that matter only at the end."""
    numbers = [option for option in game.options if option.range and option.name != "num_players"]
    return [{}, *({option.name: other_values(option)[0]} for option in numbers)]


def write_missing(folder: Path, settings: dict[str, Any]) -> list[str]:
    """Record what is missing and return the names of files that would have to change."""
    changed = []
    folder.mkdir(exist_ok=True)
    for name, (setting, shown) in settings.items():
        path = folder / name
        if not path.exists():
            path.write_text("\n".join(record(setting, shown)) + "\n", encoding="utf-8")
        elif replay(path)[0] != replay(path)[1]:
            changed.append(name)
    return changed


@cache
def replay(path: Path) -> tuple[list[str], list[str]]:
    """Return the lines of a file and those that its moves give now."""
    recorded = path.read_text(encoding="utf-8").splitlines()
    setting, seed = read_header(recorded)
    try:
        return recorded, transcribe(setting, seed, iter(read_moves(recorded)))
    except ValueError as error:
        return recorded, [*recorded[:4], f"a recorded move is refused: {error}"]


@pytest.mark.parametrize("name", SETTINGS)
def test_a_recorded_game_is_replayed_line_by_line(name: str) -> None:
    assert (FOLDER / name).exists(), "record it: python tests/test_playthroughs.py --write"
    recorded, now = replay(FOLDER / name)
    for number, (old, new) in enumerate(zip(recorded, now, strict=False), start=1):
        assert new == old, f"line {number}: play changed, so {name} needs a new version of the game"
    assert len(now) == len(recorded)


@pytest.mark.parametrize("name", SETTINGS)
def test_a_recorded_game_is_of_its_setting(name: str) -> None:
    setting, shown = SETTINGS[name]
    recorded, _ = read_header(replay(FOLDER / name)[0])
    assert recorded.game is setting.game
    assert (
        setting.options.items() <= recorded.options.items()
        and shown.items() <= recorded.options.items()
    )


def test_every_game_has_recorded_games_and_no_old_ones_are_left(game: Game) -> None:
    files = {path.name for path in FOLDER.iterdir() if path.name.startswith(f"{game.name}_v")}
    expected = {name for name, (setting, _) in SETTINGS.items() if setting.game is game}
    assert files == expected and expected


def test_nothing_else_lies_in_the_folder_and_it_stays_small() -> None:
    assert {path.name for path in FOLDER.iterdir()} == set(SETTINGS)
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < MAX_TOTAL


def test_whole_games_are_recorded_to_the_end(seating: Setting) -> None:
    name = next(n for n, (setting, shown) in SETTINGS.items() if setting is seating and not shown)
    assert "end: terminated" in replay(FOLDER / name)[0]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("tables: ", "tables: 0"),
        lambda text: text.replace("legal: ", "legal: END2 ", 1),
        lambda text: text.replace("digest: ", "digest: 0"),
        lambda text: text.replace("rewards: player_0 ", "rewards: player_0 +7 "),
        lambda text: text.replace("\nstep 3\n", "\nstep 4\n"),
        lambda text: text.replace("move: ", "move: X", 1),
        lambda text: text.replace("seed: ", "seed: 1"),
    ],
    ids=["tables", "legal", "digest", "rewards", "step", "move", "seed"],
)
def test_every_part_of_a_file_counts_and_none_is_overwritten(
    seating: Setting, change: Any, tmp_path: Path
) -> None:
    name = next(n for n, (setting, _) in SETTINGS.items() if setting is seating)
    changed = change((FOLDER / name).read_text(encoding="utf-8"))
    (tmp_path / name).write_text(changed, encoding="utf-8")
    assert write_missing(tmp_path, {name: SETTINGS[name]}) == [name]
    assert (tmp_path / name).read_text(encoding="utf-8") == changed


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit(__doc__)
    for changed_name in write_missing(FOLDER, SETTINGS):
        print(f"{changed_name} would change: raise the game's version and remove the old files")
