"""The single-agent Gymnasium environments: Gymnasium's own check, rewards, illegal actions."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import crapo_env  # noqa: F401  registers the environments
from crapo_env.adapters.gymnasium import SingleAgentEnv
from crapo_env.registration import GYMNASIUM_ENVIRONMENTS


@pytest.fixture(params=GYMNASIUM_ENVIRONMENTS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def play_out(env: SingleAgentEnv, rng: np.random.Generator) -> tuple[list[float], bool]:
    """Play random legal moves to the end; return the rewards and whether it was by the rules."""
    _, info = env.reset(seed=int(rng.integers(1000)))
    rewards: list[float] = []
    while True:
        action = int(rng.choice(np.flatnonzero(info["action_mask"])))
        observation, reward, terminated, truncated, info = env.step(action)
        assert env.observation_space.contains(observation)
        rewards.append(reward)
        if terminated or truncated:
            assert not info["action_mask"].any()
            return rewards, terminated
        assert np.array_equal(info["action_mask"].astype(bool), env.action_masks())


@pytest.mark.parametrize("opponent", ["random", "greedy"])
def test_gymnasium_finds_no_fault(name: str, opponent: str) -> None:
    check_env(gym.make(name, opponent=opponent).unwrapped)


@pytest.mark.parametrize("seat", [0, 1, None])
def test_the_seat_receives_what_the_engine_gives_it(name: str, seat: int | None) -> None:
    env = gym.make(name, seat=seat).unwrapped
    assert isinstance(env, SingleAgentEnv)
    rng = np.random.default_rng(5)
    results = []
    for _ in range(20):
        rewards, _ = play_out(env, rng)
        assert seat is None or env.seat == seat
        assert not any(rewards[:-1])
        assert rewards[-1] == pytest.approx(env._batch.games["rewards"][0, env.seat])
        results.append(rewards[-1])
    assert min(results) < 0 < max(results), "losses and wins, whoever made the last move"


def test_an_illegal_action_loses(name: str) -> None:
    env = gym.make(name).unwrapped
    for choose in (lambda mask: int(np.argmin(mask)), lambda mask: len(mask), lambda mask: -1):
        _, info = env.reset(seed=3)
        _, reward, terminated, truncated, _ = env.step(choose(info["action_mask"]))
        assert (reward, terminated, truncated) == (-1.0, True, False)
        with pytest.raises(RuntimeError, match="reset"):
            env.step(0)


def test_the_same_seed_gives_the_same_game(name: str) -> None:
    games = []
    for _ in range(2):
        env = gym.make(name).unwrapped
        games.append([play_out(env, np.random.default_rng(9)) for _ in range(3)])
    assert games[0] == games[1]


def test_a_step_limit_truncates(name: str) -> None:
    env = gym.make(name, max_steps=30).unwrapped
    rewards, terminated = play_out(env, np.random.default_rng(1))
    assert not terminated
    assert not any(rewards)


def test_wrong_arguments_are_named(name: str) -> None:
    for arguments, text in (
        ({"seat": 7}, "seat must be None or 0 to 1"),
        ({"opponent": "gredy"}, "did you mean 'greedy'"),
        ({"opponent": ["random", "random"]}, "1 other seats take as many opponents, not 2"),
        ({"render_mode": "rgb_array"}, "render_mode must be None"),
        ({"maxsteps": 3}, "did you mean 'max_steps'"),
    ):
        with pytest.raises(ValueError, match=text):
            SingleAgentEnv(GYMNASIUM_ENVIRONMENTS[name], **arguments)
