"""A game with one learner: which seat is his, which cards are dealt, who plays the other seats."""

from typing import Any

import numpy as np

from crapo_env.bots import make_policy
from crapo_env.bots.policy import Policy
from crapo_env.game import Game
from crapo_env.seeds import FIRST_EVALUATION_SEED


def read_opponents(opponent: Any, others: int) -> list[str | Policy]:
    """Return one policy or spec for each of the other seats, clockwise from the learner.

    Raises:
        ValueError: if a list of them has another length.
    """
    if isinstance(opponent, str | Policy):
        return [opponent] * others
    if len(opponent) != others:
        raise ValueError(f"{others} other seats take as many opponents, not {len(opponent)}")
    return list(opponent)


def make_opponents(opponents: list[str | Policy], game: Game, seed: int) -> list[Policy]:
    """Return the opponents; those made from a spec start from the seed."""
    return [
        make_policy(each, game, seed + k) if isinstance(each, str) else each
        for k, each in enumerate(opponents)
    ]


def check_seat(seat: int | None, num_seats: int) -> None:
    """Check that there is such a seat.

    Raises:
        ValueError: if there is none.
    """
    if seat is not None and seat not in range(num_seats):
        raise ValueError(f"seat must be None or 0 to {num_seats - 1}, not {seat!r}")


def draw_game(rng: np.random.Generator, num_seats: int, fixed_seat: int | None) -> tuple[int, int]:
    """Draw the seat that acts, unless it is fixed, and the seed of the deal."""
    drawn = int(rng.integers(num_seats))
    deal = int(rng.integers(FIRST_EVALUATION_SEED, dtype=np.uint64))
    return drawn if fixed_seat is None else fixed_seat, deal
