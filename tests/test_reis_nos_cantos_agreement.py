"""Whole random matches, move for move, against the slow `reference_reis_nos_cantos`.

`python tests/test_reis_nos_cantos_agreement.py --games 100000` plays more of them.
"""

import argparse
import itertools
import random
import time
from typing import Any

import numpy as np
import pytest
from reference_reis_nos_cantos import ReisReference

from crapo_env.batch import NO_ACTION, Batch
from crapo_env.cards import CARD_NAMES, CARD_NUMBERS
from crapo_env.reis_nos_cantos import GAME
from crapo_env.reis_nos_cantos.actions import END
from crapo_env.reis_nos_cantos.state import PLACES
from crapo_env.runs import run_to_names

SETTINGS = [
    {"num_players": n, "draw_at": at, "king_pile_to_corner": king_pile}
    for n, at, king_pile in itertools.product((2, 3, 4), ("start", "end"), (False, True))
]
VARIANTS = tuple(  # by chunk of matches: mostly single rounds
    {"target": target, "reward": reward}
    for target, reward in itertools.product((1, 1, 8), ("win", "points"))
)
STOP = (None, 0.3, 0.05, 0.6)  # by match: how likely END is chosen; None: like any other move
SEEDS_APART = 1_000_000  # between the first seeds of two settings
CHUNK = 50


def bits(names: list[str]) -> int:
    return sum(1 << CARD_NUMBERS[name] for name in names)


class Pair:
    """One match of a batch beside its reference."""

    def __init__(self, batch: Batch, i: int, options: dict[str, Any]) -> None:
        self.batch, self.i = batch, i
        given = {name: v for name, v in options.items() if name != "num_players"}
        self.seed = int(batch.games["seed"][i])
        starter = int(batch.current_player[i])
        deck = self.engine_deck()
        self.reference = ReisReference(
            options["num_players"], deck, self.engine_deck, starter, **given
        )

    def engine_deck(self) -> list[str]:
        """Return the pack of this round in dealing order, which the engine's stock array holds."""
        return [CARD_NAMES[c] for c in self.batch.games["stock"][self.i]]

    def differences(self) -> list[str]:
        """Return the names of all that differs."""
        g, r = self.batch.games[self.i], self.reference
        n = r.num_players
        legal = self.batch.legal[self.i, : self.batch.num_legal[self.i]]
        rewards = np.round(self.batch.rewards[self.i].astype(float), 5).tolist()
        both = {
            "legal moves": (sorted(GAME.actions.names[a] for a in legal), sorted(r.legal_moves())),
            "mask": (self.batch.masks[self.i].sum(), len(legal)),
            "seat on turn": (g["current_player"], r.current_player),
            "hands": (g["hands"][:n].tolist(), [bits(hand) for hand in r.hands]),
            "piles": ([run_to_names(p) for p in g["piles"]], [r.piles[p] for p in PLACES]),
            "stock": (self.engine_deck()[g["stock_next"] : g["stock_end"]], r.stock),
            "totals": (g["totals"][:n].tolist(), r.scores),
            "dealer": (g["dealer"], r.dealer),
            "round": (g["round_number"] + 1, r.round_number),
            "dry turns": (g["dry_turns"], r.dry_turns),
            "dry turn": (g["turn_is_dry"], r.turn_is_dry),
            "end": (g["terminated"], r.terminated),
            "rewards": (rewards, [round(reward, 5) for reward in r.rewards]),
        }
        return [
            f"{name}: {ours} against {theirs}"
            for name, (ours, theirs) in both.items()
            if ours != theirs
        ]

    def check(self) -> None:
        """Raise AssertionError if anything differs."""
        different = self.differences()
        if different:
            game = f"{self.batch.game.option_values(self.batch.games)}, seed {self.seed}"
            raise AssertionError("\n  ".join([f"{game}, engine against reference:", *different]))


def choose(legal: list[int], stop: float | None, rng: random.Random) -> int:
    if stop is None or len(legal) == 1:
        return rng.choice(legal)
    return END if rng.random() < stop else rng.choice(legal[:-1])


def compare(options: dict[str, Any], num_games: int, seed: int) -> tuple[int, dict[str, int]]:
    """Play matches on both sides and return the number of moves and how the rounds ended.

    Raises:
        AssertionError: at the first difference.
    """
    rng = random.Random(seed)
    batch = Batch(GAME, num_games, options, auto_reset=False)
    batch.reset(seed)
    pairs = [Pair(batch, i, options) for i in range(num_games)]
    moves = 0
    ends: dict[str, int] = {}
    live = set(range(num_games))
    while live:
        actions = np.full(num_games, NO_ACTION)
        for i in live:
            pairs[i].check()
            legal = batch.legal[i, : batch.num_legal[i]].tolist()
            actions[i] = choose(legal, STOP[i % len(STOP)], rng)
        batch.step(actions)
        for i in tuple(live):
            r = pairs[i].reference
            before = r.round_number
            r.apply(GAME.actions.names[actions[i]])
            if r.terminated or r.round_number > before:
                ends[str(r.round_end)] = ends.get(str(r.round_end), 0) + 1
            if r.terminated or batch.ended[i]:
                pairs[i].check()
                live.discard(i)
        moves += len(live)
    GAME.check_state(batch.games)
    return moves, ends


def compare_setting(k: int, num_games: int, seed: int) -> tuple[int, dict[str, int]]:
    """Compare at least so many matches of setting `k`, in chunks of different variants."""
    moves = 0
    total: dict[str, int] = {}
    for chunk in range(-(-num_games // CHUNK)):
        options = SETTINGS[k] | VARIANTS[chunk % len(VARIANTS)]
        more, ends = compare(options, CHUNK, seed + SEEDS_APART * k + CHUNK * chunk)
        moves += more
        for name, n in ends.items():
            total[name] = total.get(name, 0) + n
    return moves, total


@pytest.mark.parametrize("k", range(len(SETTINGS)), ids=lambda k: str(SETTINGS[k]))
def test_both_implementations_agree(k):
    _, ends = compare_setting(k, CHUNK * len(VARIANTS), seed=1)
    assert set(ends) == {"won", "dry"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=10_000, help="matches, over all settings")
    parser.add_argument("--seed", type=int, default=1000)
    args = parser.parse_args()
    begun = time.perf_counter()
    for k, options in enumerate(SETTINGS):
        moves, ends = compare_setting(k, -(-args.games // len(SETTINGS)), args.seed)
        print(f"{time.perf_counter() - begun:6.0f} s {options}: {moves} moves, {ends}", flush=True)


if __name__ == "__main__":
    main()
