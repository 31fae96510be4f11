"""A simple greedy player of Crapô: always the first of a list of priorities that is legal.

It looks no move ahead. Its turns cannot loop: all that it does but DRAW, DISCARD and PASS takes a
card out of its own piles or off the spaces, or puts two runs of the spaces together for good.
"""

from typing import Any

import numpy as np

from crapo_env.bots.greedy import (
    ALWAYS,
    MAX_TIE,
    GreedyPolicy,
    Priority,
    count_cards,
    rank_table,
    top_rank,
)
from crapo_env.cards import NUM_CARDS, NUM_RANKS
from crapo_env.crapo.actions import (
    ACTIONS,
    FROM_HAND,
    NUM_ACTIONS,
    SPACE_TO_FOUNDATION,
    SPACE_TO_FREE,
    SPACE_TO_SPACE,
    TO_FOUNDATION,
)
from crapo_env.crapo.observation import HAND, SIZES, TABLEAU
from crapo_env.crapo.state import NUM_SPACES
from crapo_env.game import Game
from crapo_env.jit import njit

LAST_CARD = 1  # it plays the last card that the player owns
EMPTIES = 2  # it empties a space
ONTO_RUN = 3  # it puts a card on a space that is not free
_NUM_CONDITIONS = 4

_RESERVE = ("reserve_to_space", "reserve_to_foundation", "reserve_to_waste", "reserve_to_reserve")
_HAND = ("hand_to_space", "hand_to_foundation", "hand_to_waste", "hand_to_reserve")
_ENDS = ("discard", "pass")
_MOVES = ("space_to_space", "space_to_free")

# The reserve is the slowest pile to lose: it moves only while a space is free. So the list is about
# what shortens the own reserve, what lengthens the opponent's, and what keeps a space free.
PRIORITIES = (
    Priority(_RESERVE + _HAND, LAST_CARD, "wins at once"),
    Priority(("reserve_to_foundation",), ALWAYS, "shortens the reserve and costs no space"),
    Priority(("hand_to_foundation",), ALWAYS, "the card is gone for good and the turn goes on"),
    Priority(("space_to_foundation",), EMPTIES, "a free space lets the reserve play"),
    Priority(("space_to_foundation",), ALWAYS, "uncovers a card that may play"),
    Priority(("space_to_space",), EMPTIES, "a free space for nothing; other moves free none"),
    Priority(("reserve_to_reserve",), ALWAYS, "shortens the own reserve, lengthens the other"),
    Priority(("hand_to_reserve",), ALWAYS, "a card less to own, lengthens the other reserve"),
    Priority(("space_to_reserve",), EMPTIES, "lengthens the other reserve and frees a space"),
    Priority(("space_to_reserve",), ALWAYS, "lengthens the other reserve"),
    Priority(
        ("reserve_to_waste",), ALWAYS, "shortens the reserve; the waste is drawn again, so less"
    ),
    Priority(("hand_to_waste",), ALWAYS, "a card less to own, one more for the opponent"),
    Priority(("space_to_waste",), EMPTIES, "one more card for the opponent and a free space"),
    Priority(("space_to_waste",), ALWAYS, "one more card for the opponent"),
    Priority(("reserve_to_space",), ONTO_RUN, "shortens the reserve, and the free space stays"),
    Priority(("reserve_to_space",), ALWAYS, "the best use of a free space"),
    Priority(("hand_to_space",), ONTO_RUN, "a card less to own, and the free space stays"),
    Priority(("hand_to_space",), ALWAYS, "a card less to own, but a blocked space"),
    Priority(("draw",), ALWAYS, "the only way on"),
    Priority(_ENDS, ALWAYS, "the turn ends only when nothing else is possible"),
    Priority(_MOVES, ALWAYS, "never: they cost nothing and gain nothing, and might go to and fro"),
)
RANKS = rank_table(ACTIONS, PRIORITIES, _NUM_CONDITIONS)
_WORST = (len(PRIORITIES) + 1) * MAX_TIE


@njit
def choose_actions(observations: Any, masks: Any, actions: Any) -> None:
    """Write the greedy action of each row, the lowest id among equals."""
    for i in range(len(masks)):
        observation = observations[i]
        is_last = _count_own_cards(observation) == 1
        best = _WORST
        for a in range(NUM_ACTIONS):
            if masks[i, a] != 0:
                score = _score(a, is_last, observation)
                if score < best:
                    best = score
                    actions[i] = a


@njit
def _count_own_cards(observation: Any) -> Any:
    """Return the number of cards in the own reserve, stock, waste and hand (C34)."""
    piles = np.int64(observation[SIZES]) + observation[SIZES + 2] + observation[SIZES + 3]
    return piles + count_cards(observation, HAND)


@njit
def _score(a: int, is_last: bool, observation: Any) -> Any:
    """Return the place of action `a` in PRIORITIES and, below it, the preference among equals."""
    rank = RANKS[ALWAYS, a]
    tie = 0
    if is_last:
        rank = min(rank, RANKS[LAST_CARD, a])
    if a < SPACE_TO_FOUNDATION:
        target = a % FROM_HAND
        size = _space_size(observation, target) if target < TO_FOUNDATION else 0
        if size > 0:
            rank = min(rank, RANKS[ONTO_RUN, a])
            tie = NUM_RANKS - size  # the longest run, so that the short ones can still move
    elif _empties(a, observation):
        rank = min(rank, RANKS[EMPTIES, a])
    return rank * MAX_TIE + tie


@njit
def _empties(a: int, observation: Any) -> Any:
    """Return whether a move from a space empties it: of its only card or of its whole run."""
    if a < SPACE_TO_SPACE:
        return _space_size(observation, (a - SPACE_TO_FOUNDATION) % NUM_SPACES) == 1
    if a < SPACE_TO_FREE:
        i = (a - SPACE_TO_SPACE) // NUM_SPACES
        j = (a - SPACE_TO_SPACE) % NUM_SPACES
        base = top_rank(observation, TABLEAU + i * NUM_CARDS) + _space_size(observation, i) - 1
        return base + 1 == top_rank(observation, TABLEAU + j * NUM_CARDS)
    return False


@njit
def _space_size(observation: Any, i: int) -> Any:
    """Return the number of cards in space `i`."""
    return count_cards(observation, TABLEAU + i * NUM_CARDS)


class CrapoGreedy(GreedyPolicy):
    """Foundations, free spaces, loads, then builds; looks no move ahead."""

    def __init__(self, game: Game, seed: int = 0) -> None:
        super().__init__(game, choose_actions)
