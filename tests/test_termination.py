"""Every game ends within the bound that its rules give, whoever plays, and no move leads nowhere.

`Game.playout` goes on until the list of legal actions is empty, so a live game with an empty mask
would come back unended.
"""

from collections.abc import Callable, Iterator
from itertools import chain, combinations
from typing import Any

import numpy as np
import pytest
from conftest import Setting
from traces import walk

from crapo_env.batch import NO_ACTION, Batch

MANY = 400  # games per setting, thirty-odd settings
FAR = 100_000  # decisions that no game comes near: one without end fails instead of hanging
Emptier = Callable[[np.ndarray, int], None]  # takes cards away from a seat in every game


def play_out(setting: Setting, games: np.ndarray, seed: int) -> None:
    """Play every game to its end at random and check that it has ended in time."""
    before, limit = games["num_steps"].copy(), games["max_steps"].copy()
    bound = setting.game.max_decisions(setting.game.option_values(games))
    games["max_steps"] = np.where(limit > 0, limit, before + FAR)
    seeds = np.uint64(seed) + np.arange(len(games), dtype=np.uint64)
    decisions = setting.game.playout(games, seeds)
    ended_by_rules, cut_off = games["terminated"] == 1, games["truncated"] == 1
    assert (ended_by_rules ^ cut_off).all()
    assert np.array_equal(cut_off, (limit > 0) & (games["num_steps"] == limit) & ~ended_by_rules)
    assert (games["num_steps"] - before <= min(bound, FAR)).all()
    assert decisions == (games["num_steps"] - before).sum()


def test_random_games_end_within_the_bound(setting: Setting) -> None:
    games = setting.game.new_games(MANY, setting.options)
    setting.game.reset(games, np.arange(MANY, dtype=np.uint64))
    play_out(setting, games, seed=1)
    setting.game.check_state(games[:20])


def test_thousands_of_default_games_end_within_the_bound(seating: Setting) -> None:
    games = seating.game.new_games(3000, seating.options)
    seating.game.reset(games, np.arange(2**40, 2**40 + 3000, dtype=np.uint64))
    play_out(seating, games, seed=2)


@pytest.mark.parametrize("where", ["first", "last", "middle", "turning"])
def test_stubborn_players_come_to_an_end(setting: Setting, where: str) -> None:
    """Those who always take the same place in the list of legal actions find circles, if any."""
    batch = setting.batch(8, auto_reset=False)
    batch.reset(3)
    bound = setting.game.max_decisions(setting.game.option_values(batch.games))
    rows = np.arange(8)
    for count in range(min(bound, FAR) + 1):
        if not batch.num_legal.any():
            break
        ends = np.maximum(batch.num_legal - 1, 0)
        places = {
            "first": 0 * ends,
            "last": ends,
            "middle": ends // 2,
            "turning": count % (ends + 1),
        }
        actions = batch.legal[rows, places[where]].astype(np.int64)
        batch.step(np.where(batch.num_legal > 0, actions, NO_ACTION))
    assert not batch.num_legal.any()
    assert (batch.games["terminated"] | batch.games["truncated"]).all()


# What takes cards away, by game. The states need not be such that play can reach them.


def no_reserve(games: np.ndarray, seat: int) -> None:
    games["reserve_size"][:, seat] = games["reserve_down"][:, seat] = 0


def no_ring_stock(games: np.ndarray, seat: int) -> None:
    size = games["ring"].shape[-1]
    head = games["head"][:, seat].astype(int) + games["stock_size"][:, seat]
    games["head"][:, seat] = head % size
    games["stock_size"][:, seat] = 0


def no_waste(games: np.ndarray, seat: int) -> None:
    games["waste_size"][:, seat] = 0


def no_drawn_card(games: np.ndarray, seat: int) -> None:
    games["hand"] = -1


def no_stock(games: np.ndarray, seat: int) -> None:
    games["stock_end"] = games["stock_next"]


def one_card(games: np.ndarray, seat: int) -> None:
    hands = games["hands"][:, seat]
    games["hands"][:, seat] = hands & (~hands + np.uint64(1))


def no_crosses(games: np.ndarray, seat: int) -> None:
    games["piles"][:, :4] = 0


def no_corners(games: np.ndarray, seat: int) -> None:
    games["piles"][:, 4:] = 0


PER_SEAT: dict[str, tuple[Emptier, ...]] = {
    "crapo": (no_reserve, no_ring_stock, no_waste),
    "reis_nos_cantos": (one_card,),
}
SHARED: dict[str, tuple[Emptier, ...]] = {
    "crapo": (no_drawn_card,),
    "reis_nos_cantos": (no_stock, no_crosses, no_corners),
}


def emptied(batch: Batch) -> Iterator[np.ndarray]:
    """Yield copies of the games of a batch with every combination of places emptied."""
    name, n = batch.game.name, int(batch.games["num_players"][0])
    changes: list[tuple[Emptier, int]] = [(empty, 0) for empty in SHARED[name]]
    changes += [(empty, seat) for empty in PER_SEAT[name] for seat in range(n)]
    for chosen in chain.from_iterable(combinations(changes, k) for k in range(len(changes) + 1)):
        games = batch.games.copy()
        for empty, seat in chosen:
            empty(games, seat)
        yield games


def test_every_game_tells_what_can_be_empty(game: Any) -> None:
    assert PER_SEAT[game.name] and SHARED[game.name]


def test_no_mask_is_empty_where_piles_are(setting: Setting) -> None:
    other = setting.batch(16)
    for count, batch in enumerate(walk(setting, 16, 500)):
        if count % 120 == 7:
            for games in emptied(batch):
                other.games[:] = games
                other.refresh()
                assert (other.num_legal > 0).all()


def test_games_with_empty_piles_end_too(seating: Setting) -> None:
    for count, batch in enumerate(walk(seating, 4, 500)):
        if count % 120 == 7:
            for games in emptied(batch):
                play_out(seating, games, seed=count)
