"""Reis nos cantos, clauses R1 to R18, each in a written position or a written deal."""

import numpy as np
import pytest
from positions_reis import (
    FOUR_TOPS,
    RANK_ORDER,
    dealt,
    hand,
    legal,
    pile,
    play,
    position,
    random_batch,
    stock,
    value,
    written_deck,
)

from crapo_env.batch import Batch, sample_legal
from crapo_env.cards import CARD_NAMES
from crapo_env.reis_nos_cantos import GAME
from crapo_env.reis_nos_cantos.actions import ACTIONS, END
from crapo_env.reis_nos_cantos.state import PLACES
from crapo_env.runs import run_from_names, run_of


def red(name: str) -> bool:
    return name[1] in "hd"


@pytest.mark.parametrize("n", [2, 3, 4])
def test_r1_turns_go_round_by_seat(n):
    batch = dealt(written_deck([""] * n, ""), num_players=n, first_player=1)
    seats = []
    for _ in range(2 * n):
        seats.append(value(batch, "current_player"))
        play(batch, "END")
    assert seats == [(1 + k) % n for k in range(2 * n)]


def test_r1_two_players_by_default_and_no_more_than_four():
    assert GAME.read_options({})["num_players"] == 2
    for n in (1, 5):
        with pytest.raises(ValueError, match="num_players"):
            GAME.read_options({"num_players": n})


def test_r2_every_card_on_every_top_by_rank_and_colour():
    base = position({}, ["2c"])
    games = np.repeat(base.games, 52 * 52)
    games["piles"][:, :4] = run_from_names(["As"])  # a full table, which takes nothing
    games["piles"][:, 4:] = run_from_names(["Ac"])
    games["piles"][:, 2] = np.repeat([run_of(c) for c in range(52)], 52)
    games["hands"][:, 0] = np.tile(np.uint64(1) << np.arange(52, dtype=np.uint64), 52)
    batch = Batch(GAME, len(games), auto_reset=False)
    batch.games[:] = games
    batch.refresh()
    for i, top in enumerate(CARD_NAMES):
        for j, card in enumerate(CARD_NAMES):
            below = RANK_ORDER.index(card[0]) == RANK_ORDER.index(top[0]) + 1
            fits = below and red(card) != red(top)
            texts = {ACTIONS.names[a] for a in np.flatnonzero(batch.masks[i * 52 + j])}
            assert (f"{card}->S" in texts) == fits, (card, top)
            assert not any(text.startswith(f"{card}->") for text in texts - {f"{card}->S"})


@pytest.mark.parametrize("n", [2, 3, 4])
def test_r3_seven_cards_each_in_the_order_of_the_deck(n):
    deck = written_deck([""] * n, "2h 4h 6h 8h")
    batch = dealt(deck, num_players=n, draw_at="end")
    for p in range(n):
        assert hand(batch, p) == set(deck[7 * p : 7 * p + 7])
    assert stock(batch) == deck[7 * n + 4 :]
    assert len(stock(batch)) == {2: 34, 3: 27, 4: 20}[n]


def test_r4_four_crosses_and_empty_corners():
    batch = dealt(written_deck(["", ""], "5d 9c Jd 2s"))
    assert [pile(batch, place) for place in PLACES] == ["5d", "9c", "Jd", "2s", "", "", "", ""]


def test_r5_kings_of_the_layout_go_to_the_corners():
    batch = dealt(written_deck(["", ""], "4h Kc Qd Kh 7s 3c", "8d"))
    assert [pile(batch, place) for place in PLACES] == ["4h", "Qd", "7s", "3c", "Kc", "Kh", "", ""]
    assert "8d" in hand(batch, value(batch, "current_player"))


def test_r6_the_dealer_is_drawn_at_random_and_the_next_seat_starts():
    batch = Batch(GAME, 3000, {"num_players": 3})
    batch.reset(5)
    assert np.array_equal(batch.current_player, (batch.games["dealer"] + 1) % 3)
    assert np.all(np.abs(np.bincount(batch.games["dealer"]) - 1000) < 120)


def test_r6_the_deal_moves_on_after_a_won_and_after_a_blocked_round():
    won = position({"E": "4d"}, ["3s"], player=0, target=1000, num_players=3)
    assert value(play(won, "3s->E"), "dealer") == 0
    assert value(won, "current_player") == 1
    blocked = position(FOUR_TOPS, ["Ac", "4s", "8s"], stock=0, player=1, target=1000, num_players=3)
    play(blocked, "END END END END")
    assert value(blocked, "round_number") == 1
    assert value(blocked, "dealer") == 1
    assert value(blocked, "current_player") == 2


def test_r6_a_new_round_is_a_new_shuffle_of_the_whole_pack():
    first = play(position({"E": "4d"}, ["3s"], target=1000), "3s->E")
    GAME.check_state(first.games)
    assert value(first, "stock_end") - value(first, "stock_next") >= 52 - 14 - 8 - 1
    again = play(position({"E": "4d"}, ["3s"], target=1000), "3s->E")
    assert first.games.tobytes() == again.games.tobytes()
    other = position({"E": "4d"}, ["3s"], target=1000)
    other.games["rng"] += 1
    assert hand(play(other, "3s->E"), 0) != hand(first, 0)


def test_r7_the_first_card_of_the_stock_is_drawn_as_a_turn_begins():
    batch = dealt(written_deck(["", ""], "2h 4h 6h 8h", "9c Td"), first_player=0)
    assert len(hand(batch, 0)) == 8
    assert "9c" in hand(batch, 0)
    assert len(hand(batch, 1)) == 7
    play(batch, "END")
    assert len(hand(batch, 0)) == 8
    assert "Td" in hand(batch, 1)


def test_r7_nothing_is_drawn_from_an_empty_stock():
    batch = position(FOUR_TOPS, ["Ac", "4s", "8s"], stock="Qh", num_players=3)
    play(batch, "END")
    assert hand(batch, 1) == {"4s", "Qh"}
    play(batch, "END")
    assert hand(batch, 2) == {"8s"}


def test_r8_cards_go_on_crosses_and_corners_in_any_number():
    batch = position({**FOUR_TOPS, "E": "Ts", "NE": "Kd"}, ["9h 9c 8h 8s Qs As"])
    moves = {"9h->E", "8s->N", "Qs->NE", "N=>E", "END"}
    assert legal(batch) == moves
    assert legal(play(batch, "9h->E")) == {"8s->E", "8s->N", "Qs->NE", "END"}
    assert pile(play(batch, "8s->E Qs->NE"), "E") == "Ts 9h 8s"
    assert pile(batch, "NE") == "Kd Qs"
    assert hand(batch, 0) == {"9c", "8h", "As"}
    assert value(batch, "current_player") == 0


def test_r9_an_empty_cross_takes_any_card():
    batch = position({"E": "7h", "W": "5h"}, ["2c Kd"])
    assert legal(batch) == {"2c->N", "Kd->N", "Kd->NE", "END"}
    play(batch, "Kd->N")
    assert pile(batch, "N") == "Kd"
    assert legal(batch) == {"2c->S", "END"}


def test_r10_an_empty_corner_takes_a_king_from_the_hand_and_nothing_else():
    batch = position({**FOUR_TOPS, "NE": "Ks", "SE": "Kh"}, ["Qc Kc Kd"])
    assert legal(batch) == {"Qc->SE", "Kc->SW", "Kd->SW", "END"}
    assert legal(play(batch, "Kd->SW")) == {"Qc->SE", "Qc->SW", "Kc->NW", "END"}
    assert pile(batch, "SW") == "Kd"


def test_r11_whole_piles_move_onto_piles_and_nowhere_else():
    batch = position(
        {"N": "Kd Qs", "E": "8d 7c", "S": "9s", "NE": "Kc Qh Js", "NW": "Ks Qd"}, ["2h"]
    )
    assert legal(batch) == {"2h->W", "E=>S", "END"}
    play(batch, "E=>S")
    assert pile(batch, "S") == "9s 8d 7c"
    assert pile(batch, "E") == ""
    assert legal(batch) == {"2h->E", "END"}
    batch = position({"N": "Tc", "E": "Jd", "NE": "Kh Qc"}, ["2h"])
    assert legal(batch) == {"2h->S", "N=>E", "E=>NE", "END"}
    play(batch, "E=>NE N=>NE")
    assert pile(batch, "NE") == "Kh Qc Jd Tc"


def test_r12_a_turn_may_always_end():
    batch = position({"N": "Td", "E": "2h"}, ["9c", "5c"], stock="6d")
    assert legal(batch) == {"9c->N", "9c->S", "END"}
    assert hand(play(batch, "END"), 0) == {"9c"}
    for n in (2, 3, 4):
        assert np.all(random_batch(200, n, 150, num_players=n).masks[:, END] == 1)


def test_r13_turns_go_on_without_a_stock():
    batch = position({**FOUR_TOPS, "N": "Jc"}, ["Ac 2h", "Td 2s", "9h"], stock=0, num_players=3)
    assert legal(batch) == {"END"}
    play(batch, "END")
    assert hand(batch, 1) == {"Td", "2s"}
    assert legal(batch) == {"Td->N", "2s->W", "END"}
    play(batch, "Td->N END")
    assert hand(batch, 2) == {"9h"}


def test_r14_an_empty_hand_wins_at_once():
    batch = position({"N": "4d", "E": "9c", "S": "Td"}, ["3s", "Kd 7c 2h"], target=1)
    play(batch, "3s->N")
    assert value(batch, "terminated") == 1
    assert value(batch, "totals") == [0, 12]
    assert value(batch, "current_player") == 0
    assert legal(batch) == set()


def test_r15a_no_play_and_no_move_of_anybody_ends_the_round():
    batch = position(
        FOUR_TOPS, ["Ac", "3s"], stock=0, target=1
    )  # cards are missing: see the next test
    play(batch, "END")
    assert value(batch, "terminated") == 1
    assert value(batch, "totals") == [1, 1]
    others = [
        position(FOUR_TOPS, ["Ac", "4s"], stock=0, target=1),
        position({**FOUR_TOPS, "N": ""}, ["Ac", "3s"], stock=0, target=1),
        position({**FOUR_TOPS, "N": "4s"}, ["Ac", "3s"], stock=0, target=1),
        position(FOUR_TOPS, ["Ac", "Ks"], stock=0, target=1),
        position(FOUR_TOPS, ["Ac", "3s"], stock=2, target=1),
        position(
            {**FOUR_TOPS, "E": "Kc"}, ["Ac", "3s"], stock=0, target=1, king_pile_to_corner=True
        ),
    ]
    for batch in others:
        assert value(play(batch, "END"), "terminated") == 0


@pytest.mark.parametrize("draw_at", ["start", "end"])
@pytest.mark.parametrize("n", [2, 3, 4])
def test_r15a_never_happens_with_a_whole_pack(n, draw_at):
    batch = random_batch(300, 11 * n, 0, num_players=n, draw_at=draw_at, target=1)
    states = np.arange(300, dtype=np.uint64)
    actions = np.zeros(300, np.int64)
    blocked = 0
    for k in range(600):
        sample_legal(batch.legal, batch.num_legal, states, actions)
        if k % 2:
            actions[:] = END
        last = batch.games["turn_is_dry"] + batch.games["dry_turns"] == n
        dry = batch.games["turn_is_dry"] == 1
        batch.step(actions)
        by_end = (batch.ended == 1) & (actions == END)
        assert not np.any(by_end & ~(last & dry))
        blocked += by_end.sum()
    assert blocked > 0


def test_r15b_as_many_dry_turns_as_players_end_the_round():
    batch = position(
        {**FOUR_TOPS, "N": "6s"}, ["2c", "5h", "8c"], stock=0, player=1, num_players=3, target=1
    )
    batch.games["turn_is_dry"] = 1
    play(batch, "END END")
    assert value(batch, "terminated") == 0
    assert value(batch, "dry_turns") == 2
    play(batch, "END")
    assert value(batch, "terminated") == 1
    assert value(batch, "totals") == [1, 1, 1]


@pytest.mark.parametrize("move", ["S=>N", "8c->W"])
def test_r15b_a_move_or_a_play_starts_the_count_again(move):
    piles = {"N": "6s", "E": "7d", "S": "5d", "W": "9h"}
    batch = position(piles, ["2c", "5h", "8c Ac"], stock=0, player=1, num_players=3, target=1)
    batch.games["turn_is_dry"] = 1
    play(batch, f"END {move} END")
    assert value(batch, "dry_turns") == 0
    play(batch, "END END")
    assert value(batch, "terminated") == 0
    assert value(play(batch, "END"), "terminated") == 1


def test_r15b_the_count_starts_at_zero_in_every_round():
    batch = position(FOUR_TOPS, ["8s", "4s"], stock=0, target=1000)
    play(batch, "END END END")
    assert value(batch, "round_number") == 1
    assert value(batch, "dry_turns") == 0


def test_r16_a_king_costs_ten_and_any_other_card_one():
    batch = position({"E": "4d"}, ["3s", "Kh Qd Js 4c", "Kd Ks Kc"], target=1, num_players=3)
    assert value(play(batch, "3s->E"), "totals") == [0, 13, 30]
    piles = {"N": "9d", "E": "7d", "S": "5d", "W": "2h"}
    blocked = position(piles, ["Ks Kd", "5h", "8c 9h"], stock=0, target=1, num_players=3)
    assert value(play(blocked, "END END END END"), "totals") == [20, 1, 2]


@pytest.mark.parametrize(
    ("totals", "over", "rewards"),
    [
        ([20, 14, 24], True, [1, -0.5, -0.5]),  # ends at 20, 25, 26
        ([25, 14, 9], True, [-0.5, -0.5, 1]),  # 25, 25, 11
        ([11, 0, 23], True, [0.5, 0.5, -1]),  # 11, 11, 25
        ([24, 13, 22], False, [0, 0, 0]),  # 24, 24, 24
        ([27, 16, 25], True, [0, 0, 0]),  # 27, 27, 27
        ([31, 16, 25], True, [-1, 0.5, 0.5]),  # 31, 27, 27
    ],
)
def test_r17_the_lowest_total_wins_once_somebody_has_the_target(totals, over, rewards):
    batch = position({"E": "4d"}, ["3s", "Kd 2c", "5c 6c"], num_players=3, totals=totals)
    play(batch, "3s->E")
    assert value(batch, "totals") == [totals[0], totals[1] + 11, totals[2] + 2]
    assert value(batch, "terminated") == over
    assert value(batch, "rewards") == rewards
    assert batch.rewards[0].tolist() == rewards
    assert value(batch, "round_number") == (not over)


def test_r18_draw_at_the_end_of_the_turn():
    batch = position({"W": "Td"}, ["9c 2d", "5h"], stock="Qs Jh", draw_at="end")
    play(batch, "9c->W END")
    assert hand(batch, 0) == {"2d", "Qs"}
    assert hand(batch, 1) == {"5h"}
    assert hand(play(batch, "END"), 1) == {"5h", "Jh"}
    winner = position({"W": "Td"}, ["9c", "5h"], stock="Qs Jh", draw_at="end", target=1)
    play(winner, "9c->W")
    assert stock(winner) == ["Qs", "Jh"]
    assert value(winner, "terminated") == 1


def test_r18_the_draw_belongs_to_the_turn_that_ends():
    batch = position(FOUR_TOPS, ["Ac", "3s"], stock="8s", draw_at="end", target=1, turn_is_dry=1)
    play(batch, "END")  # 8s fits 9d, so that the round is not blocked
    assert value(batch, "terminated") == 0
    assert value(batch, "dry_turns") == 0
    assert value(play(batch, "END"), "dry_turns") == 1
    assert value(play(batch, "END"), "terminated") == 1
