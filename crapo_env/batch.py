"""`Batch`: many games of one kind side by side, played in place by one kernel call per step."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numba.core import config

from crapo_env.cards import below, next_state, read_deck
from crapo_env.game import Game
from crapo_env.jit import announce_compilation, njit
from crapo_env.registry import find_game
from crapo_env.threads import Crew

NO_ACTION = -1  # leaves a game alone


@njit
def sample_legal(legal: Any, num_legal: Any, states: Any, actions: Any) -> None:
    """Pick a uniformly random legal action of every game with generators `states` (n,) uint64."""
    for i in range(len(actions)):
        states[i] = next_state(states[i])
        actions[i] = legal[i, below(states[i], num_legal[i])] if num_legal[i] > 0 else NO_ACTION


@njit
def first_illegal(masks: Any, actions: Any) -> int:
    """Return the index of the first game whose mask forbids its action, -1 if there is none."""
    for i in range(len(actions)):
        action = np.int64(actions[i])
        if action != NO_ACTION and (
            action < 0 or action >= masks.shape[1] or masks[i, action] == 0
        ):
            return i
    return -1


def _as_integers(what: str, values: np.ndarray) -> np.ndarray:
    if values.dtype.kind not in "iu":
        raise ValueError(f"{what} must be integers of at most 64 bits, not {values.dtype}")
    return values


class Batch:
    """`n` games of one kind. All arrays are reused: copy what must outlive the next `step`.

    Attributes:
        games: (n,) records of `game.dtype`; the whole hidden state, not for players.
        observations: (n, len(game.fields)) int8, what the player on turn sees.
        masks: (n, len(game.actions)) int8, 1 where an action of the player on turn is legal.
        legal, num_legal: (n, len(game.actions)) int16 and (n,) int16, the same as ascending lists.
        rewards: (n, seats) float32, of the last step, by seat.
        ended: (n,) int8, 1 if the last step ended the game by its rules, 2 if by `max_steps`, else
            0.
    """

    def __init__(
        self,
        game: Game | str,
        n: int,
        options: Mapping[str, Any] | None = None,
        *,
        auto_reset: bool = True,
        threads: int = 1,
    ) -> None:
        """Make a batch of `n` games; call `reset` before `step`.

        Args:
            game: a game or its name in the registry.
            n: number of games.
            options: rule options, see `game.options`; those not given have their defaults.
            auto_reset: deal a new game within the step that ended one. Its seed comes from the
                ended game's generator, so a batch is fixed by its first seeds.
            threads: how many threads share the games of a step; the results are the same for any
                number. Worth it from a thousand games on, with as many cores free.

        Raises:
            ValueError: if a number or an option is wrong.
        """
        self.game = find_game(game) if isinstance(game, str) else game
        announce_compilation(self.game.name)
        if not isinstance(n, int | np.integer) or n < 1:
            raise ValueError(f"a batch has at least one game, not {n!r}")
        if not isinstance(threads, int) or not 1 <= threads <= n:
            raise ValueError(
                f"threads must be an integer from 1 to the number of games, not {threads!r}"
            )
        self.threads = threads
        self._crew: Crew | None = None
        self.auto_reset = auto_reset
        self.games = self.game.new_games(n, options or {})
        seats = int(self.games["num_players"][0])
        self.observations = np.zeros((n, len(self.game.fields)), np.int8)
        self.masks = np.zeros((n, len(self.game.actions)), np.int8)
        self.legal = np.zeros((n, len(self.game.actions)), np.int16)
        self.num_legal = np.zeros(n, np.int16)
        self.rewards = np.zeros((n, seats), np.float32)
        self.ended = np.zeros(n, np.int8)
        self._written = (
            self.observations,
            self.masks,
            self.legal,
            self.num_legal,
            self.rewards,
            self.ended,
        )

    def __len__(self) -> int:
        """Return the number of games."""
        return len(self.games)

    @property
    def current_player(self) -> np.ndarray:
        """The seat on turn in every game, (n,) int8."""
        return self.games["current_player"]

    def reset(self, seed: int | Sequence[int] | np.ndarray = 0) -> None:
        """Deal all games anew: game `i` from `seed + i`, or from its own of `n` seeds."""
        self.game.reset(self.games, self._seeds(seed))
        self._start()

    def deal(self, deck: Sequence[str], seed: int | Sequence[int] | np.ndarray = 0) -> None:
        """Lay out one written deck in all games; the seeds decide what the deck leaves open.

        Raises:
            ValueError: if the deck is malformed, see `read_deck`.
        """
        self.game.deal(self.games, read_deck(deck, self.game.deck_copies), self._seeds(seed))
        self._start()

    def redeal(
        self, rows: np.ndarray, seeds: np.ndarray, deck: Sequence[str] | None = None
    ) -> None:
        """Deal the games at `rows` anew, each from its own seed, and leave the others alone.

        Args:
            rows: (k,) indices of games, none twice.
            seeds: (k,) uint64.
            deck: a written deck that all of them get, see `deal`.

        Raises:
            ValueError: if the deck is malformed.
        """
        games = self.games[rows]
        if deck is None:
            self.game.reset(games, seeds)
        else:
            self.game.deal(games, read_deck(deck, self.game.deck_copies), seeds)
        seen = [a[rows] for a in (self.observations, self.masks, self.legal, self.num_legal)]
        self.game.refresh(games, *seen)
        self.games[rows] = games
        self.observations[rows], self.masks[rows], self.legal[rows], self.num_legal[rows] = seen
        self.rewards[rows] = 0
        self.ended[rows] = 0

    def refresh(self) -> None:
        """Write observations and masks anew, after `games` was changed by hand."""
        self.game.refresh(self.games, self.observations, self.masks, self.legal, self.num_legal)

    def step(self, actions: np.ndarray) -> None:
        """Play one action in every game, `NO_ACTION` leaving a game as it is.

        Args:
            actions: (n,) integers. A game that has ended takes only `NO_ACTION`.

        Raises:
            ValueError: if an action is illegal or no integer; then no game has moved.
        """
        actions = np.asarray(actions)
        if actions.shape != self.games.shape:
            raise ValueError(f"{len(self.games)} games take as many actions, not {actions.shape}")
        if actions.dtype != np.int64:  # any other would be compiled for anew
            actions = _as_integers("actions", actions).astype(np.int64)
        if self.threads == 1 or config.DISABLE_JIT:
            wrong = self.game.step(self.games, actions, *self._written, self.auto_reset)
        else:
            wrong = self._step_together(actions)
        if wrong >= 0:
            raise ValueError(f"game {wrong}: {self.explain_illegal(wrong, actions[wrong])}")

    def _step_together(self, actions: np.ndarray) -> int:
        """Step all games on several threads, or return the first whose action is illegal."""
        if self._crew is None or self._crew.process != os.getpid():  # a fork copies no threads
            self._crew = Crew(self.game.share, (self.games, *self._written), self.threads)
        self._crew.wait()
        wrong: int = first_illegal(self.masks, actions)
        if wrong < 0:
            self._crew.step(actions, self.auto_reset)
        return wrong

    def __getstate__(self) -> dict[str, Any]:
        """Copy and pickle everything but the threads."""
        return self.__dict__ | {"_crew": None, "game": self.game.name}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a copy, whose records need the game's own dtype object to be quick."""
        self.__dict__.update(state)
        self.game = find_game(state["game"])
        self.games = self.games.view(self.game.dtype)

    def observe(self, seat: int) -> np.ndarray:
        """Return what `seat` sees in every game, (n, len(game.fields)) int8, a new array."""
        observations = np.empty_like(self.observations)
        self.game.observe(self.games, seat, observations)
        return observations

    def explain_illegal(self, i: int, action: Any) -> str:
        """Return why `action` is illegal in game `i`."""
        names = self.game.actions.names
        player = int(self.current_player[i])
        if not 0 <= action < len(names):
            last = len(names) - 1
            return f"action {action} of player_{player} is out of range 0 to {last}"
        legal = self.legal[i, : self.num_legal[i]]
        if len(legal) == 0:
            return f"action {action} ({names[action]}) comes after the end of the game"
        allowed = " ".join(self.game.action_to_string(self.games[i : i + 1], int(a)) for a in legal)
        what = f"action {action} ({names[action]}) of player_{player}"
        return f"{what} is illegal here; legal are {allowed}"

    def _start(self) -> None:
        self.rewards[:] = 0
        self.ended[:] = 0
        self.refresh()

    def _seeds(self, seed: int | Sequence[int] | np.ndarray) -> np.ndarray:
        seeds = _as_integers("seeds", np.asarray(seed))
        if (seeds < 0).any():
            raise ValueError(f"seeds must be at least 0, not {seed}")
        if seeds.ndim == 0:
            return seeds.astype(np.uint64) + np.arange(len(self.games), dtype=np.uint64)
        if seeds.shape != self.games.shape:
            raise ValueError(f"{len(self.games)} games take as many seeds, not {seeds.shape}")
        return seeds.astype(np.uint64)
