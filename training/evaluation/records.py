"""What is kept of every game: enough to count it and to play it again."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

from crapo_env.batch import Batch
from crapo_env.game import Game
from crapo_env.registry import find_game
from training.evaluation.schedule import Plan


class Outcome(IntEnum):
    """How a game ended for a seat."""

    WIN = 0
    DRAW = 1
    LOSS = 2
    CAPPED = 3  # cut off by max_steps


@dataclass(frozen=True)
class Fault:
    """Why a game ended before its end: its last mover made no legal move."""

    seat: int
    kind: str  # illegal, raised, late or died
    text: str


@dataclass(frozen=True)
class GameRecord:
    """A game that was played; all tuples but the actions are by seat."""

    plan: Plan
    actions: tuple[int, ...]
    outcomes: tuple[Outcome, ...]
    scores: tuple[float, ...]  # shares of the win, which sum to 1
    points: tuple[int, ...] | None  # at the end, where the game has them; fewer are better
    decisions: tuple[int, ...]
    ms: tuple[float, ...]  # milliseconds of thought
    fault: Fault | None = None


def score_seats(
    returns: np.ndarray, truncated: bool, fault: Fault | None
) -> tuple[tuple[Outcome, ...], tuple[float, ...]]:
    """Return outcome and score of every seat.

    Whoever received most has won, several share the win; if all received the same it is a draw. A
    fault loses the game and all others share the win. A capped game counts like a draw in scores,
    and is shown apart.

    Args:
        returns: (seats,) sums of the rewards.
        truncated: whether the game was cut off by `max_steps`.
        fault: what ended the game, if it was no move.
    """
    num_seats = len(returns)
    even = (1 / num_seats,) * num_seats
    if fault is not None:
        best = np.arange(num_seats) != fault.seat
    elif truncated:
        return (Outcome.CAPPED,) * num_seats, even
    else:
        best = returns > returns.max() - 1e-6
    if best.all():
        return (Outcome.DRAW,) * num_seats, even
    outcomes = tuple(Outcome.WIN if won else Outcome.LOSS for won in best)
    return outcomes, tuple(float(share) for share in best / best.sum())


def write_line(record: GameRecord, header: Mapping[str, Any], names: list[str]) -> str:
    """Return a game as a line of JSON.

    Args:
        record: the game.
        header: `game`, `tables_hash`, `package_version` and `options`, the same for all games.
        names: of all policies.
    """
    values = dict(header) | {
        "deal": record.plan.deal,
        "seed": record.plan.seed,
        "seats": [names[policy] for policy in record.plan.seats],
        "actions": record.actions,
        "outcomes": [outcome.name.lower() for outcome in record.outcomes],
        "scores": record.scores,
        "points": record.points,
        "decisions": record.decisions,
        "ms": record.ms,
        "fault": None if record.fault is None else vars(record.fault),
    }
    return json.dumps(values, separators=(",", ":"))


def read_line(line: str, names: list[str]) -> GameRecord:
    """Return the game that `write_line` wrote.

    Raises:
        ValueError: if the line is not one of a game between these policies.
    """
    try:
        values = json.loads(line)
        seats = tuple(names.index(name) for name in values["seats"])
        return GameRecord(
            plan=Plan(values["deal"], values["seed"], seats),
            actions=tuple(values["actions"]),
            outcomes=tuple(Outcome[word.upper()] for word in values["outcomes"]),
            scores=tuple(values["scores"]),
            points=None if values["points"] is None else tuple(values["points"]),
            decisions=tuple(values["decisions"]),
            ms=tuple(values["ms"]),
            fault=None if values["fault"] is None else Fault(**values["fault"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a game of these policies: {line[:60]!r} ({error})") from None


def replay(values: Mapping[str, Any]) -> tuple[Batch, np.ndarray]:
    """Play a game of `games.jsonl` again and return its end and the sums of rewards by seat.

    Args:
        values: a line, decoded. Instead of dealing from the seed alone, `deck` lays out written
            cards.

    Returns:
        A batch of one and rewards (seats,).

    Raises:
        ValueError: if it is of another game, version or table, or an action is illegal.
    """
    game = find_game(str(values["game"]).rpartition("_v")[0])
    for what, here in (("game", game.id), ("tables_hash", game.tables_hash())):
        if values[what] != here:
            raise ValueError(f"it was played with {what} {values[what]!r}, here it is {here!r}")
    batch = Batch(game, 1, values["options"], auto_reset=False)
    if values.get("deck"):
        batch.deal(values["deck"], int(values["seed"]))
    else:
        batch.reset(int(values["seed"]))
    returns = np.zeros(batch.rewards.shape[1])
    for action in values["actions"]:
        batch.step(np.array([action]))
        returns += batch.rewards[0]
    return batch, returns


def check_replay(values: Mapping[str, Any]) -> None:
    """Play a game again and compare.

    Raises:
        ValueError: if it cannot be replayed or ends otherwise than it says.
    """
    batch, returns = replay(values)
    fault = None if values["fault"] is None else Fault(**values["fault"])
    if fault is None and batch.num_legal[0] > 0:
        raise ValueError(f"after its {len(values['actions'])} actions the game is not over")
    if fault is not None and batch.current_player[0] != fault.seat:
        raise ValueError(f"seat {batch.current_player[0]} is on turn at the fault of {fault.seat}")
    outcomes, scores = score_seats(returns, bool(batch.games["truncated"][0]), fault)
    points = final_points(batch.game, batch.games, len(returns))
    for what, there, here in (
        ("outcomes", values["outcomes"], [outcome.name.lower() for outcome in outcomes]),
        ("scores", values["scores"], list(scores)),
        ("points", values["points"], None if points is None else points[0].tolist()),
    ):
        if there != here:
            raise ValueError(f"the replay ends with {what} {here}, the record says {there}")


def final_points(game: Game, games: np.ndarray, num_seats: int) -> np.ndarray | None:
    """Return the points of every seat (n, seats) int64, None in a game without points."""
    if game.points is None:
        return None
    points: np.ndarray = games[game.points][:, :num_seats].astype(np.int64)
    return points
