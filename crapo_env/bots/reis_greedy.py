"""A greedy player of Reis nos cantos: always the first of a list of priorities that is legal.

It plays all that it can and never holds a card back. Its turns cannot loop: all that it does but
END takes a card from its hand or empties a cross (R20).
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
)
from crapo_env.cards import KING, NUM_CARDS, NUM_RANKS
from crapo_env.game import Game
from crapo_env.jit import njit
from crapo_env.reis_nos_cantos.actions import ACTIONS, NUM_ACTIONS, PILE_TO_PILE
from crapo_env.reis_nos_cantos.observation import HAND, PILES
from crapo_env.reis_nos_cantos.state import NUM_CROSSES, NUM_PLACES

LAST_CARD = 1  # it plays the last card in hand
KING_TO_CORNER = 2  # it puts a king on an empty corner
ONTO_PILE = 3  # it puts a card on a pile
_NUM_CONDITIONS = 4

PRIORITIES = (
    Priority(("hand_to_pile",), LAST_CARD, "wins the round at once"),
    Priority(
        ("hand_to_pile",), KING_TO_CORNER, "a king in hand costs 10 points, and queens can follow"
    ),
    Priority(("pile_to_pile",), ALWAYS, "frees a cross, which takes any card"),
    Priority(("hand_to_pile",), ONTO_PILE, "a card less, and no free cross is used up"),
    Priority(("hand_to_pile",), ALWAYS, "a card less; a free cross would serve the next player"),
    Priority(("end",), ALWAYS, "the turn ends only when nothing else is possible"),
)
RANKS = rank_table(ACTIONS, PRIORITIES, _NUM_CONDITIONS)
_WORST = (len(PRIORITIES) + 1) * MAX_TIE


@njit
def choose_actions(observations: Any, masks: Any, actions: Any) -> None:
    """Write the greedy action of each row, the lowest id among equals."""
    for i in range(len(masks)):
        observation = observations[i]
        is_last = count_cards(observation, HAND) == 1
        best = _WORST
        for a in range(NUM_ACTIONS):
            if masks[i, a] != 0:
                score = _score(a, is_last, observation)
                if score < best:
                    best = score
                    actions[i] = a


@njit
def _score(a: int, is_last: bool, observation: Any) -> Any:
    """Return the place of action `a` in PRIORITIES and, below it, the preference among equals."""
    rank = RANKS[ALWAYS, a]
    if a >= PILE_TO_PILE:
        return rank * MAX_TIE
    card, place = a // NUM_PLACES, a % NUM_PLACES
    merit = count_cards(observation, PILES + place * NUM_CARDS)  # long piles go on longest
    if is_last:
        rank = min(rank, RANKS[LAST_CARD, a])
    if merit > 0:
        rank = min(rank, RANKS[ONTO_PILE, a])
    else:
        merit = _count_followers(observation, card)
        if place >= NUM_CROSSES:
            rank = min(rank, RANKS[KING_TO_CORNER, a])  # R10: nothing else may go there
    return rank * MAX_TIE + (NUM_RANKS - merit) * NUM_RANKS + KING - card % NUM_RANKS


@njit
def _count_followers(observation: Any, card: int) -> Any:
    """Return how many cards of the own hand fit on `card`: one rank lower, of the other colour."""
    suit, rank = card // NUM_RANKS, card % NUM_RANKS
    if rank == 0:
        return 0
    first = (
        HAND + (suit ^ 1) * NUM_RANKS + rank - 1
    )  # suits of the other colour: suit ^ 1, suit ^ 3
    second = HAND + (suit ^ 3) * NUM_RANKS + rank - 1
    return np.int64(observation[first]) + observation[second]


class ReisGreedy(GreedyPolicy):
    """Kings to corners, pile moves, every card that fits; ends its turn only when it must."""

    def __init__(self, game: Game, seed: int = 0) -> None:
        super().__init__(game, choose_actions)
