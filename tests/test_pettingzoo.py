"""The tests that PettingZoo ships pass for every game and number of players, wrapped or not."""

import importlib
import random
from types import SimpleNamespace
from typing import Any

import gymnasium
import numpy as np
import pettingzoo
import pytest
from conftest import Setting
from pettingzoo.test import api_test, parallel_api_test, render_test, seed_test
from pettingzoo.utils import turn_based_aec_to_parallel
from pettingzoo.utils.wrappers import (
    AssertOutOfBoundsWrapper,
    OrderEnforcingWrapper,
    TerminateIllegalWrapper,
)

from crapo_env.game import Game


def wrap_illegal(env: Any) -> Any:
    return TerminateIllegalWrapper(env, illegal_reward=-1)


def wrap_all(env: Any) -> Any:
    return OrderEnforcingWrapper(AssertOutOfBoundsWrapper(wrap_illegal(env)))


def leave_bare(env: Any) -> Any:
    return env


WRAPPERS = (leave_bare, wrap_illegal, AssertOutOfBoundsWrapper, OrderEnforcingWrapper, wrap_all)
wrapped = pytest.mark.parametrize("wrap", WRAPPERS, ids=lambda wrap: wrap.__name__)

# api_test raises both for every observation that is a dictionary; all others are errors.
UNAVOIDABLE = (
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces",
)
pytestmark = [
    pytest.mark.filterwarnings("error"),
    *(pytest.mark.filterwarnings(f"ignore:{text}:UserWarning") for text in UNAVOIDABLE),
]


def public_env(setting: Setting, **arguments: Any) -> Any:
    """Return what the game's public module makes, as a user gets it."""
    module = importlib.import_module(f"crapo_env.{setting.game.id}")
    return module.env(**setting.options | arguments)


@wrapped
def test_api(seating: Setting, wrap: Any) -> None:
    api_test(wrap(public_env(seating)), num_cycles=300)


def test_api_holds_to_the_end_of_a_game(seating: Setting) -> None:
    api_test(public_env(seating, max_steps=50), num_cycles=300)


@wrapped
def test_seed(seating: Setting, wrap: Any) -> None:
    seed_test(lambda: wrap(public_env(seating)), num_cycles=300)


@wrapped
def test_render(seating: Setting, wrap: Any, capsys: pytest.CaptureFixture[str]) -> None:
    render_test(lambda render_mode: wrap(public_env(seating, render_mode=render_mode)))
    assert capsys.readouterr().out, "the mode human prints"


@wrapped
def test_performance_benchmark(
    seating: Setting, wrap: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It plays for five seconds of a clock that here moves on by itself, a tenth per round."""
    module = importlib.import_module("pettingzoo.test.performance_benchmark")
    clock = iter(range(10**6))
    monkeypatch.setattr(module, "time", SimpleNamespace(time=lambda: next(clock) / 10))
    random.seed(0)
    module.performance_benchmark(wrap(public_env(seating, max_steps=20)))


def test_parallel_api_of_the_turn_based_conversion(seating: Setting) -> None:
    parallel_api_test(turn_based_aec_to_parallel(public_env(seating)), num_cycles=100)


def test_state_space_holds_the_state(seating: Setting) -> None:
    """PettingZoo's state_test asks for this, but samples without a mask."""
    env = public_env(seating)
    env.reset(seed=1)
    assert env.state_space.contains(env.state())
    assert env.state() is not env.state()


def test_both_public_constructors_and_the_registry_make_it(game: Game) -> None:
    module = importlib.import_module(f"crapo_env.{game.id}")
    assert str(module.env()) == str(module.raw_env()) == game.id
    made = pettingzoo.make("aec", f"crapo_env/{game.name}-v{game.version}")
    assert str(made.unwrapped) == game.id


def test_terminate_illegal_wrapper_ends_the_game_and_reset_clears_it(seating: Setting) -> None:
    env = wrap_illegal(public_env(seating))
    env.reset(seed=3)
    first = env.last()[0]
    mover = env.agent_selection
    env.step(int(np.flatnonzero(first["action_mask"] == 0)[0]))
    assert all(env.terminations.values())
    assert env.rewards[mover] == -1
    for _ in env.agent_iter():
        env.step(None)
    env.reset(seed=3)
    again = env.last()[0]
    assert all(np.array_equal(again[key], first[key]) for key in first)
    assert not any(env.terminations.values())


def test_agents_are_named_as_pettingzoo_recommends(seating: Setting) -> None:
    env = public_env(seating)
    n = seating.options.get("num_players", seating.game.max_players)
    assert env.possible_agents == [f"player_{seat}" for seat in range(n)]
    assert env.max_num_agents == n
    assert isinstance(env.action_space("player_0"), gymnasium.spaces.Discrete)
