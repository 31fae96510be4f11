"""Games written down as bytes: all that an environment shows, step by step.

Run as a script it prints a digest of the games of some seeds, for comparison between processes.
A *pick* is a number that stands for one of the legal actions, whatever their count.
"""

import hashlib
import sys
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from conftest import SEATINGS, Setting

from crapo_env.batch import Batch, sample_legal
from crapo_env.env import CardGameEnv

LONG = 100_000  # more decisions than any random game has


def legal_actions(env: CardGameEnv) -> list[int]:
    """Return the legal actions of the agent on turn, ascending."""
    return np.flatnonzero(env.last()[0]["action_mask"]).tolist()


def is_over(env: CardGameEnv) -> bool:
    """Return whether the game has ended, whether or not all agents have left."""
    if not env.agents:
        return True
    return env.terminations[env.agent_selection] or env.truncations[env.agent_selection]


def step(env: CardGameEnv, pick: int) -> None:
    """Play the legal action that a pick stands for, or let an agent leave whose game is over."""
    if is_over(env):
        env.step(None)
    else:
        legal = legal_actions(env)
        env.step(legal[pick % len(legal)])


def random_picks(seed: int, n: int) -> list[int]:
    """Return `n` picks, always the same for a seed."""
    return np.random.default_rng(seed).integers(0, 2**31, n).tolist()


def play(env: CardGameEnv, picks: Iterable[int]) -> Iterator[None]:
    """Play the picks until they or the game end; yields before every move."""
    for pick in picks:
        if is_over(env):
            return
        yield
        step(env, pick)


def start(setting: Setting, seed: int, picks: Iterable[int] = ()) -> CardGameEnv:
    """Return an environment in the middle of a game, after the picks."""
    env = setting.env()
    env.reset(seed=seed)
    for _ in play(env, picks):
        pass
    return env


def walk(setting: Setting, n: int, steps: int) -> Iterator[Batch]:
    """Play `n` games side by side at random, a new one after each end; yields before every step."""
    batch = setting.batch(n)
    batch.reset(1)
    states, actions = np.arange(n, dtype=np.uint64), np.zeros(n, np.int64)
    for _ in range(steps):
        yield batch
        sample_legal(batch.legal, batch.num_legal, states, actions)
        batch.step(actions)


def snapshot(env: CardGameEnv) -> bytes:
    """Return all that an environment shows at this moment."""
    parts = [env.state().tobytes()] if env.agents else []
    for agent in env.agents:
        observation = env.observe(agent)
        parts += [observation["observation"].tobytes(), observation["action_mask"].tobytes()]
        parts.append(env.infos[agent]["action_mask"].tobytes())
    facts = (env.agents, env.agent_selection, env.rewards, env.terminations, env.truncations)
    last = env.last()[1:4] if env.agents else ()
    return b"".join(parts) + repr((facts, last)).encode()


def trace(env: CardGameEnv, picks: Sequence[int]) -> list[bytes]:
    """Return a snapshot after each pick, as far as agents are left."""
    snapshots = []
    for pick in picks:
        if not env.agents:
            break
        step(env, pick)
        snapshots.append(snapshot(env))
    return snapshots


def digest(setting: Setting, seeds: Sequence[int]) -> str:
    """Return the setting and a hash of whole games, one from each seed."""
    total = hashlib.sha256()
    for seed in seeds:
        env = start(setting, seed)
        for shown in trace(env, random_picks(seed, LONG)):
            total.update(shown)
        assert not env.agents
    return f"{setting} {total.hexdigest()}"


if __name__ == "__main__":
    for seating in SEATINGS:
        print(digest(seating, [int(seed) for seed in sys.argv[1:]]))
