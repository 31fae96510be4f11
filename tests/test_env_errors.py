"""What a user does wrong is refused with a message that names it, and nothing changes by it."""

from typing import Any

import numpy as np
import pytest
from conftest import Setting
from traces import LONG, is_over, legal_actions, random_picks, snapshot, start, step

from crapo_env.batch import Batch
from crapo_env.cards import CARD_NAMES
from crapo_env.env import CardGameEnv
from crapo_env.game import Game
from crapo_env.registry import find_game

NO_INTEGERS = (None, True, False, np.True_, 1.0, np.float64(1), "1", b"1", [1], (1,), {}, 1j)
OUT_OF_RANGE = (-1, -2, -(2**70), 10**6, 2**63, 2**200, np.int64(-1), np.uint64(2**64 - 1))


def illegal_actions(env: CardGameEnv) -> list[int]:
    return np.flatnonzero(env.last()[0]["action_mask"] == 0).tolist()


@pytest.mark.parametrize("action", NO_INTEGERS, ids=repr)
@pytest.mark.parametrize("illegal", ["raise", "lose"])
def test_what_is_no_integer_is_refused(seating: Setting, action: Any, illegal: str) -> None:
    env = seating.env(illegal=illegal)
    env.reset(seed=1)
    before = snapshot(env)
    with pytest.raises(ValueError) as error:
        env.step(action)
    assert env.agent_selection in str(error.value) and repr(action) in str(error.value)
    assert "integer" in str(error.value)
    assert snapshot(env) == before


@pytest.mark.parametrize("action", OUT_OF_RANGE, ids=repr)
def test_an_action_out_of_range_is_refused(seating: Setting, action: Any) -> None:
    env = start(seating, 2, random_picks(2, 11))
    before = snapshot(env)
    with pytest.raises(ValueError) as error:
        env.step(action)
    message = str(error.value)
    assert env.agent_selection in message and str(action) in message and "out of range" in message
    assert snapshot(env) == before


def test_every_illegal_action_is_refused_with_its_name(setting: Setting) -> None:
    env = start(setting, 3, random_picks(3, 33))
    if is_over(env):
        env.reset(seed=3)
    before = snapshot(env)
    names = setting.game.actions.names
    for action in illegal_actions(env):
        with pytest.raises(ValueError) as error:
            env.step(action)
        message = str(error.value)
        assert env.agent_selection in message and f"action {action} ({names[action]})" in message
        assert all(env.action_to_string(legal) in message for legal in legal_actions(env))
    assert snapshot(env) == before


def test_integers_of_any_kind_are_actions(seating: Setting) -> None:
    states = set()
    for kind in (int, np.int16, np.int32, np.int64, np.uint16, np.array):
        env = start(seating, 4)
        env.step(kind(legal_actions(env)[0]))
        states.add(snapshot(env))
    assert len(states) == 1


def test_an_illegal_action_may_lose_the_game(seating: Setting) -> None:
    for pick in (0, 5):
        env = seating.env(illegal="lose")
        env.reset(seed=5)
        loser = env.agent_selection
        env.step([*illegal_actions(env), 10**6, -1][-pick])
        assert all(env.terminations.values()) and not any(env.truncations.values())
        others = [reward for agent, reward in env.rewards.items() if agent != loser]
        assert env.rewards[loser] == -1
        assert others == pytest.approx([1 / len(others)] * len(others))
        told = {}
        for agent in env.agent_iter():
            observation, told[agent], ended, _, _ = env.last()
            assert ended and not observation["action_mask"].any()
            env.step(None)
        assert told.keys() == set(env.possible_agents) and told[loser] == -1
        assert sum(told.values()) == pytest.approx(0, abs=1e-6)
        env.reset(seed=5)
        assert not any(env.terminations.values()) and env.last()[0]["action_mask"].any()


def test_a_dead_agent_takes_only_none(seating: Setting) -> None:
    env = start(seating, 6, random_picks(6, LONG))
    with pytest.raises(ValueError, match="None"):
        env.step(0)
    env.step(None)


@pytest.mark.parametrize(
    "call",
    [
        lambda env: env.step(0),
        lambda env: env.last(),
        lambda env: env.observe("player_0"),
        lambda env: env.state(),
        lambda env: env.render(),
        lambda env: env.agent_iter(),
        lambda env: env.string_to_action("END"),
    ],
    ids=["step", "last", "observe", "state", "render", "agent_iter", "string_to_action"],
)
def test_nothing_works_before_the_first_reset(seating: Setting, call: Any) -> None:
    with pytest.raises(RuntimeError, match="call reset"):
        call(seating.env(render_mode="ansi"))


def test_nobody_is_left_to_move_after_the_end(seating: Setting) -> None:
    env = start(seating, 7, random_picks(7, LONG))
    for _ in env.agent_iter():
        env.step(None)
    for call in (lambda: env.step(0), lambda: env.step(None), env.last):
        with pytest.raises(RuntimeError, match="the game is over: call reset"):
            call()
    assert list(env.agent_iter()) == []


def test_an_unknown_agent_is_refused(seating: Setting) -> None:
    env = start(seating, 8)
    for name in ("player_9", 0, None):
        with pytest.raises(ValueError, match="the agents are"):
            env.observe(name)


def test_an_unknown_option_is_refused_with_the_closest_name(game: Game) -> None:
    for option in game.options:
        close = option.name.replace("_", "")[:-1] + "_"
        with pytest.raises(ValueError, match=f"did you mean '{option.name}'"):
            CardGameEnv(game, **{close: option.default})
    with pytest.raises(ValueError, match="has no option 'zzz'") as error:
        CardGameEnv(game, zzz=1)
    assert all(option.name in str(error.value) for option in game.options)


def test_a_wrong_option_value_is_refused_with_its_name(game: Game) -> None:
    for option in game.options:
        wrong = [None, "no such value", 1.5, [], -1, 10**10, float("nan")]
        wrong += [0, 1] if isinstance(option.default, bool) else [True]
        for value in wrong:
            with pytest.raises(ValueError, match=f"option {option.name} must be"):
                CardGameEnv(game, **{option.name: value})


def test_a_wrong_number_of_players_is_refused(game: Game) -> None:
    wrong = [0, 1, game.max_players + 1, -2, "2", None, 2.0]
    for n in wrong:
        with pytest.raises(ValueError, match="num_players"):
            CardGameEnv(game, num_players=n)


@pytest.mark.parametrize(
    ("name", "value"),
    [("render_mode", "rgb"), ("render_mode", 1), ("illegal", "ignore"), ("illegal", None)],
)
def test_a_wrong_argument_is_refused(game: Game, name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"{name} must be"):
        CardGameEnv(game, **{name: value})


def test_an_unknown_game_is_refused_with_the_closest_name(game: Game) -> None:
    with pytest.raises(ValueError, match=f"did you mean '{game.name}'"):
        find_game(game.name[:-1] + "x")
    with pytest.raises(ValueError, match=game.name):
        CardGameEnv("chess")


@pytest.mark.parametrize(
    "seed", [-1, 2**64, 1.5, True, "1", [1], np.float64(3), np.int64(-3)], ids=repr
)
def test_a_bad_seed_is_refused(seating: Setting, seed: Any) -> None:
    env = start(seating, 9, random_picks(9, 9))
    before = snapshot(env)
    with pytest.raises(ValueError, match="seed must"):
        env.reset(seed=seed)
    assert snapshot(env) == before
    if not isinstance(seed, list):
        with pytest.raises(ValueError, match="seeds must"):
            seating.batch(1).reset(seed)


def test_the_largest_seed_and_those_of_numpy_are_seeds(seating: Setting) -> None:
    assert start(seating, 2**64 - 1).state().view(seating.game.dtype)["seed"][0] == 2**64 - 1
    numbers = (7, np.int64(7), np.uint8(7))
    assert len({start(seating, number).state().tobytes() for number in numbers}) == 1


def full_deck(game: Game) -> list[str]:
    return list(CARD_NAMES) * game.deck_copies


def bad_decks(game: Game) -> dict[str, Any]:
    """Return malformed decks by what their message must say."""
    deck = full_deck(game)
    return {
        f"has {len(deck)} cards, not {len(deck) - 1}": deck[1:],
        f"has {len(deck)} cards, not {len(deck) + 1}": [*deck, "Ah"],
        f"has {len(deck)} cards, not 0": [],
        f"{deck[0]} {game.deck_copies - 1} times, {deck[1]} {game.deck_copies + 1}": [
            deck[1],
            *deck[1:],
        ],
        "'1h' is no card": ["1h", *deck[1:]],
        "'AH' is no card": ["AH", *deck[1:]],
        "7 is no card": [7, *deck[1:]],
        "None is no card": [None, *deck[1:]],
        "list of card names such as '7h', not str": "".join(deck)[: len(deck)],
        "not NoneType": None,
        "not int": 52,
        "not set": set(deck),
        "not dict": dict.fromkeys(deck),
        "not generator": (card for card in deck),
    }


def test_a_malformed_deck_is_refused(seating: Setting) -> None:
    env = start(seating, 10, random_picks(10, 9))
    before = snapshot(env)
    for message, deck in bad_decks(seating.game).items():
        with pytest.raises(ValueError) as error:
            env.reset(seed=1, options={"deck": deck})
        assert message in str(error.value)
        assert snapshot(env) == before


def test_a_written_deck_is_dealt_from_any_sequence(seating: Setting) -> None:
    states = set()
    for kind in (list, tuple, np.array):
        env = seating.env()
        env.reset(seed=11, options={"deck": kind(full_deck(seating.game))})
        states.add(env.state().tobytes())
        seating.game.check_state(env.state().view(seating.game.dtype))
    env.reset(seed=11)
    assert len(states) == 1 and env.state().tobytes() not in states


@pytest.mark.parametrize("kind", [float, bool, str, object])
def test_a_batch_takes_only_integers(game: Game, kind: type) -> None:
    batch = Batch(game, 3)
    batch.reset(1)
    before = batch.games.tobytes()
    with pytest.raises(ValueError, match="actions must be integers"):
        batch.step(batch.legal[:, 0].astype(kind))
    assert batch.games.tobytes() == before


def test_a_batch_with_one_illegal_action_moves_no_game(seating: Setting) -> None:
    batch = seating.batch(5)
    batch.reset(1)
    shown = (batch.games, batch.observations, batch.masks, batch.legal, batch.rewards, batch.ended)
    before = [array.tobytes() for array in shown]
    actions = batch.legal[:, 0].astype(np.int64)
    for action, reason in (
        (int(np.argmin(batch.masks[3])), "is illegal here"),
        (-5, "out of range"),
    ):
        actions[3] = action
        with pytest.raises(ValueError, match=f"game 3: action {action} .*{reason}"):
            batch.step(actions)
        assert [array.tobytes() for array in shown] == before
    for shape in ((4,), (6,), (5, 1), ()):
        with pytest.raises(ValueError, match="5 games take as many actions"):
            batch.step(np.zeros(shape, np.int64))


@pytest.mark.parametrize("n", [0, -1, 1.5, "2", None])
def test_a_batch_has_at_least_one_game(game: Game, n: Any) -> None:
    with pytest.raises(ValueError, match="at least one game"):
        Batch(game, n)


def test_a_text_that_is_no_legal_move_is_refused(seating: Setting) -> None:
    env = start(seating, 12)
    for text in ("", "nonsense", env.action_to_string(legal_actions(env)[0]).lower() + " "):
        with pytest.raises(ValueError, match="is no legal move here; legal are"):
            env.string_to_action(text)
    for action in (-1, len(seating.game.actions), 10**9):
        with pytest.raises(ValueError, match="out of range"):
            env.action_to_string(action)


def test_the_refusals_leave_a_game_that_goes_on(seating: Setting) -> None:
    env, other = start(seating, 13), start(seating, 13)
    for pick in random_picks(13, 60):
        for action in (None, -1, 10**6, *illegal_actions(env)[:3]) if not is_over(env) else ():
            with pytest.raises(ValueError):
                env.step(action)
        step(env, pick)
        step(other, pick)
        assert snapshot(env) == snapshot(other)
