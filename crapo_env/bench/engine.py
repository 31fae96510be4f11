"""The paths of this project: batches, the environment and playouts of every registered game."""

import random
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from crapo_env.adapters.gymnasium import SingleAgentEnv
from crapo_env.batch import NO_ACTION, Batch, sample_legal
from crapo_env.bench.measure import Path, Run
from crapo_env.bots import GREEDY_PLAYOUTS, make_policy
from crapo_env.env import CardGameEnv
from crapo_env.game import Game
from crapo_env.registry import GAMES

BATCHES = tuple(4**k for k in range(8))  # 1 to 16384
SHARED_FROM = 1024  # the smallest batch that is also measured with two threads
MIXED = 1024  # games played to different depths; larger batches repeat them
RECORDED = 32  # games that are played back
PLAYOUTS = 64  # games of one call


@cache
def mean_decisions(game: Game) -> float:
    """Return the mean number of decisions in a game of random moves."""
    seeds = np.arange(MIXED, dtype=np.uint64)
    games = game.new_games(MIXED, {})
    game.reset(games, seeds)
    return game.playout(games, seeds) / MIXED


@cache
def mixed_games(game: Game) -> np.ndarray:
    """Return games in every phase, as a batch that has run for long holds them."""
    batch = Batch(game, MIXED)
    batch.reset(0)
    play, actions = _random_play(batch)
    left = np.random.default_rng(0).integers(0, round(2 * mean_decisions(game)), MIXED)
    for step in range(left.max()):
        play()
        actions[left <= step] = NO_ACTION
        batch.step(actions)
    return batch.games


def _random_play(batch: Batch) -> tuple[Callable[[], None], np.ndarray]:
    """Return a function that picks a random legal action in every game, and the array it fills."""
    actions = np.zeros(len(batch), np.int64)
    generators = np.arange(1, len(batch) + 1, dtype=np.uint64)
    return partial(sample_legal, batch.legal, batch.num_legal, generators, actions), actions


def make_batch(game: Game, n: int, threads: int = 1) -> Batch:
    """Return a batch of games in every phase."""
    batch = Batch(game, n, threads=threads)
    batch.reset(0)
    batch.games[:] = np.resize(mixed_games(game), n)
    batch.refresh()
    return batch


def prepare_batch(game: Game, n: int, threads: int) -> Run:
    """Prepare random play of `n` games; every step writes all masks and observations."""
    batch = make_batch(game, n, threads)
    pick, actions = _random_play(batch)

    def run(repeats: int) -> int:
        for _ in range(repeats):
            pick()
            batch.step(actions)
        return repeats * n

    return run


def prepare_bot(game: Game, spec: str, n: int) -> Run:
    """Prepare play of `n` games by a bot in all seats."""
    batch = make_batch(game, n)
    policy = make_policy(spec, game)

    def run(repeats: int) -> int:
        for _ in range(repeats):
            batch.step(policy.act(batch.observations, batch.masks))
        return repeats * n

    return run


def prepare_playout(game: Game, play_out: Callable[..., Any]) -> Run:
    """Prepare whole games, the deal included, without masks and observations."""
    games = game.new_games(PLAYOUTS, {})
    seeds = np.arange(PLAYOUTS, dtype=np.uint64)

    def run(repeats: int) -> int:
        for _ in range(repeats):
            game.reset(games, seeds)
            play_out(games, seeds)
        return repeats * PLAYOUTS

    return run


def play_randomly(env: Any, games: int) -> int:
    """Play whole games of any AEC environment with random legal moves; return the decisions."""
    draw = random.Random(0).random
    decisions = 0
    for _ in range(games):
        env.reset()
        while True:
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                break
            legal = observation["action_mask"].nonzero()[0]
            env.step(legal[int(draw() * len(legal))])
            decisions += 1
    return decisions


def play_back(env: Any, recorded: list[tuple[int, list[int]]], games: int) -> int:
    """Play recorded games again, `last` before every `step`; return the decisions."""
    decisions = 0
    for i in range(games):
        seed, actions = recorded[i % len(recorded)]
        env.reset(seed=seed)
        for action in actions:
            env.last()
            env.step(action)
        decisions += len(actions)
    return decisions


@cache
def record_games(game: Game) -> list[tuple[int, list[int]]]:
    """Return seeds and the actions of random games."""
    draw = random.Random(0)
    env = CardGameEnv(game)
    recorded = []
    for seed in range(RECORDED):
        env.reset(seed=seed)
        actions: list[int] = []
        while not env.last(observe=False)[2]:
            actions.append(int(draw.choice(env.last()[4]["action_mask"].nonzero()[0])))
            env.step(actions[-1])
        recorded.append((seed, actions))
    return recorded


def prepare_play_back(game: Game, copy: bool) -> Run:
    """Prepare `last` and `step` of the public environment."""
    return partial(play_back, CardGameEnv(game, copy=copy), record_games(game))


def prepare_random_env(game: Game) -> Run:
    """Prepare random play of the public environment, NumPy picking the move."""
    env = CardGameEnv(game)
    env.reset(seed=0)
    return partial(play_randomly, env)


def prepare_gymnasium(game: Game) -> Run:
    """Prepare random play of one seat against a random opponent; steps of the seat are counted."""
    env = SingleAgentEnv(game, "random")
    env.reset(seed=0)
    draw = random.Random(0).random

    def play() -> int:
        _, info = env.reset()
        steps, over = 0, False
        while not over:
            legal = info["action_mask"].nonzero()[0]
            _, _, terminated, truncated, info = env.step(legal[int(draw() * len(legal))])
            over = terminated or truncated
            steps += 1
        return steps

    return lambda repeats: sum(play() for _ in range(repeats))


def list_batch_paths(game: Game) -> list[Path]:
    """Return the batches of a game, the large ones with two threads too."""
    group = f"{game.name}: random move, mask and observation, batch"
    shapes = [(n, 1) for n in BATCHES] + [(n, 2) for n in BATCHES if n >= SHARED_FROM]
    return [
        Path(
            f"{game.name}, batch {n}" + (f", {threads} threads" if threads > 1 else ""),
            group,
            "ours",
            partial(prepare_batch, game, n, threads),
            facts={"game": game.name, "batch": n, "threads": threads},
        )
        for n, threads in shapes
    ]


def list_env_paths(game: Game) -> list[Path]:
    """Return what one environment of a game does."""
    copies, views = partial(prepare_play_back, game, True), partial(prepare_play_back, game, False)
    return [
        Path(
            f"{game.name}, {what}",
            f"{game.name}: one environment, whole games with their resets",
            "ours",
            make,
            unit,
            {"game": game.name},
        )
        for what, unit, make in (
            ("env(), last+step", "decisions", copies),
            ("env(copy=False), last+step", "decisions", views),
            ("env(), random NumPy pick", "decisions", partial(prepare_random_env, game)),
            ("Gymnasium, random opponent", "steps", partial(prepare_gymnasium, game)),
        )
    ]


def list_engine_paths(game: Game) -> list[Path]:
    """Return what the engine does without masks and observations, and with a bot."""
    group = f"{game.name}: inside the engine, and with a bot"
    return [
        Path(f"{game.name}, {what}", group, "ours", make, unit, {"game": game.name})
        for what, unit, make in (
            ("random games", "games", partial(prepare_playout, game, game.playout)),
            (
                "greedy playouts",  # a round where a match has several
                "playouts",
                partial(prepare_playout, game, GREEDY_PLAYOUTS[game.name]),
            ),
            ("greedy bot, batch 64", "bot decisions", partial(prepare_bot, game, "greedy", 64)),
            (
                "heuristic bot, batch 64",
                "bot decisions",
                partial(prepare_bot, game, "heuristic", 64),
            ),
        )
    ]


def list_paths() -> list[Path]:
    """Return the paths of all registered games."""
    lists = (list_batch_paths, list_env_paths, list_engine_paths)
    return [path for game in GAMES.values() for paths in lists for path in paths(game)]


def describe_game(game: Game) -> dict[str, float]:
    """Return the sizes in bytes of what one game of a batch holds, and the length of a game."""
    state, observation, mask = game.dtype.itemsize, len(game.fields), len(game.actions)
    rest = 2 * mask + 2 + 4 * game.max_players + 1  # legal, num_legal, rewards, ended
    return {
        "state": state,
        "observation": observation,
        "mask": mask,
        "in a batch": state + observation + mask + rest,
        "decisions": mean_decisions(game),
    }
