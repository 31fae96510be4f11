"""Random Crapô positions near the end, of two whole packs: short games with many rare paths."""

import random
from collections.abc import Mapping
from typing import Any

from crapo_env.cards import CARD_NAMES, CARD_NUMBERS, NUM_RANKS, SUITS
from crapo_env.runs import fits_key, run_of, top_key

Pairs = list[list[list[str]]]


def late_position(rng: random.Random, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments, but for the options, of `positions_crapo.position`.

    Most cards lie on foundations, and stocks, wastes and reserves are often empty. One position in
    five has no stock, waste and free space.
    """
    foundations = {s: [max(rng.choices(range(14), k=2)) for _ in range(2)] for s in SUITS}
    left = [
        card
        for card in CARD_NAMES
        for height in foundations[card[1]]
        if CARD_NUMBERS[card] % NUM_RANKS >= height
    ]
    if len(left) < 4:
        return late_position(rng, options)
    rng.shuffle(left)
    player = rng.randrange(2)
    stuck = rng.random() < 0.2
    hand = left.pop() if rng.random() < 0.25 and not stuck else None
    tableau = _random_tableau(rng, left, 1.0 if stuck else rng.choice((0.6, 0.9, 1.0)))
    reserve, stock, waste = _random_shares(rng, left, stuck)
    counts = [len(reserve[p]) + len(stock[p]) + len(waste[p]) for p in range(2)]
    counts[player] += hand is not None
    limit = options.get("no_progress_turns", 120)
    may_have_passed = hand is None and not stock[1 - player] and not waste[1 - player]
    return {
        "tableau": tableau,
        "reserve": reserve,
        "waste": waste,
        "stock": stock,
        "foundations": foundations,
        "hand": hand,
        "current_player": player,
        "stock_known": [rng.randrange(2) for _ in range(2)],
        "counters": {
            "smallest": [max(1, min(48, n) - rng.choice((0, 0, 1, 3))) for n in counts],
            "turns_without_progress": rng.choice((0, max(limit - 1, 0), max(limit - 3, 0))),
            "last_turn_bare_pass": int(may_have_passed and rng.random() < 0.5),
        },
    }


def _random_tableau(rng: random.Random, left: list[str], fullness: float) -> list[list[str]]:
    """Take cards for the eight spaces from those left, at least two of which stay."""
    tableau: list[list[str]] = [[] for _ in range(8)]
    for pile in tableau:
        if rng.random() < fullness and len(left) > 2:
            pile.append(left.pop())
        while pile and rng.random() < 0.6 and len(left) > 2:
            key = top_key(run_of(CARD_NUMBERS[pile[-1]]))
            fitting = [card for card in left if fits_key(CARD_NUMBERS[card]) == key]
            if not fitting:
                break
            pile.append(rng.choice(fitting))
            left.remove(pile[-1])
    return tableau


def _random_shares(rng: random.Random, left: list[str], stuck: bool) -> tuple[Pairs, Pairs, Pairs]:
    """Share the cards among both reserves, stocks and wastes; either player gets one.

    If `stuck`, all go to the reserves as long as there is room.
    """
    reserve, stock, waste = ([[], []] for _ in range(3))
    weights = [[rng.choice((0, 0, 1, 3)) for _ in range(3)] for _ in range(2)]
    for n, card in enumerate(left):
        p = n if n < 2 else rng.randrange(2)
        chosen = weights[p] if any(weights[p]) and not stuck else [1, 0, 0]
        pile = rng.choices((reserve[p], stock[p], waste[p]), chosen)[0]
        if pile is reserve[p] and len(pile) == 14:
            pile = waste[p]
        pile.append(card)
    return reserve, stock, waste
