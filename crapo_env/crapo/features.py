"""What a scorer of actions sees: the position that each legal action leads to, see `position`.

An action is played on a copy of the state. What it turns up or draws counts as unknown, unless its
place in the order is public, so nothing hidden gets into the features.
"""

from typing import Any

import numpy as np

from crapo_env.cards import NUM_CARDS, NUM_RANKS
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
)
from crapo_env.crapo.ahead import make_scratch, turns_up
from crapo_env.crapo.effects import apply
from crapo_env.crapo.position import (
    ABOUT,
    HIDDEN,
    MOVE,
    MOVED_RANK,
    POSITION,
    SIZES,
    count_unseen,
    in_stock,
    run_keys,
    write_position,
    write_special,
)
from crapo_env.crapo.rules import foundation_needs
from crapo_env.crapo.state import (
    NUM_SPACES,
    reserve_top,
)
from crapo_env.game import Features
from crapo_env.jit import njit
from crapo_env.runs import (
    count_to_fit,
    run_length,
    top_card,
    top_rank,
)


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
    after = np.empty(1, games.dtype)
    unseen, scratch = np.empty(NUM_CARDS, np.int8), make_scratch(games)
    k = 0
    for row in rows:
        g = games[row]
        p = np.int64(g.current_player)
        num_unseen = count_unseen(g, unseen)
        for j in range(num_legal[row]):
            action = np.int64(legal[row, j])
            after[0] = g
            no_top, no_hand = turns_up(g, action), _draws_hidden(g, p, action)
            apply(after[0], action)
            write_position(after[0], p, unseen, num_unseen, no_top, no_hand, scratch, out[k])
            _write_move(g, action, out[k])
            k += 1
    return k


@njit
def positions(games: Any, rows: Any, seats: Any, out: Any) -> None:
    """Write the features of the games `rows` as they stand, each seen from its seat of `seats`."""
    unseen, scratch = np.empty(NUM_CARDS, np.int8), make_scratch(games)
    for k in range(len(rows)):
        g, p = games[rows[k]], np.int64(seats[k])
        write_position(g, p, unseen, count_unseen(g, unseen), False, False, scratch, out[k])


@njit
def hidden(games: Any, rows: Any, seats: Any, out: Any) -> None:
    """Write the next cards of both stocks in the games `rows`: for critics in training."""
    for k in range(len(rows)):
        g = games[rows[k]]
        out[k] = 0
        seat = np.int64(seats[k])
        needs, keys = foundation_needs(g), run_keys(g)
        for side in range(2):
            p = (seat + side) & 1
            for j in range(2):
                at = (side * 2 + j) * ABOUT
                card = in_stock(g, p, j)
                write_special(g, seat, card, needs, keys, out[k, at : at + ABOUT])


@njit
def _draws_hidden(g: Any, p: int, action: int) -> bool:
    """Return whether an action draws a card of which nobody knows which it is."""
    return action == DRAW and g.stock_known[p] == 0 and g.stock_size[p] > 0


@njit
def _write_move(g: Any, action: int, out: Any) -> None:
    """Write what kind of action it was; `g` is the state before it."""
    move = out[MOVE : MOVE + 13]
    if action >= DRAW:
        move[9 if action == DRAW else 10 if action == DISCARD else 11] = 1
    elif action >= SPACE_TO_SPACE:
        _write_rearrangement(g, action, move, out)
    else:
        _write_card(g, action, move, out)


@njit
def _write_card(g: Any, action: int, move: Any, out: Any) -> None:
    """Write where a single card came from and went to."""
    if action < FROM_HAND:
        card, target = reserve_top(g, np.int64(g.current_player)), action - FROM_RESERVE
        move[0] = 1
    elif action < SPACE_TO_FOUNDATION:
        card, target = np.int64(g.hand), action - FROM_HAND
        move[1] = 1
    else:
        run = np.int64(g.tableau[(action - SPACE_TO_FOUNDATION) % NUM_SPACES])
        card = top_card(run)
        target = TO_FOUNDATION + (action - SPACE_TO_FOUNDATION) // NUM_SPACES
        move[2] = 1
        move[8] = run_length(run) == 1
    if target < TO_FOUNDATION:
        move[3 if g.tableau[target] != 0 else 4] = 1
    else:
        move[5 + target - TO_FOUNDATION] = 1
    out[MOVED_RANK] = card % NUM_RANKS + 1


@njit
def _write_rearrangement(g: Any, action: int, move: Any, out: Any) -> None:
    """Write what became of a run that moved between spaces."""
    move[2] = 1
    if action < SPACE_TO_FREE:
        i, j = (action - SPACE_TO_SPACE) // NUM_SPACES, (action - SPACE_TO_SPACE) % NUM_SPACES
        run = np.int64(g.tableau[i])
        k = count_to_fit(run, np.int64(g.tableau[j]))
        move[3] = 1
    else:
        run = np.int64(g.tableau[(action - SPACE_TO_FREE) // MAX_TO_FREE])
        k = (action - SPACE_TO_FREE) % MAX_TO_FREE + 1
        move[4] = 1
    move[8] = k == run_length(run)
    move[12] = k > 1
    out[MOVED_RANK] = top_rank(run) + k


def _potential() -> np.ndarray:
    """Return what a unit of each feature adds to a position's potential: cards still to lose.

    A card of the reserve counts three times, as it leaves only while a space is free.
    """
    weights = np.zeros(len(POSITION), np.float32)
    for start, sign in ((SIZES, -1.0), (SIZES + 4, 1.0)):
        weights[[start, start + 2, start + 3]] = np.array([3.0, 1.0, 1.0]) * sign
    return weights / 100


FEATURES = Features(
    position=POSITION,
    hidden=HIDDEN,
    write_afterstates=afterstates,
    write_positions=positions,
    write_hidden=hidden,
    potential=_potential(),
)
