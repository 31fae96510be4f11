"""Crapô without the reference: random games always end, within bounds, and never without a move."""

import random

import numpy as np
import pytest
from late_crapo import late_position
from positions_crapo import position

from crapo_env.batch import NO_ACTION, Batch
from crapo_env.crapo import GAME
from crapo_env.crapo.checks import check_state

NUM_POSITIONS = 100
NUM_REPEATS = 50
SETTINGS = (
    {},
    {"aces": "optional"},
    {"drawn_card": "may_discard"},
    {"rearrange_while_holding": False},
    {"tableau_loading": False},
    {"crapo_gate": "fit"},
    {"draw_gate": "any_time"},
    {"stalemate_result": "fewest_cards"},
    {"max_rearrangements": 0},
    {"max_rearrangements": 32},
    {"no_progress_turns": 1},
    {
        "aces": "optional",
        "drawn_card": "may_discard",
        "rearrange_while_holding": False,
        "tableau_loading": False,
        "crapo_gate": "fit",
        "draw_gate": "any_time",
        "stalemate_result": "fewest_cards",
    },
)


def late_games(options: dict) -> np.ndarray:
    """Return many late positions, each several times."""
    rng = random.Random(1)
    games = [position(**late_position(rng, options), **options).games for _ in range(NUM_POSITIONS)]
    return np.repeat(np.concatenate(games), NUM_REPEATS)


@pytest.mark.parametrize("options", SETTINGS, ids=str)
def test_every_random_game_ends_by_the_rules(options):
    """A mask that were empty too early would leave a game that has not terminated."""
    dealt = Batch(GAME, 1000, options)
    dealt.reset(1)
    bound = GAME.max_decisions(GAME.read_options(options))
    for games in (late_games(options), dealt.games):
        decisions = GAME.playout(games, np.arange(len(games), dtype=np.uint64))
        assert games["terminated"].all() and not games["truncated"].any()
        assert games["num_steps"].sum() == decisions and games["num_steps"].max() <= bound
        assert (np.sort(games["rewards"], axis=1)[:, 0] == -games["rewards"].max(axis=1)).all()
        check_state(games[::100])


def test_observations_of_late_games_are_written_as_if_anew():
    """What a step changes in an observation gives the same bytes as writing it from nothing."""
    batch = Batch(GAME, NUM_POSITIONS * NUM_REPEATS, auto_reset=False)
    batch.games[:] = late_games({})
    batch.refresh()
    rng = np.random.default_rng(2)
    seen = [np.empty_like(batch.observations) for _ in range(2)]
    for _ in range(60):
        chosen = batch.legal[np.arange(len(batch)), rng.integers(np.maximum(batch.num_legal, 1))]
        batch.step(np.where(batch.num_legal > 0, chosen, NO_ACTION))
        for p in range(2):
            GAME.observe(batch.games, p, seen[p])
        movers = batch.current_player[:, None]
        assert (batch.observations == np.where(movers == 0, seen[0], seen[1])).all()
        assert (batch.num_legal == batch.masks.sum(axis=1)).all()
        assert ((batch.num_legal == 0) == (batch.games["terminated"] == 1)).all()
