"""Reis nos cantos with cards that are drawn when a player or the table gets them.

A card of the stock is nobody's until it is drawn, so it is any card that has not been dealt in this
round, all alike. Hands are private: only their owner sees what chance gives him.

The same rules are played with a `Pack` of fewer cards, smaller hands and fewer crosses, small
enough for exact solutions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from crapo_env.cards import KING, NUM_CARDS, NUM_RANKS, seed_game
from crapo_env.chance import DEAL, Chance, ChanceNode
from crapo_env.jit import njit
from crapo_env.reis_nos_cantos.actions import END
from crapo_env.reis_nos_cantos.hidden import resample
from crapo_env.reis_nos_cantos.rules import POINTS_SCALE, apply
from crapo_env.reis_nos_cantos.state import (
    HAND_CARDS,
    KING_POINTS,
    NUM_CROSSES,
    clear,
    deal_pack,
)

_PUBLIC = -1


@njit
def _apply(games: Any, action: int) -> None:
    apply(games[0], action)


@njit
def _begin_match(games: Any) -> None:
    seed_game(games[0], np.uint64(0))
    clear(games[0])


@njit
def _deal(games: Any, dealer: int, num_cards: int, hand_cards: int, crosses: int) -> None:
    deal_pack(games[0], dealer, num_cards, hand_cards, crosses)


def _uniform(seat: int, cards: Sequence[int]) -> ChanceNode:
    return ChanceNode(seat, tuple(sorted(cards)), (1 / len(cards),) * len(cards))


def _starter_is_drawn(games: np.ndarray) -> bool:
    return games["first_player"].item(0) == 0  # R6


def _draws(games: np.ndarray, action: int) -> bool:
    """Return whether an action takes a card from the stock (R7, R18)."""
    return action == END and games["stock_next"].item(0) < games["stock_end"].item(0)


def _cards(hand: int) -> list[int]:
    """Return the cards of a set."""
    return [card for card in range(NUM_CARDS) if hand >> card & 1]


@dataclass(frozen=True)
class Pack:
    """The cards and how many of them are dealt."""

    cards: tuple[int, ...] = tuple(range(NUM_CARDS))
    hand_cards: int = HAND_CARDS
    crosses: int = NUM_CROSSES

    def next_node(self, games: np.ndarray, action: int, drawn: Sequence[int]) -> ChanceNode | None:
        """Return what chance decides next, see `Chance`."""
        n = games["num_players"].item(0)
        if action == DEAL:
            if _starter_is_drawn(games) and not drawn:
                return ChanceNode(_PUBLIC, tuple(range(NUM_CARDS, NUM_CARDS + n)), (1 / n,) * n)
            starter, cards = self._split_start(games, drawn)
            return self._next_of_deal(games, starter, cards)
        if _draws(games, action) and not drawn:
            mover = games["current_player"].item(0)
            seat = mover if games["draw_at"].item(0) == 1 else (mover + 1) % n
            left = slice(games["stock_next"].item(0), games["stock_end"].item(0))
            return _uniform(seat, games["stock"][0, left].tolist())
        after = games.copy()
        cards = self._play_on(after, action, drawn)
        if after["round_number"].item(0) == games["round_number"].item(0):
            return None
        return self._next_of_deal(after, (after["dealer"].item(0) + 1) % n, cards)

    def _split_start(self, games: np.ndarray, drawn: Sequence[int]) -> tuple[int, Sequence[int]]:
        """Return who starts the match and the cards dealt so far."""
        if _starter_is_drawn(games):
            return drawn[0] - NUM_CARDS, drawn[1:]
        return games["first_player"].item(0) - 1, drawn

    def _next_of_deal(
        self, games: np.ndarray, starter: int, cards: Sequence[int]
    ) -> ChanceNode | None:
        """Return who gets the next card: a hand, the layout, the first to draw (R3-R7)."""
        in_hands = games["num_players"].item(0) * self.hand_cards
        left = [card for card in self.cards if card not in cards]
        if len(cards) < in_hands:
            return _uniform(len(cards) // self.hand_cards, left)
        end = self._layout_end(cards, in_hands)
        if end is None:
            return _uniform(_PUBLIC, left)
        if games["draw_at"].item(0) == 0 and left and len(cards) == end:
            return _uniform(starter, left)
        return None

    def _layout_end(self, cards: Sequence[int], in_hands: int) -> int | None:
        """Return the number of cards that fill hands and crosses, None if these do not (R5)."""
        filled = 0
        for k in range(in_hands, len(cards) + 1):
            if filled == self.crosses:
                return k
            filled += k < len(cards) and cards[k] % NUM_RANKS != KING
        return None

    def play(self, games: np.ndarray, action: int, drawn: Sequence[int]) -> None:
        """Deal or play in place with what chance has given, see `Chance`."""
        n = games["num_players"].item(0)
        if action == DEAL:
            starter, cards = self._split_start(games, drawn)
            _begin_match(games)
            self._deal(games, (starter - 1) % n, cards)
            return
        round_number = games["round_number"].item(0)
        cards = self._play_on(games, action, drawn)
        if games["round_number"].item(0) != round_number:
            self._deal(games, games["dealer"].item(0), cards)

    def _play_on(self, games: np.ndarray, action: int, drawn: Sequence[int]) -> Sequence[int]:
        """Play an action with the card that it draws; return what was drawn for a new deal."""
        if _draws(games, action):
            stock, first = games["stock"][0], games["stock_next"].item(0)
            place = first + stock[first:].tolist().index(drawn[0])
            stock[first], stock[place] = drawn[0], stock[first]
            drawn = drawn[1:]
        _apply(games, action)
        return drawn

    def _deal(self, games: np.ndarray, dealer: int, cards: Sequence[int]) -> None:
        rest = [card for card in self.cards if card not in cards]
        games["stock"][0, : len(self.cards)] = [*cards, *rest]
        _deal(games, dealer, len(self.cards), self.hand_cards, self.crosses)

    def read(self, before: np.ndarray, action: int, after: np.ndarray) -> list[int]:
        """Return what chance gave in a game that was played otherwise, see `Chance`."""
        drawn: list[int] = []
        if action == DEAL:
            starter = (after["dealer"].item(0) + 1) % after["num_players"].item(0)
            drawn = [NUM_CARDS + starter] if _starter_is_drawn(after) else []
        elif _draws(before, action):
            drawn = [before["stock"].item(0, before["stock_next"].item(0))]
        if action == DEAL or after["round_number"].item(0) != before["round_number"].item(0):
            drawn += after["stock"][0, : after["stock_next"].item(0)].tolist()
        return drawn

    def chance(self) -> Chance:
        """Return the functions of `Chance` for this pack."""
        return Chance(self.next_node, self.play, self.read, redraw, max_return, pays_at_end)


def redraw(games: np.ndarray, seat: int, seed: int) -> dict[int, int]:
    """Return for each card in another hand the one that a redraw of the hidden cards puts there."""
    other = games.copy()
    resample(other, seat, np.array([seed], np.uint64))
    cards: dict[int, int] = {}
    for p in range(games["num_players"].item(0)):
        if p != seat:
            old, new = _cards(games["hands"].item(0, p)), _cards(other["hands"].item(0, p))
            cards.update(zip(old, new, strict=True))
    return cards


def pays_at_end(options: Mapping[str, Any]) -> bool:
    """Return whether nothing is paid before the end of the match."""
    return bool(options["reward"] == "win")


def max_return(options: Mapping[str, Any]) -> float:
    """Return a bound on what a seat receives in a match, or loses (R16, R17).

    With `reward="points"` a round pays a seat no more than all cards in the other hands cost.
    Before the last round no total has reached the target and every round adds n - 1 points.
    """
    if pays_at_end(options):
        return 1.0
    n = int(options["num_players"])
    rounds = n * (int(options["target"]) - 1) // (n - 1) + 1
    return rounds * (NUM_CARDS + 4 * (KING_POINTS - 1)) / POINTS_SCALE


CHANCE = Pack().chance()
