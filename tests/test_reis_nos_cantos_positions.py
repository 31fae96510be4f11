"""Published test positions of Reis nos cantos with all their legal moves (TR1 to TR12).

Of the empty crosses and of the empty corners only the first is offered.
"""

import pytest
from positions_reis import (
    FOUR_TOPS,
    dealt,
    hand,
    legal,
    pile,
    play,
    position,
    stock,
    value,
    written_deck,
)

from crapo_env.reis_nos_cantos.state import PLACES


def test_tr1_the_example_of_the_sheet():
    batch = position({"N": "Ts", "E": "4d", "S": "6c", "W": "Jh"}, ["9h 3s Kc"])
    assert legal(batch) == {"9h->N", "3s->E", "Kc->NE", "N=>W", "END"}


def test_tr2_empty_cross():
    batch = position({"E": "7c", "S": "5d", "W": "Qs", "NE": "Kh"}, ["Kd 6d 2c"])
    moves = {"Kd->N", "Kd->SE", "6d->N", "6d->E", "2c->N", "W=>NE", "END"}
    assert legal(batch) == moves


def test_tr3_king_on_a_cross():
    piles = {"N": "Kd Qs", "E": "Jh", "S": "4s", "W": "9c"}
    moves = {"Tc->E", "3h->S", "E=>N", "END"}
    assert legal(position(piles, ["Tc 3h 8c"])) == moves
    assert legal(position(piles, ["Tc 3h 8c"], king_pile_to_corner=True)) == moves | {"N=>NE"}


def test_tr4_ace_on_top():
    batch = position({"N": "2h As", "E": "3c", "S": "Ad", "W": "8d"}, ["Kh 7c"])
    assert legal(batch) == {"Kh->NE", "7c->W", "N=>E", "END"}


def test_tr5_whole_piles_only():
    batch = position({"N": "Tc 9h 8s", "E": "Jd", "S": "9d", "W": "5s"}, ["8c 7d"])
    assert legal(batch) == {"8c->S", "7d->N", "N=>E", "END"}


def test_tr6_no_hand_play_but_pile_moves():
    piles = {"N": "4c", "E": "8h 7s", "S": "Th 9c", "W": "6h 5c", "NE": "Kd Qs Jd", "SE": "Kh"}
    batch = position(piles, ["2h 2d Qd"], stock=0)
    assert legal(batch) == {"E=>S", "W=>E", "END"}
    assert legal(play(batch, "W=>E")) == {"2h->W", "2d->W", "Qd->W", "E=>S", "END"}


def test_tr7_no_pile_into_an_empty_cross():
    batch = position({"N": "6c", "E": "3d", "NE": "Kc Qh Js", "SW": "Kh Qs"}, ["5d 2c"])
    assert legal(batch) == {"5d->N", "5d->S", "2c->E", "2c->S", "END"}


def test_tr8_only_end():
    batch = position(FOUR_TOPS, ["Ac", "4s"], stock=0)
    assert legal(batch) == {"END"}
    assert legal(play(batch, "END")) == {"4s->S", "END"}


def test_tr9_one_corner_left():
    piles = {"N": "Ah", "E": "7d", "S": "5d", "W": "3d", "NE": "Ks", "SE": "Kh", "SW": "Kc"}
    batch = position(piles, ["Kd"], target=1)
    assert legal(batch) == {"Kd->NW", "END"}
    assert value(play(batch, "Kd->NW"), "rewards") == [1, -1]


def test_tr10_draw_at_end_and_going_out():
    piles = {"N": "9d", "E": "4d", "S": "Jd", "W": "7d"}
    batch = position(piles, ["3s"], stock=10, draw_at="end", target=1)
    assert legal(batch) == {"3s->E", "END"}
    play(batch, "3s->E")
    assert value(batch, "rewards") == [1, -1]
    assert len(stock(batch)) == 10
    batch = play(position(piles, ["3s"], stock=10, draw_at="end"), "END")
    assert len(hand(batch, 0)) == 2
    assert len(stock(batch)) == 9


def test_tr11_passing_round():
    piles = {**FOUR_TOPS, "N": "6s", "E": "Qh"}
    hands = ["2c", "5h", "8c"]
    batch = position(piles, hands, stock=0, player=1, num_players=3, target=1, turn_is_dry=1)
    assert legal(batch) == {"5h->N", "S=>N", "END"}
    play(batch, "END END END")
    assert value(batch, "totals") == [1, 1, 1]
    drew = position(piles, hands, stock="Th", player=0, num_players=3, target=1)
    play(drew, "END")  # player 1 draws the last card
    play(drew, "END END END")
    assert value(drew, "terminated") == 0
    assert value(drew, "current_player") == 1
    play(drew, "END")
    assert value(drew, "totals") == [1, 2, 1]


@pytest.mark.parametrize(
    ("turned", "piles"),
    [
        ("Ks Kh 5d 9c Jd 2s", ["5d", "9c", "Jd", "2s", "Ks", "Kh", "", ""]),
        ("3c Kd Kc Kh Ks 8s 6h 2d", ["3c", "8s", "6h", "2d", "Kd", "Kc", "Kh", "Ks"]),
    ],
)
def test_tr12_layout(turned, piles):
    batch = dealt(written_deck(["", "", ""], turned), num_players=3)
    assert [pile(batch, place) for place in PLACES] == piles
    assert len(stock(batch)) == 52 - 21 - len(turned.split()) - 1


def test_tr12_match():
    hands = ["3s", "Kd 2c", "5c 6c"]
    batch = position({"E": "4d"}, hands, num_players=3, totals=[20, 14, 24])
    play(batch, "3s->E")
    assert value(batch, "totals") == [20, 25, 26]
    assert value(batch, "rewards") == [1, -0.5, -0.5]
