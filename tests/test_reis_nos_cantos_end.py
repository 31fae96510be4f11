"""Reis nos cantos, clause R20: turns, rounds and matches are bounded."""

import numpy as np
import pytest
from positions_reis import legal, play, position, random_batch

from crapo_env.batch import Batch, sample_legal
from crapo_env.reis_nos_cantos import GAME
from crapo_env.reis_nos_cantos.actions import END, PILE_TO_PILE


def test_r20_four_pile_moves_without_a_play():
    piles = {"N": "Jd", "E": "Ts", "S": "9h", "W": "8c", "NE": "Kd Qs"}
    batch = position(piles, ["2c 3c"])
    play(batch, "W=>S S=>E E=>N N=>NE")
    assert legal(batch) == {"2c->N", "3c->N", "END"}


@pytest.mark.parametrize("king_pile", [False, True])
@pytest.mark.parametrize("n", [2, 3, 4])
def test_r20_pile_moves_are_bounded_and_matches_end(n, king_pile):
    options = {"num_players": n, "king_pile_to_corner": king_pile, "target": 30}
    batch = Batch(GAME, 200, options, auto_reset=False)
    batch.reset(n)
    states = np.arange(200, dtype=np.uint64)
    actions = np.zeros(200, np.int64)
    surplus = np.zeros(200, np.int64)  # pile moves of this turn less its plays
    points = batch.games["totals"].sum(1)
    rounds = batch.games["round_number"].copy()
    for _ in range(GAME.max_decisions(options)):
        _prefer_moves(batch, states, actions)
        surplus += np.where(actions >= PILE_TO_PILE, 1, -1) * (actions >= 0)
        surplus[actions == END] = 0
        batch.step(actions)
        new = (batch.games["round_number"] > rounds) | (batch.ended > 0)
        surplus[new] = 0
        rounds = batch.games["round_number"].copy()
        assert surplus.max() <= 4
        scored = batch.games["totals"].sum(1)
        assert np.all(scored[new] >= points[new] + n - 1)
        points = scored
        if np.all(batch.games["terminated"]):
            break
    assert np.all(batch.games["terminated"] == 1)


def _prefer_moves(batch, states, actions):
    """Sample random actions, but take a pile move wherever there is one."""
    sample_legal(batch.legal, batch.num_legal, states, actions)
    moves = batch.masks[:, PILE_TO_PILE:END]
    some = moves.any(1)
    actions[some] = PILE_TO_PILE + moves[some].argmax(1)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_r20_the_bound_holds_for_every_policy_tried(n):
    bound = GAME.max_decisions(GAME.read_options({"num_players": n, "target": 1}))
    batch = random_batch(300, n, 0, num_players=n, target=1)
    seeds = np.arange(300, dtype=np.uint64)
    decisions = GAME.playout(batch.games, seeds)
    assert np.all(batch.games["terminated"] == 1)
    assert decisions == batch.games["num_steps"].sum()
    assert batch.games["num_steps"].max() <= bound
    assert GAME.max_decisions(GAME.read_options({"num_players": n, "target": 2})) > bound


def test_r17_a_new_match_forgets_the_one_before():
    for steps in (0, 40, 3000):
        batch = random_batch(50, 8, steps, num_players=3)
        batch.reset(123)
        fresh = random_batch(50, 123, 0, num_players=3)
        assert batch.games.tobytes() == fresh.games.tobytes()
    ended = Batch(GAME, 50, {"target": 1}, auto_reset=False)
    ended.reset(5)
    GAME.playout(ended.games, np.arange(50, dtype=np.uint64))
    ended.reset(6)
    assert ended.games.tobytes() == random_batch(50, 6, 0, target=1).games.tobytes()
