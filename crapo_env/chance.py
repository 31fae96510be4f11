"""How a game says what chance decides: which hidden card is seen next, and with what probability."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

DEAL = -1  # stands for an action where chance decides how a game starts


@dataclass(frozen=True)
class ChanceNode:
    """A point at which chance decides one thing: a card that is seen, or who starts."""

    seat: int  # the seat that alone sees the outcome, -1 if everybody does
    outcomes: tuple[int, ...]  # ascending: a card, or 52 + the seat that starts
    probabilities: tuple[float, ...]  # exact, given all outcomes so far


@dataclass(frozen=True)
class Chance:
    """How a game is played with hidden cards that are drawn no earlier than somebody sees them.

    `games` is a record array of length 1, `action` an action or `DEAL`, `drawn` the outcomes that
    chance has given for it so far.
    """

    next_node: Callable[[np.ndarray, int, Sequence[int]], ChanceNode | None]  # None: all is drawn
    play: Callable[[np.ndarray, int, Sequence[int]], None]  # in place, once all is drawn
    read: Callable[[np.ndarray, int, np.ndarray], list[int]]  # (before, action, after): as it fell
    redraw: Callable[[np.ndarray, int, int], dict[int, int]]  # (games, seat, seed): new hidden card
    max_return: Callable[[Mapping[str, Any]], float]  # bound on what a seat receives in a game
    pays_at_end: Callable[[Mapping[str, Any]], bool]  # whether nothing is paid before


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
