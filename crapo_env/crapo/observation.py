"""What a player of Crapô may know, as named fields, and how they are written (clause C39).

Nothing is known to one player alone: the two observations differ only in who is "own".
"""

from typing import Any

import numpy as np

from crapo_env.cards import NUM_CARDS
from crapo_env.crapo.state import (
    MAX_REARRANGEMENTS,
    NO_CARD,
    NUM_SPACES,
    NUM_SUITS,
    PACK_CARDS,
    STALE_ALL,
    STALE_PILES,
    reserve_top,
    waste_top,
)
from crapo_env.game import Field, FieldTable
from crapo_env.jit import njit
from crapo_env.runs import base_rank, card_at, top_rank

MAX_RESERVE_UP = 26  # face-up cards of a reserve are all of one suit
UNSEEN = NUM_CARDS + 1  # code of a face-down card in a cycle

FIELDS = FieldTable(
    (
        Field("tableau", (NUM_SPACES, NUM_CARDS), 1, "1 where the space holds the card"),
        Field("hand", (NUM_CARDS,), 1, "the drawn card of the player on turn"),
        Field("own_reserve_top", (NUM_CARDS,), 1, "the card on top of the own reserve"),
        Field("opponent_reserve_top", (NUM_CARDS,), 1, "the card on top of the opponent's reserve"),
        Field("own_waste_top", (NUM_CARDS,), 1, "the card on top of the own waste"),
        Field("opponent_waste_top", (NUM_CARDS,), 1, "the card on top of the opponent's waste"),
        Field("own_dealt", (NUM_CARDS,), 2, "copies seen so far that were dealt to the observer"),
        Field(
            "opponent_dealt", (NUM_CARDS,), 2, "copies seen so far that were dealt to the opponent"
        ),
        Field("unseen", (NUM_CARDS,), 2, "copies not seen yet"),
        Field(
            "own_cycle",
            (PACK_CARDS,),
            UNSEEN,
            "own stock in drawing order, own waste from the bottom: card + 1, 53 face down, 0 none",
        ),
        Field("opponent_cycle", (PACK_CARDS,), UNSEEN, "the same of the opponent"),
        Field(
            "own_reserve_up",
            (MAX_RESERVE_UP,),
            NUM_CARDS,
            "face-up cards of the own reserve, card + 1",
        ),
        Field("opponent_reserve_up", (MAX_RESERVE_UP,), NUM_CARDS, "the same of the opponent"),
        Field("foundation", (NUM_SUITS, 2), 13, "heights of the two piles of a suit, taller first"),
        Field(
            "own_sizes", (4,), PACK_CARDS, "own reserve, its face-down cards, own stock, own waste"
        ),
        Field("opponent_sizes", (4,), PACK_CARDS, "the same of the opponent"),
        Field("stock_known", (2,), 1, "1 if the own, the opponent's stock was turned over once"),
        Field(
            "smallest", (2,), 48, "smallest card count so far of the observer, the opponent (C37)"
        ),
        Field("on_turn", (1,), 1, "1 if the observer is on turn"),
        Field("free_spaces", (1,), NUM_SPACES, "number of free spaces"),
        Field("rearrangements_left", (1,), MAX_REARRANGEMENTS, "moves between spaces left (C36)"),
        Field(
            "turn_flags",
            (3,),
            1,
            "progress this turn (C37); turn bare so far, last turn a bare pass (C35)",
        ),
        Field("turns_without_progress", (2,), 99, "hundreds and rest (C37)"),
        Field(
            "rules", (8,), MAX_REARRANGEMENTS, "the options in table order up to max_rearrangements"
        ),
        Field("no_progress_turns", (2,), 99, "hundreds and rest of the option"),
    )
)

OBSERVATION_SIZE = len(FIELDS)
_AT = FIELDS.offsets
TABLEAU, HAND = _AT["tableau"], _AT["hand"]
RESERVE_TOP, WASTE_TOP = _AT["own_reserve_top"], _AT["own_waste_top"]
DEALT, SEEN_NOT = _AT["own_dealt"], _AT["unseen"]
CYCLE, RESERVE_UP = _AT["own_cycle"], _AT["own_reserve_up"]
FOUNDATION, SIZES = _AT["foundation"], _AT["own_sizes"]
STOCK_KNOWN, SMALLEST, ON_TURN = _AT["stock_known"], _AT["smallest"], _AT["on_turn"]
FREE_SPACES, REARRANGEMENTS_LEFT = _AT["free_spaces"], _AT["rearrangements_left"]
TURN_FLAGS, NO_PROGRESS = _AT["turn_flags"], _AT["turns_without_progress"]
MOMENT_CARDS = _AT["own_dealt"] - HAND  # the one-hot fields of single cards lie side by side
RULES, NO_PROGRESS_TURNS = _AT["rules"], _AT["no_progress_turns"]


@njit
def observe(g: Any, seat: int, out: Any) -> None:
    """Write what `seat` may know of game `g` into `out` (OBSERVATION_SIZE,) int8."""
    out[:] = 0
    for i in range(NUM_SPACES):
        _write_space(g, i, out)
    for side in range(2):
        _write_history(g, (seat + side) & 1, side, out)
    _write_rules(g, out)
    _write_moment(g, seat, out)


@njit
def update(g: Any, seat: int, out: Any) -> None:
    """Turn `out`, the observation of the mover before the last action, into that of `seat`.

    `g.stale` tells what the action changed. The result is the same as that of `observe`.
    """
    if g.stale & STALE_ALL:
        observe(g, seat, out)
    else:
        for i in range(NUM_SPACES):
            if g.stale >> i & 1:
                start = TABLEAU + i * NUM_CARDS
                out[start : start + NUM_CARDS] = 0
                _write_space(g, i, out)
        for side in range(2):
            p = (seat + side) & 1
            if g.stale & STALE_PILES << p:
                start = CYCLE + side * PACK_CARDS
                out[start : start + PACK_CARDS] = 0
                start = RESERVE_UP + side * MAX_RESERVE_UP
                out[start : start + MAX_RESERVE_UP] = 0
                _write_history(g, p, side, out)
        out[HAND : HAND + MOMENT_CARDS] = 0
        _write_moment(g, seat, out)
    g.stale = 0


@njit
def _write_space(g: Any, i: int, out: Any) -> None:
    run = np.int64(g.tableau[i])
    if run != 0:
        for rank in range(top_rank(run), base_rank(run) + 1):
            out[TABLEAU + i * NUM_CARDS + card_at(run, rank)] = 1


@njit
def _write_history(g: Any, p: int, side: int, out: Any) -> None:
    """Write what was seen of the piles of player `p`; `side` 0 is the observer, 1 the opponent."""
    for card in range(NUM_CARDS):
        out[DEALT + side * NUM_CARDS + card] = g.dealt[p, card]
        out[SEEN_NOT + card] = 2 - g.dealt[0, card] - g.dealt[1, card]
    stock = np.int64(g.stock_size[p])
    hidden = 0 if g.stock_known[p] else stock
    start = CYCLE + side * PACK_CARDS
    out[start : start + hidden] = UNSEEN
    at = (np.int64(g.head[p]) + hidden) % PACK_CARDS
    for k in range(hidden, stock + g.waste_size[p]):
        out[start + k] = g.ring[p, at] + 1
        at = at + 1 if at + 1 < PACK_CARDS else 0
    start = RESERVE_UP + side * MAX_RESERVE_UP
    down = np.int64(g.reserve_down[p])
    for k in range(down, g.reserve_size[p]):
        out[start + k - down] = g.reserve[p, k] + 1


@njit
def _write_moment(g: Any, seat: int, out: Any) -> None:
    """Write the fields that most actions change: single cards, sizes and counters."""
    if g.hand != NO_CARD:
        out[HAND + np.int64(g.hand)] = 1
    for side in range(2):
        _write_sizes(g, (seat + side) & 1, side, out)
    for suit in range(NUM_SUITS):
        out[FOUNDATION + 2 * suit] = g.foundation[suit, 0]
        out[FOUNDATION + 2 * suit + 1] = g.foundation[suit, 1]
    free = 0
    for i in range(NUM_SPACES):
        free += g.tableau[i] == 0
    out[FREE_SPACES] = free
    out[ON_TURN] = g.current_player == seat
    out[REARRANGEMENTS_LEFT] = g.max_rearrangements - g.rearrangements
    out[TURN_FLAGS] = g.turn_progress
    out[TURN_FLAGS + 1] = g.turn_bare
    out[TURN_FLAGS + 2] = g.last_turn_bare_pass
    out[NO_PROGRESS] = g.turns_without_progress // 100
    out[NO_PROGRESS + 1] = g.turns_without_progress % 100


@njit
def _write_sizes(g: Any, p: int, side: int, out: Any) -> None:
    top = reserve_top(g, p)
    if top != NO_CARD:
        out[RESERVE_TOP + side * NUM_CARDS + top] = 1
    top = waste_top(g, p)
    if top != NO_CARD:
        out[WASTE_TOP + side * NUM_CARDS + top] = 1
    start = SIZES + side * 4
    out[start] = g.reserve_size[p]
    out[start + 1] = g.reserve_down[p]
    out[start + 2] = g.stock_size[p]
    out[start + 3] = g.waste_size[p]
    out[STOCK_KNOWN + side] = g.stock_known[p]
    out[SMALLEST + side] = g.smallest[p]


@njit
def _write_rules(g: Any, out: Any) -> None:
    out[RULES] = g.aces
    out[RULES + 1] = g.drawn_card
    out[RULES + 2] = g.rearrange_while_holding
    out[RULES + 3] = g.tableau_loading
    out[RULES + 4] = g.crapo_gate
    out[RULES + 5] = g.draw_gate
    out[RULES + 6] = g.stalemate_result
    out[RULES + 7] = g.max_rearrangements
    out[NO_PROGRESS_TURNS] = g.no_progress_turns // 100
    out[NO_PROGRESS_TURNS + 1] = g.no_progress_turns % 100
