"""The rules of a Crapô turn: which actions are legal and what each does (clauses C10-C37)."""

from typing import Any

import numpy as np

from crapo_env.bits import count_bits, lowest_bit
from crapo_env.cards import NUM_RANKS, mix64
from crapo_env.crapo.actions import (
    DISCARD,
    DRAW,
    FROM_HAND,
    FROM_RESERVE,
    MAX_TO_FREE,
    PASS,
    SPACE_TO_FOUNDATION,
    SPACE_TO_FREE,
    SPACE_TO_RESERVE,
    SPACE_TO_SPACE,
    SPACE_TO_WASTE,
    TO_FOUNDATION,
    TO_RESERVE,
    TO_WASTE,
)
from crapo_env.crapo.state import (
    NO_CARD,
    NUM_SPACES,
    NUM_SUITS,
    reserve_top,
    waste_top,
)
from crapo_env.jit import njit
from crapo_env.runs import (
    base_rank,
    count_to_fit,
    fits_key,
    join,
    phase,
    run_length,
    top_card,
    top_key,
    top_part,
    top_rank,
    without_top,
)

DRAWN = -1  # result of a game that nobody won
ALL_RANKS = (1 << NUM_RANKS) - 1
ACES = sum(1 << suit * NUM_RANKS for suit in range(NUM_SUITS))  # sets of cards, one bit each
KINGS = ACES << NUM_RANKS - 1
BASES = ALL_RANKS | ALL_RANKS << 16  # ranks of runs of either phase


@njit
def legal_actions(g: Any, legal: Any) -> int:
    """Write the legal action ids in ascending order into `legal` and return their number.

    Sets of cards and of spaces are bit sets, so that most clauses are tested for all spaces at
    once; the bits of `moves` are the ids below SPACE_TO_SPACE.
    """
    if g.terminated or g.truncated:
        return 0
    p = np.int64(g.current_player)
    own, hand = reserve_top(g, p), np.int64(g.hand)
    needs = foundation_needs(g)
    on_waste, on_reserve = loads_on(waste_top(g, 1 - p)), loads_on(reserve_top(g, 1 - p))
    free, aces, to_foundation, to_waste, to_reserve = _compare_tops(g, needs, on_waste, on_reserve)
    others = hand == NO_CARD or g.rearrange_while_holding == 1  # C28
    if g.aces == 0:
        forced = _ace_moves(own, hand, aces, others)
        if forced != 0:
            return _list_bits(forced, 0, legal, 0)
    under_own, under_hand = _spaces_under(g, own, free), _spaces_under(g, hand, free)
    moves = (
        _card_moves(hand, under_hand, needs, on_waste, on_reserve, 1, 1, free != 0) << FROM_HAND
    )  # C19, C20
    if others:
        gate = free != 0 or g.crapo_gate == 1  # C15, C18
        moves |= _card_moves(own, under_own, needs, on_waste, on_reserve, gate, gate, gate)
        moves |= to_foundation << SPACE_TO_FOUNDATION
        if g.tableau_loading == 1:  # C21
            moves |= to_waste << SPACE_TO_WASTE | to_reserve << SPACE_TO_RESERVE
    n = _list_bits(moves, 0, legal, 0)
    if others and g.rearrangements < g.max_rearrangements:  # C36
        n = _list_rearrangements(g, free, legal, n)
    if hand != NO_CARD:
        if g.drawn_card == 1 or (under_hand == 0 and needs >> hand & 1 == 0):  # C28
            legal[n] = DISCARD
            n += 1
    elif _may_draw(g, own, under_own, free, needs):
        stuck = g.stock_size[p] == 0 and g.waste_size[p] == 0
        legal[n] = PASS if stuck else DRAW  # C32
        n += 1
    return n


@njit
def foundation_needs(g: Any) -> int:
    """Return the set of cards that fit a foundation (C13)."""
    needs = 0
    for suit in range(NUM_SUITS):
        heights = 1 << np.int64(g.foundation[suit, 0]) | 1 << np.int64(g.foundation[suit, 1])
        needs |= (heights & ALL_RANKS) << suit * NUM_RANKS
    return needs


@njit
def loads_on(card: int) -> int:
    """Return the set of cards that may be loaded on `card`, none on an empty pile (C17)."""
    if card == NO_CARD:
        return 0
    return (1 << card & ~ACES) >> 1 | (1 << card & ~KINGS) << 1


@njit
def _compare_tops(
    g: Any, needs: int, on_waste: int, on_reserve: int
) -> tuple[int, int, int, int, int]:
    """Return the spaces that are free, have an ace, a needed card, a load for either pile."""
    free = aces = to_foundation = to_waste = to_reserve = 0
    for i in range(NUM_SPACES):
        run = np.int64(g.tableau[i])
        full = 1 if run != 0 else 0
        card = top_card(run)
        free |= (1 - full) << i
        aces |= (ACES >> card & full) << i
        to_foundation |= (needs >> card & full) << i
        to_waste |= (on_waste >> card & full) << i
        to_reserve |= (on_reserve >> card & full) << i
    return free, aces, to_foundation, to_waste, to_reserve


@njit
def _spaces_under(g: Any, card: int, free: int) -> int:
    """Return the spaces that take `card`: the runs it fits and the first free one (C11, C12)."""
    if card == NO_CARD:
        return 0
    key = fits_key(card)
    spaces = free & -free
    for i in range(NUM_SPACES):
        spaces |= (1 if top_key(np.int64(g.tableau[i])) == key else 0) << i
    return spaces


@njit
def _ace_moves(own: int, hand: int, aces: int, others: bool) -> int:
    """Return the moves of available aces to a foundation (C14)."""
    moves = 0
    if hand != NO_CARD:
        moves = (ACES >> hand & 1) << FROM_HAND + TO_FOUNDATION
    if others:
        moves |= aces << SPACE_TO_FOUNDATION
        if own != NO_CARD:
            moves |= (ACES >> own & 1) << FROM_RESERVE + TO_FOUNDATION
    return moves


@njit
def _card_moves(
    card: int,
    spaces: int,
    needs: int,
    on_waste: int,
    on_reserve: int,
    may_place: int,
    may_load_waste: int,
    may_load_reserve: int,
) -> int:
    """Return the moves of the reserve's top or the drawn card, from the first id of its block."""
    if card == NO_CARD:
        return 0
    moves = spaces if may_place else 0
    moves |= (needs >> card & 1) << TO_FOUNDATION
    moves |= (on_waste >> card & may_load_waste) << TO_WASTE
    moves |= (on_reserve >> card & may_load_reserve) << TO_RESERVE
    return moves


@njit
def _list_bits(bits: int, first: int, legal: Any, n: int) -> int:
    """Append `first` plus the index of every bit to the `n` listed ids; return the new length."""
    while bits != 0:
        legal[n] = first + lowest_bit(bits)
        n += 1
        bits &= bits - 1
    return n


@njit
def _list_rearrangements(g: Any, free: int, legal: Any, n: int) -> int:
    """List the moves of runs between spaces (C22-C24) that recreate no arrangement (C36)."""
    num_free = count_bits(free)
    pairs = _fitting_pairs(g, 1 << num_free)  # C23: 1, 2, 4, 8, then whole runs of 13
    while pairs != 0:
        pair = lowest_bit(pairs)
        run, target = (
            np.int64(g.tableau[pair // NUM_SPACES]),
            np.int64(g.tableau[pair % NUM_SPACES]),
        )
        if _is_new(g, run, target, count_to_fit(run, target)):
            legal[n] = SPACE_TO_SPACE + pair
            n += 1
        pairs &= pairs - 1
    if free != 0:
        capacity = 1 << (num_free - 1)  # C24: the target is no helper
        longer = _longer_runs(g)
        while longer != 0:
            i = lowest_bit(longer)
            run = np.int64(g.tableau[i])
            for k in range(1, min(capacity, run_length(run) - 1) + 1):
                if _is_new(g, run, 0, k):
                    legal[n] = SPACE_TO_FREE + i * MAX_TO_FREE + k - 1
                    n += 1
            longer &= longer - 1
    return n


@njit
def _longer_runs(g: Any) -> int:
    """Return the set of spaces with more than one card."""
    longer = 0
    for i in range(NUM_SPACES):
        longer |= (1 if run_length(np.int64(g.tableau[i])) > 1 else 0) << i
    return longer


@njit
def _fitting_pairs(g: Any, capacity: int) -> int:
    """Return the pairs of spaces of which the second takes a run of at most `capacity` cards.

    The bit of a pair is the index of the first space times NUM_SPACES plus that of the second.
    """
    pairs = 0
    for i in range(NUM_SPACES):
        bases = _movable_bases(np.int64(g.tableau[i]), capacity)
        for j in range(NUM_SPACES):
            fits = 1 if bases & _wanted_base(np.int64(g.tableau[j])) != 0 else 0
            pairs |= fits << i * NUM_SPACES + j
    return pairs


@njit
def _wanted_base(run: int) -> int:
    """Return the base that fits on a run, as a bit of a set over ranks and phases, else 0."""
    full = 1 if run != 0 else 0
    return (full << top_rank(run) + 16 * phase(run)) >> 1 & BASES


@njit
def _movable_bases(run: int, capacity: int) -> int:
    """Return the bases of the top parts of a run of at most `capacity` cards, as such a set."""
    full = 1 if run != 0 else 0
    highest = min(base_rank(run), top_rank(run) + capacity - 1)
    return ((2 * full << highest) - (full << top_rank(run))) << 16 * phase(run)


@njit
def _is_new(g: Any, run: int, target: int, k: int) -> bool:
    """Return whether moving `k` cards from `run` to `target` makes a new arrangement (C36)."""
    rest = without_top(run, k)
    if g.rearrangements == 0:  # only two runs change, so only they can change places
        return rest != target
    moved = top_part(run, k)
    joined = moved if target == 0 else join(target, moved)
    after = g.arrangement - mix64(np.uint64(run)) - mix64(np.uint64(target))
    after += mix64(np.uint64(rest)) + mix64(np.uint64(joined))
    new = True
    for i in range(g.rearrangements + 1):
        new &= g.seen[i] != after
    return new


@njit
def _may_draw(g: Any, own: int, under_own: int, free: int, needs: int) -> bool:
    """Return whether the reserve leaves no option, so that a card is to be drawn (C26)."""
    if own == NO_CARD or g.draw_gate == 1:
        return True
    if needs >> own & 1 == 1:
        return False
    return under_own == 0 if g.crapo_gate == 1 else free == 0
