"""Environments as bytes: a checksum, a header of plain JSON, then the record of the game.

Nothing in the bytes is executed, so they may come from anywhere. Whatever is wrong with them is a
`ValueError`.
"""

import hashlib
import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from crapo_env.game import Game
from crapo_env.registry import GAMES

FORMAT = "crapo_env state 1"
TURN = (  # the attributes of an environment that hold where the players stand
    "agents",
    "agent_selection",
    "_skip_agent_selection",
    "rewards",
    "_cumulative_rewards",
    "terminations",
    "truncations",
)


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


def _is_bool(value: Any) -> bool:
    return type(value) is bool


_TABLES = (  # those of them that hold one value per agent
    ("rewards", "a number", _is_number),
    ("_cumulative_rewards", "a number", _is_number),
    ("terminations", "true or false", _is_bool),
    ("truncations", "true or false", _is_bool),
)


def pack(game: Game, header: dict[str, Any], record: bytes) -> bytes:
    """Return header and record as bytes, with what is needed to know them again."""
    about = {"format": FORMAT, "game": game.id, "tables": game.tables_hash()}
    body = json.dumps(about | header).encode() + b"\n" + record
    return hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def unpack(data: bytes) -> tuple[Game, dict[str, Any], np.ndarray]:
    """Return the game, the header and the record, (1,) of the game's dtype, that `pack` joined.

    Raises:
        ValueError: if the bytes are damaged, of another game or version, or never came from `pack`.
    """
    header, record = _split(data)
    if header.get("format") != FORMAT:
        raise ValueError(
            f"these bytes have the format {header.get('format')!r}, but this package {FORMAT!r}"
        )
    game = next((game for game in GAMES.values() if game.id == header.get("game")), None)
    if game is None:
        ours = ", ".join(game.id for game in GAMES.values())
        raise ValueError(
            f"these bytes have game {header.get('game')!r}, but this package has {ours}"
        )
    if header.get("tables") != game.tables_hash():
        raise ValueError(
            f"these bytes have tables {header.get('tables')!r}, but {game.id} of this package has "
            f"{game.tables_hash()}"
        )
    if len(record) != game.dtype.itemsize:
        raise ValueError(f"a state of {game.id} has {game.dtype.itemsize} bytes, not {len(record)}")
    return game, header, np.frombuffer(record, game.dtype)


def _split(data: bytes) -> tuple[dict[str, Any], bytes]:
    """Split the bytes into header and record, once the checksum is right."""
    if not isinstance(data, bytes | bytearray):
        raise ValueError(f"a saved environment is bytes, not {type(data).__name__}")
    checksum, _, body = bytes(data).partition(b"\n")
    if hashlib.sha256(body).hexdigest().encode() != checksum:
        raise ValueError(
            "these bytes are damaged or no environment of crapo_env: the checksum is wrong"
        )
    text, _, record = body.partition(b"\n")
    try:
        header = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("these bytes have no header that can be read") from None
    if not isinstance(header, dict):
        raise ValueError("these bytes have no header that can be read")
    return header, record


def read_arguments(header: dict[str, Any]) -> dict[str, Any]:
    """Return the keyword arguments of the environment's constructor.

    Raises:
        ValueError: if they are missing or of a wrong kind.
    """
    names = ("render_mode", "illegal", "copy")
    options = header.get("options")
    if not isinstance(options, dict) or set(names) & set(options) or "game" in options:
        raise ValueError(f"the header's options are no options: {options!r}")
    arguments = {name: header.get(name) for name in names}
    if type(arguments["copy"]) is not bool or not isinstance(arguments["illegal"], str):
        raise ValueError(f"the header's arguments are of a wrong kind: {arguments}")
    return arguments | options


def check_options(game: Game, options: dict[str, Any], games: np.ndarray) -> None:
    """Check that a record is of a game with these options.

    Raises:
        ValueError: naming the option and both values.
    """
    for option in game.options:
        number = int(games[option.name][0])
        if number != option.encode(options[option.name]):
            raise ValueError(
                f"the header says {option.name}={options[option.name]!r}, but the state {number}"
            )


def read_turn(turn: Any, seats: Sequence[str], games: np.ndarray) -> dict[str, Any]:
    """Return the entry "turn" of a header, checked: the attributes in TURN.

    Args:
        turn: as it stands in the header.
        seats: all agents by seat.
        games: the record, checked.

    Raises:
        ValueError: if the entries contradict each other or the record.
    """
    if not isinstance(turn, dict) or sorted(turn) != sorted(TURN):
        raise ValueError(f"the header's turn must have the entries {', '.join(TURN)}")
    agents = turn["agents"]
    if not isinstance(agents, list) or agents != [seat for seat in seats if seat in agents]:
        raise ValueError(f"agents must be some of {', '.join(seats)} in this order, not {agents!r}")
    for name, kind, fits in _TABLES:
        table = turn[name]
        if (
            not isinstance(table, dict)
            or list(table) != agents
            or not all(map(fits, table.values()))
        ):
            raise ValueError(f"{name} must give {kind} for each of {agents}, not {table!r}")
    if turn["_skip_agent_selection"] not in (None, *seats):
        raise ValueError(f"there is no agent {turn['_skip_agent_selection']!r} to come back to")
    if turn["agent_selection"] not in (agents or seats):
        raise ValueError(f"no agent {turn['agent_selection']!r} is left to be on turn")
    _check_over(turn, seats, games)
    return turn


def _check_over(turn: dict[str, Any], seats: Sequence[str], games: np.ndarray) -> None:
    """Check that the game is over for all agents, or goes on for all and the record agrees."""
    over = [turn["terminations"][agent] or turn["truncations"][agent] for agent in turn["agents"]]
    if all(over):
        return
    ended = games["terminated"][0] or games["truncated"][0]
    on_turn = seats[games["current_player"][0]]
    if any(over) or ended or turn["agents"] != list(seats) or turn["agent_selection"] != on_turn:
        raise ValueError(
            "the header's agents do not fit the state: who is on turn, or whether it ended"
        )
