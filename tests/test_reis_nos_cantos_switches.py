"""Every option of Reis nos cantos, at each of its values."""

import numpy as np
import pytest
from positions_reis import (
    FOUR_TOPS,
    dealt,
    hand,
    legal,
    pile,
    play,
    position,
    value,
    written_deck,
)

from crapo_env.batch import Batch
from crapo_env.reis_nos_cantos import GAME


def test_switch_draw_at_changes_who_has_eight_cards():
    deck = written_deck(["", ""], "2h 4h 6h 8h", "9c")
    assert len(hand(dealt(deck, first_player=0, draw_at="start"), 0)) == 8
    late = dealt(deck, first_player=0, draw_at="end")
    assert len(hand(late, 0)) == 7
    assert "9c" in hand(play(late, "END"), 0)


@pytest.mark.parametrize(("target", "over"), [(1, True), (11, True), (12, False), (1000, False)])
def test_switch_target(target, over):
    batch = position({"E": "4d"}, ["3s", "Kd 2c"], target=target)
    assert value(play(batch, "3s->E"), "terminated") == over


@pytest.mark.parametrize("n", [2, 3, 4])
def test_switch_first_player(n):
    for seat in range(n):
        batch = Batch(GAME, 20, {"num_players": n, "first_player": seat})
        batch.reset(3)
        assert np.all(batch.current_player == seat)
        assert np.all(batch.games["dealer"] == (seat - 1) % n)
    for seat in range(n, 4):
        with pytest.raises(ValueError, match=f"first_player.*0 to {n - 1}.*not {seat}"):
            GAME.read_options({"num_players": n, "first_player": seat})


def test_switch_king_pile_to_corner():
    piles = {"N": "Kd Qs", "E": "Jh", "S": "4s", "NE": "Kc", "W": "9c"}
    batch = position(piles, ["2h"], king_pile_to_corner=True)
    assert legal(batch) == {"E=>N", "N=>SE", "END"}
    play(batch, "N=>SE")
    assert pile(batch, "SE") == "Kd Qs"
    assert legal(batch) == {"2h->N", "E=>SE", "END"}
    assert legal(position(piles, ["2h"])) == {"E=>N", "END"}
    full = {
        "N": "Kd Qs",
        "E": "4s",
        "S": "4c",
        "W": "9c",
        "NE": "Kc",
        "SE": "Kh",
        "SW": "Ks",
        "NW": "Qd",
    }
    assert legal(position(full, ["2h"], king_pile_to_corner=True)) == {"END"}


def test_switch_king_pile_to_corner_counts_as_a_move():
    batch = position(
        {**FOUR_TOPS, "N": "Kd"}, ["2c", "4s"], stock=0, king_pile_to_corner=True, turn_is_dry=1
    )
    play(batch, "N=>NE END")
    assert value(batch, "dry_turns") == 0


def test_switch_reward_points_pays_after_every_round():
    batch = position(
        {"E": "4d"}, ["3s", "2c 5c 6c 7c", "Kd"], num_players=3, reward="points", target=1000
    )
    play(batch, "3s->E")
    assert value(batch, "terminated") == 0
    assert batch.rewards[0].tolist() == pytest.approx([7 / 25, 1 / 25, -8 / 25])
    play(batch, "END")
    assert batch.rewards[0].tolist() == [0, 0, 0]
    last = position({"E": "4d"}, ["3s", "2c 5c"], reward="points", target=2)
    assert play(last, "3s->E").rewards[0].tolist() == pytest.approx([2 / 25, -2 / 25])
    assert value(last, "terminated") == 1


def test_switch_reward_win_pays_only_at_the_end():
    batch = position({"E": "4d"}, ["3s", "Kd 2c"], target=12)
    assert play(batch, "3s->E").rewards[0].tolist() == [0, 0]
    assert play(position({"E": "4d"}, ["3s", "Kd 2c"], target=11), "3s->E").rewards[0].tolist() == [
        1,
        -1,
    ]


def test_switch_max_steps_truncates_without_rewards():
    batch = dealt(written_deck(["", ""], ""), max_steps=3)
    play(batch, "END END")
    assert value(batch, "truncated") == 0
    play(batch, "END")
    assert batch.ended.tolist() == [2]
    assert batch.rewards[0].tolist() == [0, 0]
    assert legal(batch) == set()
