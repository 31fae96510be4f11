"""Copies made by copy, pickle or bytes are independent games that go on identically, always."""

import copy
import hashlib
import json
import pickle
from typing import Any

import numpy as np
import pytest
from conftest import SEATINGS, Setting
from hypothesis import given
from hypothesis import settings as profile
from hypothesis import strategies as st
from pettingzoo.utils.wrappers import OrderEnforcingWrapper, TerminateIllegalWrapper
from traces import LONG, is_over, legal_actions, random_picks, snapshot, start, step, trace

from crapo_env.batch import Batch
from crapo_env.env import CardGameEnv

COPIES = {
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
    "pickle": lambda env: pickle.loads(pickle.dumps(env)),
    "old pickle": lambda env: pickle.loads(pickle.dumps(env, protocol=2)),
    "bytes": lambda env: CardGameEnv.from_bytes(env.to_bytes()),
    "twice": lambda env: copy.deepcopy(pickle.loads(pickle.dumps(env))),
}
duplicated = pytest.mark.parametrize("duplicate", COPIES.values(), ids=COPIES)


@duplicated
def test_a_copy_goes_on_identically(setting: Setting, duplicate: Any) -> None:
    """After 0 to 60 moves, so in the middle of a turn and while a drawn card is held, too."""
    for moves in (0, 1, 2, 3, 5, 8, 13, 60):
        env = start(setting, moves, random_picks(moves, moves))
        shown = snapshot(env)
        other = duplicate(env)
        assert snapshot(other) == shown
        ahead = trace(other, random_picks(99, 200))
        assert snapshot(env) == shown, "the original is untouched"
        assert trace(env, random_picks(99, 200)) == ahead
        env.reset()
        other.reset()
        assert snapshot(env) == snapshot(other), "and the next deals are the same"


@duplicated
def test_a_copy_is_exact_at_every_step(seating: Setting, duplicate: Any) -> None:
    env = start(seating, 1)
    for pick in random_picks(1, 150):
        other = duplicate(env)
        assert snapshot(other) == snapshot(env)
        if is_over(env):
            break
        assert other.string_to_action(env.action_to_string(legal_actions(env)[0])) >= 0
        step(other, pick)
        step(env, pick)


@duplicated
def test_a_copy_without_array_copies_shows_its_own_masks(seating: Setting, duplicate: Any) -> None:
    """With `copy=False` an info holds the mask that the next step overwrites, in the copy too."""
    env = seating.env(copy=False)
    env.reset(seed=3)
    other = duplicate(env)
    for pick in random_picks(3, 60):
        step(other, pick)
        seen = other.last()
        assert np.array_equal(seen[4]["action_mask"], seen[0]["action_mask"])
    expected = env.observe(env.agent_selection)["action_mask"]
    assert np.array_equal(env.last()[4]["action_mask"], expected), "the original is untouched"


@duplicated
def test_a_copy_during_the_exit_of_the_agents(seating: Setting, duplicate: Any) -> None:
    env = start(seating, 2, random_picks(2, LONG))
    for _ in env.possible_agents:
        assert snapshot(duplicate(env)) == snapshot(env)
        env.step(None)
        other = duplicate(env)
        assert (other.agents, other.terminations) == (env.agents, env.terminations)
    other = duplicate(env)
    with pytest.raises(RuntimeError, match="the game is over"):
        other.step(None)
    other.reset(seed=2)
    assert snapshot(other) == snapshot(start(seating, 2))


@duplicated
def test_a_copy_before_the_first_reset(seating: Setting, duplicate: Any) -> None:
    other = duplicate(seating.env())
    with pytest.raises(RuntimeError, match="no game has been dealt"):
        other.last()
    other.reset(seed=3)
    assert snapshot(other) == snapshot(start(seating, 3))


def test_the_generators_of_the_spaces_are_copied(seating: Setting) -> None:
    env = start(seating, 4)
    env.action_space("player_0").seed(5)
    other = copy.deepcopy(env)
    for _ in range(20):
        expected = env.action_space("player_0").sample()
        assert other.action_space("player_0").sample() == expected
    assert other.action_space("player_0") is not env.action_space("player_0")
    assert other.observation_space("player_0") is other.observation_space("player_0")


def test_wrapped_environments_can_be_copied(seating: Setting) -> None:
    for wrap in (OrderEnforcingWrapper, lambda env: TerminateIllegalWrapper(env, -1)):
        env = wrap(start(seating, 5, random_picks(5, 9)))
        for other in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
            assert snapshot(other.unwrapped) == snapshot(env.unwrapped)


@pytest.mark.filterwarnings("ignore")
def test_a_game_that_a_wrapper_ended_can_be_copied(seating: Setting) -> None:
    env = TerminateIllegalWrapper(seating.env(), -1)
    env.reset(seed=6)
    env.step(int(np.argmin(env.last()[0]["action_mask"])))
    other = CardGameEnv.from_bytes(env.unwrapped.to_bytes())
    assert other.rewards == env.rewards and other.terminations == env.terminations


def trace_batch(batch: Batch, steps: int) -> list[bytes]:
    """Return all that a batch shows, before and after every step with its last legal actions."""
    shown = []
    rows = np.arange(len(batch))
    for _ in range(steps):
        arrays = (batch.games, batch.observations, batch.masks, batch.legal, batch.rewards)
        shown.append(b"".join(array.tobytes() for array in (*arrays, batch.num_legal, batch.ended)))
        batch.step(batch.legal[rows, batch.num_legal - 1].astype(np.int64))
    return shown


@pytest.mark.parametrize("threads", [1, 2])
def test_a_batch_can_be_copied(seating: Setting, threads: int) -> None:
    batch = Batch(seating.game, 6, seating.options, threads=threads)
    batch.reset(7)
    trace_batch(batch, 30)
    copies = [copy.deepcopy(batch), pickle.loads(pickle.dumps(batch))]
    before = batch.games.tobytes()
    traces = [trace_batch(other, 200) for other in copies]
    assert batch.games.tobytes() == before, "the original is untouched"
    assert traces == [trace_batch(batch, 200)] * 2


def pack(header: bytes, record: bytes) -> bytes:
    """Return bytes with the right checksum, whatever they hold."""
    body = header + b"\n" + record
    return hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def unpack(data: bytes) -> tuple[dict[str, Any], bytes]:
    _, header, record = data.split(b"\n", 2)
    return json.loads(header), record


def read(data: Any) -> CardGameEnv | None:
    """Return the environment, None if the bytes are refused; any other error is a failure."""
    try:
        return CardGameEnv.from_bytes(data)
    except ValueError:
        return None


def play_on(env: CardGameEnv | None) -> None:
    """Play an environment that was read, which must be whole."""
    if env is None or not env.agents:
        return
    for agent in env.agents:
        assert env.observation_space(agent).contains(env.observe(agent))
    for pick in random_picks(8, 50):
        if not env.agents:
            return
        env.last()
        step(env, pick)


SAVED = [start(seating, 9, random_picks(9, 40)).to_bytes() for seating in SEATINGS]
saved = st.sampled_from(SAVED)
junk = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 2**70) | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=5,
)


@given(saved, st.data())
@profile(max_examples=300)
def test_cut_bytes_are_refused(data: bytes, draw: Any) -> None:
    cut = draw.draw(st.integers(0, len(data) - 1))
    assert read(data[:cut]) is None
    assert read(data[cut + 1 :]) is None
    assert read(data + data[:cut] + b"\0") is None


@given(saved, st.data())
@profile(max_examples=300)
def test_any_flipped_bit_is_refused(data: bytes, draw: Any) -> None:
    at = draw.draw(st.integers(0, len(data) * 8 - 1))
    damaged = bytearray(data)
    damaged[at // 8] ^= 1 << at % 8
    with pytest.raises(ValueError, match="checksum"):
        CardGameEnv.from_bytes(bytes(damaged))


@given(st.binary() | st.text() | junk)
@profile(max_examples=200)
def test_random_bytes_are_refused(data: Any) -> None:
    assert read(data) is None


@given(st.binary(max_size=60), st.binary(max_size=60))
@profile(max_examples=200)
def test_a_random_header_is_refused(header: bytes, record: bytes) -> None:
    assert read(pack(header, record)) is None
    assert read(pack(b"[" * 10**5, record)) is None


@given(saved, st.data())
@profile(max_examples=500)
def test_a_header_with_a_false_entry_is_refused_or_harmless(data: bytes, draw: Any) -> None:
    """The checksum is right, as if somebody had written the bytes by hand."""
    header, record = unpack(data)
    table = draw.draw(st.sampled_from([header, header["turn"], header["options"]]))
    name = draw.draw(st.sampled_from(sorted(table)))
    if isinstance(table[name], dict) and draw.draw(st.booleans()):
        table = table[name]
        name = draw.draw(st.sampled_from(sorted(table)) if table else st.just("player_0"))
    if draw.draw(st.booleans()):
        table[name] = draw.draw(junk)
    else:
        table.pop(name, None)
    play_on(read(pack(json.dumps(header).encode(), record)))


@given(saved, st.data())
@profile(max_examples=500)
def test_a_record_with_a_false_byte_is_refused_or_harmless(data: bytes, draw: Any) -> None:
    header, record = unpack(data)
    changed = bytearray(record)
    for _ in range(draw.draw(st.integers(1, 3))):
        at = draw.draw(st.integers(0, len(record) - 1))
        changed[at] = draw.draw(st.integers(0, 255))
    play_on(read(pack(json.dumps(header).encode(), bytes(changed))))


@pytest.mark.parametrize(
    ("entry", "value", "message"),
    [
        ("format", "crapo_env state 0", "have the format 'crapo_env state 0', but this package"),
        ("game", "chess_v0", "have game 'chess_v0', but this package has"),
        ("game", "crapo_v999", "have game 'crapo_v999', but this package has"),
        ("tables", "0123456789abcdef", "have tables '0123456789abcdef', but"),
        ("options", {"zzz": 1}, "has no option 'zzz'"),
        ("options", {"game": "crapo"}, "are no options"),
        ("options", {"max_steps": -1}, "option max_steps must be"),
        ("options", {"max_steps": 7}, "says max_steps=7, but the state"),
        ("illegal", "ignore", "illegal must be"),
        ("render_mode", "rgb", "render_mode must be"),
    ],
)
def test_other_versions_games_and_options_are_refused_naming_both(
    seating: Setting, entry: str, value: Any, message: str
) -> None:
    header, record = unpack(start(seating, 10).to_bytes())
    header[entry] = header[entry] | value if isinstance(value, dict) else value
    with pytest.raises(ValueError, match=message):
        CardGameEnv.from_bytes(pack(json.dumps(header).encode(), record))


def other_selected(turn: dict[str, Any]) -> None:
    turn["agent_selection"] = next(a for a in turn["agents"] if a != turn["agent_selection"])


def one_has_left(turn: dict[str, Any]) -> None:
    gone = next(a for a in turn["agents"] if a != turn["agent_selection"])
    turn["agents"].remove(gone)
    for table in ("rewards", "_cumulative_rewards", "terminations", "truncations"):
        del turn[table][gone]


def one_is_dead(turn: dict[str, Any]) -> None:
    turn["terminations"]["player_1"] = True


@pytest.mark.parametrize("contradict", [other_selected, one_has_left, one_is_dead])
def test_agents_that_contradict_the_state_are_refused(seating: Setting, contradict: Any) -> None:
    header, record = unpack(start(seating, 12).to_bytes())
    contradict(header["turn"])
    with pytest.raises(ValueError, match="do not fit the state"):
        CardGameEnv.from_bytes(pack(json.dumps(header).encode(), record))


def test_a_finished_record_is_no_game_in_progress(seating: Setting) -> None:
    header, _ = unpack(start(seating, 12).to_bytes())
    _, ended = unpack(start(seating, 12, random_picks(12, LONG)).to_bytes())
    with pytest.raises(ValueError, match="do not fit the state"):
        CardGameEnv.from_bytes(pack(json.dumps(header).encode(), ended))


def test_a_record_of_another_game_is_refused() -> None:
    for seating, data in zip(SEATINGS, SAVED, strict=True):
        for other, stranger in zip(SEATINGS, SAVED, strict=True):
            if other.game is not seating.game:
                mixed = pack(json.dumps(unpack(data)[0]).encode(), unpack(stranger)[1])
                with pytest.raises(ValueError, match=f"a state of {seating.game.id} has"):
                    CardGameEnv.from_bytes(mixed)
            elif other is not seating:
                mixed = pack(json.dumps(unpack(data)[0]).encode(), unpack(stranger)[1])
                with pytest.raises(ValueError, match="says num_players"):
                    CardGameEnv.from_bytes(mixed)


def test_the_bytes_hold_no_code(seating: Setting) -> None:
    """They are text, JSON and a record: nothing that pickle or eval would have to read."""
    env = start(seating, 11, random_picks(11, 20))
    header, record = unpack(env.to_bytes())
    assert record == env.state().tobytes()
    assert header["game"] == seating.game.id and header["tables"] == seating.game.tables_hash()
