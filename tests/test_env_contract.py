"""What an environment promises its users: masks, rewards, spaces, truncation, options."""

import copy
import pickle
from collections import Counter
from typing import Any

import numpy as np
import pytest
from conftest import Setting
from traces import LONG, is_over, play, random_picks, start, step

from crapo_env.env import RENDER_MODES, CardGameEnv
from crapo_env.game import Game


class Account:
    """What each agent was paid in a game: by the engine, in `rewards`, and as `last` told him."""

    def __init__(self, env: CardGameEnv, seed: int) -> None:
        """Play from where the environment stands until all agents have left."""
        self.paid, self.shown, self.told = Counter[str](), Counter[str](), Counter[str]()
        for pick in random_picks(seed, LONG):
            agent, live = env.agent_selection, not is_over(env)
            self.told[agent] += env.last(observe=False)[1]
            step(env, pick)
            if live:
                row = env.state().view(env.game.dtype)["rewards"][0]
                self.paid.update(dict(zip(env.possible_agents, row.tolist(), strict=False)))
                self.shown.update(env.rewards)
                self.ender, self.last = agent, dict(env.rewards)
            if not env.agents:
                break

    def check(self) -> None:
        """Check that all three agree and that nobody is paid what no other loses."""
        assert self.paid.keys() == self.shown.keys() == self.told.keys()
        for agent, amount in self.paid.items():
            assert self.shown[agent] == pytest.approx(amount, abs=1e-5)
            assert self.told[agent] == pytest.approx(amount, abs=1e-5)
        assert sum(self.paid.values()) == pytest.approx(0, abs=1e-5)


def test_the_mask_is_the_same_in_observation_info_and_last(setting: Setting) -> None:
    env = setting.env()
    env.reset(seed=5)
    for _ in play(env, random_picks(5, 400)):
        observation, _, _, _, info = env.last()
        for agent in env.agents:
            seen = env.observe(agent)
            assert np.array_equal(seen["action_mask"], env.infos[agent]["action_mask"])
        assert info is env.infos[env.agent_selection]
        assert np.array_equal(observation["action_mask"], info["action_mask"])
        own = env.observe(env.agent_selection)
        assert np.array_equal(observation["observation"], own["observation"])


def test_only_the_agent_on_turn_may_act(setting: Setting) -> None:
    env = setting.env()
    env.reset(seed=6)
    for _ in play(env, random_picks(6, 400)):
        for agent in env.agents:
            mask = env.observe(agent)["action_mask"]
            assert mask.any() == (agent == env.agent_selection)
            assert set(np.unique(mask)) <= {0, 1}
    for agent in env.agents if is_over(env) else ():
        assert not env.observe(agent)["action_mask"].any()
        assert not env.infos[agent]["action_mask"].any()


def test_observations_lie_in_their_space_for_every_agent(setting: Setting) -> None:
    env = setting.env()
    env.reset(seed=7)
    for _ in play(env, random_picks(7, 400)):
        for agent in env.agents:
            observation = env.observe(agent)
            assert env.observation_space(agent).contains(observation)
            assert observation["observation"].dtype == np.int8
            assert observation["action_mask"].dtype == np.int8


def test_every_step_gives_new_arrays(seating: Setting) -> None:
    env = start(seating, 8)
    first = env.last()[0]
    kept = {key: array.copy() for key, array in first.items()}
    info = env.infos[env.agent_selection]["action_mask"]
    for pick in random_picks(8, 30):
        step(env, pick)
    assert all(np.array_equal(first[key], kept[key]) for key in first)
    assert np.array_equal(info, kept["action_mask"])
    for agent in env.agents:
        for array in env.observe(agent).values():
            array[:] = 77  # what a user does to his arrays changes nothing
    assert env.observation_space(env.agent_selection).contains(env.last()[0])


def test_without_copies_the_arrays_hold_the_same(seating: Setting) -> None:
    env, fast = seating.env(), seating.env(copy=False)
    env.reset(seed=9)
    fast.reset(seed=9)
    shared = fast.last()[0]
    for pick in random_picks(9, 200):
        if is_over(env):
            break
        expected, seen = env.last()[0], fast.last()[0]
        assert fast.agent_selection == env.agent_selection
        assert all(np.array_equal(expected[key], seen[key]) for key in expected)
        assert np.array_equal(fast.infos[env.agent_selection]["action_mask"], seen["action_mask"])
        assert all(np.shares_memory(seen[key], shared[key]) for key in seen)
        step(fast, pick)
        step(env, pick)


def test_every_seat_is_told_all_that_it_is_paid(setting: Setting) -> None:
    for seed in range(3):
        Account(start(setting, seed), seed).check()


def test_rewards_reach_seats_that_did_not_end_the_game(seating: Setting) -> None:
    accounts = [Account(start(seating, seed), seed) for seed in range(12)]
    for account in accounts:
        account.check()
        assert account.told == account.last, "the default pays once, at the end"
    assert len({account.ender for account in accounts}) > 1
    told_another = [a for a in accounts if any(a.told[x] for x in a.told if x != a.ender)]
    assert told_another


def test_a_live_step_pays_nothing_but_what_the_rules_say(setting: Setting) -> None:
    env = start(setting, 11)
    for _ in play(env, random_picks(11, 400)):
        assert set(env.rewards) == set(env.agents)
        assert sum(env.rewards.values()) == pytest.approx(0, abs=1e-6)
        assert all(type(reward) is float for reward in env.rewards.values())


def test_max_steps_truncates_for_all_without_reward(seating: Setting) -> None:
    env = seating.env(max_steps=17)
    env.reset(seed=12)
    for count, _ in enumerate(play(env, random_picks(12, 40)), start=1):
        last = count
    assert last == 17
    assert not any(env.terminations.values())
    assert len(env.truncations) == len(env.possible_agents) and all(env.truncations.values())
    assert set(env.rewards.values()) == {0.0}
    assert not any(Account(env, 0).told.values())


def test_max_steps_is_documented(game: Game) -> None:
    line = next(x for x in game.options_markdown().splitlines() if x.startswith("| `max_steps`"))
    assert "truncated" in line and "0: never" in line
    assert game.options[-1].default == 0


def test_dead_agents_leave_one_by_one(seating: Setting) -> None:
    env = start(seating, 13, random_picks(13, LONG))
    assert is_over(env) and env.agents == env.possible_agents
    for left in range(len(env.possible_agents), 0, -1):
        assert len(env.agents) == left
        assert env.last()[2] is True
        env.step(None)
    assert env.agents == []


def test_reset_starts_anew_at_any_moment(seating: Setting) -> None:
    env = start(seating, 14, random_picks(14, 25))
    fresh = start(seating, 15)
    env.reset(seed=15)
    assert np.array_equal(env.state(), fresh.state())
    assert (env.agents, env.rewards) == (fresh.agents, fresh.rewards)
    env.reset(seed=15, options={"options": 1, "unknown": [2]})
    assert np.array_equal(env.state(), fresh.state())


def test_reset_without_seed_goes_on_from_the_game_before(seating: Setting) -> None:
    """Equal games go on equally, and never with a seed of the range kept for evaluation deals."""
    one, two = start(seating, 16, random_picks(16, 9)), start(seating, 16, random_picks(16, 9))
    one.reset()
    two.reset()
    assert np.array_equal(one.state(), two.state())
    seed = int(one.state().view(seating.game.dtype)["seed"][0])
    assert 0 <= seed < 2**63
    first, second = seating.env(), seating.env()
    first.reset()
    second.reset()
    assert not np.array_equal(first.state(), second.state())


def test_options_survive_reset_copy_and_pickle(setting: Setting) -> None:
    expected = setting.game.read_options(setting.options)
    env = setting.env()
    copies = [env, copy.deepcopy(env), copy.copy(env), pickle.loads(pickle.dumps(env))]
    for each in [*copies, CardGameEnv.from_bytes(env.to_bytes())]:
        for seed in range(2):
            each.reset(seed=seed)
            for _ in play(each, random_picks(seed, 20)):
                pass
            games = each.state().view(setting.game.dtype)
            assert each.options == expected
            assert setting.game.option_values(games) == expected


@pytest.mark.parametrize("render_mode", [None, *RENDER_MODES])
def test_arguments_survive_copies(seating: Setting, render_mode: Any) -> None:
    env = seating.env(render_mode=render_mode, illegal="lose", copy=False)
    for each in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        assert (each.render_mode, each.illegal, each.copy) == (render_mode, "lose", False)
        assert each.metadata == env.metadata


def test_spaces_are_always_the_same_objects(seating: Setting) -> None:
    env = seating.env()
    spaces = [(env.observation_space(a), env.action_space(a)) for a in env.possible_agents]
    env.reset(seed=0)
    for agent, (observations, actions) in zip(env.possible_agents, spaces, strict=True):
        assert env.observation_space(agent) is observations
        assert env.action_space(agent) is actions
        assert observations["observation"].shape == (len(seating.game.fields),)
        assert np.array_equal(observations["observation"].high, seating.game.fields.high)
        assert actions.n == len(seating.game.actions)
        assert observations["action_mask"].shape == (actions.n,)


def test_metadata(seating: Setting) -> None:
    env = seating.env()
    assert env.metadata["name"] == str(env) == seating.game.id
    assert env.metadata["render_modes"] == list(RENDER_MODES)
    assert env.metadata["is_parallelizable"] is False
    other = seating.env()
    other.metadata["render_modes"].clear()
    assert env.metadata["render_modes"], "one environment's metadata is not another's"


def test_human_rendering_prints_every_position(
    seating: Setting, capsys: pytest.CaptureFixture[str]
) -> None:
    env, text = seating.env(render_mode="human"), seating.env(render_mode="ansi")
    for each in (env, text):
        each.reset(seed=18)
    shown = [text.render()]
    for pick in random_picks(18, 5):
        step(env, pick)
        step(text, pick)
        shown.append(text.render())
    assert capsys.readouterr().out == "".join(f"{table}\n" for table in shown)


def test_rendering_without_a_mode_warns(seating: Setting) -> None:
    env = start(seating, 19)
    with pytest.warns(UserWarning, match="render_mode='ansi'"):
        assert env.render() is None


def test_the_last_position_can_be_looked_at_after_all_have_left(seating: Setting) -> None:
    env = seating.env(render_mode="ansi", max_steps=12)
    env.reset(seed=20)
    for _ in env.agent_iter():
        step(env, 3)
    for each in (env, pickle.loads(pickle.dumps(env))):
        assert "over" in each.render()
        assert each.state().view(seating.game.dtype)["num_steps"][0] == 12
        assert not each.observe(each.possible_agents[0])["action_mask"].any()
