"""What each action of Crapô does, and how turns and games end (clauses C15-C37)."""

from typing import Any

import numpy as np

from crapo_env.cards import NUM_RANKS
from crapo_env.crapo.actions import (
    DISCARD,
    DRAW,
    FROM_HAND,
    FROM_RESERVE,
    MAX_TO_FREE,
    SPACE_TO_FOUNDATION,
    SPACE_TO_FREE,
    SPACE_TO_SPACE,
    TO_FOUNDATION,
    TO_WASTE,
)
from crapo_env.crapo.state import (
    NO_CARD,
    NUM_SPACES,
    PACK_CARDS,
    STALE_PILES,
    card_count,
    open_new_stretch,
    reveal,
    set_space,
)
from crapo_env.jit import njit
from crapo_env.runs import count_to_fit, join, push, top_card, top_part, without_top

DRAWN = -1  # result of a game that nobody won


@njit
def apply(g: Any, action: int) -> None:
    """Play a legal action."""
    g.rewards[0] = g.rewards[1] = 0
    g.num_steps += 1
    if action < SPACE_TO_SPACE:
        _play_card(g, action)
    elif action < DRAW:
        _rearrange(g, action)
    elif action == DRAW:
        _draw(g)
    elif action == DISCARD:
        _append_to_waste(g, np.int64(g.current_player), g.hand)
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
    g.stale |= STALE_PILES << p
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
        g.stale |= STALE_PILES << opponent
        g.reserve[opponent, g.reserve_size[opponent]] = card
        g.reserve_size[opponent] += 1


@njit
def _append_to_waste(g: Any, p: int, card: int) -> None:
    g.stale |= STALE_PILES << p
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
    g.stale |= STALE_PILES << p
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
        g.stale |= STALE_PILES | STALE_PILES << 1  # own and opponent change places
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
