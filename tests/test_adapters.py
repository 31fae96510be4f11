"""Every adapter shows the games that the AEC environment plays, step by step, and nothing else."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import SEATINGS, Setting, list_variants
from followers import FOLLOWERS, OPPONENT, SEAT_FOLLOWERS, Follower, OpenSpiel, SeatFollower

from crapo_env.batch import Batch
from crapo_env.bots import make_policy
from crapo_env.env import CardGameEnv
from crapo_env.registry import GAMES

ROOT = Path(__file__).parents[1]
STEPS = 10_000  # of random play, over all seatings
VARIANTS = [variant for game in GAMES.values() for variant in list_variants(game)]
FRAMEWORKS = {
    "openspiel": "pyspiel",
    "torchrl": "torchrl",
    "tianshou": "tianshou",
    "rllib": "ray",
    "agilerl": "agilerl",
}


def follow(follower: Follower, env: CardGameEnv, seed: int, most: int) -> int:
    """Play random actions in both and compare all that they show; return how many they were."""
    env.reset(seed=seed)
    follower.start(seed)
    rng, paid = np.random.default_rng(seed), np.zeros(len(env.possible_agents))
    for count in range(most):
        expected = env.last()[0]
        seat, seen, mask = follower.look()
        assert seat == env.possible_agents.index(env.agent_selection)
        assert np.array_equal(seen, expected["observation"])
        assert np.array_equal(mask, expected["action_mask"])
        action = int(rng.choice(np.flatnonzero(mask)))
        env.step(action)
        follower.step(action)
        paid += [env.rewards[agent] for agent in env.possible_agents]
        late = follower.pays_late and not over(env)
        due = [env.possible_agents.index(env.agent_selection)] if late else slice(None)
        assert np.allclose(follower.returns[due], paid[due], atol=1e-5)
        ended = env.terminations[env.agent_selection], env.truncations[env.agent_selection]
        if any(ended):
            assert follower.ended() == ended
            return count + 1
        assert not any(follower.ended())
    return most


@pytest.mark.parametrize("kind", FOLLOWERS)
def test_whole_games_agree_with_the_aec_environment(kind: type[Follower], seating: Setting) -> None:
    """No step is illegal, as the AEC environment would raise."""
    follower, env, steps, seed = kind(seating), seating.env(), 0, 40
    while steps < STEPS / len(SEATINGS):
        steps += follow(follower, env, seed, STEPS)
        seed += 1
    assert seed > 41 and follower.returns.sum() == pytest.approx(0, abs=1e-5)


@pytest.mark.parametrize("kind", FOLLOWERS)
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_rule_options_reach_the_game(kind: type[Follower], variant: Setting) -> None:
    follower, env = kind(variant), variant.env()
    for seed in (50, 51):
        follow(follower, env, seed, 100)


def play_to(env: CardGameEnv, seat: int, policy: Any) -> float:
    """Play the other seats until a seat is on turn or the game is over; return what it got."""
    received = 0.0
    while not over(env) and env.agent_selection != env.possible_agents[seat]:
        seen = env.last()[0]
        env.step(policy.act(seen["observation"], seen["action_mask"]))
        received += env.rewards[env.possible_agents[seat]]
    return received


def over(env: CardGameEnv) -> bool:
    return env.terminations[env.agent_selection] or env.truncations[env.agent_selection]


def follow_seat(follower: SeatFollower, steps: int) -> Iterator[float]:
    """Play in both, every other game at random, and compare; yield what each game paid the seat."""
    env, rng = follower.setting.env(), np.random.default_rng(steps)
    policy, dealt, paid, seat, games = make_policy(OPPONENT, env.game), True, 0.0, 0, 0
    for _ in range(steps):
        if dealt:
            paid, seat, games = 0.0, follower.look()[0], games + 1
            env.reset(seed=int(follower.record()["seed"][0]))
            play_to(env, seat, policy)
        seat_now, seen, mask = follower.look()
        expected = env.last()[0]
        assert seat_now == seat and np.array_equal(seen, expected["observation"])
        assert np.array_equal(mask, expected["action_mask"]) and mask.any()
        legal = np.flatnonzero(mask)
        action = int(rng.choice(legal) if games % 2 else legal[0])  # the opponent's own play: wins
        env.step(action)
        expected_reward = env.rewards[env.possible_agents[seat]] + play_to(env, seat, policy)
        reward, *flags = follower.step(action)
        assert reward == pytest.approx(expected_reward, abs=1e-5)
        paid += reward
        dealt = any(flags)
        ended = env.terminations[env.agent_selection], env.truncations[env.agent_selection]
        assert tuple(flags) == ended
        if dealt:
            assert paid == pytest.approx(env.state().view(env.game.dtype)["rewards"][0, seat])
            yield paid


@pytest.mark.parametrize("kind", SEAT_FOLLOWERS)
def test_the_games_of_one_seat_agree_with_the_aec_environment(
    kind: type[SeatFollower], seating: Setting
) -> None:
    """So does what follows an automatic reset, and nothing that others cause is lost."""
    results = list(follow_seat(kind(seating, 60), STEPS // len(SEATINGS)))
    assert len(results) > 2 and min(results) < 0 < max(results)


@pytest.mark.parametrize("kind", SEAT_FOLLOWERS)
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_rule_options_survive_the_frameworks_vectorisation(
    kind: type[SeatFollower], variant: Setting
) -> None:
    if variant.options.get("reward") == "points":
        pytest.skip("pays at the end of every round, so the last payment is not all")
    follower = kind(variant, 61)
    list(follow_seat(follower, 150))
    assert variant.game.option_values(follower.record()) == variant.game.read_options(
        variant.options
    )


def redraw(batch: Batch, seat: int, seed: int) -> None:
    batch.games[:] = batch.game.resample_hidden(batch.games, seat, seed)
    batch.refresh()


def test_what_openspiel_tells_a_seat_does_not_depend_on_hidden_cards(seating: Setting) -> None:
    follower, rng, differ = OpenSpiel(seating), np.random.default_rng(70), 0
    for seed in range(70, 74):
        follower.start(seed)
        for count in range(120):
            if follower.state.is_terminal():
                break
            if count % 30 == 29:
                for seat in range(len(follower.returns)):
                    other = follower.state.resample_from_infostate(seat, rng.random)
                    assert told(other, seat) == told(follower.state, seat)
                    differ += str(other) != str(follower.state)
            follower.step(int(rng.choice(follower.state.legal_actions())))
    hidden_hands = "hands" in seating.game.dtype.names
    assert (differ > 0) == hidden_hands, "in a game without private cards all is public history"


def told(state: Any, seat: int) -> list[Any]:
    """Return all that OpenSpiel tells a seat about a state."""
    told = [state.current_player(), state.information_state_string(seat)]
    told += [state.observation_string(seat), state.observation_tensor(seat)]
    told += [state.information_state_tensor(seat), state.returns()]
    if state.current_player() == seat:
        told += [[(a, state.action_to_string(a)) for a in state.legal_actions()]]
    return told


def test_the_native_torchrl_batch_hides_what_a_seat_cannot_know(seating: Setting) -> None:
    pytest.importorskip("torchrl")
    from crapo_env.adapters.torchrl import BatchEnv

    env = BatchEnv(seating.game, 32, seed=71, **seating.options)
    shown = env.rollout(60, break_when_any_done=False)[:, -1]["next"]
    assert {*shown.keys()} == {
        *("observation", "action_mask", "player", "reward", "done", "terminated", "truncated")
    }
    for seat in range(env.batch.rewards.shape[1]):
        before = env._show()
        redraw(env.batch, seat, 72 + seat)
        own, after = before["player"][:, 0] == seat, env._show()
        assert own.any() and all(
            (before[key][own] == after[key][own]).all() for key in before.keys()
        )


@pytest.mark.parametrize("kind", SEAT_FOLLOWERS)
def test_adapters_of_one_seat_hide_what_it_cannot_know(
    kind: type[SeatFollower], seating: Setting
) -> None:
    """A redraw of what the seat cannot know leaves observation, mask and text as they were."""
    follower, rng, changed = kind(seating, 73), np.random.default_rng(73), 0
    for count in range(60):
        seat, seen, mask = follower.look()
        batch, record = follower.hidden()[0], follower.record()
        before, text = record.tobytes(), seating.game.render(record, seat)
        record[:] = seating.game.resample_hidden(record, seat, count)
        batch.refresh()
        assert np.array_equal(batch.observations[follower.hidden()[1]], seen)
        assert np.array_equal(batch.masks[follower.hidden()[1]], mask)
        assert seating.game.render(record, seat) == text
        changed += record.tobytes() != before
        follower.step(int(rng.choice(np.flatnonzero(mask))))
    assert changed > 50


@pytest.mark.parametrize("adapter", FRAMEWORKS)
def test_a_missing_framework_is_named_with_its_extra(adapter: str) -> None:
    code = (
        f"import sys; sys.modules[{FRAMEWORKS[adapter]!r}] = None\n"
        f"import crapo_env.adapters.{adapter}"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert f"pip install 'crapo-env[adapters-{adapter}]'" in result.stderr
