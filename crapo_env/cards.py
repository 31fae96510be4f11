"""Playing cards as numbers, their names, and the random numbers that shuffle them.

A card is `suit * 13 + rank`: suits hearts, spades, diamonds, clubs (so that odd suits are black),
ranks from the ace (0) to the king (12). Axis letters: `c` a card, `n` a number of things.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from crapo_env.jit import njit

SUITS = "hsdc"
RANKS = "A23456789TJQK"
NUM_RANKS = 13
NUM_CARDS = 52
KING = 12
CARD_NAMES = tuple(rank + suit for suit in SUITS for rank in RANKS)
CARD_NUMBERS = {name: card for card, name in enumerate(CARD_NAMES)}
SUIT_SYMBOLS = "♥♠♦♣"

_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xFF51AFD7ED558CCD)
_MIX_2 = np.uint64(0xC4CEB9FE1A85EC53)
_S33 = np.uint64(33)
_S32 = np.uint64(32)
_S1 = np.uint64(1)
_LOW_32 = np.uint64(0xFFFFFFFF)
_TWO_32 = np.uint64(1 << 32)


@njit
def mix64(x: Any) -> Any:
    """Scramble a uint64 one to one (MurmurHash3's finaliser); zero stays zero."""
    x = np.uint64(x)
    x ^= x >> _S33
    x *= _MIX_1
    x ^= x >> _S33
    x *= _MIX_2
    return x ^ (x >> _S33)


@njit
def seed_game(g: Any, seed: Any) -> None:
    """Start the generator of game `g` from a uint64 seed; different seeds give different states."""
    g.seed = np.uint64(seed)
    g.rng = mix64(np.uint64(seed) + _STEP)


@njit
def next_seed(g: Any) -> Any:
    """Return the seed of the next deal, always below 2**63 (see `seeds/README.md`)."""
    return random_bits(g) >> _S1


@njit
def random_bits(g: Any) -> Any:
    """Return 64 random bits from the generator in `g.rng` (SplitMix64, Steele et al. 2014)."""
    g.rng = np.uint64(g.rng) + _STEP
    return mix64(g.rng)


@njit
def random_below(g: Any, n: int) -> int:
    """Return a uniform integer in 0..n-1, exactly (Lemire 2019, 32 bits with rejection)."""
    bound = np.uint64(n)
    product = (random_bits(g) >> _S32) * bound
    if (product & _LOW_32) < bound:
        threshold = (_TWO_32 - bound) % bound
        while (product & _LOW_32) < threshold:
            product = (random_bits(g) >> _S32) * bound
    return np.int64(product >> _S32)


@njit
def next_state(state: Any) -> Any:
    """Advance a uint64 generator that lives outside a game: a player's own randomness."""
    return np.uint64(state) + _STEP


@njit
def below(state: Any, n: int) -> int:
    """Return an integer in 0..n-1 from a generator's state, uniform up to n / 2**32."""
    return np.int64(((mix64(state) >> _S32) * np.uint64(n)) >> _S32)


@njit
def shuffle(g: Any, cards: Any) -> None:
    """Shuffle the array `cards` in place with the generator of game `g` (Fisher-Yates)."""
    for i in range(len(cards) - 1, 0, -1):
        j = random_below(g, i + 1)
        cards[i], cards[j] = cards[j], cards[i]


def card_number(name: str) -> int:
    """Return the number of a card written as rank and suit, such as `"7h"`.

    Raises:
        ValueError: if `name` is no card name.
    """
    if not isinstance(name, str) or name not in CARD_NUMBERS:
        raise ValueError(
            f"{name!r} is no card: write a rank of {RANKS} and a suit of {SUITS}, such as '7h'"
        )
    return CARD_NUMBERS[name]


def read_deck(names: Sequence[str], copies: int) -> np.ndarray:
    """Turn a written deck into card numbers, int8.

    Args:
        names: the cards in dealing order.
        copies: how often each of the 52 cards must occur.

    Raises:
        ValueError: if a name is no card, the length is wrong or a card occurs too often.
    """
    if isinstance(names, str) or not isinstance(names, Sequence | np.ndarray):
        raise ValueError(f"a deck is a list of card names such as '7h', not {type(names).__name__}")
    if len(names) != copies * NUM_CARDS:
        raise ValueError(f"a deck for this game has {copies * NUM_CARDS} cards, not {len(names)}")
    cards = np.array([card_number(name) for name in names], np.int8)
    counts = np.bincount(cards, minlength=NUM_CARDS)
    wrong = [f"{CARD_NAMES[c]} {counts[c]} times" for c in np.flatnonzero(counts != copies)]
    if wrong:
        raise ValueError(
            f"each card must occur {copies} times in this deck, but it has " + ", ".join(wrong)
        )
    return cards
