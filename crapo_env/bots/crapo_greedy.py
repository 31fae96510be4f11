"""A simple greedy player of Crapô: always the first of a list of priorities that is legal."""

from typing import Any

import numpy as np

from crapo_env.bots.policy import NO_ACTION, Policy
from crapo_env.bots.priorities import ALWAYS, Priority, rank_table
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

LAST_CARD = 1  # the action plays the last card that the player owns
EMPTIES = 2  # the action empties a space
ONTO_RUN = 3  # the action puts a card on a space that is not free
_NUM_CONDITIONS = 4

PRIORITIES = (
    Priority(
        ("reserve_to_space", "reserve_to_foundation", "reserve_to_waste", "reserve_to_reserve"),
        LAST_CARD,
        "wins at once",
    ),
    Priority(
        ("hand_to_space", "hand_to_foundation", "hand_to_waste", "hand_to_reserve"),
        LAST_CARD,
        "wins at once",
    ),
    Priority(
        ("reserve_to_foundation",),
        ALWAYS,
        "the own reserve is the slowest pile to lose, and it costs no space",
    ),
    Priority(("hand_to_foundation",), ALWAYS, "the card is gone for good, and the turn goes on"),
    Priority(("space_to_foundation",), EMPTIES, "a free space lets the reserve play"),
    Priority(
        ("space_to_foundation",),
        ALWAYS,
        "uncovers a card and brings later cards of the suit nearer",
    ),
    Priority(
        ("space_to_space",), EMPTIES, "a free space lets the reserve play, at the price of no card"
    ),
    Priority(
        ("reserve_to_reserve",), ALWAYS, "one card less in the own slowest pile, one more in his"
    ),
    Priority(("hand_to_reserve",), ALWAYS, "one card less to own, one more in his slowest pile"),
    Priority(("space_to_reserve",), EMPTIES, "one more card in his slowest pile, and a free space"),
    Priority(("space_to_reserve",), ALWAYS, "one more card in his slowest pile"),
    Priority(
        ("reserve_to_waste",), ALWAYS, "one card less in the own slowest pile, one more for him"
    ),
    Priority(("hand_to_waste",), ALWAYS, "one card less to own, one more for him"),
    Priority(("space_to_waste",), EMPTIES, "one more card for him, and a free space"),
    Priority(("space_to_waste",), ALWAYS, "one more card for him"),
    Priority(
        ("reserve_to_space",), ONTO_RUN, "one card less in the reserve, and the free space stays"
    ),
    Priority(("reserve_to_space",), ALWAYS, "the best use of a free space"),
    Priority(("hand_to_space",), ONTO_RUN, "one card less to own, and the turn goes on"),
    Priority(("hand_to_space",), ALWAYS, "the same, but it costs the free space"),
    Priority(("draw",), ALWAYS, "nothing else is worth doing"),
    Priority(("discard", "pass"), ALWAYS, "ends the turn"),
    Priority(
        ("space_to_space", "space_to_free"),
        ALWAYS,
        "other moves between spaces gain nothing by themselves",
    ),
)
_RANKS = rank_table(ACTIONS, PRIORITIES, _NUM_CONDITIONS)
_MAX_TIE = 16
_WORST = (len(PRIORITIES) + 1) * _MAX_TIE


@njit
def choose_actions(observations: Any, masks: Any, actions: Any) -> None:
    """Write the greedy action of each row: the lowest id among equals, NO_ACTION for none."""
    sizes = np.empty(NUM_SPACES, np.int64)
    tops = np.empty(NUM_SPACES, np.int64)
    for i in range(len(masks)):
        observation = observations[i]
        _read_tableau(observation, sizes, tops)
        last_card = _count_own_cards(observation) == 1
        best = _WORST
        actions[i] = NO_ACTION
        for a in range(NUM_ACTIONS):
            if masks[i, a] != 0:
                score = _rank(a, last_card, sizes, tops) * _MAX_TIE + _tie(a, sizes)
                if score < best:
                    best = score
                    actions[i] = a


@njit
def _read_tableau(observation: Any, sizes: Any, tops: Any) -> None:
    """Write the number of cards and the rank of the top card, the lowest, of every space."""
    for i in range(NUM_SPACES):
        sizes[i] = 0
        tops[i] = NUM_RANKS
        for card in range(NUM_CARDS):
            if observation[TABLEAU + i * NUM_CARDS + card] != 0:
                sizes[i] += 1
                tops[i] = min(tops[i], card % NUM_RANKS)


@njit
def _count_own_cards(observation: Any) -> Any:
    """Return the number of cards in the own reserve, stock, waste and hand (C34)."""
    count = np.int64(observation[SIZES]) + observation[SIZES + 2] + observation[SIZES + 3]
    for card in range(NUM_CARDS):
        count += observation[HAND + card]
    return count


@njit
def _rank(a: int, last_card: bool, sizes: Any, tops: Any) -> Any:
    """Return the place of action `a` in PRIORITIES."""
    rank = _RANKS[ALWAYS, a]
    if last_card:
        rank = min(rank, _RANKS[LAST_CARD, a])
    if _empties(a, sizes, tops):
        rank = min(rank, _RANKS[EMPTIES, a])
    if a < SPACE_TO_FOUNDATION and a % FROM_HAND < TO_FOUNDATION and sizes[a % FROM_HAND] > 0:
        rank = min(rank, _RANKS[ONTO_RUN, a])
    return rank


@njit
def _empties(a: int, sizes: Any, tops: Any) -> Any:
    """Return whether the action empties a space: it moves its only card or its whole run."""
    if SPACE_TO_FOUNDATION <= a < SPACE_TO_SPACE:
        return sizes[(a - SPACE_TO_FOUNDATION) % NUM_SPACES] == 1
    if SPACE_TO_SPACE <= a < SPACE_TO_FREE:
        i = (a - SPACE_TO_SPACE) // NUM_SPACES
        j = (a - SPACE_TO_SPACE) % NUM_SPACES
        return tops[i] + sizes[i] == tops[j]
    return False


@njit
def _tie(a: int, sizes: Any) -> int:
    """Return which of two actions of equal rank is better: the lower number."""
    return 0


class CrapoGreedy(Policy):
    """Foundations, free spaces, loads, then builds: the first legal of a list of priorities."""

    def __init__(self, game: Game, seed: int = 0) -> None:
        super().__init__(game, "greedy", deterministic=True)

    def choose(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Return the greedy action of each row."""
        actions = np.empty(len(masks), np.int64)
        choose_actions(observations, masks, actions)
        return actions
