"""The league: who is drawn how often, and that a past self never changes."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from tiny_training import positions, tiny_config, tiny_network, tiny_run
from traces import random_picks

from crapo_env.batch import Batch
from crapo_env.bots import make_policy
from crapo_env.game import Game
from training.checkpoint import CheckpointPolicy
from training.league import LEARNER, League, weights_digest
from training.network import NetworkPolicy

NOBODY = np.zeros((0, 2), np.int64)


def test_hard_opponents_are_drawn_more_often(game: Game) -> None:
    league = League(game, tiny_config(game, max_past=3))
    assert league.chances()[0] == [LEARNER, 0, 1]
    assert league.chances()[1] == pytest.approx([0.7, 0.1, 0.2])
    keys = [league.add(tiny_network(game, k), k, NOBODY) for k in range(3)]
    assert league.chances()[1] == pytest.approx([0.4, 0.1, 0.2, 0.1, 0.1, 0.1])
    for result, key in zip((1.0, 0.0, -1.0), keys, strict=True):
        for _ in range(40):
            league.report(key, result)
    _, chances = league.chances()
    easy, even, hard = chances[3:]
    assert easy < even < hard and chances[3:].sum() == pytest.approx(0.3)
    rng = np.random.default_rng(0)
    drawn = league.draw((20_000,), rng)
    for key, chance in zip(*league.chances(), strict=True):
        assert (drawn == key).mean() == pytest.approx(chance, abs=0.02)


def test_members_never_change_and_differ(game: Game, tmp_path: Path) -> None:
    """Also while the learner goes on learning (FIELD_REPORTS 10)."""
    run = tiny_run(game, tmp_path, snapshot_every=1, past_weight=1.0)
    digests: dict[int, str] = {}
    for _ in range(5):
        run.step()
        for key in run.league.past:
            network = run.league.members[key].network
            assert network is not None
            assert digests.setdefault(key, weights_digest(network)) == weights_digest(network)
    assert len(set(digests.values())) == len(digests) == 5
    assert len(run.league.past) == 2
    observations, masks = positions(game)
    for key in run.league.past:
        network = run.league.members[key].network
        assert network is not None
        path = tmp_path / "snapshots" / f"{digests[key]}.safetensors"
        stored = CheckpointPolicy(path, game).act(observations, masks)
        played = NetworkPolicy(game, network, "x", deterministic=True).act(observations, masks)
        assert np.array_equal(stored, played)


def test_the_league_is_bounded_but_games_keep_their_opponents(game: Game) -> None:
    league = League(game, tiny_config(game, max_past=2))
    first = league.add(tiny_network(game, 0), 0, NOBODY)
    assert league.add(tiny_network(game, 0), 5, NOBODY) is None  # the same weights once more
    for _ in range(20):
        league.report(first, 1.0)  # no longer worth playing
    in_play = np.array([[LEARNER, first]])
    for k in range(1, 4):
        league.add(tiny_network(game, k), k, in_play)
    assert first not in league.past and first in league.members
    league.add(tiny_network(game, 9), 9, NOBODY)
    assert first not in league.members
    assert len(league.past) == 2 and len(league.members) == 4
    assert max(league.members) == league.next_key - 1


def test_ratings_follow_the_results_and_stay_finite(game: Game) -> None:
    league = League(game, tiny_config(game))
    for _ in range(2000):
        league.report(0, 1.0)
    high = league.rating
    assert 400 < high < 3000
    for _ in range(200):
        league.report(1, -1.0)
    assert -3000 < league.rating < high
    assert 0.9 < league.members[0].share() < 1 and 0 < league.members[1].share() < 0.1


def test_every_member_plays_its_own_game(game: Game) -> None:
    """Snapshots are asked together; each must get its own rows, however many."""
    league = League(game, tiny_config(game))
    networks = [tiny_network(game, k) for k in range(3)]
    for network in networks:  # nothing is left to chance
        network.actor.layers[-1].weight.mul_(1e6)
    keys = [league.add(network, k, NOBODY) for k, network in enumerate(networks)]
    batch = Batch(game, 40)
    batch.reset(3)
    for pick in random_picks(5, 30):
        batch.step(batch.legal[np.arange(40), pick % batch.num_legal.astype(np.int64)])
    rng = np.random.default_rng(1)
    rows = rng.permutation(40)[:30]
    owners = rng.choice([0, 1, *keys[1:]], 30)  # the first snapshot is in none of these games
    actions = league.act(owners, batch, rows, rng)
    seen = batch.observations[rows], batch.masks[rows]
    for key, network in zip(keys[1:], networks[1:], strict=True):
        policy = NetworkPolicy(game, network, "x", deterministic=True)
        chances, _ = policy.evaluate(*seen)  # equal ones, of actions that lead to the same
        chosen = chances[np.arange(30), actions]
        assert chosen[owners == key] == pytest.approx(chances.max(axis=1)[owners == key])
    greedy = make_policy("greedy", game).act(*seen)
    assert (actions == greedy)[owners == 1].all()
    assert (owners == 0).any() and batch.masks[rows, actions].all()
