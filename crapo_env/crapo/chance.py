"""Crapô with hidden cards that are drawn when they are turned up, each with its exact probability.

Nothing is private in Crapô, so what chance gives is seen by both. A face-down card may be any
unseen one, but not all alike: as `hidden` explains, a division of the cards among the players has
the weight C(m, m/2) / 2**m, with m the number of faces of which player 0 owns exactly one copy.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from crapo_env.cards import NUM_CARDS
from crapo_env.chance import DEAL, Chance, ChanceNode
from crapo_env.crapo import kernels
from crapo_env.crapo.actions import DRAW, FROM_HAND
from crapo_env.crapo.effects import apply
from crapo_env.crapo.hidden import WEIGHTS
from crapo_env.crapo.state import (
    NUM_SPACES,
    PACK_CARDS,
    RESERVE_CARDS,
    TURNED_CARDS,
    decided_starter,
)
from crapo_env.jit import njit
from crapo_env.runs import top_card

_SHOWN = 1 + TURNED_CARDS  # cards of each player that the deal turns up: reserve top, spaces
_COPIES = 2
_N = np.arange(NUM_CARDS + 1)
_CHOOSE = np.zeros((NUM_CARDS + 1, NUM_CARDS + 1))  # binomial coefficients
_CHOOSE[:, 0] = 1
for _n in range(1, NUM_CARDS + 1):
    _CHOOSE[_n, 1:] = _CHOOSE[_n - 1, 1:] + _CHOOSE[_n - 1, :-1]
_NO_SEED = np.zeros(1, np.uint64)


@lru_cache(maxsize=2**16)
def weigh_divisions(none: int, one_first: int, one_second: int, singles: int, hidden: int) -> float:
    """Return the total weight of all ways to give player 0 his `hidden` unseen cards.

    Args:
        none: faces of which no copy was seen.
        one_first: faces of which one copy was seen, dealt to player 0, and one was not.
        one_second: the same, dealt to player 1.
        singles: faces of which each player was seen to own one copy.
        hidden: number of unseen cards that were dealt to player 0.
    """
    b = _N[: one_first + 1, None, None]  # of `one_first`: the unseen copy is player 1's
    k = _N[None, : one_second + 1, None]  # of `one_second`: the unseen copy is player 0's
    i = _N[None, None, : none + 1]  # of `none`: one copy each
    left = hidden - (one_first - b + k) - i  # cards of faces that player 0 owns whole
    whole = left // 2
    possible = (left % 2 == 0) & (whole >= 0) & (whole <= none - i)
    ways = _CHOOSE[one_first, b] * _CHOOSE[one_second, k] * _CHOOSE[none, i] * 2.0**i
    ways = ways * _CHOOSE[none - i, np.where(possible, whole, 0)]
    return float((ways * WEIGHTS[singles + b + k + i] * possible).sum())


def card_probabilities(dealt: np.ndarray, hidden: Sequence[int], p: int) -> np.ndarray:
    """Return the chance of every card to lie at one face-down place of player `p`.

    Args:
        dealt: (2, 52), copies seen so far by the player they were dealt to.
        hidden: how many unseen cards were dealt to either player.
        p: the player.

    Returns:
        (52,) float64; the sum is 1 up to rounding.
    """
    first, second = dealt[0], dealt[1]
    unseen = _COPIES - first - second
    counts = [
        int(((first == f) & (second == s)).sum()) for f, s in ((0, 0), (1, 0), (0, 1), (1, 1))
    ]
    total = weigh_divisions(*counts, hidden[0]) * hidden[p]
    # What the counts of the four kinds become if a card of one of the first three is player p's.
    moves = (
        ((-1, 1, 0, 0), (0, -1, 0, 0), (0, 0, -1, 1)),
        ((-1, 0, 1, 0), (0, -1, 0, 1), (0, 0, -1, 0)),
    )
    chances = np.zeros(NUM_CARDS)
    for kind, move in enumerate(moves[p]):
        if counts[kind] > 0:
            after = [count + change for count, change in zip(counts, move, strict=True)]
            weight = weigh_divisions(*after, hidden[0] - (p == 0)) / total
            of_kind = (first == (kind == 1)) & (second == (kind == 2))
            chances[of_kind] = unseen[of_kind] * weight
    return chances


def _card_node(dealt: np.ndarray, hidden: Sequence[int], p: int) -> ChanceNode:
    chances = card_probabilities(dealt, hidden, p)
    outcomes = np.flatnonzero(chances)
    return ChanceNode(-1, tuple(outcomes.tolist()), tuple(chances[outcomes].tolist()))


def next_node(games: np.ndarray, action: int, drawn: Sequence[int]) -> ChanceNode | None:
    """Return what chance decides next, see `Chance`."""
    if action == DEAL:
        return _next_of_deal(games, drawn)
    place = None if drawn else _turned_up(games, action)
    if place is None:
        return None
    hidden = [len(_hidden_places(games, p)) for p in range(2)]
    return _card_node(games["dealt"][0], hidden, int(games["current_player"][0]))


def _next_of_deal(games: np.ndarray, drawn: Sequence[int]) -> ChanceNode | None:
    """Return the next card turned up by the deal, or the draw of lots for who starts (C6)."""
    if len(drawn) < 2 * _SHOWN:
        dealt = np.zeros((2, NUM_CARDS), np.int64)
        for k, card in enumerate(drawn):
            dealt[k // _SHOWN, card] += 1
        hidden = [NUM_CARDS - int(dealt[p].sum()) for p in range(2)]
        return _card_node(dealt, hidden, len(drawn) // _SHOWN)
    if len(drawn) == 2 * _SHOWN:
        table = games.copy()
        kernels.deal(table, _deck(drawn), _NO_SEED)
        if _is_tied(table):
            return ChanceNode(-1, (NUM_CARDS, NUM_CARDS + 1), (0.5, 0.5))
    return None


def _deck(drawn: Sequence[int]) -> np.ndarray:
    """Return a deck whose deal turns up the drawn cards; the face-down ones do not matter."""
    left = np.full(NUM_CARDS, _COPIES)
    deck = np.full(PACK_CARDS, -1, np.int8)
    for k, card in enumerate(drawn[: 2 * _SHOWN]):
        p, place = divmod(k, _SHOWN)
        deck[p * NUM_CARDS + RESERVE_CARDS - 1 + place] = card
        left[card] -= 1
    deck[deck < 0] = np.repeat(np.arange(NUM_CARDS), left)
    return deck


@njit
def _is_tied(games: Any) -> bool:
    return decided_starter(games[0]) < 0


@njit
def _apply(games: Any, action: int) -> None:
    apply(games[0], action)


def _hidden_places(games: np.ndarray, p: int) -> list[tuple[str, int, int]]:
    """Return the face-down places of player `p` as field and indices, the next to draw last."""
    down = games["reserve_down"].item(0, p)
    places = [("reserve", p, k) for k in range(down)]
    if not games["stock_known"].item(0, p):
        head, size = games["head"].item(0, p), games["stock_size"].item(0, p)
        places += [("ring", p, (head + k) % PACK_CARDS) for k in range(size - 1, -1, -1)]
    return places


def _turned_up(games: np.ndarray, action: int) -> tuple[str, int, int] | None:
    """Return the face-down place whose card an action turns up (C16, C27)."""
    p = games["current_player"].item(0)
    if action == DRAW and games["stock_size"].item(0, p) and not games["stock_known"].item(0, p):
        return "ring", p, games["head"].item(0, p)
    below = games["reserve_size"].item(0, p) - 2
    if action < FROM_HAND and below >= 0 and games["reserve_down"].item(0, p) == below + 1:
        return "reserve", p, below
    return None


def play(games: np.ndarray, action: int, drawn: Sequence[int]) -> None:
    """Deal or play in place with what chance has given, see `Chance`."""
    if action == DEAL:
        kernels.deal(games, _deck(drawn), _NO_SEED)
        if len(drawn) > 2 * _SHOWN:
            games["current_player"] = drawn[-1] - NUM_CARDS
        return
    place = _turned_up(games, action) if drawn else None
    if place is not None:
        _exchange(games, place, drawn[0])
    _apply(games, action)


def _exchange(games: np.ndarray, place: tuple[str, int, int], card: int) -> None:
    """Put `card` at a face-down place, and what lay there where the card was."""
    field, *at = place
    for other, *where in _hidden_places(games, 0) + _hidden_places(games, 1):
        if games[other][0][tuple(where)] == card:
            games[other][0][tuple(where)] = games[field][0][tuple(at)]
            games[field][0][tuple(at)] = card
            return
    raise ValueError(f"card {card} is not face down anywhere")


def read(before: np.ndarray, action: int, after: np.ndarray) -> list[int]:
    """Return what chance gave in a game that was played otherwise, see `Chance`."""
    if action != DEAL:
        place = _turned_up(before, action)
        return [] if place is None else [int(before[place[0]][0][place[1:]])]
    drawn = []
    for p in range(2):
        drawn.append(int(after["reserve"][0, p, RESERVE_CARDS - 1]))
        spaces = range(p * TURNED_CARDS, (p + 1) * TURNED_CARDS)
        drawn += [int(top_card(int(after["tableau"][0, i]))) for i in spaces]
    assert 2 * TURNED_CARDS == NUM_SPACES
    return [*drawn, NUM_CARDS + int(after["current_player"][0])] if _is_tied(after) else drawn


def redraw(games: np.ndarray, seat: int, seed: int) -> dict[int, int]:
    """Return nothing: what is known to one player is known to both."""
    return {}


def max_return(options: Mapping[str, Any]) -> float:
    """Return the largest amount that a player receives in a game (C34)."""
    return 1.0


def pays_at_end(options: Mapping[str, Any]) -> bool:
    """Return whether nothing is paid before the end of the game."""
    return True


CHANCE = Chance(next_node, play, read, redraw, max_return, pays_at_end)
