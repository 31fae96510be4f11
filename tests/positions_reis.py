"""Positions and decks of Reis nos cantos from written cards, and moves by their text."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from crapo_env.batch import Batch, sample_legal
from crapo_env.cards import CARD_NAMES, card_number
from crapo_env.reis_nos_cantos import GAME
from crapo_env.reis_nos_cantos.state import HAND_CARDS, NUM_CROSSES, PLACES
from crapo_env.runs import run_from_names, run_to_names

RANK_ORDER = "KQJT98765432A"
FOUR_TOPS = {"N": "9d", "E": "7d", "S": "5d", "W": "3d"}  # no pile can move, aces fit nowhere


def position(
    piles: Mapping[str, str],
    hands: Sequence[str],
    stock: str | int | None = None,
    player: int = 0,
    totals: Sequence[int] = (),
    turn_is_dry: int = 0,
    **options: Any,
) -> Batch:
    """Return a batch of one match in a written position.

    Args:
        piles: the cards of each place that is not empty, base first.
        hands: by seat; seats that are left out get two of the cards not written anywhere.
        stock: its cards in drawing order, or how many of those not written anywhere; None: all.
        player: the seat on turn; the seat before it was the dealer.
        totals: points before this round, by seat.
        turn_is_dry: 1 if nothing was drawn, played or moved in this turn yet.
        **options: options of the game.
    """
    written = " ".join([*piles.values(), *hands, stock if isinstance(stock, str) else ""]).split()
    assert len(set(written)) == len(written), "a card is written twice"
    left = [name for name in CARD_NAMES if name not in written]
    batch = Batch(GAME, 1, options, auto_reset=False)
    batch.reset(1)
    g = batch.games
    n = int(g["num_players"][0])
    g["hands"] = 0
    for p in range(n):
        cards = hands[p].split() if p < len(hands) else [left.pop(0), left.pop(0)]
        g["hands"][0, p] = sum(1 << card_number(name) for name in cards)
    g["piles"] = [[run_from_names(piles.get(place, "").split()) for place in PLACES]]
    pile = stock.split() if isinstance(stock, str) else left[:stock]
    g["stock"][0, : len(pile)] = [card_number(name) for name in pile]
    g["stock_next"] = 0
    g["stock_end"] = len(pile)
    g["current_player"] = player
    g["dealer"] = (player - 1) % n
    g["turn_is_dry"] = turn_is_dry
    g["totals"][0, : len(totals)] = totals
    batch.refresh()
    return batch


def written_deck(hands: Sequence[str], layout: str, stock: str = "") -> list[str]:
    """Return a whole deck: seven cards a seat, then the layout, the stock and all other cards.

    Hands with fewer cards are filled up, a layout with fewer than four cards for the crosses too.
    """
    written = " ".join([*hands, layout, stock]).split()
    assert len(set(written)) == len(written), "a card is written twice"
    left = [name for name in CARD_NAMES if name not in written]
    deck = []
    for hand in hands:
        cards = hand.split()
        deck += cards + [left.pop(0) for _ in range(HAND_CARDS - len(cards))]
    turned = layout.split()
    fillers = [name for name in left if name[0] != "K"]
    missing = NUM_CROSSES - sum(name[0] != "K" for name in turned)
    turned += fillers[:missing]
    return deck + turned + stock.split() + [name for name in left if name not in turned]


def dealt(deck: Sequence[str], seed: int = 0, **options: Any) -> Batch:
    """Return a batch of one match that starts with a written deck."""
    batch = Batch(GAME, 1, options, auto_reset=False)
    batch.deal(deck, seed)
    return batch


def legal(batch: Batch) -> set[str]:
    """Return the texts of the legal moves."""
    return {
        GAME.action_to_string(batch.games, int(a)) for a in batch.legal[0, : batch.num_legal[0]]
    }


def play(batch: Batch, moves: str) -> Batch:
    """Play moves by their text, one after another, and return the batch."""
    for text in moves.split():
        action = GAME.string_to_action(
            batch.games, text, batch.legal[0, : batch.num_legal[0]].tolist()
        )
        batch.step(np.array([action]))
    return batch


def hand(batch: Batch, p: int) -> set[str]:
    """Return the cards of seat `p`."""
    cards = int(batch.games["hands"][0, p])
    return {name for c, name in enumerate(CARD_NAMES) if cards >> c & 1}


def pile(batch: Batch, place: str) -> str:
    """Return the cards of a place, base first."""
    return " ".join(run_to_names(batch.games["piles"][0, PLACES.index(place)]))


def stock(batch: Batch) -> list[str]:
    """Return the stock in drawing order."""
    g = batch.games[0]
    return [CARD_NAMES[c] for c in g["stock"][g["stock_next"] : g["stock_end"]]]


def value(batch: Batch, field: str) -> Any:
    """Return a field of the state, as an integer or as a list by seat."""
    number = batch.games[field][0]
    return number.tolist()[: int(batch.games["num_players"][0])] if number.ndim else int(number)


def random_batch(n: int, seed: int, steps: int, **options: Any) -> Batch:
    """Return `n` matches after so many uniformly random moves."""
    batch = Batch(GAME, n, options)
    batch.reset(seed)
    states = np.arange(n, dtype=np.uint64)
    actions = np.zeros(n, np.int64)
    for _ in range(steps):
        sample_legal(batch.legal, batch.num_legal, states, actions)
        batch.step(actions)
    return batch
