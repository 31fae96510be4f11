"""What a player of Reis nos cantos may know, as named fields, and how they are written (R19).

No card comes back from the table, so a perfect memory adds nothing to what lies there: each card
that is neither there nor in the own hand may be in any other hand and anywhere in the stock.
"""

from typing import Any

import numpy as np

from crapo_env.bits import count_bits
from crapo_env.cards import NUM_CARDS
from crapo_env.game import Field, FieldTable
from crapo_env.jit import njit
from crapo_env.reis_nos_cantos.state import (
    ALL_CARDS,
    MAX_PLAYERS,
    MIN_PLAYERS,
    NUM_PLACES,
    cards_of,
    stock_size,
)

_PER_SEAT = "by seat, the observer first and then clockwise, 0 for absent seats"

FIELDS = FieldTable(
    (
        Field("piles", (NUM_PLACES, NUM_CARDS), 1, "1 where the place holds the card"),
        Field("hand", (NUM_CARDS,), 1, "the own hand"),
        Field("unseen", (NUM_CARDS,), 1, "cards in the other hands or the stock"),
        Field("hand_sizes", (MAX_PLAYERS,), NUM_CARDS, f"number of cards in hand {_PER_SEAT}"),
        Field("stock_size", (1,), NUM_CARDS, "number of cards left to draw"),
        Field("on_turn", (MAX_PLAYERS,), 1, f"1 for the player on turn, {_PER_SEAT}"),
        Field("dealer", (MAX_PLAYERS,), 1, f"1 for the dealer of this round (R6), {_PER_SEAT}"),
        Field("totals", (MAX_PLAYERS, 2), 99, f"points, hundreds and rest, {_PER_SEAT}"),
        Field("dry_turns", (1,), MAX_PLAYERS, "dry turns in a row before this one (R15)"),
        Field("turn_is_dry", (1,), 1, "1 if this turn had no draw, play or move so far (R15)"),
        Field("num_players", (MAX_PLAYERS - MIN_PLAYERS + 1,), 1, "1 for 2, 3 or 4 players"),
        Field("rules", (3,), 1, "options draw_at, king_pile_to_corner, reward: 0 default"),
        Field("target", (2,), 99, "hundreds and rest of the option"),
    )
)

OBSERVATION_SIZE = len(FIELDS)
_AT = FIELDS.offsets
PILES, HAND, UNSEEN = _AT["piles"], _AT["hand"], _AT["unseen"]
HAND_SIZES, STOCK_SIZE = _AT["hand_sizes"], _AT["stock_size"]
ON_TURN, DEALER, TOTALS = _AT["on_turn"], _AT["dealer"], _AT["totals"]
DRY_TURNS, TURN_IS_DRY = _AT["dry_turns"], _AT["turn_is_dry"]
NUM_PLAYERS, RULES, TARGET = _AT["num_players"], _AT["rules"], _AT["target"]


# The eight entries that a byte of a set of cards stands for.
_ENTRIES = np.array([[byte >> j & 1 for j in range(8)] for byte in range(256)], np.int8)
_BYTE = np.uint64(255)
_S8 = np.uint64(8)


@njit
def observe(g: Any, seat: int, out: Any) -> None:
    """Write what `seat` may know of match `g` into `out` (OBSERVATION_SIZE,) int8."""
    hand = np.uint64(g.hands[seat])
    unseen = ALL_CARDS ^ hand
    for place in range(NUM_PLACES):
        cards = cards_of(np.int64(g.piles[place]))
        unseen ^= cards
        _write_cards(cards, PILES + place * NUM_CARDS, out)
    _write_cards(hand, HAND, out)
    _write_cards(unseen, UNSEEN, out)
    out[HAND_SIZES:] = 0
    _write_seats(g, seat, out)
    out[STOCK_SIZE] = stock_size(g)
    out[DRY_TURNS] = g.dry_turns
    out[TURN_IS_DRY] = g.turn_is_dry
    out[NUM_PLAYERS + np.int64(g.num_players) - MIN_PLAYERS] = 1
    out[RULES] = g.draw_at
    out[RULES + 1] = g.king_pile_to_corner
    out[RULES + 2] = g.reward
    out[TARGET] = g.target // 100
    out[TARGET + 1] = g.target % 100


@njit
def _write_cards(cards: Any, start: int, out: Any) -> None:
    """Write a set of cards as 52 entries, eight at a time.

    This spoils the four entries that follow, so the sets are written in the order of the fields.
    """
    at = np.uint64(start)
    for _ in range(0, NUM_CARDS, 8):
        entries = _ENTRIES[cards & _BYTE]
        for j in range(8):
            out[at + np.uint64(j)] = entries[j]
        cards >>= _S8
        at += _S8


@njit
def _write_seats(g: Any, seat: int, out: Any) -> None:
    """Write what there is of every seat, beginning with the observer's."""
    n = np.int64(g.num_players)
    p = np.int64(seat)
    for k in range(n):
        out[HAND_SIZES + k] = count_bits(np.uint64(g.hands[p]))
        out[ON_TURN + k] = g.current_player == p
        out[DEALER + k] = g.dealer == p
        total = np.int64(g.totals[p])
        out[TOTALS + 2 * k] = total // 100
        out[TOTALS + 2 * k + 1] = total % 100
        p += 1
        if p == n:
            p -= n
