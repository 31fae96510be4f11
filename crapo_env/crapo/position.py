"""A position as small numbers: the tables of what a scorer of actions sees, and how it is written.

All is seen from one seat and public, so states that look alike have the same features: a card that
an action turns up or draws counts as unknown unless its place in the order is public. Spaces are
told apart by nothing but their runs. `hidden` holds what only a critic may see, in training.
"""

from typing import Any

import numpy as np

from crapo_env.cards import NUM_CARDS, NUM_RANKS
from crapo_env.crapo.ahead import MOST, NUM_AHEAD, look_ahead
from crapo_env.crapo.rules import foundation_needs, loads_on
from crapo_env.crapo.state import (
    MAX_REARRANGEMENTS,
    NO_CARD,
    NUM_SPACES,
    NUM_SUITS,
    PACK_CARDS,
    card_count,
    reserve_top,
    waste_top,
)
from crapo_env.game import Field, FieldTable
from crapo_env.jit import njit
from crapo_env.runs import (
    base_rank,
    card_at,
    count_to_fit,
    fits_key,
    phase,
    run_length,
    top_card,
    top_key,
    top_rank,
)

NUM_TYPES = NUM_CARDS // 2  # rank, plus 13 if black: what decides where a run may go
SPECIALS = 7  # own reserve, own waste, hand, the opponent's reserve and waste, next own, next other
ABOUT = 8  # numbers about each of them, see `write_special`

POSITION = FieldTable(
    (
        Field(
            "specials",
            (SPECIALS, ABOUT),
            13,
            "own reserve and waste top, drawn card, opponent's reserve and waste top, next card of "
            "both stocks if turned over: 1 if there, rank + 1, cards missing below it on its "
            "foundation, 1 if none is, runs that take it, 1 if it loads the other reserve, other "
            "waste, space tops that could be loaded on it",
        ),
        Field("tops", (NUM_TYPES,), 3, "spaces whose top is of a type"),
        Field("bases", (NUM_TYPES,), 3, "runs whose base is of a type"),
        Field("lengths", (5,), NUM_SPACES, "runs of 1, 2, 3 to 4, 5 to 7 and more cards"),
        Field("free", (4,), 1, "1 if no, one, two, more spaces are free"),
        Field("stacked", (1,), 64, "cards on spaces that lie on another card"),
        Field("joins", (2,), NUM_SPACES, "runs that could go on another, whole; in part"),
        Field(
            "reach",
            (6,),
            NUM_SPACES,
            "runs in which a single move would uncover a card that a foundation takes, that takes "
            "the own reserve top, the drawn card, that loads the opponent's reserve, his waste; "
            "runs that would free their space",
        ),
        Field("to_foundation", (2,), NUM_SPACES, "tops that a foundation takes; cards below tops"),
        Field("foundation", (NUM_SUITS, 2), 13, "heights of the two piles of a suit"),
        Field("own_sizes", (4,), PACK_CARDS, "own reserve, its face-down cards, stock, waste"),
        Field("opponent_sizes", (4,), PACK_CARDS, "the same of the opponent"),
        Field("known", (2,), 1, "1 if the own, the opponent's stock was turned over"),
        Field("few", (2, 4), 1, "1 if the own, the opponent's reserve has 0, 1, 2, 3 cards"),
        Field(
            "unseen",
            (4,),
            100,
            "per cent of the unseen cards for a foundation, a run, a load of his reserve, waste",
        ),
        Field("unknown", (2,), 1, "1 if the own reserve top, the drawn card is not known yet"),
        Field(
            "ahead",
            (NUM_AHEAD,),
            MOST,
            "the most that the own turn can still bring: cards played from reserve, from hand, to "
            "foundations, on the other's waste, on his reserve, cards gained on him, free spaces, "
            "a card turned up; how soon: a card from reserve, from hand, the most gained, the card "
            "turned up; all 0 if the reserve top or the drawn card is unknown",
        ),
        Field("moment", (6,), 1, "on turn, turn over, won, drawn game, progress, bare turn (C35)"),
        Field("left", (1,), MAX_REARRANGEMENTS, "moves between spaces left (C36)"),
        Field("no_progress", (1,), 100, "per cent of the turns without progress allowed (C37)"),
        Field(
            "move",
            (13,),
            1,
            "from reserve, hand, space; to a run, a free space, foundation, his waste, his "
            "reserve; it frees a space; draw; discard; pass; a run of more than one card",
        ),
        Field("moved_rank", (1,), 13, "rank + 1 of the card or base moved, 0 if none"),
    )
)
HIDDEN = FieldTable((Field("next", (2, 2, ABOUT), 13, "the next two cards of both stocks"),))

_AT = POSITION.offsets
SPECIAL, TOPS, BASES, LENGTHS, FREE = (
    _AT[name] for name in ("specials", "tops", "bases", "lengths", "free")
)
STACKED, JOINS, REACH, TO_FOUNDATIONS = (
    _AT[name] for name in ("stacked", "joins", "reach", "to_foundation")
)
FOUNDATION, SIZES, KNOWN, FEW = _AT["foundation"], _AT["own_sizes"], _AT["known"], _AT["few"]
UNSEEN, UNKNOWN, AHEAD, MOMENT = _AT["unseen"], _AT["unknown"], _AT["ahead"], _AT["moment"]
LEFT, NO_PROGRESS, MOVE, MOVED_RANK = (
    _AT[name] for name in ("left", "no_progress", "move", "moved_rank")
)
_NO_RUN = 0


@njit
def count_unseen(g: Any, unseen: Any) -> int:
    """Write how many copies of each card nobody has seen, and return how many there are."""
    total = 0
    for card in range(NUM_CARDS):
        unseen[card] = 2 - g.dealt[0, card] - g.dealt[1, card]
        total += unseen[card]
    return total


@njit
def in_stock(g: Any, p: int, j: int) -> int:
    """Return the card that player `p` draws after `j` others, NO_CARD beyond stock and waste."""
    if j >= np.int64(g.stock_size[p]) + g.waste_size[p]:
        return NO_CARD
    return np.int64(g.ring[p, (np.int64(g.head[p]) + j) % PACK_CARDS])


@njit
def run_keys(g: Any) -> int:
    """Return the set of the keys of all tops, see `runs.top_key`."""
    keys = np.int64(0)
    for i in range(NUM_SPACES):
        if g.tableau[i] != _NO_RUN:
            keys |= 1 << top_key(np.int64(g.tableau[i]))
    return keys


@njit
def write_position(
    g: Any,
    p: int,
    unseen: Any,
    num_unseen: int,
    no_top: bool,
    no_hand: bool,
    scratch: Any,
    out: Any,
) -> None:
    """Write the position `g`, seen by player `p`; his top or the drawn card may be unknown."""
    out[:] = 0
    q = 1 - p
    needs, keys = foundation_needs(g), run_keys(g)
    cards = (
        NO_CARD if no_top else reserve_top(g, p),
        waste_top(g, p),
        NO_CARD if no_hand else np.int64(g.hand),
        reserve_top(g, q),
        waste_top(g, q),
        in_stock(g, p, 0) if _next_is_known(g, p) else NO_CARD,
        in_stock(g, q, 0) if _next_is_known(g, q) else NO_CARD,
    )
    for k in range(SPECIALS):
        at = SPECIAL + k * ABOUT
        write_special(g, p, cards[k], needs, keys, out[at : at + ABOUT])
    out[UNKNOWN], out[UNKNOWN + 1] = no_top, no_hand
    _write_table(g, needs, out)
    _write_reach(g, needs, cards[0], cards[2], cards[3], cards[4], out)
    _write_sizes(g, p, out)
    _write_unseen(g, q, unseen, num_unseen, needs, keys, out)
    if g.current_player == p and not (no_top or no_hand or g.terminated):
        look_ahead(g, scratch, out[AHEAD : AHEAD + NUM_AHEAD])
    _write_moment(g, p, out)


@njit
def _next_is_known(g: Any, p: int) -> bool:
    """Return whether it is public which card player `p` draws next (C31, C39)."""
    return g.stock_known[p] == 1 or g.stock_size[p] == 0


@njit
def write_special(g: Any, p: int, card: int, needs: int, keys: int, out: Any) -> None:
    """Write what a single card could do for player `p`, or what could be done to it."""
    if card == NO_CARD:
        return
    suit, rank = card // NUM_RANKS, card % NUM_RANKS
    out[0] = 1
    out[1] = rank + 1
    missing = NUM_RANKS
    for pile in range(2):
        height = np.int64(g.foundation[suit, pile])
        if height <= rank:
            missing = min(missing, rank - height)
    out[2] = missing
    out[3] = needs >> card & 1
    key = fits_key(card)
    out[5] = loads_on(reserve_top(g, 1 - p)) >> card & 1
    out[6] = loads_on(waste_top(g, 1 - p)) >> card & 1
    loads = loads_on(card)
    for i in range(NUM_SPACES):
        run = np.int64(g.tableau[i])
        if run != _NO_RUN:
            out[4] += top_key(run) == key
            out[7] += loads >> top_card(run) & 1


@njit
def _write_table(g: Any, needs: int, out: Any) -> None:
    """Write the foundations and the spaces, these without their order."""
    free = 0
    for i in range(NUM_SPACES):
        run = np.int64(g.tableau[i])
        if run == _NO_RUN:
            free += 1
        else:
            _write_run(g, run, needs, out)
    out[FREE + min(free, 3)] = 1
    for suit in range(NUM_SUITS):
        out[FOUNDATION + 2 * suit] = g.foundation[suit, 0]
        out[FOUNDATION + 2 * suit + 1] = g.foundation[suit, 1]


@njit
def _write_run(g: Any, run: int, needs: int, out: Any) -> None:
    """Count one run in all numbers about the spaces."""
    length = run_length(run)
    rank, base = top_rank(run), base_rank(run)
    top = ((phase(run) ^ rank) & 1) * NUM_RANKS + rank
    out[TOPS + top] = min(3, out[TOPS + top] + 1)
    bottom = ((phase(run) ^ base) & 1) * NUM_RANKS + base
    out[BASES + bottom] = min(3, out[BASES + bottom] + 1)
    out[LENGTHS + (length > 1) + (length > 2) + (length > 4) + (length > 7)] += 1
    out[STACKED] = min(64, out[STACKED] + length - 1)
    out[TO_FOUNDATIONS] += needs >> top_card(run) & 1
    if length > 1:
        out[TO_FOUNDATIONS + 1] += needs >> card_at(run, rank + 1) & 1


@njit
def _write_reach(
    g: Any, needs: int, own: int, hand: int, reserve: int, waste: int, out: Any
) -> None:
    """Count the runs that fit on others, and in which one move (C22-C24) makes something possible.

    `own` and `hand` are the own reserve top and the drawn card, `reserve` and `waste` the tops of
    the opponent's piles.
    """
    free = 0
    for i in range(NUM_SPACES):
        free += g.tableau[i] == _NO_RUN
    own_key = 0 if own == NO_CARD else fits_key(own)
    hand_key = 0 if hand == NO_CARD else fits_key(hand)
    on_reserve, on_waste = loads_on(reserve), loads_on(waste)
    reached = (2 << min(1 << free, NUM_RANKS)) - 1  # C23: numbers of cards that can move at once
    for i in range(NUM_SPACES):
        run = np.int64(g.tableau[i])
        if run != _NO_RUN:
            found, length = np.int64(0), run_length(run)
            fits = _fitting_sizes(g, run)
            out[JOINS] += fits >> length & 1
            out[JOINS + 1] += fits != 0 and fits >> length & 1 == 0
            sizes = fits & reached
            if free > 0:
                sizes |= (2 << min(1 << (free - 1), length - 1)) - 2
            for k in range(1, length):
                if sizes >> k & 1:
                    card = card_at(run, top_rank(run) + k)
                    key = top_key(run) + k  # of the uncovered card: ranks are its lowest bits
                    found |= needs >> card & 1
                    found |= (1 if key == own_key else 0) << 1 | (1 if key == hand_key else 0) << 2
                    found |= (on_reserve >> card & 1) << 3 | (on_waste >> card & 1) << 4
            found |= (sizes >> length & 1) << 5
            for j in range(6):
                out[REACH + j] += found >> j & 1


@njit
def _fitting_sizes(g: Any, run: int) -> int:
    """Return the set of the numbers of top cards of a run that fit on another run."""
    sizes = np.int64(0)
    for j in range(NUM_SPACES):
        sizes |= 1 << count_to_fit(run, np.int64(g.tableau[j]))
    return sizes & ~1


@njit
def _write_sizes(g: Any, p: int, out: Any) -> None:
    """Write the sizes of the piles of both players."""
    for side in range(2):
        q = p if side == 0 else 1 - p
        at = SIZES + 4 * side
        out[at] = g.reserve_size[q]
        out[at + 1] = g.reserve_down[q]
        out[at + 2] = g.stock_size[q]
        out[at + 3] = g.waste_size[q]
        out[KNOWN + side] = g.stock_known[q]
        if g.reserve_size[q] < 4:
            out[FEW + 4 * side + g.reserve_size[q]] = 1


@njit
def _write_unseen(
    g: Any, q: int, unseen: Any, num_unseen: int, needs: int, keys: int, out: Any
) -> None:
    """Write what share of the unseen cards could be played at once, `q` being the opponent."""
    on_reserve, on_waste = loads_on(reserve_top(g, q)), loads_on(waste_top(g, q))
    fits, runs, loads, wastes = 0, 0, 0, 0
    for card in range(NUM_CARDS):
        copies = np.int64(unseen[card])
        if copies > 0:
            fits += copies * (needs >> card & 1)
            runs += copies * (keys >> fits_key(card) & 1)
            loads += copies * (on_reserve >> card & 1)
            wastes += copies * (on_waste >> card & 1)
    total = max(1, num_unseen)
    out[UNSEEN] = 100 * fits // total
    out[UNSEEN + 1] = 100 * runs // total
    out[UNSEEN + 2] = 100 * loads // total
    out[UNSEEN + 3] = 100 * wastes // total


@njit
def _write_moment(g: Any, p: int, out: Any) -> None:
    """Write whose turn it is, how it stands and the counters that end turn and game."""
    over = g.terminated == 1
    won = card_count(g, p) == 0 and g.hand == NO_CARD
    out[MOMENT] = g.current_player == p and not over
    out[MOMENT + 1] = g.current_player != p
    out[MOMENT + 2] = won
    out[MOMENT + 3] = over and not won
    out[MOMENT + 4] = g.turn_progress
    out[MOMENT + 5] = g.turn_bare
    out[LEFT] = g.max_rearrangements - g.rearrangements
    out[NO_PROGRESS] = min(
        100, 100 * np.int64(g.turns_without_progress) // np.int64(g.no_progress_turns)
    )
