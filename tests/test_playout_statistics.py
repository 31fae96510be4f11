"""Random games look as those of the slow separate implementations did, within the noise.

A wrong rule that keeps every other test green is likely to move one of these numbers.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from conftest import Setting

from crapo_env.game import Game
from crapo_env.registry import GAMES

MANY = 2000


class Published(NamedTuple):
    """What was seen in `games` random games of another implementation of the same rules."""

    games: int
    undecided: int  # games that nobody won
    medians: dict[str, float]  # by field of the state at the end


# For Reis nos cantos no such figure is known, only that all rounds ended.
PUBLISHED = {"crapo": Published(250, 19, {"num_steps": 912, "num_turns": 62})}

# Where every choice was to stop with probability 0.3, 17 to 38 % of the rounds had no winner. How
# the other moves were drawn is not known, and worth a few percent.
STOPPED_EARLY = {"reis_nos_cantos": ("end", 0.3, (0.17, 0.38))}


@cache
def play_randomly(game: Game) -> np.ndarray:
    """Return random games of the default options, played to the end."""
    games = game.new_games(MANY, {})
    game.reset(games, np.arange(MANY, dtype=np.uint64))
    game.playout(games, np.arange(7, MANY + 7, dtype=np.uint64))
    return games


def noise_of_median(values: np.ndarray, n: int) -> float:
    """Return the standard deviation of the median of `n` of the values."""
    draws = np.random.default_rng(0).choice(values, (500, n))
    return float(np.median(draws, axis=1).std())


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_undecided_share_is_as_published(name: str) -> None:
    published = PUBLISHED[name]
    share = float((play_randomly(GAMES[name])["rewards"] == 0).all(axis=1).mean())
    expected = published.undecided / published.games
    noise = np.sqrt(expected * (1 - expected) * (1 / published.games + 1 / MANY))
    assert abs(share - expected) < 4 * noise


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_medians_are_as_published(name: str) -> None:
    published = PUBLISHED[name]
    for field, expected in published.medians.items():
        values = play_randomly(GAMES[name])[field]
        noise = np.hypot(noise_of_median(values, published.games), noise_of_median(values, MANY))
        assert abs(np.median(values) - expected) < 4 * noise, field


def test_no_seat_wins_much_more_often_than_another(seating: Setting) -> None:
    """Seats are dealt alike, so only chance tells them apart over all deals."""
    games = seating.game.new_games(MANY, seating.options)
    seating.game.reset(games, np.arange(MANY, dtype=np.uint64))
    seating.game.playout(games, np.arange(7, MANY + 7, dtype=np.uint64))
    n = int(games["num_players"][0])
    wins = np.maximum(games["rewards"][:, :n], 0).sum(axis=0)
    share = wins / wins.sum()
    assert np.abs(share - 1 / n).max() < 4 * np.sqrt(1 / n * (1 - 1 / n) / wins.sum())


def stop_or_play(batch: Any, stop: int, chance: float, rng: np.random.Generator) -> np.ndarray:
    """Return for each game the stop with a chance, else a random other action, if there is one."""
    n = batch.num_legal.astype(int)
    rows = np.arange(len(batch))
    others = np.maximum(n - 1, 1)
    actions = batch.legal[rows, rng.integers(0, others)].astype(np.int64)  # the stop is the last id
    stops = (rng.random(len(batch)) < chance) | (n == 1)
    return np.where(n > 0, np.where(stops, stop, actions), -1)


def blocked_share(game: Game, options: dict[str, Any], n: int = 1000) -> float:
    """Return the share of single rounds that end with a card in every hand."""
    block, chance, _ = STOPPED_EARLY[game.name]
    batch = Setting(game, options | {"target": 1}).batch(n, auto_reset=False)
    batch.reset(5)
    rng = np.random.default_rng(5)
    while batch.num_legal.any():
        batch.step(stop_or_play(batch, game.actions.offsets[block], chance, rng))
    assert (batch.games["terminated"] == 1).all()
    hands = batch.games["hands"][:, : batch.rewards.shape[1]]
    return float((hands != 0).all(axis=1).mean())


@pytest.mark.parametrize("name", STOPPED_EARLY)
def test_rounds_end_and_some_without_winner_if_players_stop_early(name: str) -> None:
    game = GAMES[name]
    low, high = STOPPED_EARLY[name][2]
    shares = [
        blocked_share(game, {"num_players": n, "draw_at": draw_at, "king_pile_to_corner": king})
        for n in range(2, game.max_players + 1)
        for draw_at in ("start", "end")
        for king in (False, True)
    ]
    assert min(shares) == pytest.approx(low, abs=0.08)
    assert max(shares) == pytest.approx(high, abs=0.08)
