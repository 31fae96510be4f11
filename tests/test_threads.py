"""The threads of a batch: helpers that do all the work, fail, are interrupted, sleep and end."""

import _thread
import gc
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from conftest import Setting
from traces import random_picks

from crapo_env.batch import NO_ACTION, Batch
from crapo_env.game import Game

N = 100


def by_helpers(game: Game, before: Callable[[bool], None] = lambda leads: None) -> Game:
    """Return a game of which the caller of a step takes nothing, so that helpers do it all.

    Both call `before` first, the caller with True.
    """

    def share(*arguments: Any) -> None:
        *_, thread, _ = arguments
        before(thread == 0)
        if thread > 0:
            game.share(*arguments)

    return replace(game, share=share)


def pick_legal(batch: Batch, pick: int) -> np.ndarray:
    """Return a legal action of every game, NO_ACTION after its end."""
    rows = np.arange(len(batch))
    actions = batch.legal[rows, (rows + pick) % np.maximum(batch.num_legal, 1)]
    return np.where(batch.num_legal > 0, actions, NO_ACTION).astype(np.int64)


def assert_equal(batch: Batch, other: Batch) -> None:
    for name in ("games", "observations", "masks", "legal", "num_legal", "rewards", "ended"):
        assert getattr(batch, name).tobytes() == getattr(other, name).tobytes(), name


@pytest.mark.parametrize("threads", [2, 4])
def test_helpers_alone_step_every_game_once(seating: Setting, threads: int) -> None:
    """The first games that end are dealt anew, the next are not."""
    options = seating.options | {"max_steps": 40}
    batch = Batch(by_helpers(seating.game), N, options, threads=threads)
    plain = Batch(seating.game, N, options)
    for each in (batch, plain):
        each.reset(4)
    for step, pick in enumerate(random_picks(3, 90)):
        batch.auto_reset = plain.auto_reset = step < 60
        actions = pick_legal(plain, pick)
        batch.step(actions)
        plain.step(actions)
        assert_equal(batch, plain)
    assert not plain.num_legal.any() and (plain.games["num_steps"] <= 40).all()


def test_an_error_in_a_helper_reaches_the_caller(game: Game) -> None:
    def fail(leads: bool) -> None:
        if not leads:
            raise RuntimeError("out of cards")

    batch = Batch(by_helpers(game, fail), N, threads=2)
    batch.reset(0)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="out of cards"):
            batch.step(pick_legal(batch, 0))


def test_an_interrupted_step_is_over_before_the_next_begins(game: Game) -> None:
    free, interrupted = threading.Event(), threading.Event()

    def interrupt(leads: bool) -> None:
        if not leads:
            free.wait()
        elif not interrupted.is_set():
            interrupted.set()
            _thread.interrupt_main()

    batch, plain = Batch(by_helpers(game, interrupt), N, threads=2), Batch(game, N)
    for each in (batch, plain):
        each.reset(4)
    with pytest.raises(KeyboardInterrupt):
        batch.step(pick_legal(batch, 1))
    assert batch.games.tobytes() == plain.games.tobytes(), "the helper has not begun"
    plain.step(pick_legal(plain, 1))
    threading.Timer(0.2, free.set).start()
    actions = pick_legal(plain, 2)
    batch.step(actions)
    plain.step(actions)
    assert_equal(batch, plain)


def test_an_illegal_action_is_found_before_any_game_moves(game: Game) -> None:
    batch = Batch(game, N, threads=2)
    batch.reset(4)
    before = batch.games.tobytes()
    actions = pick_legal(batch, 0)
    actions[70] = int(np.argmin(batch.masks[70]))
    with pytest.raises(ValueError, match=r"game 70: .* is illegal here"):
        batch.step(actions)
    assert batch.games.tobytes() == before


def list_helpers() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "crapo_env"}


def test_helpers_end_with_their_batch(game: Game) -> None:
    before = list_helpers()
    batch = Batch(game, N, threads=3)
    batch.reset(0)
    batch.step(pick_legal(batch, 0))
    helpers = list_helpers() - before
    assert len(helpers) == 2
    del batch
    gc.collect()
    for helper in helpers:
        helper.join(10)
        assert not helper.is_alive()


ONE_STEP = """
import sys, time
from crapo_env.batch import NO_ACTION, Batch
batch = Batch(sys.argv[1], 64, threads=2)
batch.reset(0)
batch.step(batch.legal[:, 0])
before = time.process_time()
time.sleep(1)
print(time.process_time() - before)
"""


def test_helpers_sleep_when_idle_and_let_the_interpreter_end(game: Game) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", ONE_STEP, game.name],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 0.1, "seconds of processor time in one of doing nothing"
