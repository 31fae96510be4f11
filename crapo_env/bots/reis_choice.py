"""Fast choices in whole Reis nos cantos states by priorities that are written as data.

The kernel asks the same conditions of a state that the observation's greedy bot asks of what a
player sees; it looks at no other hand and not into the stock. `ranks` is a `rank_table`.
"""

from typing import Any

import numpy as np

from crapo_env.bits import count_bits
from crapo_env.bots.greedy import ALWAYS, MAX_TIE
from crapo_env.bots.reis_greedy import KING_TO_CORNER, LAST_CARD, ONTO_PILE
from crapo_env.bots.tree import list_mask
from crapo_env.cards import KING, NUM_RANKS
from crapo_env.jit import njit
from crapo_env.reis_nos_cantos.actions import NUM_ACTIONS, PILE_TO_PILE
from crapo_env.reis_nos_cantos.rules import apply, legal_actions
from crapo_env.reis_nos_cantos.state import NO_CARDS, NUM_CROSSES, NUM_PLACES, bit
from crapo_env.runs import run_length

_NO_SCORE = 1 << 40


@njit
def choose(g: Any, legal: Any, n: int, ranks: Any) -> int:
    """Return the best of the `n` listed actions by `ranks`, the lowest id among equals."""
    hand = np.uint64(g.hands[g.current_player])
    is_last = count_bits(hand) == 1
    best, chosen = _NO_SCORE, np.int64(legal[0])
    for k in range(n):
        a = np.int64(legal[k])
        score = _score(g, a, hand, is_last, ranks)
        if score < best:
            best, chosen = score, a
    return chosen


@njit
def _score(g: Any, a: int, hand: Any, is_last: bool, ranks: Any) -> int:
    """Return the place of action `a` among the priorities and the preference among equals."""
    rank = ranks[ALWAYS, a]
    if a >= PILE_TO_PILE:
        return rank * MAX_TIE
    card, place = a // NUM_PLACES, a % NUM_PLACES
    merit = run_length(np.int64(g.piles[place]))  # long piles go on longest
    if is_last:
        rank = min(rank, ranks[LAST_CARD, a])
    if merit > 0:
        rank = min(rank, ranks[ONTO_PILE, a])
    else:
        merit = count_bits(hand & followers(card))
        if place >= NUM_CROSSES:
            rank = min(rank, ranks[KING_TO_CORNER, a])  # R10: nothing else may go there
    return rank * MAX_TIE + (NUM_RANKS - merit) * NUM_RANKS + KING - card % NUM_RANKS


@njit
def followers(card: int) -> Any:
    """Return the two cards that fit on `card`: one rank lower, of the other colour."""
    suit, rank = card // NUM_RANKS, card % NUM_RANKS
    if rank == 0:
        return NO_CARDS
    return bit((suit ^ 1) * NUM_RANKS + rank - 1) | bit((suit ^ 3) * NUM_RANKS + rank - 1)


@njit
def choose_in_all(games: Any, masks: Any, ranks: Any, actions: Any) -> None:
    """Write the chosen action of every game among those that its mask allows."""
    legal = np.empty(NUM_ACTIONS, np.int16)
    for i in range(len(games)):
        actions[i] = choose(games[i], legal, list_mask(masks[i], legal), ranks)


@njit
def play_out(games: Any, seeds: Any, ranks: Any) -> int:
    """Play every game to the end of its round by priorities; return the number of decisions.

    Nothing is random but the cards, so the seeds are not used.
    """
    legal = np.empty(NUM_ACTIONS, np.int16)
    decisions = 0
    for i in range(len(games)):
        g = games[i]
        this_round = g.round_number
        n = legal_actions(g, legal)
        while n > 0 and g.round_number == this_round:
            apply(g, choose(g, legal, n, ranks))
            decisions += 1
            n = legal_actions(g, legal)
    return decisions
