"""Nothing that a player cannot know reaches him.

What a seat cannot know is drawn anew by `Game.resample_hidden`; then every byte that the seat gets
must be as before, while the hidden cards do differ.
"""

import gc
import inspect
from collections.abc import Iterator
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest
from conftest import Setting
from traces import is_over, random_picks, start, step, walk

from crapo_env import saved_env
from crapo_env.batch import Batch
from crapo_env.bots import list_policies, make_policy
from crapo_env.bots.policy import Policy
from crapo_env.env import CardGameEnv
from crapo_env.game import Game

N = 16


def redraw(batch: Batch, seat: int, seed: int) -> Batch:
    """Return a batch whose games differ in what the seat cannot know."""
    other = Batch(batch.game, len(batch), batch.game.option_values(batch.games))
    other.games[:] = batch.game.resample_hidden(batch.games, seat, seed)
    other.refresh()
    return other


def sampled(
    setting: Setting, steps: int = 600, every: int = 13
) -> Iterator[tuple[Batch, int, Batch]]:
    """Yield batches of games in progress, a seat, and the same games drawn anew for it."""
    for count, batch in enumerate(walk(setting, N, steps)):
        if count % every == 0:
            for seat in range(int(batch.games["num_players"][0])):
                yield batch, seat, redraw(batch, seat, 1000 * count + seat)


def same(one: np.ndarray, other: np.ndarray) -> bool:
    return one.tobytes() == other.tobytes()


def test_observations_and_masks_do_not_depend_on_hidden_cards(setting: Setting) -> None:
    for batch, seat, other in sampled(setting):
        assert same(batch.observe(seat), other.observe(seat))
        assert same(batch.current_player, other.current_player)
        own = np.flatnonzero(batch.current_player == seat)
        assert same(batch.masks[own], other.masks[own])
        assert same(batch.observations[own], other.observations[own])
        assert same(batch.num_legal[own], other.num_legal[own])
        for i in own:
            legal = slice(0, batch.num_legal[i])
            assert same(batch.legal[i, legal], other.legal[i, legal])


def test_texts_and_pictures_do_not_depend_on_hidden_cards(setting: Setting) -> None:
    game = setting.game
    for batch, seat, other in sampled(setting, every=29):
        for i in (0, N - 1):
            one, two = batch.games[i : i + 1], other.games[i : i + 1]
            assert game.render(one, seat) == game.render(two, seat)
            assert game.render(one, None) == game.render(two, None)
            if batch.current_player[i] == seat:
                for action in batch.legal[i, : batch.num_legal[i]].tolist():
                    assert game.action_to_string(one, action) == game.action_to_string(two, action)
                illegal = int(np.argmin(batch.masks[i]))
                assert batch.explain_illegal(i, illegal) == other.explain_illegal(i, illegal)


def count_different(one: np.ndarray, other: np.ndarray) -> int:
    """Return how many games differ in more than their seeds and generators."""
    one, other = one.copy(), other.copy()
    for games in (one, other):
        games["seed"] = games["rng"] = 0
    return sum(a.tobytes() != b.tobytes() for a, b in zip(one, other, strict=True))


def test_the_hidden_cards_are_really_drawn_anew(setting: Setting) -> None:
    """Otherwise the tests above could not fail. Redraws are equal where all is known by now."""
    changed, varied, total = 0, 0, 0
    for batch, seat, other in sampled(setting, steps=200):
        batch.game.check_state(other.games)
        again = batch.game.resample_hidden(batch.games, seat, 10**6 + total)
        changed += count_different(batch.games, other.games)
        varied += count_different(again, other.games)
        total += len(batch)
    assert changed > 0.9 * total and varied > 0.8 * total


def test_redrawing_leaves_the_original_alone_and_repeats_by_seed(seating: Setting) -> None:
    for batch in walk(seating, N, 40):
        before = batch.games.tobytes()
        one, two, three = (seating.game.resample_hidden(batch.games, 1, seed) for seed in (5, 5, 6))
        assert batch.games.tobytes() == before
        assert same(one, two) and not same(one, three)


def with_state(env: CardGameEnv, games: np.ndarray) -> CardGameEnv:
    """Return the environment with another record behind it."""
    header = saved_env.unpack(env.to_bytes())[1]
    known = {name: header[name] for name in header if name not in ("format", "game", "tables")}
    return CardGameEnv.from_bytes(saved_env.pack(env.game, known, games.tobytes()))


def view(env: CardGameEnv, agent: str) -> list[Any]:
    """Return all that an environment gives to one agent, arrays as bytes."""
    env.agent_selection, on_turn = agent, env.agent_selection  # `render` shows the selected one
    shown: list[Any] = [env.render(), on_turn, env.agents, env.rewards]
    env.agent_selection = on_turn
    shown += [env.terminations, env.truncations]
    given = [env.observe(agent), env.infos[agent]]
    if on_turn == agent:
        observation, *flags, info = env.last()
        given += [observation, info]
        legal = np.flatnonzero(observation["action_mask"])
        shown += [flags, [env.action_to_string(action) for action in legal]]
    return shown + [(key, piece[key].tobytes()) for piece in given for key in piece]


def test_the_environment_tells_each_agent_only_what_he_may_know(seating: Setting) -> None:
    for seed in range(6):
        env = seating.env(render_mode="ansi")
        env.reset(seed=seed)
        for count, pick in enumerate(random_picks(seed, 1500)):
            if is_over(env):
                break
            if count % 37 == 0:
                games = env.state().view(seating.game.dtype)
                for seat, agent in enumerate(env.possible_agents):
                    other = with_state(env, seating.game.resample_hidden(games, seat, count))
                    assert view(other, agent) == view(env, agent)
            step(env, pick)


def test_a_state_made_from_an_observation_alone_looks_the_same(setting: Setting) -> None:
    """So a search bot can do without the true state; every legal action stays legal in it."""
    for count, batch in enumerate(walk(setting, N, 600)):
        if count % 23 == 0:
            seat = count % int(batch.games["num_players"][0])
            seen = batch.observe(seat)
            games = setting.game.states_behind(seen, seat, count)
            setting.game.check_state(games)
            other = Batch(setting.game, N, setting.options)
            other.games[:] = games
            other.refresh()
            assert same(other.observe(seat), seen)
            own = batch.current_player == seat
            assert (other.masks[own] >= batch.masks[own]).all()


def reachable(thing: Any, limit: int = 50_000) -> list[Any]:
    """Return the objects that a policy holds, those behind code and modules apart."""
    code = (ModuleType, type, FunctionType, BuiltinFunctionType, Game)
    seen, waiting = {id(thing): thing}, [thing]
    while waiting and len(seen) < limit:
        for other in gc.get_referents(waiting.pop()):
            if id(other) not in seen and not isinstance(other, code):
                seen[id(other)] = other
                waiting.append(other)
    return list(seen.values())


def test_a_policy_is_never_handed_the_environment(seating: Setting) -> None:
    """Its methods take arrays only, and playing does not put a state within its reach."""
    for method in (Policy.act, Policy.choose):
        names = list(inspect.signature(method).parameters)
        assert len(names) == 3 and all("observation" in n or "mask" in n for n in names[1:])
    for spec in list_policies(seating.game):
        if ":" in spec:  # made from a file, see the tests of checkpoints
            continue
        policy = make_policy(spec, seating.game, 1)
        env = start(seating, 3, random_picks(3, 30))
        seen = env.last()[0]
        policy.act(seen["observation"], seen["action_mask"])
        for thing in reachable(policy):
            assert not isinstance(thing, CardGameEnv | Batch), spec
            is_record = isinstance(thing, np.ndarray | np.record)
            assert not is_record or thing.dtype != seating.game.dtype, spec


def test_what_a_policy_gets_hides_no_larger_array(seating: Setting) -> None:
    """A view's base would show the observations of others."""
    env = start(seating, 4)
    for array in (*env.last()[0].values(), *env.observe("player_1").values()):
        assert array.base is None or array.base.size == array.size
    assert env.infos[env.agent_selection]["action_mask"].base is None


@pytest.mark.parametrize("found", ["environment", "batch", "record"])
def test_the_search_for_a_state_within_reach_can_fail(seating: Setting, found: str) -> None:
    class Cheat(Policy):
        def choose(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
            return masks.argmax(axis=1)

    cheat = Cheat(seating.game, "cheat", deterministic=True)
    env, batch = start(seating, 5), seating.batch(1)
    hidden = {"environment": env, "batch": batch, "record": batch.games}[found]
    cheat.notes = {"deep": [[hidden]]}
    assert any(thing is hidden for thing in reachable(cheat))
