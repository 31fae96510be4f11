"""Other libraries at the same work: a random legal move, mask and observation at every decision.

Each is used the fastest way that its own documentation shows. Nothing here is imported before the
library was found, and what is not installed is said to be not measured.
"""

import importlib
import importlib.util
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from crapo_env.bench.engine import play_randomly
from crapo_env.bench.measure import Missing, Path, Run

PGX_BATCH = 1024
PGX_STEPS = 8  # of one call into the compiled loop


def prepare_openspiel(name: str) -> Run:
    """Prepare an OpenSpiel game: NumPy observer, legal actions as a list and as a mask."""
    pyspiel = importlib.import_module("pyspiel")
    make_observation = importlib.import_module("open_spiel.python.observation").make_observation
    game = pyspiel.load_game(name)
    recall = pyspiel.IIGObservationType(perfect_recall=True)  # all that hearts has
    observer = make_observation(game) or make_observation(game, recall)
    mask = np.zeros(game.num_distinct_actions(), np.int8)
    draw = random.Random(0).random

    def play() -> int:
        state = game.new_initial_state()
        decisions = 0
        while not state.is_terminal():
            if state.is_chance_node():  # all outcomes alike, which is the quickest draw
                outcomes = state.chance_outcomes()
                state.apply_action(outcomes[int(draw() * len(outcomes))][0])
                continue
            observer.set_from(state, state.current_player())
            legal = state.legal_actions()
            mask.fill(0)
            mask[legal] = 1
            state.apply_action(legal[int(draw() * len(legal))])
            decisions += 1
        return decisions

    return lambda repeats: sum(play() for _ in range(repeats))


def prepare_rlcard(name: str) -> Run:
    """Prepare an RLCard game, whose `step` returns the observation and the legal actions."""
    env = importlib.import_module("rlcard").make(name, config={"seed": 0})
    mask = np.zeros(env.num_actions, np.int8)
    draw = random.Random(0).random

    def play() -> int:
        state, _ = env.reset()
        decisions = 0
        while not env.is_over():
            legal = list(state["legal_actions"])
            mask.fill(0)
            mask[legal] = 1
            state, _ = env.step(legal[int(draw() * len(legal))])
            decisions += 1
        return decisions

    return lambda repeats: sum(play() for _ in range(repeats))


def prepare_pettingzoo(name: str) -> Run:
    """Prepare a game of PettingZoo's classic collection, with the wrappers that it comes in."""
    pettingzoo = importlib.import_module("pettingzoo")
    if hasattr(pettingzoo, "make"):  # since 1.27
        env = pettingzoo.make("aec", "classic/" + name.replace("_v", "-v"))
    else:
        env = importlib.import_module(f"pettingzoo.classic.{name}").env()
    env.reset(seed=0)
    return partial(play_randomly, env)


def prepare_pgx(name: str) -> Run:
    """Prepare a compiled pgx loop over a batch, with automatic resets; the CPU does the work."""
    jax = importlib.import_module("jax")
    env = importlib.import_module("pgx").make(name)
    helpers = importlib.import_module("pgx.experimental")
    step = jax.vmap(helpers.auto_reset(env.step, env.init))

    def advance(state: Any, key: Any) -> tuple[Any, None]:
        pick, play = jax.random.split(key)
        action = helpers.act_randomly(pick, state.legal_action_mask)
        return step(state, action, jax.random.split(play, PGX_BATCH)), None

    def advance_all(state: Any, key: Any) -> Any:
        return jax.lax.scan(advance, state, jax.random.split(key, PGX_STEPS))[0]

    rollout = jax.jit(advance_all)
    key = jax.random.PRNGKey(0)
    state = jax.jit(jax.vmap(env.init))(jax.random.split(key, PGX_BATCH))

    def run(repeats: int) -> int:
        nonlocal state, key
        for _ in range(repeats):
            key, now = jax.random.split(key)
            state = jax.block_until_ready(rollout(state, now))
        return repeats * PGX_STEPS * PGX_BATCH

    return run


@dataclass(frozen=True)
class Library:
    """A peer: the modules that its games need and how one of them is prepared."""

    name: str
    modules: tuple[str, ...]
    games: tuple[str, ...]
    prepare: Callable[[str], Run]
    group: str

    def find_missing(self) -> list[str]:
        """Return the modules that are not installed."""
        return [name for name in self.modules if importlib.util.find_spec(name) is None]


LIBRARIES = (
    Library(
        "OpenSpiel",
        ("pyspiel",),
        ("solitaire", "gin_rummy", "crazy_eights", "hearts", "leduc_poker"),
        prepare_openspiel,
        "OpenSpiel (C++ games, called from Python)",
    ),
    Library(
        "RLCard",
        ("rlcard",),
        ("gin-rummy", "uno", "leduc-holdem"),
        prepare_rlcard,
        "RLCard (Python)",
    ),
    Library(
        "PettingZoo",
        ("rlcard", "pygame"),
        ("leduc_holdem_v4", "texas_holdem_no_limit_v6"),
        prepare_pettingzoo,
        "PettingZoo classic (RLCard games in its wrappers)",
    ),
    Library(
        "pgx",
        ("pgx", "jax"),
        ("kuhn_poker", "leduc_holdem", "backgammon", "sparrow_mahjong"),
        prepare_pgx,
        f"pgx (JAX on the CPU), batch {PGX_BATCH}",
    ),
)


def list_paths(libraries: Sequence[Library] = LIBRARIES) -> list[Path | Missing]:
    """Return the peers that are installed as paths and the others as missing."""
    paths: list[Path | Missing] = []
    for library in libraries:
        absent = library.find_missing()
        reason = f"{' and '.join(absent)} not installed (pip install -e .[bench])"
        for game in library.games:
            name = f"{library.name} {game}"
            if absent:
                paths.append(Missing(name, library.group, reason))
            else:
                paths.append(Path(name, library.group, "peer", partial(library.prepare, game)))
    return paths
