"""The rules of a Crapô turn: which actions are legal and what each does (clauses C10-C37)."""

from typing import Any

import numpy as np

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
    SPACE_TO_SPACE,
    TO_FOUNDATION,
    TO_RESERVE,
    TO_WASTE,
)
from crapo_env.crapo.state import (
    NO_CARD,
    NUM_SPACES,
    PACK_CARDS,
    card_count,
    open_new_stretch,
    reserve_top,
    reveal,
    set_space,
    waste_top,
)
from crapo_env.jit import njit
from crapo_env.runs import (
    count_to_fit,
    fits_key,
    join,
    push,
    run_length,
    top_card,
    top_key,
    top_part,
    top_rank,
    without_top,
)

DRAWN = -1  # result of a game that nobody won


@njit
def legal_actions(g: Any, legal: Any) -> int:
    """Write the legal action ids in ascending order into `legal` and return their number."""
    if g.terminated or g.truncated:
        return 0
    n = 0
    if g.aces == 0:
        n = _ace_moves(g, legal)
    if n == 0:
        n = _all_moves(g, legal)
    return n


@njit
def _ace_moves(g: Any, legal: Any) -> int:
    """List the moves of available aces to a foundation (C14)."""
    n = 0
    top = reserve_top(g, g.current_player)
    if top != NO_CARD and top % NUM_RANKS == 0 and _may_move_others(g):
        legal[n] = FROM_RESERVE + TO_FOUNDATION
        n += 1
    if g.hand != NO_CARD and g.hand % NUM_RANKS == 0:
        legal[n] = FROM_HAND + TO_FOUNDATION
        n += 1
    if _may_move_others(g):
        for i in range(NUM_SPACES):
            if g.tableau[i] != 0 and top_rank(g.tableau[i]) == 0:
                legal[n] = SPACE_TO_FOUNDATION + i
                n += 1
    return n


@njit
def _may_move_others(g: Any) -> bool:
    """Return whether cards other than the drawn one may move (C28)."""
    return g.hand == NO_CARD or g.rearrange_while_holding == 1


@njit
def _all_moves(g: Any, legal: Any) -> int:
    """List every move that is open when no ace is forced (C25, C28)."""
    num_free = 0
    first_free = -1
    for i in range(NUM_SPACES - 1, -1, -1):
        if g.tableau[i] == 0:
            num_free += 1
            first_free = i
    holding = g.hand != NO_CARD
    others = _may_move_others(g)
    own_top = reserve_top(g, g.current_player)
    n = 0
    if others and own_top != NO_CARD:
        gate = num_free > 0 or g.crapo_gate == 1  # C15, C18
        n = _card_moves(g, legal, n, own_top, FROM_RESERVE, first_free, gate, gate, gate)
    if holding:
        n = _card_moves(g, legal, n, g.hand, FROM_HAND, first_free, True, True, num_free > 0)  # C19, C20
    if others:
        n = _space_plays(g, legal, n)
        if g.rearrangements < g.max_rearrangements:  # C36
            n = _rearrangements(g, legal, n, num_free)
    if holding:
        if g.drawn_card == 1 or not _fits_table(g, g.hand):  # C28
            legal[n] = DISCARD
            n += 1
    elif _may_draw(g, own_top, num_free):
        stuck = g.stock_size[g.current_player] == 0 and g.waste_size[g.current_player] == 0
        legal[n] = PASS if stuck else DRAW  # C26, C32
        n += 1
    return n


@njit
def _card_moves(
    g: Any,
    legal: Any,
    n: int,
    card: int,
    source: int,
    first_free: int,
    to_space: bool,
    to_waste: bool,
    to_reserve: bool,
) -> int:
    """List the moves of a single card from the reserve or the hand (C11-C13, C17)."""
    card = np.int64(card)
    if to_space:
        key = fits_key(card)
        for i in range(NUM_SPACES):
            if top_key(g.tableau[i]) == key or i == first_free:
                legal[n] = source + i
                n += 1
    if fits_foundation(g, card):
        legal[n] = source + TO_FOUNDATION
        n += 1
    opponent = 1 - g.current_player
    if to_waste and _may_load(card, waste_top(g, opponent)):
        legal[n] = source + TO_WASTE
        n += 1
    if to_reserve and _may_load(card, reserve_top(g, opponent)):
        legal[n] = source + TO_RESERVE
        n += 1
    return n


@njit
def _space_plays(g: Any, legal: Any, n: int) -> int:
    """List the plays of space tops to a foundation, the opponent's waste and reserve (C13, C21)."""
    opponent = 1 - g.current_player
    waste = waste_top(g, opponent)
    reserve = reserve_top(g, opponent)
    for i in range(NUM_SPACES):
        if g.tableau[i] != 0 and fits_foundation(g, top_card(g.tableau[i])):
            legal[n] = SPACE_TO_FOUNDATION + i
            n += 1
    if g.tableau_loading == 1:
        for target in range(2):
            pile = waste if target == 0 else reserve
            for i in range(NUM_SPACES):
                if g.tableau[i] != 0 and _may_load(top_card(g.tableau[i]), pile):
                    legal[n] = SPACE_TO_FOUNDATION + NUM_SPACES * (1 + target) + i
                    n += 1
    return n


@njit
def _rearrangements(g: Any, legal: Any, n: int, num_free: int) -> int:
    """List the moves of runs between spaces (C22-C24) that recreate no arrangement (C36)."""
    capacity = 1 << num_free  # C23: 1, 2, 4, 8, then whole runs of 13
    for i in range(NUM_SPACES):
        run = np.int64(g.tableau[i])
        if run != 0:
            for j in range(NUM_SPACES):
                target = np.int64(g.tableau[j])
                k = count_to_fit(run, target)
                if 0 < k <= capacity and _is_new(g, run, target, k):
                    legal[n] = SPACE_TO_SPACE + i * NUM_SPACES + j
                    n += 1
    if num_free > 0:
        capacity = 1 << (num_free - 1)  # C24: the target is no helper
        for i in range(NUM_SPACES):
            run = np.int64(g.tableau[i])
            for k in range(1, min(capacity, run_length(run) - 1) + 1):
                if _is_new(g, run, 0, k):
                    legal[n] = SPACE_TO_FREE + i * MAX_TO_FREE + k - 1
                    n += 1
    return n


@njit
def _is_new(g: Any, run: int, target: int, k: int) -> bool:
    """Return whether moving `k` cards from `run` to `target` makes an arrangement not seen yet (C36)."""
    moved = top_part(run, k)
    joined = moved if target == 0 else join(target, moved)
    after = g.arrangement - mix64(np.uint64(run)) - mix64(np.uint64(target))
    after += mix64(np.uint64(without_top(run, k))) + mix64(np.uint64(joined))
    for i in range(g.rearrangements + 1):
        if g.seen[i] == after:
            return False
    return True


@njit
def fits_foundation(g: Any, card: int) -> bool:
    """Return whether `card` may go to a foundation of its suit (C13)."""
    suit, rank = card // NUM_RANKS, card % NUM_RANKS
    return g.foundation[suit, 0] == rank or g.foundation[suit, 1] == rank


@njit
def _may_load(card: int, target: int) -> bool:
    """Return whether `card` may be put on the top `target` of an opponent's pile (C17)."""
    if target == NO_CARD:
        return False
    neighbours = target - card == 1 or card - target == 1
    return neighbours and card // NUM_RANKS == target // NUM_RANKS


@njit
def _fits_table(g: Any, card: int) -> bool:
    """Return whether `card` fits a foundation or a space, a free one included (C28)."""
    card = np.int64(card)
    key = fits_key(card)
    for i in range(NUM_SPACES):
        if g.tableau[i] == 0 or top_key(g.tableau[i]) == key:
            return True
    return fits_foundation(g, card)


@njit
def _may_draw(g: Any, own_top: int, num_free: int) -> bool:
    """Return whether the reserve leaves no option, so that a card is to be drawn (C26)."""
    if own_top == NO_CARD or g.draw_gate == 1:
        return True
    if g.crapo_gate == 1:
        return not _fits_table(g, own_top)
    return num_free == 0 and not fits_foundation(g, own_top)


@njit
def apply(g: Any, action: int) -> None:
    """Play a legal action."""
    g.rewards[:] = 0
    g.num_steps += 1
    if action < SPACE_TO_SPACE:
        _play_card(g, action)
    elif action < DRAW:
        _rearrange(g, action)
    elif action == DRAW:
        _draw(g)
    elif action == DISCARD:
        _append_to_waste(g, g.current_player, g.hand)
        g.hand = NO_CARD
        _end_turn(g, False)
    else:
        _end_turn(g, True)
    if g.num_steps == g.max_steps and g.terminated == 0:
        g.truncated = 1


@njit
def _play_card(g: Any, action: int) -> None:
    """Move the reserve top, the drawn card or a space's top, then look for progress and the win."""
    p = np.int64(g.current_player)
    if action < FROM_HAND:
        target = action - FROM_RESERVE
        card = _take_from_reserve(g, p)
    elif action < SPACE_TO_FOUNDATION:
        target = action - FROM_HAND
        card = np.int64(g.hand)
        g.hand = NO_CARD
    else:
        i = (action - SPACE_TO_FOUNDATION) % NUM_SPACES
        target = TO_FOUNDATION + (action - SPACE_TO_FOUNDATION) // NUM_SPACES
        card = top_card(np.int64(g.tableau[i]))
        set_space(g, i, without_top(np.int64(g.tableau[i]), 1))
    _put_card(g, card, target)
    g.turn_bare = 0
    open_new_stretch(g)
    count = card_count(g, p) + (g.hand != NO_CARD)
    if count < g.smallest[p]:  # C37
        g.smallest[p] = count
        g.turn_progress = 1
    if count == 0:  # C34
        _finish(g, p)


@njit
def _take_from_reserve(g: Any, p: int) -> int:
    """Take the reserve's top and turn up the card beneath (C16)."""
    g.reserve_size[p] -= 1
    size = np.int64(g.reserve_size[p])
    if size > 0 and g.reserve_down[p] == size:
        g.reserve_down[p] -= 1
        reveal(g, p, np.int64(g.reserve[p, size - 1]))
    return np.int64(g.reserve[p, size])


@njit
def _put_card(g: Any, card: int, target: int) -> None:
    """Put a card on a space, a foundation, or the opponent's waste or reserve."""
    opponent = 1 - np.int64(g.current_player)
    if target < TO_FOUNDATION:
        set_space(g, target, push(np.int64(g.tableau[target]), card))
    elif target == TO_FOUNDATION:
        suit, rank = card // NUM_RANKS, card % NUM_RANKS
        pile = 0 if g.foundation[suit, 0] == rank else 1
        g.foundation[suit, pile] += 1
        g.turn_progress = 1  # C37
    elif target == TO_WASTE:
        _append_to_waste(g, opponent, card)
    else:
        g.reserve[opponent, g.reserve_size[opponent]] = card
        g.reserve_size[opponent] += 1


@njit
def _append_to_waste(g: Any, p: int, card: int) -> None:
    tail = np.int64(g.head[p]) + g.stock_size[p] + g.waste_size[p]
    g.ring[p, tail % PACK_CARDS] = card
    g.waste_size[p] += 1


@njit
def _rearrange(g: Any, action: int) -> None:
    """Move a run between spaces and note the new arrangement (C22, C36)."""
    if action < SPACE_TO_FREE:
        i = (action - SPACE_TO_SPACE) // NUM_SPACES
        j = (action - SPACE_TO_SPACE) % NUM_SPACES
        run = np.int64(g.tableau[i])
        target = np.int64(g.tableau[j])
        k = count_to_fit(run, target)
        joined = join(target, top_part(run, k))
    else:
        i = (action - SPACE_TO_FREE) // MAX_TO_FREE
        k = (action - SPACE_TO_FREE) % MAX_TO_FREE + 1
        run = np.int64(g.tableau[i])
        j = 0
        while g.tableau[j] != 0:
            j += 1
        joined = top_part(run, k)
    set_space(g, i, without_top(run, k))
    set_space(g, j, joined)
    g.rearrangements += 1
    g.seen[g.rearrangements] = g.arrangement


@njit
def _draw(g: Any) -> None:
    """Draw a card, turning the waste over first if the stock is empty (C31)."""
    p = np.int64(g.current_player)
    if g.stock_size[p] == 0:
        g.stock_size[p] = g.waste_size[p]
        g.waste_size[p] = 0
        g.stock_known[p] = 1
    card = np.int64(g.ring[p, g.head[p]])
    g.head[p] = (np.int64(g.head[p]) + 1) % PACK_CARDS
    g.stock_size[p] -= 1
    g.hand = card
    if g.stock_known[p] == 0:
        reveal(g, p, card)
    g.turn_bare = 0
    open_new_stretch(g)


@njit
def _end_turn(g: Any, by_pass: bool) -> None:
    """End the turn: standstill (C35), no progress (C37), then the opponent's turn."""
    g.num_turns += 1
    g.turns_without_progress = 0 if g.turn_progress else g.turns_without_progress + 1
    bare_pass = by_pass and g.turn_bare == 1
    if bare_pass and g.last_turn_bare_pass == 1:
        _finish(g, DRAWN)
    elif g.turns_without_progress >= g.no_progress_turns:
        _finish(g, _stalemate_winner(g))
    else:
        g.last_turn_bare_pass = bare_pass
        g.turn_bare = 1
        g.turn_progress = 0
        g.current_player = 1 - g.current_player
        open_new_stretch(g)


@njit
def _stalemate_winner(g: Any) -> int:
    """Return who wins a game without progress (C37)."""
    first, second = card_count(g, 0), card_count(g, 1)
    if g.stalemate_result == 0 or first == second:
        return DRAWN
    return 0 if first < second else 1


@njit
def _finish(g: Any, winner: int) -> None:
    g.terminated = 1
    if winner != DRAWN:
        g.rewards[winner] = 1
        g.rewards[1 - winner] = -1
