"""Which games are played: who sits where, on which deal.

A lineup says who meets whom, as sorted indices of policies, one for every seat. On every deal all
its seatings are played, so that each policy holds each hand: luck of the deal and of the seat
cancels out.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

Lineup = tuple[int, ...]


@dataclass(frozen=True)
class Plan:
    """One game that is to be played."""

    deal: int  # place of the deal in the list of seeds
    seed: int  # of the deal
    seats: tuple[int, ...]  # index of the policy on every seat

    @property
    def lineup(self) -> Lineup:
        """Return who meets whom."""
        return tuple(sorted(self.seats))


@dataclass(frozen=True)
class Unit:
    """Games that are played side by side: all seatings of a lineup on a few deals."""

    plans: tuple[Plan, ...]


def list_lineups(num_policies: int, num_seats: int) -> list[Lineup]:
    """Return all lineups of a tournament.

    With two seats these are all pairs. With more they are each policy alone among copies of each
    other one, and the mixed ones: as many different policies as there are or as there are seats.
    """
    everything = itertools.combinations_with_replacement(range(num_policies), num_seats)
    most = min(num_policies, num_seats)
    return [
        lineup
        for lineup in everything
        if is_alone(lineup) or (num_seats > 2 and len(set(lineup)) == most and most > 1)
    ]


def is_alone(lineup: Lineup) -> bool:
    """Return whether one policy sits alone among copies of another one."""
    counts = sorted(lineup.count(policy) for policy in set(lineup))
    return counts == [1, len(lineup) - 1]


@cache
def _orders(lineup: Lineup) -> list[tuple[int, ...]]:
    """Return the orders round the table that differ by more than a rotation.

    Those that look alike from two seats (A, B, A, B) are left out: all have as many rotations.
    """
    orders = sorted({min(_rotations(order)) for order in itertools.permutations(lineup)})
    return [order for order in orders if len(_rotations(order)) == len(lineup)]


def _rotations(order: tuple[int, ...]) -> list[tuple[int, ...]]:
    return list(dict.fromkeys(order[k:] + order[:k] for k in range(len(order))))


def list_seatings(lineup: Lineup, deal: int) -> list[tuple[int, ...]]:
    """Return all rotations of a lineup round the table; deals take the different orders in turn."""
    orders = _orders(lineup)
    return _rotations(orders[deal % len(orders)])


def make_units(
    lineups: Sequence[Lineup], seeds: Sequence[int], first: int, last: int, size: int
) -> Iterator[Unit]:
    """Yield all games on the deals from `first` up to `last`, `size` deals to a unit.

    All lineups take turns on the same deals, so that an end before the end leaves a balanced table.
    """
    for start in range(first, last, size):
        for lineup in lineups:
            yield Unit(
                tuple(
                    Plan(deal, int(seeds[deal]), seats)
                    for deal in range(start, min(start + size, last))
                    for seats in list_seatings(lineup, deal)
                )
            )
