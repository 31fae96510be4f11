"""What a game must provide: options, an action table, an observation table and its kernels."""

import hashlib
import itertools
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import Any

import numpy as np

from crapo_env.chance import Chance


@dataclass(frozen=True)
class Option:
    """A switch of the rules: its values (the default first) or its range, and what it changes."""

    name: str
    values: tuple[Any, ...]  # all values, or (default,) with a range
    meaning: str
    range: tuple[int, int] | None = None  # smallest and largest integer

    @property
    def default(self) -> Any:
        """Return the value used when the option is not given."""
        return self.values[0]

    def encode(self, value: Any) -> int:
        """Return the number that stands for `value` in a state.

        Raises:
            ValueError: if the option has no such value.
        """
        if self.range is not None:
            low, high = self.range
            if (
                isinstance(value, int | np.integer)
                and not isinstance(value, bool)
                and low <= value <= high
            ):
                return int(value)
            raise ValueError(
                f"option {self.name} must be an integer from {low} to {high}, not {value!r}"
            )
        if type(value) in map(type, self.values) and value in self.values:
            return int(value) if isinstance(value, bool) else self.values.index(value)
        raise ValueError(f"option {self.name} must be one of {list(self.values)}, not {value!r}")

    def decode(self, number: int) -> Any:
        """Return the value that stands behind a number of a state, the inverse of `encode`."""
        if self.range is not None:
            return int(number)
        return bool(number) if isinstance(self.default, bool) else self.values[number]

    def describe_values(self) -> str:
        """Return the values as text, the default first."""
        if self.range is not None:
            return f"{self.default} ({self.range[0]} to {self.range[1]})"
        return ", ".join(str(value) for value in self.values)


MAX_STEPS = Option(
    "max_steps", (0,), "decisions after which the game is truncated; 0: never", (0, 10**9)
)


@dataclass(frozen=True)
class ActionBlock:
    """A block of consecutive action ids, one for each combination of labels, last axis fastest."""

    name: str
    text: str  # with one {} per axis
    axes: tuple[tuple[str, ...], ...]
    meaning: str

    @property
    def size(self) -> int:
        """Return the number of ids in the block."""
        return math.prod(len(axis) for axis in self.axes)

    def names(self) -> list[str]:
        """Return the state-independent name of each action of the block."""
        return [self.text.format(*labels) for labels in itertools.product(*self.axes)]


@dataclass(frozen=True)
class ActionTable:
    """All actions of a game: the one source of ids, count, names and documentation."""

    blocks: tuple[ActionBlock, ...]

    @cached_property
    def offsets(self) -> dict[str, int]:
        """Return the first id of each block."""
        starts = itertools.accumulate((block.size for block in self.blocks), initial=0)
        return {block.name: start for block, start in zip(self.blocks, starts, strict=False)}

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Return the state-independent name of every action, by id."""
        return tuple(name for block in self.blocks for name in block.names())

    def __len__(self) -> int:
        """Return the number of actions."""
        return sum(block.size for block in self.blocks)

    def encode(self, block_name: str, *indices: int) -> int:
        """Return the id of the action with the given indices (from 0) in a block.

        Raises:
            ValueError: if the block has no such action.
        """
        block = next((b for b in self.blocks if b.name == block_name), None)
        if block is None:
            raise ValueError(f"no action block {block_name!r}; there are {', '.join(self.offsets)}")
        shape = tuple(len(axis) for axis in block.axes)
        if len(indices) != len(shape) or not all(
            0 <= i < n for i, n in zip(indices, shape, strict=True)
        ):
            raise ValueError(f"block {block_name} has the shape {shape}, so no action {indices}")
        return self.offsets[block_name] + (
            int(np.ravel_multi_index(indices, shape)) if shape else 0
        )

    def decode(self, action: int) -> tuple[str, tuple[int, ...]]:
        """Return the block name and the indices of an action id, the inverse of `encode`.

        Raises:
            ValueError: if there is no such action.
        """
        for block in reversed(self.blocks):
            start = self.offsets[block.name]
            if start <= action < len(self):
                shape = tuple(len(axis) for axis in block.axes)
                place = np.unravel_index(action - start, shape) if shape else ()
                return block.name, tuple(int(i) for i in place)
        raise ValueError(f"action {action} is out of range 0 to {len(self) - 1}")

    def markdown(self) -> str:
        """Return the table for the game's README."""
        lines = ["| ids | block | text | meaning |", "| --- | --- | --- | --- |"]
        for block in self.blocks:
            start = self.offsets[block.name]
            last = start + block.size - 1
            ids = f"{start}" if start == last else f"{start}-{last}"
            example = block.text.format(*(axis[0] for axis in block.axes))
            lines.append(f"| {ids} | `{block.name}` | `{example}` | {block.meaning} |")
        return "\n".join(lines)


@dataclass(frozen=True)
class Field:
    """A named piece of the observation."""

    name: str
    shape: tuple[int, ...]
    high: int  # largest value; the smallest is 0
    meaning: str

    @property
    def size(self) -> int:
        """Return the number of values."""
        return math.prod(self.shape)


@dataclass(frozen=True)
class FieldTable:
    """All fields of an observation: the one source of offsets, bounds and documentation."""

    fields: tuple[Field, ...]

    @cached_property
    def offsets(self) -> dict[str, int]:
        """Return the index of the first value of each field."""
        starts = itertools.accumulate((field.size for field in self.fields), initial=0)
        return {field.name: start for field, start in zip(self.fields, starts, strict=False)}

    @cached_property
    def high(self) -> np.ndarray:
        """Return the largest value of every entry, int8 (size,)."""
        return np.concatenate([np.full(field.size, field.high, np.int8) for field in self.fields])

    def __len__(self) -> int:
        """Return the length of an observation."""
        return len(self.high)

    def split(self, observation: np.ndarray) -> dict[str, np.ndarray]:
        """Return views of an observation's fields by name, (..., size) to (..., *field.shape)."""
        lead = observation.shape[:-1]
        return {
            field.name: observation[..., start : start + field.size].reshape(*lead, *field.shape)
            for field, start in zip(self.fields, self.offsets.values(), strict=True)
        }

    def markdown(self) -> str:
        """Return the table for the game's README."""
        lines = ["| index | field | shape | values | meaning |", "| --- | --- | --- | --- | --- |"]
        for field in self.fields:
            start = self.offsets[field.name]
            last = start + field.size - 1
            index = f"{start}" if start == last else f"{start}-{last}"
            shape = " x ".join(str(n) for n in field.shape)
            lines.append(
                f"| {index} | `{field.name}` | {shape} | 0-{field.high} | {field.meaning} |"
            )
        return "\n".join(lines)


def record_dtype(max_players: int, fields: Sequence[tuple[Any, ...]]) -> np.dtype:
    """Return the state record of a game: the fields that all games share, then its own."""
    shared = [
        ("seed", np.uint64),  # of this deal
        ("rng", np.uint64),  # state of the generator
        ("rewards", np.float32, (max_players,)),  # of the last action, by seat
        ("num_steps", np.int32),  # decisions made in this game
        ("max_steps", np.int32),  # option: truncation after so many decisions, 0 = never
        ("current_player", np.int8),  # seat on turn
        ("num_players", np.int8),
        ("terminated", np.int8),  # 1: ended by the rules
        ("truncated", np.int8),  # 1: ended by max_steps
    ]
    by_size = sorted([*shared, *fields], key=lambda field: -np.dtype(field[1]).itemsize)
    unused = -np.dtype(by_size).itemsize % 8  # named, so that copies and bytes never hold garbage
    if unused:
        by_size.append(("unused", np.int8, (unused,)))
    return np.dtype((np.record, np.dtype(by_size, align=True)))


@dataclass(frozen=True)
class Features:
    """What a scorer of actions sees of a game: the position that each legal action leads to.

    All features are int8 from 0 to the `high` of their field. Those of a position are public to the
    seat that sees it; a policy gets them through `states_behind`.
    """

    position: FieldTable  # of a position, as one seat sees it
    hidden: FieldTable  # of what this seat cannot see, for critics in training
    # Kernels; `rows` (k,) are indices of games, `out` is written in place, one row each.
    write_afterstates: Callable[..., int]  # (games, rows, legal, num_legal, out): of every action
    write_positions: Callable[..., None]  # (games, rows, seats, out): of the position as it stands
    write_hidden: Callable[..., None]  # (games, rows, seats, out)
    potential: np.ndarray  # (len(position),) float32: a position's potential, for reward shaping

    def digest(self) -> str:
        """Return a hash of both tables: what a network of this input depends on."""
        tables = (self.position.fields, self.hidden.fields)
        text = json.dumps([[[f.name, f.shape, f.high] for f in fields] for fields in tables])
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True, eq=False)  # each game is one object
class Game:
    """A game: its facts, its tables and the functions that play it.

    Kernels work in place on arrays of `dtype` records; `g` is one record inside a kernel, a whole
    array of length 1 where a plain function takes `games`. Every `dtype` is made by `record_dtype`.
    """

    name: str
    version: int  # raised when play, ids, observations or rewards change
    dtype: np.dtype
    options: tuple[Option, ...]  # MAX_STEPS last
    actions: ActionTable
    fields: FieldTable
    features: Features
    deck_copies: int  # how often each of the 52 cards is in the deck
    max_players: int
    # Kernels; seeds are (n,) uint64, observations, masks and legal ids are written in place.
    reset: Callable[..., None]  # (games, seeds): deal new games
    deal: Callable[..., None]  # (games, deck int8, seeds): lay out one written deck in each game
    refresh: Callable[..., None]  # (games, observations, masks, legal, num_legal), for the movers
    step: Callable[..., int]  # see `Batch.step`
    share: Callable[..., None]  # the same by several threads, see `Crew`
    play: Callable[..., int]  # the same for one game, see the kernels
    observe: Callable[..., None]  # (games, seat, observations): what one seat sees in each game
    playout: Callable[..., int]  # (games, seeds): play at random to the end, return the decisions
    resample: Callable[..., None]  # (games, seat, seeds): redraw what the seat cannot know
    determinize: Callable[..., None]  # (observations, seat, seeds, games): states behind them
    # Plain functions.
    check_state: Callable[[np.ndarray], None]  # (games): ValueError if a record is inconsistent
    max_decisions: Callable[[Mapping[str, Any]], int]  # bound on the decisions of a game
    action_to_string: Callable[[np.ndarray, int], str]  # (games, action), in the state's notation
    render: Callable[[np.ndarray, int | None], str]  # (games, seat): the table as that seat sees it
    chance: Chance
    check_options: Callable[[Mapping[str, Any]], None] | None = None  # ValueError if two clash
    points: str | None = None  # field of the record with each seat's points, fewer are better

    @property
    def id(self) -> str:
        """Return the public name with the version, such as `crapo_v0`."""
        return f"{self.name}_v{self.version}"

    def read_options(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return all options of the game, defaults filled in.

        Raises:
            ValueError: if an option is unknown or has a wrong value, or two do not fit together.
        """
        known = {option.name: option for option in self.options}
        for name in options:
            if name not in known:
                close = get_close_matches(str(name), known, n=1)
                hint = f"; did you mean {close[0]!r}?" if close else "."
                raise ValueError(
                    f"{self.name} has no option {name!r}{hint} The options are {', '.join(known)}"
                )
        values = {name: options.get(name, option.default) for name, option in known.items()}
        for name, option in known.items():
            option.encode(values[name])
        if self.check_options is not None:
            self.check_options(values)
        return values

    def new_games(self, n: int, options: Mapping[str, Any]) -> np.ndarray:
        """Return `n` zeroed records with the options set, ready for `reset` or `deal`."""
        games = np.zeros(n, self.dtype)
        for name, value in self.read_options(options).items():
            games[name] = next(o for o in self.options if o.name == name).encode(value)
        if "num_players" not in options and not any(o.name == "num_players" for o in self.options):
            games["num_players"] = self.max_players
        return games

    def option_values(self, games: np.ndarray) -> dict[str, Any]:
        """Return the options that are in force in the first of `games`."""
        return {option.name: option.decode(games[option.name][0]) for option in self.options}

    def resample_hidden(self, games: np.ndarray, seat: int, seed: int) -> np.ndarray:
        """Return a copy of `games` in which all that `seat` cannot know is drawn anew.

        The redraw has exactly the distribution of the hidden cards given what the seat knows, if
        nothing is inferred from how the players play. Game `i` of the copy uses the seed `seed +
        i`.
        """
        copy = games.copy()
        self.resample(copy, seat, np.uint64(seed) + np.arange(len(games), dtype=np.uint64))
        return copy

    def states_behind(self, observations: np.ndarray, seat: int, seed: int) -> np.ndarray:
        """Return a state that `seat` may be in for each observation, (n, len(fields)) int8.

        It is the inverse of the encoder with `resample_hidden`'s redraw, so observing it gives the
        same observation. Game `i` uses the seed `seed + i`.
        """
        games = np.zeros(len(observations), self.dtype)
        seeds = np.uint64(seed) + np.arange(len(games), dtype=np.uint64)
        self.determinize(observations, seat, seeds, games)
        return games

    def tables_hash(self) -> str:
        """Return a hash of the version, action and observation tables: what a policy depends on."""
        blocks = [[b.name, b.text, b.axes] for b in self.actions.blocks]
        fields = [[f.name, f.shape, f.high] for f in self.fields.fields]
        text = json.dumps([self.name, self.version, blocks, fields])
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def string_to_action(self, games: np.ndarray, text: str, legal: Sequence[int]) -> int:
        """Return the legal action whose text is `text`, the inverse of `action_to_string`.

        Raises:
            ValueError: if no legal action has this text.
        """
        names = {self.action_to_string(games, action): action for action in legal}
        if text not in names:
            raise ValueError(f"{text!r} is no legal move here; legal are {' '.join(names)}")
        return names[text]

    def options_markdown(self) -> str:
        """Return the option table for the game's README."""
        lines = ["| option | values (default first) | meaning |", "| --- | --- | --- |"]
        lines += [f"| `{o.name}` | {o.describe_values()} | {o.meaning} |" for o in self.options]
        return "\n".join(lines)
