"""Heuristics, planners and searches: legal moves, winning lines, seeds, settings, ends of games.

`python tests/test_search_bots.py --games 10000` lets every deterministic bot without a search play
so many games against itself and fails if one does not end within the rules' bound.
"""

import argparse
import sys
from typing import Any

import numpy as np
import positions_crapo
import positions_reis
import pytest
from conftest import SEATINGS, Setting

from crapo_env.batch import NO_ACTION, Batch
from crapo_env.bots import crapo_choice, list_policies, make_policy, reis_choice
from crapo_env.bots.crapo_greedy import RANKS as CRAPO_RANKS
from crapo_env.bots.reis_greedy import RANKS as REIS_RANKS
from crapo_env.game import Game
from crapo_env.registry import find_game

SPECS = ("heuristic", "planner:nodes=40", "search:playouts=30", "ismcts:playouts=30")
DETERMINISTIC = (("heuristic", 300), ("planner:nodes=40", 40))
GREEDY_KERNELS: dict[str, tuple[Any, np.ndarray]] = {
    "crapo": (crapo_choice.choose_in_all, CRAPO_RANKS),
    "reis_nos_cantos": (reis_choice.choose_in_all, REIS_RANKS),
}


def play_turn(batch: Batch, spec: str) -> list[str]:
    """Let a policy play the only game of a batch to the end of its turn; return its moves."""
    policy = make_policy(spec, batch.game)
    seat = int(batch.current_player[0])
    moves: list[str] = []
    while batch.num_legal[0] and batch.current_player[0] == seat and len(moves) < 20:
        action = policy.act(batch.observations, batch.masks)
        moves.append(batch.game.action_to_string(batch.games, int(action[0])))
        batch.step(action)
    return moves


def play_games(setting: Setting, spec: str, n: int) -> np.ndarray:
    """Play `n` games of a policy against itself and return their records."""
    batch = setting.batch(n, auto_reset=False)
    batch.reset(5)
    policy = make_policy(spec, setting.game, seed=8)
    while (rows := np.flatnonzero(batch.num_legal > 0)).size:
        actions = np.full(n, NO_ACTION)
        actions[rows] = policy.act(batch.observations[rows], batch.masks[rows])
        batch.step(actions)
    return batch.games


@pytest.mark.parametrize("spec", SPECS)
def test_every_move_is_legal(setting: Setting, spec: str) -> None:
    batch = setting.batch(6)
    batch.reset(3)
    policies = [make_policy(name, setting.game, seed=1) for name in (spec, "random")]
    for step in range(40):
        actions = policies[step % 2].act(batch.observations, batch.masks)
        assert batch.masks[np.arange(6), actions].all()
        batch.step(actions)


def test_playouts_choose_what_the_greedy_bot_chooses(setting: Setting) -> None:
    kernel, ranks = GREEDY_KERNELS[setting.game.name]
    greedy, walker = (make_policy(name, setting.game) for name in ("greedy", "random"))
    batch = setting.batch(64)
    batch.reset(11)
    for step in range(120):
        expected = greedy.act(batch.observations, batch.masks)
        found = np.empty_like(expected)
        kernel(batch.games.copy(), batch.masks, ranks, found)
        assert found.tolist() == expected.tolist()
        batch.step(walker.act(batch.observations, batch.masks) if step % 4 == 3 else expected)


@pytest.mark.parametrize("spec", ["planner", "search:playouts=40", "ismcts:playouts=400"])
def test_a_win_by_moves_that_free_a_space_is_found_in_crapo(spec: str) -> None:
    """The 8h must go to the 9s before the 9c can go to the Td; the greedy bot passes."""
    written = "Jc Td | 9c 8h | Th 9s | Kh | Kd | Ks | Kc | Kh"
    batch = positions_crapo.position(written, reserve="8c | 5d", stock="- | 2h")
    assert play_turn(batch, "greedy") == ["PASS"]
    batch = positions_crapo.position(written, reserve="8c | 5d", stock="- | 2h")
    assert play_turn(batch, spec) == ["S2>3(1)", "S2>1(1)", "C>2"]
    assert batch.games["rewards"][0].tolist() == [1, -1]


@pytest.mark.parametrize("spec", ["heuristic", "planner", "search:playouts=40", "ismcts"])
def test_a_win_that_needs_a_pile_move_is_found_in_reis_nos_cantos(spec: str) -> None:
    piles = {"N": "Jh", "E": "Ts", "S": "6d", "W": "3d"}
    batch = positions_reis.position(piles, ["9d 4h", "2c 2s"], target=1)
    moves = play_turn(batch, spec)
    assert "E=>N" in moves and moves[-1] in ("4h->E", "9d->N")
    assert batch.games["rewards"][0, :2].tolist() == [1, -1]


def test_a_card_is_held_back_when_it_would_open_the_table_in_reis_nos_cantos() -> None:
    """Nobody else can play on the 4d, as both black threes are seen; on the 3s the 2d could go."""
    piles = {"N": "Ad", "E": "As", "S": "4h 3c 2h Ac", "W": "4d", "NE": "Kd"}
    hands = ["3s 5c 6d 8h", "2c 2s 9c 9s 8c 7c"]
    first_moves = []
    for spec in ("greedy", "heuristic", "planner"):
        batch = positions_reis.position(piles, hands, stock=4, target=1)
        first_moves.append(play_turn(batch, spec)[0])
    assert first_moves == ["3s->W", "END", "END"]


@pytest.mark.parametrize(("spec", "n"), DETERMINISTIC)
def test_deterministic_bots_end_their_games_against_themselves(
    seating: Setting, spec: str, n: int
) -> None:
    check_ends(seating, play_games(seating, spec, n))


def check_ends(setting: Setting, games: np.ndarray) -> None:
    """Check that all games ended by the rules and within their bound."""
    assert games["terminated"].all()
    options = setting.game.read_options(setting.options)
    assert games["num_steps"].max() <= setting.game.max_decisions(options)


def test_the_same_seed_gives_the_same_games_and_another_seed_others(game: Game) -> None:
    batch = Setting(game, {}).batch(24)
    batch.reset(2)
    walker = make_policy("greedy", game)
    for _ in range(25):
        batch.step(walker.act(batch.observations, batch.masks))
    first, again, other = (
        make_policy("search:playouts=24,trust=0", game, seed=seed) for seed in (1, 1, 2)
    )
    chosen = first.act(batch.observations, batch.masks)
    assert (again.act(batch.observations, batch.masks) == chosen).all()
    assert (other.act(batch.observations, batch.masks) != chosen).any()
    single = [first.act(o, m) for o, m in zip(batch.observations, batch.masks, strict=True)]
    assert single == chosen.tolist()


def test_a_search_by_time_chooses_a_legal_move(game: Game) -> None:
    batch = Setting(game, {}).batch(3)
    batch.reset(2)
    policy = make_policy("search:ms=20", game)
    assert not policy.deterministic
    assert batch.masks[np.arange(3), policy.act(batch.observations, batch.masks)].all()


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ("search:playout=4", "'playout=4' in .* is no setting of search: playouts=400"),
        ("search:playouts=", "'playouts=' in .* is no setting"),
        ("search:playouts=1,playouts=2", "is no setting"),
        ("search:playouts=-4", "is no setting"),
        ("planner:nodes=0", "nodes of planner is from 1 to"),
        ("planner:", "is no setting of planner: nodes="),
        ("greedy:nodes=5", "no policy 'greedy:nodes=5'"),
        ("checkpoint:a+search:ms=5", "there is no checkpoint a"),
    ],
)
def test_a_bad_setting_is_an_error_that_lists_what_exists(
    game: Game, spec: str, complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint):
        make_policy(spec, game)


def test_settings_are_listed(game: Game) -> None:
    assert "playouts=400 (playouts of a decision)" in list_policies(game)["search"]
    assert make_policy("planner:nodes=7", game).name == "planner:nodes=7"


def test_a_search_spends_its_playouts(game: Game) -> None:
    batch = Setting(game, {}).batch(16)
    batch.reset(6)
    walker = make_policy("greedy", game)
    for _ in range(20):
        batch.step(walker.act(batch.observations, batch.masks))
    policy: Any = make_policy("search:playouts=240", find_game(game.name))
    policy.act(batch.observations, batch.masks)
    spent = [int(visits.sum()) for visits in policy.visits if len(visits)]
    assert spent
    assert all(150 <= n <= 240 for n in spent)


def main() -> None:
    """Play the long run and print the longest game of each bot."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=1000, help="of every bot and setting")
    number = parser.parse_args().games
    for setting in SEATINGS:
        for spec in ("first_legal", "greedy", "heuristic", "planner"):
            games = play_games(setting, spec, number)
            check_ends(setting, games)
            longest = int(games["num_steps"].max())
            line = f"{setting}: {len(games)} games of {spec} ended, the longest after {longest}"
            print(f"{line} decisions", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
