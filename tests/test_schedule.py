"""Who plays whom: every policy in every seat on every deal."""

from collections import Counter

import pytest

from training.evaluation.schedule import is_alone, list_lineups, list_seatings, make_units


@pytest.mark.parametrize("num_policies", [2, 3, 5])
@pytest.mark.parametrize("num_seats", [2, 3, 4])
def test_everyone_meets_everyone_alone_and_in_mixed_lineups(
    num_policies: int, num_seats: int
) -> None:
    lineups = list_lineups(num_policies, num_seats)
    assert len(set(lineups)) == len(lineups)
    for i in range(num_policies):
        for j in range(i):
            for lineup in ((i,) + (j,) * (num_seats - 1), (j,) + (i,) * (num_seats - 1)):
                assert tuple(sorted(lineup)) in lineups
    if num_seats == 2:
        assert len(lineups) == num_policies * (num_policies - 1) // 2
    most = min(num_policies, num_seats)
    assert any(len(set(lineup)) == most for lineup in lineups)
    for lineup in lineups:
        assert len(lineup) == num_seats and len(set(lineup)) > 1
        assert is_alone(lineup) or len(set(lineup)) == most


@pytest.mark.parametrize("lineup", [(0, 1), (0, 1, 1), (0, 1, 2), (0, 0, 1, 1), (0, 1, 2, 3)])
def test_every_policy_has_every_seat_equally_often(lineup: tuple[int, ...]) -> None:
    orders = set()
    for deal in range(24):
        seatings = list_seatings(lineup, deal)
        assert len(set(seatings)) == len(seatings) == len(lineup)
        for seat in range(len(lineup)):
            assert Counter(seating[seat] for seating in seatings) == Counter(lineup)
        orders.add(min(seatings))
    assert len(orders) == {(0, 1, 2): 2, (0, 1, 2, 3): 6}.get(lineup, 1)


def test_units_hold_all_games_of_their_deals_once() -> None:
    seeds = [100 + d for d in range(7)]
    units = list(make_units([(0, 1), (0, 2)], seeds, 2, 7, 2))
    plans = [plan for unit in units for plan in unit.plans]
    assert len(plans) == len(set(plans)) == 2 * 2 * 5
    assert {plan.deal for plan in plans} == {2, 3, 4, 5, 6}
    assert all(plan.seed == seeds[plan.deal] for plan in plans)
    assert all(len({plan.lineup for plan in unit.plans}) == 1 for unit in units)
    assert [len(unit.plans) for unit in units] == [4, 4, 4, 4, 2, 2]
    assert units[0].plans[0].deal == units[1].plans[0].deal == 2  # lineups take turns
