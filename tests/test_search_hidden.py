"""A search sees no more than its observation: states rebuilt from it, and choices that ignore luck.

Two true states of one information set give the same observation, so a policy must give them the
same move; what it could still depend on are the cards that it puts in hidden places itself.
"""

from collections.abc import Iterator

import numpy as np
import pytest
from conftest import Setting

from crapo_env.batch import Batch
from crapo_env.bots import Policy, make_policy
from crapo_env.bots.planning import SEAT
from crapo_env.bots.search import SearchPolicy
from crapo_env.game import Game

WALKERS = ("random", "greedy", "heuristic")
SEARCH = "search:playouts=60"


def walk(setting: Setting, n: int, steps: int, every: int) -> Iterator[Batch]:
    """Yield a batch after every so many steps of games between bots of all kinds."""
    batch = setting.batch(n)
    batch.reset(31)
    policies = [make_policy(name, setting.game, seed=2) for name in WALKERS]
    for step in range(steps):
        batch.step(policies[step % 3].act(batch.observations, batch.masks))
        if step % every == every - 1:
            yield batch


def redrawn(batch: Batch, seed: int) -> Batch:
    """Return a batch of the same positions, every hidden card drawn anew for the mover."""
    other = Batch(batch.game, len(batch), batch.game.option_values(batch.games))
    for i in range(len(batch)):
        game, seat = batch.games[i : i + 1], int(batch.current_player[i])
        other.games[i] = batch.game.resample_hidden(game, seat, seed + i)[0]
    other.refresh()
    return other


def search_with(policy: Policy, batch: Batch) -> tuple[list[int], list[list[int]]]:
    """Return the moves of a search and the playouts of every line."""
    assert isinstance(policy, SearchPolicy)
    actions = policy.act(batch.observations, batch.masks)
    return actions.tolist(), [visits.tolist() for visits in policy.visits]


def test_what_is_rebuilt_from_an_observation_looks_the_same_from_every_seat(
    setting: Setting,
) -> None:
    for batch in walk(setting, n=24, steps=120, every=6):
        for seat in range(int(batch.games["num_players"][0])):
            seen = batch.observe(seat)
            states = setting.game.states_behind(seen, seat, seed=5)
            again = np.empty_like(seen)
            setting.game.observe(states, seat, again)
            assert (again == seen).all()


@pytest.mark.parametrize("spec", ["heuristic", "planner:nodes=40"])
def test_a_choice_does_not_depend_on_the_cards_put_in_hidden_places(
    seating: Setting, spec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = make_policy(spec, seating.game)
    states_behind = Game.states_behind
    for batch in walk(seating, n=32, steps=80, every=8):
        first = policy.act(batch.observations, batch.masks)
        with monkeypatch.context() as patch:
            patch.setattr(
                Game, "states_behind", lambda g, o, seat, seed: states_behind(g, o, seat, 12345)
            )
            other = policy.act(batch.observations, batch.masks)
        assert first.tolist() == other.tolist()


def test_a_search_does_not_depend_on_the_cards_that_it_starts_from(
    seating: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = make_policy(SEARCH, seating.game, seed=4)
    states_behind = Game.states_behind
    for batch in walk(seating, n=4, steps=60, every=12):
        first = search_with(policy, batch)
        with monkeypatch.context() as patch:
            patch.setattr(
                Game, "states_behind", lambda g, o, seat, seed: states_behind(g, o, seat, 99)
            )
            assert search_with(policy, batch) == first


def test_two_states_of_one_information_set_give_the_same_move_and_playouts(
    seating: Setting,
) -> None:
    policy = make_policy(SEARCH, seating.game, seed=4)
    compared = 0
    for batch in walk(seating, n=4, steps=60, every=12):
        other = redrawn(batch, seed=77)
        assert (other.games != batch.games).any()
        first, second = search_with(policy, batch), search_with(policy, other)
        assert first == second
        compared += sum(map(len, first[1]))
    assert compared > 0


def test_the_state_behind_an_observation_does_not_depend_on_the_seat(seating: Setting) -> None:
    """Policies rebuild every state for one seat, whichever seat the observer really has."""
    for batch in walk(seating, n=16, steps=40, every=10):
        states = seating.game.states_behind(batch.observations, SEAT, 0)
        assert (states["current_player"] == SEAT).all()
        seen = np.empty_like(batch.observations)
        seating.game.observe(states, SEAT, seen)
        assert (seen == batch.observations).all()
