"""How a game says what chance decides: which hidden card is seen next, and how likely each is."""

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
