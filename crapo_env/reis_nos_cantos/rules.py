"""The rules of a Reis nos cantos turn: which actions are legal and what each does (clauses R7-R18).

The tops of the eight piles are compared with a card all at once: their keys (see `runs.top_key`)
are the bytes of one uint64, lowest byte first, in the order of `PLACES`. A *set of places* has the
highest bit of the byte of each of its places.
"""

from typing import Any

import numpy as np

from crapo_env.bits import lowest_bit
from crapo_env.cards import KING, NUM_CARDS, NUM_RANKS
from crapo_env.jit import njit
from crapo_env.reis_nos_cantos.actions import END, PILE_TO_PILE
from crapo_env.reis_nos_cantos.state import (
    KINGS,
    NO_CARDS,
    NUM_CROSSES,
    NUM_PLACES,
    ONE,
    begin_turn,
    bit,
    deal_round,
    draw,
    hand_points,
    shuffle_pack,
    stock_size,
)
from crapo_env.runs import base_rank, card_at, join, push, top_key

POINTS_SCALE = 25  # divisor of the points in reward="points"

_EVERY = 0x0101010101010101  # 1 in every byte
_HIGH = np.uint64(0x80 * _EVERY)
_REST = np.uint64(0x7F * _EVERY)
_CROSSES = np.uint64(0x80808080)
_CORNERS = np.uint64(0x80808080 << 32)
_S3 = np.uint64(3)
_S8 = np.uint64(8)


_CARDS = np.arange(NUM_CARDS)
_KEYS = _CARDS % NUM_RANKS + 1 | ((_CARDS // NUM_RANKS ^ _CARDS % NUM_RANKS) & 1) << 4 | 1 << 5
_WANTED = _KEYS.astype(np.uint64) * np.uint64(_EVERY)  # R8: by card, its `fits_key` in every byte


@njit
def _top_keys(g: Any) -> Any:
    """Return the keys of the tops of all piles, 0 for an empty place."""
    keys = NO_CARDS
    for place in range(NUM_PLACES - 1, -1, -1):
        keys = keys << _S8 | np.uint64(top_key(np.int64(g.piles[place])))
    return keys


@njit
def _zeros(keys: Any) -> Any:
    """Return the set of places whose byte is zero; all bytes are below 128."""
    return ~(keys + _REST) & _HIGH


@njit
def _first(places: Any) -> Any:
    """Return the set of the first of some places, empty if there is none."""
    return places & (~places + ONE)


@njit
def _takers(keys: Any, card: Any, cross: Any, corner: Any) -> Any:
    """Return the places that take a hand card; `cross` and `corner` are the first empty ones."""
    places = _zeros(keys ^ _WANTED[card]) | cross  # R8, R9
    if KINGS & bit(card):
        places |= corner  # R10
    return places


@njit
def _pile_takers(g: Any, keys: Any, i: int, corner: Any) -> Any:
    """Return the places that take the pile of cross `i` (R11)."""
    run = np.int64(g.piles[i])
    if run == 0:
        return NO_CARDS
    rank = base_rank(run)
    if rank == KING:
        return corner if g.king_pile_to_corner else NO_CARDS
    return _zeros(keys ^ _WANTED[card_at(run, rank)])


@njit
def legal_actions(g: Any, legal: Any) -> int:
    """Write the legal action ids in ascending order into `legal` and return their number."""
    if g.terminated or g.truncated:
        return 0
    keys = _top_keys(g)
    empty = _zeros(keys)
    cross = _first(empty & _CROSSES)
    corner = _first(empty & _CORNERS)
    n = 0
    rest = np.uint64(g.hands[g.current_player])
    while rest != NO_CARDS:
        card = lowest_bit(rest)
        rest &= rest - ONE
        places = _takers(keys, card, cross, corner)
        while places != NO_CARDS:
            legal[n] = card * NUM_PLACES + (lowest_bit(places) >> 3)
            places &= places - ONE
            n += 1
    for i in range(NUM_CROSSES):
        places = _pile_takers(g, keys, i, corner)
        while places != NO_CARDS:
            legal[n] = PILE_TO_PILE + i * NUM_PLACES + (lowest_bit(places) >> 3)
            places &= places - ONE
            n += 1
    legal[n] = END  # R12
    return n + 1


@njit
def _is_blocked(g: Any) -> bool:
    """Return whether no hand of any player has a play and no pile can move (R15 a)."""
    keys = _top_keys(g)
    empty = _zeros(keys)
    cross = _first(empty & _CROSSES)
    corner = _first(empty & _CORNERS)
    rest = NO_CARDS
    for p in range(g.num_players):
        rest |= g.hands[p]
    while rest != NO_CARDS:
        if _takers(keys, lowest_bit(rest), cross, corner) != NO_CARDS:
            return False
        rest &= rest - ONE
    for i in range(NUM_CROSSES):
        if _pile_takers(g, keys, i, corner) != NO_CARDS:
            return False
    return True


@njit
def apply(g: Any, action: int) -> None:
    """Play a legal action."""
    g.rewards[:] = 0
    g.num_steps += 1
    if action < PILE_TO_PILE:
        _play_card(g, action // NUM_PLACES, action % NUM_PLACES)
    elif action < END:
        i = (action - PILE_TO_PILE) // NUM_PLACES
        _move_pile(g, i, (action - PILE_TO_PILE) % NUM_PLACES)
    else:
        _end_turn(g)
    if g.num_steps == g.max_steps and g.terminated == 0:
        g.truncated = 1


@njit
def _play_card(g: Any, card: int, place: int) -> None:
    """Put a hand card on a pile or an empty place (R8-R10)."""
    g.hands[g.current_player] &= ~bit(card)
    g.piles[place] = push(np.int64(g.piles[place]), card)
    g.turn_is_dry = 0
    if g.hands[g.current_player] == NO_CARDS:  # R14
        g.dry_turns = 0  # R15: this turn is over and was not dry
        _end_round(g)


@njit
def _move_pile(g: Any, i: int, place: int) -> None:
    """Put the pile of cross `i` on another pile, or a king's pile in a corner (R11)."""
    run = np.int64(g.piles[i])
    target = np.int64(g.piles[place])
    g.piles[place] = run if target == 0 else join(target, run)
    g.piles[i] = 0
    g.turn_is_dry = 0


@njit
def _end_turn(g: Any) -> None:
    """End the turn: draw (R18), look for a blocked round (R15), then the next seat's turn (R1)."""
    if g.draw_at == 1:
        draw(g)
    g.dry_turns = g.dry_turns + 1 if g.turn_is_dry else 0
    if stock_size(g) == 0 and (g.dry_turns >= g.num_players or _is_blocked(g)):
        _end_round(g)
    else:
        begin_turn(g, (np.int64(g.current_player) + 1) % g.num_players)


@njit
def _end_round(g: Any) -> None:
    """Count what is left in the hands (R16), then end the match (R17) or deal again (R6)."""
    n = np.int64(g.num_players)
    round_points = 0
    most = np.int64(0)
    for p in range(n):
        points = hand_points(g.hands[p])
        g.totals[p] += points
        round_points += points
        if g.totals[p] > most:
            most = np.int64(g.totals[p])
    if g.reward == 1:
        for p in range(n):
            points = hand_points(g.hands[p])
            g.rewards[p] = ((round_points - points) / (n - 1) - points) / POINTS_SCALE
    if most >= g.target:
        g.terminated = 1
        if g.reward == 0:
            _reward_winners(g)
    else:
        g.round_number += 1
        shuffle_pack(g)
        deal_round(g, (np.int64(g.dealer) + 1) % n)


@njit
def _reward_winners(g: Any) -> None:
    """Share +1 among the seats with the lowest total and -1 among the others (R17)."""
    n = np.int64(g.num_players)
    best = np.int64(g.totals[:n].min())
    winners = 0
    for p in range(n):
        winners += np.int64(g.totals[p]) == best
    if winners < n:
        for p in range(n):
            g.rewards[p] = 1 / winners if g.totals[p] == best else -1 / (n - winners)
