"""The native vector environment of Gymnasium: the single ones side by side, autoreset, masks."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics

import crapo_env  # noqa: F401  registers the environments
from crapo_env.adapters.gymnasium import SingleAgentEnv, SingleAgentVectorEnv
from crapo_env.cards import CARD_NAMES
from crapo_env.registration import GYMNASIUM_ENVIRONMENTS

N = 5


@pytest.fixture(params=GYMNASIUM_ENVIRONMENTS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def make(name: str, **arguments: Any) -> SingleAgentVectorEnv:
    env = gym.make_vec(name, num_envs=N, opponent="greedy", **arguments)
    assert isinstance(env, SingleAgentVectorEnv), "make_vec takes the native one by itself"
    return env


def random_actions(masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a legal action for each row, 0 where none is."""
    return np.array([rng.choice(np.flatnonzero(m)) if m.any() else 0 for m in masks])


def same(one: Any, other: Any) -> bool:
    """Return whether two infos or arrays have the same keys, dtypes and values."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if one.dtype == object:
        return all((a is None and b is None) or same(a, b) for a, b in zip(one, other, strict=True))
    return one.dtype == other.dtype and np.array_equal(one, other)


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize("seat", [1, None])
def test_it_does_what_gymnasiums_own_vectorisation_does(
    name: str, mode: AutoresetMode, seat: int | None
) -> None:
    def single() -> gym.Env[Any, Any]:
        return SingleAgentEnv(GYMNASIUM_ENVIRONMENTS[name], "greedy", seat, max_steps=90)

    expected = SyncVectorEnv([single] * N, autoreset_mode=mode)
    env = make(name, seat=seat, autoreset_mode=mode, max_steps=90)
    assert env.metadata["autoreset_mode"] is mode
    for what in ("single_observation_space", "single_action_space", "observation_space"):
        assert getattr(env, what) == getattr(expected, what)
    rng, ends = np.random.default_rng(7), 0
    answers = [env.reset(seed=3), expected.reset(seed=3)]
    for _ in range(150):
        assert same(*[{"seen": seen, **info} for seen, info in answers])
        actions = random_actions(answers[0][1]["action_mask"], rng)
        steps = [env.step(actions), expected.step(actions)]
        for one, other in zip(*[answer[:4] for answer in steps], strict=True):
            assert same(one, other)
        answers = [(answer[0], answer[4]) for answer in steps]
        over = steps[0][2] | steps[0][3]
        ends += over.sum()
        if mode is AutoresetMode.DISABLED and over.any():
            with pytest.raises(RuntimeError, match="reset_mask"):
                env.step(actions)
            answers = [each.reset(options={"reset_mask": over.copy()}) for each in (env, expected)]
            for _, info in answers:
                assert np.array_equal(info["_action_mask"], over)
            answers = [(seen, {}) for seen, _ in answers]
            answers[0][1]["action_mask"] = answers[1][1]["action_mask"] = env._batch.masks.copy()
    assert ends > N


def test_legal_play_is_never_an_illegal_action(name: str) -> None:
    env = make(name, autoreset_mode="SameStep")
    rng = np.random.default_rng(1)
    _, info = env.reset(seed=1)
    for _ in range(400):
        assert info["action_mask"].any(axis=1).all(), "after an autoreset too"
        assert np.array_equal(env.action_masks(), info["action_mask"] == 1)
        actions = random_actions(info["action_mask"], rng)
        _, rewards, terminated, _, info = env.step(actions)
        for row in np.flatnonzero(terminated):
            assert info["final_obs"][row] is not None
        assert not rewards[~terminated].any()


def test_illegal_actions_lose_their_own_game_alone(name: str) -> None:
    env = make(name)
    _, info = env.reset(seed=2)
    actions = random_actions(info["action_mask"], np.random.default_rng(2))
    actions[0], actions[2], actions[3] = np.argmin(info["action_mask"][0]), 10**6, -1
    _, rewards, terminated, truncated, info = env.step(actions)
    assert rewards.tolist() == [-1, 0, -1, -1, 0]
    assert terminated.tolist() == [True, False, True, True, False] and not truncated.any()
    assert info["action_mask"].any(axis=1).tolist() == [False, True, False, False, True]


def test_arrays_are_not_reused(name: str) -> None:
    env = make(name)
    observations, info = env.reset(seed=4)
    given = [observations, info["action_mask"]]
    for _ in range(3):
        actions = random_actions(info["action_mask"], np.random.default_rng(3))
        observations, *flags, info = env.step(actions)
        for array in (observations, info["action_mask"], *flags):
            assert not any(np.shares_memory(array, old) for old in given)
            given.append(array)


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_gymnasiums_statistics_see_whole_games(name: str, mode: str) -> None:
    env = RecordEpisodeStatistics(make(name, autoreset_mode=mode, max_steps=60))
    rng = np.random.default_rng(5)
    _, info = env.reset(seed=5)
    for _ in range(150):
        *_, info = env.step(random_actions(info["action_mask"], rng))
    assert env.episode_count > N
    assert set(env.return_queue) <= {-1.0, 0.0, 1.0} and max(env.length_queue) <= 60


def test_a_written_deck_lies_in_every_game(name: str) -> None:
    env, single = make(name, seat=0), gym.make(name, seat=0, opponent="greedy").unwrapped
    game = env.game
    deck = list(CARD_NAMES) * game.deck_copies
    seen, _ = env.reset(seed=8, options={"deck": deck})
    for row in range(N):
        expected, _ = single.reset(seed=8 + row, options={"deck": deck})
        assert np.array_equal(seen[row], expected)


def test_seeds_by_game_and_wrong_arguments(name: str) -> None:
    env = make(name, seat=0, render_mode="ansi")
    one, _ = env.reset(seed=[4, 4, 5, 5, 6])
    assert np.array_equal(one[0], one[1]) and not np.array_equal(one[1], one[2])
    tables = env.render()
    assert tables is not None and tables[0] == tables[1] != tables[2]
    for arguments, text in (
        ({"seed": [1, 2]}, "5 games take as many seeds, not 2"),
        ({"options": {"reset_mask": np.zeros(N, bool)}}, "with a True in it"),
    ):
        with pytest.raises(ValueError, match=text):
            env.reset(**arguments)
    with pytest.raises(ValueError, match="5 games take as many integers"):
        env.step(np.zeros(N))
