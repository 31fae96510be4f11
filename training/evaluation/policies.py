"""The policies of a process: made from their specs, asked, and watched for errors."""

import copy
import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from crapo_env.bots import make_policy
from crapo_env.bots.policy import Policy
from crapo_env.game import Game
from training.evaluation.table import Answer

CHECKPOINT = "checkpoint:"
FILES = (".safetensors", ".zip")  # paths that are taken for checkpoints without the prefix


@dataclass(frozen=True)
class Description:
    """What a table says of a policy."""

    spec: str
    name: str
    deterministic: bool
    sha256: str | None = None  # of a checkpoint's file


def split_spec(spec: str) -> tuple[str | None, str]:
    """Return the path of the checkpoint that a spec means, None for a bot, and what follows it.

    What follows is a search that the checkpoint leads, such as `+search:ms=50`, or nothing.
    """
    leader, plus, search = spec.rpartition("+")
    if not plus or search.partition(":")[0] != "search":
        leader, plus, search = spec, "", ""
    if leader.startswith(CHECKPOINT) or leader.endswith(FILES):
        return leader.removeprefix(CHECKPOINT), plus + search
    return None, ""


def find_policy(
    spec: str, game: Game, options: Mapping[str, Any], seed: int = 0, *, sampled: bool = False
) -> Policy:
    """Return the policy of a spec or of the path of a checkpoint.

    Raises:
        ValueError: if there is none, or the checkpoint was trained under other rules.
    """
    path, search = split_spec(spec)
    if path is None:
        return make_policy(spec, game, seed)
    from training.checkpoint import load_policy  # loads torch, which bots do without

    policy = load_policy(path, game, seed, deterministic=not sampled)
    policy.check_options(options)
    return make_policy(f"{CHECKPOINT}{path}{search}", game, seed) if search else policy


def digest_checkpoint(path: str) -> str:
    """Return the SHA-256 of a checkpoint's file in hex digits."""
    from training.checkpoint import find_checkpoint

    with find_checkpoint(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Bench:
    """Policies by number. One that draws its moves or remembers is made anew for every game.

    So what happens in a game depends on the seed, the deal and who sits where, and on nothing else
    that is played before or beside it.
    """

    def __init__(
        self,
        game: Game,
        options: Mapping[str, Any],
        specs: Sequence[str],
        seed: int,
        *,
        sampled: bool,
    ) -> None:
        """Make the policies.

        Raises:
            ValueError: if a spec names none, or one that was trained under other rules.
        """
        self._policies = [find_policy(spec, game, options, seed, sampled=sampled) for spec in specs]
        self._makers = [
            _reseeder(spec, policy, game)
            for spec, policy in zip(specs, self._policies, strict=True)
        ]
        self._specs = list(specs)
        self._seed = seed
        self._instances: dict[tuple[int, str], Policy] = {}

    def describe(self) -> list[Description]:
        """Return what the tables say of the policies; each has a name of its own."""
        names = [policy.name for policy in self._policies]
        return [
            Description(
                spec,
                policy.name if names.count(policy.name) == 1 else spec,
                policy.deterministic,
                None if (path := split_spec(spec)[0]) is None else digest_checkpoint(path),
            )
            for spec, policy in zip(self._specs, self._policies, strict=True)
        ]

    def forget(self, games: Sequence[str]) -> None:
        """Drop what was kept for games that are over."""
        for name in games:
            for number in range(len(self._specs)):
                self._instances.pop((number, name), None)

    def ask(
        self, number: int, games: Sequence[str], observations: np.ndarray, masks: np.ndarray
    ) -> Answer:
        """Return the actions of a policy in some games, told apart by their names."""
        policy = self._policies[number]
        if policy.deterministic and not policy.remembers:
            return ask(policy, observations, masks)
        answers = [
            ask(self._instance(number, name), observations[[i]], masks[[i]])
            for i, name in enumerate(games)
        ]
        return Answer(
            np.concatenate([answer.actions for answer in answers]),
            sum(answer.seconds for answer in answers),
            {i: answer.faults[0] for i, answer in enumerate(answers) if answer.faults},
        )

    def _instance(self, number: int, name: str) -> Policy:
        key = number, name
        if key not in self._instances:
            text = f"{self._seed} {self._specs[number]} {name}"
            digest = hashlib.sha256(text.encode()).digest()
            drawn = int.from_bytes(digest[:7])
            seed = self._seed if self._policies[number].deterministic else drawn
            self._instances[key] = self._makers[number](seed)
        return self._instances[key]


def _reseeder(spec: str, policy: Policy, game: Game) -> Callable[[int], Policy]:
    """Return what makes the policy anew with a seed."""
    path, search = split_spec(spec)
    if path is None or search:
        full = spec if path is None else f"{CHECKPOINT}{path}{search}"
        return lambda seed: make_policy(full, game, seed)

    def reseed(seed: int) -> Policy:
        again: Any = copy.copy(policy)  # of the same weights
        again.set_seed(seed)
        return again  # type: ignore[no-any-return]

    return reseed


def ask(policy: Policy, observations: np.ndarray, masks: np.ndarray) -> Answer:
    """Return the actions of a policy, (n,) int64; errors are kept with the rows that cause them."""
    begin = time.perf_counter()
    try:
        actions = policy.act(observations.copy(), masks.copy())
        seconds = time.perf_counter() - begin
        return Answer(_read_actions(actions, len(masks)), seconds)
    except BaseException as error:  # whatever a policy does, it loses its game and no more
        if len(masks) == 1:
            text = f"{type(error).__name__}: {error}".splitlines()[0][:200]
            return Answer(np.full(1, -1), time.perf_counter() - begin, {0: ("raised", text)})
    answers = [ask(policy, observations[[i]], masks[[i]]) for i in range(len(masks))]
    return Answer(
        np.concatenate([answer.actions for answer in answers]),
        time.perf_counter() - begin,
        {i: answer.faults[0] for i, answer in enumerate(answers) if answer.faults},
    )


def _read_actions(actions: Any, n: int) -> np.ndarray:
    """Return what a policy gave as an int64 array (n,).

    Raises:
        TypeError: if it is something else.
    """
    array = np.asarray(actions)
    if array.shape != (n,) or array.dtype.kind not in "iu":
        shape = f"{array.dtype} of the shape {array.shape}"
        raise TypeError(f"actions must be {n} integers, not {shape}")
    return array.astype(np.int64)
