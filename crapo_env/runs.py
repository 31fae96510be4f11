"""Descending runs of alternating colour, each packed into one integer.

Both games build only such runs, base first, top last. A run covers consecutive ranks, and at each
rank its colour is fixed by the run's phase, so one bit per rank names the card. The bits of a code,
from the lowest:

    13  at rank r: 0 = hearts or spades, 1 = diamonds or clubs
     4  rank of the top card (the lowest rank)
     1  phase: colour of the cards of even rank in this run, 0 = red, 1 = black
     1  always 1, so that an empty place is the code 0
     4  rank of the base card (the highest rank)
"""

from collections.abc import Sequence

import numpy as np

from crapo_env.cards import CARD_NAMES, NUM_RANKS, card_number
from crapo_env.jit import njit

_TOP = 13
_PHASE = 17
_FULL = 18
_BASE = 19
_KEY = 0b111111  # top rank, phase and the constant 1
EMPTY = 0


@njit
def run_of(card: int) -> int:
    """Return the run that holds one card."""
    suit, rank = card // NUM_RANKS, card % NUM_RANKS
    phase = (suit ^ rank) & 1
    return (suit >> 1) << rank | rank << _TOP | phase << _PHASE | 1 << _FULL | rank << _BASE


@njit
def top_rank(run: int) -> int:
    """Return the rank of the top card of a non-empty run."""
    return run >> _TOP & 15


@njit
def base_rank(run: int) -> int:
    """Return the rank of the base card of a non-empty run."""
    return run >> _BASE & 15


@njit
def phase(run: int) -> int:
    """Return the phase of a run: the colour of its cards of even rank, 0 = red, 1 = black."""
    return run >> _PHASE & 1


@njit
def run_length(run: int) -> int:
    """Return the number of cards of a run, 0 if it is empty."""
    return (run >> _BASE & 15) - (run >> _TOP & 15) + (run >> _FULL & 1)


@njit
def card_at(run: int, rank: int) -> int:
    """Return the card of the given rank in a run that covers this rank."""
    suit = (run >> _PHASE ^ rank) & 1 | (run >> rank & 1) << 1
    return suit * NUM_RANKS + rank


@njit
def top_card(run: int) -> int:
    """Return the top card of a non-empty run."""
    return card_at(run, run >> _TOP & 15)


@njit
def fits_key(card: int) -> int:
    """Return the key of the runs on which `card` may be built; a king's key matches none."""
    rank = card % NUM_RANKS
    return (rank + 1) | ((card // NUM_RANKS ^ rank) & 1) << 4 | 1 << 5


@njit
def top_key(run: int) -> int:
    """Return the key of a run, to be compared with `fits_key`; 0 if the run is empty."""
    return run >> _TOP & _KEY


@njit
def push(run: int, card: int) -> int:
    """Put a card that fits (or any card, if the run is empty) on top of a run."""
    return run_of(card) if run == 0 else join(run, run_of(card))


@njit
def join(run: int, upper: int) -> int:
    """Put the run `upper` on the run `run`; its base must fit the top."""
    return run & ~(15 << _TOP) | upper & ((1 << _PHASE) - 1)


@njit
def count_to_fit(run: int, target: int) -> int:
    """Return how many top cards of `run` would continue the run `target`, 0 if none do."""
    n = (target >> _TOP & 15) - (run >> _TOP & 15)
    same_phase = (run >> _PHASE & 3) == (target >> _PHASE & 3)
    return n if same_phase and 0 < n <= run_length(run) else 0


@njit
def top_part(run: int, n: int) -> int:
    """Return the run of the `n` top cards, 1 <= n <= length."""
    base = (run >> _TOP & 15) + n - 1
    suits = (2 << base) - 1
    return run & ~((15 << _BASE) | 0x1FFF) | run & suits & 0x1FFF | base << _BASE


@njit
def without_top(run: int, n: int) -> int:
    """Return the run without its `n` top cards, empty if none is left."""
    top = (run >> _TOP & 15) + n
    if top > run >> _BASE & 15:
        return 0
    gone = (1 << top) - 1
    return run & ~(15 << _TOP) & ~gone | top << _TOP


def run_from_names(names: Sequence[str]) -> int:
    """Pack written cards, base first, into a run.

    Raises:
        ValueError: if the cards are not a descending run of alternating colour.
    """
    run = 0
    for name in names:
        card = card_number(name)
        if run and fits_key(card) != top_key(run):
            raise ValueError(f"{name} does not continue the run {' '.join(names)}")
        run = int(push(run, card))
    return run


def run_to_names(run: int) -> list[str]:
    """Return the card names of a run, base first."""
    if run == 0:
        return []
    run = int(np.int64(run))
    return [CARD_NAMES[card_at(run, r)] for r in range(base_rank(run), top_rank(run) - 1, -1)]
