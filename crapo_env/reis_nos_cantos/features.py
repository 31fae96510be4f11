"""What a scorer of actions sees: the position that each legal action leads to, as small numbers.

All is seen from one seat and public to it, so states that the seat cannot tell apart have the same
features. The rules never ask for a suit, only for its colour, so cards are counted by *type*: rank
plus 13 for the black ones. `hidden` holds what only a critic may see, in training.
"""

from typing import Any

import numpy as np

from crapo_env.bits import count_bits
from crapo_env.cards import KING, NUM_CARDS, NUM_RANKS
from crapo_env.game import Features, Field, FieldTable
from crapo_env.jit import njit
from crapo_env.reis_nos_cantos.actions import END, PILE_TO_PILE
from crapo_env.reis_nos_cantos.state import (
    ALL_CARDS,
    KINGS,
    MAX_PLAYERS,
    MIN_PLAYERS,
    NO_CARDS,
    NUM_CROSSES,
    NUM_PLACES,
    bit,
    cards_of,
    stock_size,
)
from crapo_env.runs import base_rank, join, phase, push, top_rank

NUM_TYPES = NUM_CARDS // 2
_FULL_TOTAL = 100  # a total that has reached the target

POSITION = FieldTable(
    (
        Field("hand", (NUM_TYPES,), 2, "own cards of a type"),
        Field("unseen", (NUM_TYPES,), 2, "cards of a type in the other hands or the stock"),
        Field("open", (NUM_TYPES,), 2, "piles that take a card of the type (R8)"),
        Field("hand_fits", (NUM_TYPES,), 2, "own cards of a type that some pile takes"),
        Field("unseen_fits", (NUM_TYPES,), 2, "unseen cards of a type that some pile takes"),
        Field("bases", (NUM_TYPES,), 2, "base cards of the piles that may be moved (R11)"),
        Field("movable", (1,), 4, "piles that could be put on another one now"),
        Field("empty", (2,), 4, "empty crosses, empty corners"),
        Field("own", (4,), 13, "own cards up to 13, kings, cards that fit, next in a run of two"),
        Field("unseen_share", (1,), 100, "per cent of the unseen cards that fit"),
        Field("stock_size", (1,), 36, "cards left to draw"),
        Field("sizes", (MAX_PLAYERS - 1,), 13, "cards of the next seats up to 13, clockwise"),
        Field("one_left", (MAX_PLAYERS - 1,), 1, "1 if a next seat has a single card"),
        Field("dry", (2,), MAX_PLAYERS, "dry turns in a row, 1 if this turn was dry so far (R15)"),
        Field("num_players", (MAX_PLAYERS - MIN_PLAYERS + 1,), 1, "1 for 2, 3 or 4 players"),
        Field("moment", (3,), 1, "1 if on turn; the turn is over; the round is won"),
        Field("move", (5,), 1, "to a pile, an empty cross, a corner; a pile moved; the turn ended"),
        Field("totals", (MAX_PLAYERS,), _FULL_TOTAL, "per cent of the target, own total first"),
    )
)
HIDDEN = FieldTable(
    (Field("hands", (MAX_PLAYERS - 1, NUM_TYPES), 2, "cards of the next seats by type"),)
)

_AT = POSITION.offsets
HAND, UNSEEN, OPEN, BASES = _AT["hand"], _AT["unseen"], _AT["open"], _AT["bases"]
HAND_FITS, UNSEEN_FITS = _AT["hand_fits"], _AT["unseen_fits"]
MOVABLE, EMPTY, OWN, UNSEEN_SHARE = _AT["movable"], _AT["empty"], _AT["own"], _AT["unseen_share"]
STOCK_SIZE, SIZES, ONE_LEFT, DRY = _AT["stock_size"], _AT["sizes"], _AT["one_left"], _AT["dry"]
NUM_PLAYERS, MOMENT, MOVE, TOTALS = (
    _AT["num_players"],
    _AT["moment"],
    _AT["move"],
    _AT["totals"],
)
_MOST = 13
_HALF = np.uint64(NUM_TYPES)
_BIT = np.uint64(1)


@njit
def afterstates(games: Any, rows: Any, legal: Any, num_legal: Any, out: Any) -> int:
    """Write the features of what every listed action of the games `rows` leads to.

    Args:
        games: (n,) records; only those in `rows` are looked at.
        rows: (k,) indices of games.
        legal: (n, num_actions), the legal actions of each game.
        num_legal: (n,) how many there are.
        out: (sum of num_legal[rows], len(POSITION)) int8, written game by game.

    Returns:
        The number of rows written.
    """
    piles = np.empty(NUM_PLACES, np.int64)
    k = 0
    for row in rows:
        g = games[row]
        p = np.int64(g.current_player)
        before = np.uint64(g.hands[p])
        unseen = _unseen(g, before)
        for j in range(num_legal[row]):
            action = np.int64(legal[row, j])
            hand = _play(g, action, before, piles)
            _write(g, p, hand, unseen, piles, out[k])
            if action == END:
                out[k, DRY] = g.dry_turns + g.turn_is_dry if g.turn_is_dry else 0
                out[k, MOMENT + 1] = 1
            else:
                out[k, DRY + 1] = 0
                out[k, MOMENT + 2] = hand == NO_CARDS
            out[k, MOVE + _kind(g, action)] = 1
            k += 1
    return k


@njit
def positions(games: Any, rows: Any, seats: Any, out: Any) -> None:
    """Write the features of the games `rows` as they stand, each seen from its seat of `seats`."""
    piles = np.empty(NUM_PLACES, np.int64)
    for k in range(len(rows)):
        g = games[rows[k]]
        p = np.int64(seats[k])
        hand = np.uint64(g.hands[p])
        for place in range(NUM_PLACES):
            piles[place] = g.piles[place]
        _write(g, p, hand, _unseen(g, hand), piles, out[k])


@njit
def hidden(games: Any, rows: Any, seats: Any, out: Any) -> None:
    """Write what the seats `seats` cannot see in the games `rows`: for critics in training."""
    for k in range(len(rows)):
        g = games[rows[k]]
        n = np.int64(g.num_players)
        out[k] = 0
        for j in range(1, n):
            hand = np.uint64(g.hands[(np.int64(seats[k]) + j) % n])
            _write_types(hand, out[k, (j - 1) * NUM_TYPES : j * NUM_TYPES])


@njit
def _play(g: Any, action: int, hand: Any, piles: Any) -> Any:
    """Write the piles after an action and return the hand after it."""
    for place in range(NUM_PLACES):
        piles[place] = g.piles[place]
    if action < PILE_TO_PILE:
        card, place = action // NUM_PLACES, action % NUM_PLACES
        piles[place] = push(piles[place], card)
        return hand & ~bit(card)
    if action < END:
        i, place = (action - PILE_TO_PILE) // NUM_PLACES, (action - PILE_TO_PILE) % NUM_PLACES
        piles[place] = piles[i] if piles[place] == 0 else join(piles[place], piles[i])
        piles[i] = 0
    return hand


@njit
def _kind(g: Any, action: int) -> int:
    """Return the index of an action's kind in the field `move`."""
    if action == END:
        return 4
    if action >= PILE_TO_PILE:
        return 3
    place = action % NUM_PLACES
    if g.piles[place] != 0:
        return 0
    return 1 if place < NUM_CROSSES else 2


@njit
def _unseen(g: Any, hand: Any) -> Any:
    """Return the cards that the holder of `hand` does not see."""
    cards = ALL_CARDS ^ hand
    for place in range(NUM_PLACES):
        cards ^= cards_of(np.int64(g.piles[place]))
    return cards


@njit
def _write_types(cards: Any, out: Any) -> None:
    """Write how many cards of each type are in a set."""
    for t in range(NUM_TYPES):
        out[t] = (cards & _BIT) + (cards >> _HALF & _BIT)
        cards >>= _BIT


@njit
def _follower(run: int) -> int:
    """Return the type that fits on a non-empty run, -1 if its top is an ace."""
    rank = top_rank(run)
    black = (phase(run) ^ rank) & 1
    return (1 - black) * NUM_RANKS + rank - 1 if rank > 0 else -1


@njit
def _write(g: Any, p: int, hand: Any, unseen: Any, piles: Any, out: Any) -> None:
    """Write a position with these piles, seen by player `p` who has `hand`."""
    out[:] = 0
    _write_types(hand, out[HAND : HAND + NUM_TYPES])
    _write_types(unseen, out[UNSEEN : UNSEEN + NUM_TYPES])
    _write_piles(piles, out)
    own_fit, unseen_fit, pairs = 0, 0, 0
    for t in range(NUM_TYPES):
        if out[OPEN + t] > 0:
            out[HAND_FITS + t] = out[HAND + t]
            out[UNSEEN_FITS + t] = out[UNSEEN + t]
            own_fit += out[HAND + t]
            unseen_fit += out[UNSEEN + t]
        if t % NUM_RANKS > 0 and out[HAND + t] > 0:
            pairs += out[HAND + (t + NUM_RANKS) % NUM_TYPES - 1]
    out[OWN] = min(_MOST, count_bits(hand))
    out[OWN + 1] = count_bits(hand & KINGS)
    out[OWN + 2] = min(_MOST, own_fit)
    out[OWN + 3] = min(_MOST, pairs)
    out[UNSEEN_SHARE] = 100 * unseen_fit // max(1, count_bits(unseen))
    _write_seats(g, p, out)


@njit
def _write_piles(piles: Any, out: Any) -> None:
    """Write what the piles take, which of them may move, and the empty places."""
    for place in range(NUM_PLACES):
        run = piles[place]
        if run == 0:
            out[EMPTY + (place >= NUM_CROSSES)] += 1
        else:
            t = _follower(run)
            if t >= 0:
                out[OPEN + t] = min(2, out[OPEN + t] + 1)
    for place in range(NUM_CROSSES):
        run = piles[place]
        if run != 0 and base_rank(run) != KING:
            rank = base_rank(run)
            t = ((phase(run) ^ rank) & 1) * NUM_RANKS + rank
            out[BASES + t] = min(2, out[BASES + t] + 1)
            out[MOVABLE] += out[OPEN + t] > 0


@njit
def _write_seats(g: Any, p: int, out: Any) -> None:
    """Write the sizes of the stock and the other hands, the counters and the totals."""
    n = np.int64(g.num_players)
    out[STOCK_SIZE] = stock_size(g)
    for k in range(1, n):
        size = count_bits(np.uint64(g.hands[(p + k) % n]))
        out[SIZES + k - 1] = min(_MOST, size)
        out[ONE_LEFT + k - 1] = size == 1
    for k in range(n):
        total = np.int64(g.totals[(p + k) % n])
        out[TOTALS + k] = min(_FULL_TOTAL, _FULL_TOTAL * total // np.int64(g.target))
    out[DRY] = g.dry_turns
    out[DRY + 1] = g.turn_is_dry
    out[NUM_PLAYERS + n - MIN_PLAYERS] = 1
    out[MOMENT] = g.current_player == p


def _potential() -> np.ndarray:
    """Return what a unit of each feature adds to a position's potential, in points.

    Own cards cost a point each and kings ten (R16); what the others hold costs them as much. Totals
    are per cent of the target, by default of 25 points.
    """
    weights = np.zeros(len(POSITION), np.float32)
    weights[OWN] = -1.0
    weights[OWN + 1] = -9.0
    weights[TOTALS] = -0.25
    others = MAX_PLAYERS - 1
    weights[SIZES : SIZES + others] = 1 / others
    weights[TOTALS + 1 : TOTALS + 1 + others] = 0.25 / others
    return weights


FEATURES = Features(
    position=POSITION,
    hidden=HIDDEN,
    write_afterstates=afterstates,
    write_positions=positions,
    write_hidden=hidden,
    potential=_potential(),
)
