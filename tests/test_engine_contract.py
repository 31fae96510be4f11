"""What the engine promises, for any seed and any choices: cards, masks, ends, rewards, batches."""

import multiprocessing
from typing import Any

import numba
import numpy as np
import pytest
from conftest import SETTINGS, Setting
from hypothesis import given
from hypothesis import settings as profile
from hypothesis import strategies as st
from traces import is_over, random_picks, step

from crapo_env.batch import NO_ACTION, Batch, sample_legal
from crapo_env.cards import next_seed
from crapo_env.game import Game

any_setting = st.sampled_from(SETTINGS)
seeds = st.integers(0, 2**64 - 1)
choices = st.lists(st.integers(0, 1000), max_size=60)


@numba.njit
def _next_seed_of(games: Any) -> Any:
    return next_seed(games[0])


def choose(batch: Batch, picks: Any) -> np.ndarray:
    """Return for each game the legal action that its pick stands for, NO_ACTION after the end."""
    places = np.asarray(picks) % np.maximum(batch.num_legal, 1)
    actions = batch.legal[np.arange(len(batch)), places].astype(np.int64)
    return np.where(batch.num_legal > 0, actions, NO_ACTION)


def check_written(batch: Batch) -> None:
    """Check what a batch shows against its games, each array by another way."""
    high = batch.game.fields.high
    for i in range(len(batch)):
        games = batch.games[i : i + 1]
        ended = bool(games["terminated"][0] or games["truncated"][0])
        legal = batch.legal[i, : batch.num_legal[i]]
        assert np.array_equal(legal, np.flatnonzero(batch.masks[i])), "ascending, equal to the mask"
        assert (len(legal) == 0) == ended, "a live game always has a legal action"
        expected = np.full((1, len(high)), 77, np.int8)
        batch.game.observe(games, int(batch.current_player[i]), expected)
        assert np.array_equal(batch.observations[i], expected[0])
        assert (expected >= 0).all() and (expected <= high).all()
    assert set(np.unique(batch.masks)) <= {0, 1}


@given(any_setting, seeds, st.integers(0, 900), choices)
@profile(max_examples=150)
def test_cards_masks_and_observations_hold_at_every_step(
    setting: Setting, seed: int, ahead: int, picks: list[int]
) -> None:
    batch = setting.batch(1, auto_reset=False)
    batch.reset(np.array([seed], np.uint64))
    for pick in random_picks(ahead, ahead):
        batch.step(choose(batch, [pick]))
    for pick in [*picks, 0]:
        setting.game.check_state(batch.games)
        check_written(batch)
        if batch.num_legal[0] == 0:
            break
        batch.step(choose(batch, [pick]))
    assert batch.games["num_steps"][0] <= ahead + len(picks) + 1


def test_whole_games_hold_and_end_within_the_bound(setting: Setting) -> None:
    """Played to the end; the cards are counted after every seventh step."""
    batch = setting.batch(3, auto_reset=False)
    batch.reset(5)
    bound = setting.game.max_decisions(batch.game.option_values(batch.games))
    states = np.arange(3, dtype=np.uint64)
    actions = np.zeros(3, np.int64)
    for count in range(bound):
        if count % 7 == 0:
            setting.game.check_state(batch.games)
            check_written(batch)
        sample_legal(batch.legal, batch.num_legal, states, actions)
        if (actions == NO_ACTION).all():
            break
        batch.step(actions)
    setting.game.check_state(batch.games)
    assert (batch.games["terminated"] | batch.games["truncated"]).all()
    assert (batch.games["num_steps"] <= bound).all()


def test_rewards_cancel_out_and_come_when_the_rules_say(setting: Setting) -> None:
    batch = setting.batch(64, auto_reset=False)
    batch.reset(6)
    paid = np.zeros_like(batch.rewards)
    states, actions = np.arange(64, dtype=np.uint64), np.zeros(64, np.int64)
    points = setting.options.get("reward") == "points"
    while batch.num_legal.any():
        sample_legal(batch.legal, batch.num_legal, states, actions)
        live = batch.num_legal > 0
        batch.step(actions)
        paid += batch.rewards
        assert np.allclose(batch.rewards.sum(axis=1), 0, atol=1e-5)
        assert np.array_equal(batch.ended != 0, live & (batch.num_legal == 0))
        going_on = batch.ended != 1
        assert points or not batch.rewards[going_on].any(), "only the end by the rules pays"
    if not points:
        check_shares(paid)


def check_shares(paid: np.ndarray) -> None:
    """Check that w winners of n seats got 1 / w each, the others -1 / (n - w), or all nothing."""
    n = paid.shape[1]
    for row in paid:
        winners = int((row > 0).sum())
        if winners:
            expected = np.where(row > 0, 1 / winners, -1 / (n - winners))
            assert np.allclose(row, expected, atol=1e-6)
        else:
            assert not row.any()


@given(any_setting, st.lists(seeds, min_size=1, max_size=6), choices)
@profile(max_examples=80)
def test_a_batch_plays_as_single_environments_do(
    setting: Setting, starts: list[int], picks: list[int]
) -> None:
    batch = setting.batch(len(starts), auto_reset=False)
    batch.reset(np.array(starts, np.uint64))
    envs = [setting.env() for _ in starts]
    for env, seed in zip(envs, starts, strict=True):
        env.reset(seed=seed)
    for pick in [*picks, 0]:
        actions = choose(batch, [pick + i for i in range(len(envs))])
        for i, env in enumerate(envs):
            if not is_over(env):
                seen = env.last()[0]
                assert seen["observation"].tobytes() == batch.observations[i].tobytes()
                assert seen["action_mask"].tobytes() == batch.masks[i].tobytes()
                step(env, pick + i)
        batch.step(actions)
        for i, env in enumerate(envs):
            if actions[i] != NO_ACTION:
                assert list(env.rewards.values()) == batch.rewards[i].tolist()
                assert is_over(env) == bool(batch.ended[i])
                assert env.state().tobytes() == batch.games[i : i + 1].tobytes()


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_the_results_do_not_depend_on_batch_size_or_threads(seating: Setting, threads: int) -> None:
    n, steps = 24, 300
    whole = Batch(seating.game, n, seating.options, threads=threads)
    parts = [seating.batch(size) for size in (1, 5, 18)]
    whole.reset(40)
    starts = (0, 1, 6)
    for part, first in zip(parts, starts, strict=True):
        part.reset(40 + first)
    for pick in random_picks(7, steps):
        picks = np.arange(pick, pick + n)
        whole.step(choose(whole, picks))
        for part, first in zip(parts, starts, strict=True):
            rows = slice(first, first + len(part))
            part.step(choose(part, picks[rows]))
            for name in ("games", "observations", "masks", "rewards", "ended", "num_legal"):
                assert getattr(part, name).tobytes() == getattr(whole, name)[rows].tobytes(), name


def play_and_send(batch: Batch, pipe: Any) -> None:
    """Play a batch on and send what it shows; runs in a child process."""
    for pick in random_picks(5, 30):
        batch.step(choose(batch, np.arange(pick, pick + len(batch))))
    pipe.send(batch.observations.tobytes() + batch.games.tobytes())


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_threads_survive_a_new_process(method: str) -> None:
    """A batch whose threads are running goes on in a forked or spawned child, and here as well."""
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system cannot {method}")
    context = multiprocessing.get_context(method)
    batch = Batch("crapo", 8, threads=2)
    batch.reset(3)
    batch.step(choose(batch, np.zeros(8, int)))  # from here on the threads exist
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=play_and_send, args=(batch, sender))
    child.start()
    assert receiver.poll(60), "the child has not answered"
    seen = receiver.recv()
    child.join()
    again, there = context.Pipe(duplex=False)
    play_and_send(batch, there)
    assert again.recv() == seen


def test_auto_reset_deals_from_the_generator_of_the_ended_game(seating: Setting) -> None:
    """The game after an end is the one that `reset` deals from the documented next seed."""
    options = seating.options | {"max_steps": 40}
    batch, single = (Batch(seating.game, 1, options, auto_reset=auto) for auto in (True, False))
    batch.reset(8)
    single.reset(8)
    for pick in random_picks(8, 200):
        batch.step(choose(batch, [pick]))
        single.step(choose(single, [pick]))
        assert batch.rewards.tobytes() == single.rewards.tobytes()
        assert batch.ended[0] == single.ended[0]
        if single.ended[0]:
            seed = int(_next_seed_of(single.games))
            assert seed < 2**63, "training never meets the evaluation deals (see seeds/README.md)"
            assert batch.games["seed"][0] == seed
            single.reset(np.array([seed], np.uint64))
        for name in ("games", "observations", "masks", "legal", "num_legal"):
            assert getattr(batch, name)[:1].tobytes() == getattr(single, name)[:1].tobytes(), name


def test_no_action_leaves_a_game_as_it_is(seating: Setting) -> None:
    batch = seating.batch(3)
    batch.reset(9)
    for pick in random_picks(9, 40):
        before = [batch.games[i].tobytes() + batch.observations[i].tobytes() for i in (0, 2)]
        batch.step(np.where(np.arange(3) == 1, choose(batch, [pick] * 3), NO_ACTION))
        after = [batch.games[i].tobytes() + batch.observations[i].tobytes() for i in (0, 2)]
        assert after == before
        assert not batch.rewards[[0, 2]].any() and not batch.ended[[0, 2]].any()


def test_a_new_deal_owes_nothing_to_the_game_before(seating: Setting) -> None:
    used, fresh = seating.batch(4), seating.batch(4)
    used.reset(10)
    for pick in random_picks(10, 700):
        used.step(choose(used, [pick] * 4))
    for seed in (11, [3, 5, 2**63, 9]):
        used.reset(np.array(seed, np.uint64))
        fresh.reset(np.array(seed, np.uint64))
        for name in ("games", "observations", "masks", "num_legal", "rewards", "ended"):
            assert getattr(used, name).tobytes() == getattr(fresh, name).tobytes(), name


def test_refresh_shows_a_state_that_was_put_in_by_hand(seating: Setting) -> None:
    source, target = seating.batch(2), seating.batch(2)
    source.reset(12)
    target.reset(13)
    for pick in random_picks(12, 50):
        source.step(choose(source, [pick, pick + 1]))
        target.step(choose(target, [pick, pick + 1]))
        target.games[:] = source.games
        target.refresh()
        check_written(target)
        assert target.observations.tobytes() == source.observations.tobytes()
        assert target.masks.tobytes() == source.masks.tobytes()


def test_different_seeds_give_different_deals(game: Game) -> None:
    batch = Batch(game, 3000)
    for seed in (0, 2**64 - 3000, 2**63 - 1500):
        batch.reset(seed)
        batch.games["seed"] = batch.games["rng"] = 0
        assert len({games.tobytes() for games in batch.games}) == 3000


def test_playout_is_the_same_as_stepping(seating: Setting) -> None:
    """`playout` and `sample_legal` draw alike, so their games end alike."""
    n = 5
    batch = seating.batch(n, auto_reset=False)
    batch.reset(14)
    games = batch.games.copy().view(seating.game.dtype)
    decisions = seating.game.playout(games, np.arange(n, dtype=np.uint64))
    states, actions = np.arange(n, dtype=np.uint64), np.zeros(n, np.int64)
    while batch.num_legal.any():
        sample_legal(batch.legal, batch.num_legal, states, actions)
        batch.step(actions)
    assert decisions == batch.games["num_steps"].sum() == games["num_steps"].sum()
    assert np.array_equal(games["rewards"], batch.games["rewards"])


def test_whatever_integers_a_user_passes_nothing_is_compiled_twice(seating: Setting) -> None:
    """A second compilation takes ten seconds, in which the user thinks that all hangs."""
    batch = seating.batch(3)
    batch.reset(15)
    batch.step(choose(batch, [0, 1, 2]))
    before = [len(kernel.signatures) for kernel in (seating.game.reset, seating.game.step)]
    for seed in (15, [15, 16, 17], np.array([15, 16, 17], np.int32), np.uint64(15), (15, 16, 17)):
        batch.reset(seed)
        assert batch.games["seed"].tolist() == [15, 16, 17]
    for kind in (np.int16, np.int32, np.uint16, np.uint64, np.int64):
        batch.step(choose(batch, [0, 1, 2]).astype(kind))
    batch.step(choose(batch, [0, 1, 2]).tolist())
    assert [len(kernel.signatures) for kernel in (seating.game.reset, seating.game.step)] == before
