"""Crapô, clauses C25 to C33: phases of a turn, drawing, discarding, empty stock, passing."""

import pytest
from positions_crapo import (
    NO_ROOM,
    check,
    counter,
    foundations,
    hand,
    moves,
    play,
    position,
    reserve,
    stock,
    tableau,
    waste,
)

from crapo_env.crapo.observation import FIELDS

ONE_ROOM = "- | Kd | Ks | Kc | Kh | Kd | Ks | Kc"  # F=1, and only queens fit on a card
EVERY_KIND = "Th | 9s 8d | 9c | Kd Qs | Kh | 2h | 5c | -"
EVERY_FOUNDATION = {"c": (6, 0), "h": (1, 0)}
TIDY = "Kd Qs | Kh | 9s 8d | 9c | 2h | 5d | 5d | 5d"


# C25. Main phase and holding phase.


def test_c25_every_kind_of_move_in_the_main_phase():
    batch = position(EVERY_KIND, "2c 7c | 8c", "- | 6c", foundations=EVERY_FOUNDATION)
    spaces = "S6>F S7>OW S3>OC S4>5(1) S4>8(1) S3>1(1) S2>3(1) S2>1(2) S2>8(1)"
    check(batch, "C>2 C>8 C>F C>OW C>OC " + spaces)


def test_c25_a_turn_opens_in_the_main_phase():
    batch = position(NO_ROOM, "4h | 2s", hand="9d")
    play(batch, "DISCARD")
    assert (counter(batch, "current_player"), hand(batch)) == (1, None)
    check(batch, "DRAW")


def test_c25_the_spaces_may_be_tidied_before_the_draw():
    batch = position(TIDY, "4h | 2s")
    check(batch, "S1>2(1) S3>4(1) DRAW")
    play(batch, "S3>4(1) S1>2(1) DRAW")
    assert tableau(batch)[:4] == [["Kd"], ["Kh", "Qs"], ["9s"], ["9c", "8d"]]


# C26. The reserve before the stock.


def test_c26_the_reserve_could_go_to_the_free_space():
    check(position(ONE_ROOM, "7h | 2s"), "C>1")


def test_c26_the_reserve_fits_a_foundation():
    check(position(NO_ROOM, "7h | 2s", foundations={"h": (6, 1)}), "C>F")


def test_c26_the_reserve_is_stuck():
    check(position(NO_ROOM, "7h | 2s", foundations={"h": (5, 1)}), "DRAW")


@pytest.mark.parametrize("num_free", [0, 1, 5])
def test_c26_the_reserve_is_empty(num_free):
    spaces = " | ".join(["Kd"] * (8 - num_free) + ["-"] * num_free)
    check(position(spaces, "- | 2s"), "DRAW")


def test_c26_filling_the_last_free_space_opens_the_draw():
    """The free space is filled from another pile, or with the reserve top itself."""
    batch = position("Js Td | Kd | Ks | Kc | Kd | Kd | Ks | -", "3c 7h | 2s")
    check(batch, "C>8 S1>8(1)")
    play(batch, "S1>8(1)")
    assert "DRAW" in moves(batch)
    batch = position(ONE_ROOM, "3c 7h | 2s")
    play(batch, "C>1")
    check(batch, "DRAW")


def test_c26_a_load_or_a_fitting_space_is_no_option():
    batch = position(NO_ROOM.replace("Kd", "8s", 1), "7h | 6h", "- | 8h")
    check(batch, "DRAW")


def test_c26_options_after_rearranging_do_not_count():
    """`S1>2(1)` would free a space for the reserve top."""
    check(position("Qs | Kd | Ks | Kc | Ks | Kc | Ks | Kc", "7h | 2s"), "S1>2(1) DRAW")


# C27. The duty to draw.


def test_c27_there_is_no_other_way_to_end_a_turn():
    batch = position(
        NO_ROOM, "7h | 2s", stock=["5d 9h 2c 3c 4c 6d 8s 9s Td Jc 2d 3d".split(), ["2c"]]
    )
    assert len(stock(batch, 0)) == 12
    check(batch, "DRAW")
    play(batch, "DRAW")
    assert (hand(batch), len(stock(batch, 0)), counter(batch, "current_player")) == ("5d", 11, 0)
    check(batch, "DISCARD")


def test_c27_no_second_draw_while_holding():
    batch = position(ONE_ROOM, "- | 2s", hand="5d")
    check(batch, "H>1")


def test_c27_both_players_see_the_drawn_card():
    batch = position(NO_ROOM, "7h | 2s", stock="5d | 2c")
    play(batch, "DRAW")
    seen = [FIELDS.split(batch.observe(p)[0])["hand"] for p in range(2)]
    assert [row.nonzero()[0].tolist() for row in seen] == [[2 * 13 + 4], [2 * 13 + 4]]
    assert [batch.game.render(batch.games, p).count("drawn card: 5d") for p in range(2)] == [1, 1]


# C28. While holding.


def test_c28_example():
    batch = position("9d | Kd | Ks | Kc | Kh | Kd | Ks | Kc", "2d | 2s", "- | 9c", hand="8c")
    check(batch, "H>1 H>OW")
    batch = position(NO_ROOM, "2d | 2s", "- | 9c", hand="8c")
    check(batch, "H>OW DISCARD")


def test_c28_every_kind_of_move_while_holding():
    """All moves of the main phase remain, those of the reserve included."""
    batch = position(EVERY_KIND, "2c 7c | 8c", "- | 6c", hand="4d", foundations=EVERY_FOUNDATION)
    spaces = "S6>F S7>OW S3>OC S4>5(1) S4>8(1) S3>1(1) S2>3(1) S2>1(2) S2>8(1)"
    check(batch, "C>2 C>8 C>F C>OW C>OC H>7 H>8 " + spaces)


def test_c28_every_move_of_the_drawn_card():
    batch = position(EVERY_KIND, "- | 8c", "- | 6c", hand="7c", foundations={"c": (6, 0)})
    assert {"H>2", "H>8", "H>F", "H>OW", "H>OC"} == {m for m in moves(batch) if m[0] == "H"}


@pytest.mark.parametrize("num_free", [1, 2, 8])
def test_c28_a_free_space_bars_the_discard(num_free):
    spaces = " | ".join(["Kd"] * (8 - num_free) + ["-"] * num_free)
    check(position(spaces, "- | 2s", hand="8c"), f"H>{9 - num_free}")


def test_c28_a_foundation_bars_the_discard():
    check(position(NO_ROOM, "4h | 2s", hand="8c", foundations={"c": (7, 0)}), "H>F")


def test_c28_a_space_bars_the_discard():
    check(position(NO_ROOM, "4h | 2s", hand="Qh"), "H>3 H>4 H>7 H>8")


def test_c28_options_of_the_reserve_do_not_bar_the_discard():
    batch = position(NO_ROOM, "2c 4h | 2s", hand="8c", foundations={"h": (3, 0)})
    check(batch, "C>F DISCARD")
    play(batch, "C>F")
    assert (hand(batch), counter(batch, "current_player")) == ("8c", 0)
    check(batch, "DISCARD")


def test_c28_a_space_freed_for_the_drawn_card_bars_the_discard():
    batch = position("Qs | Kd | Ks | Kc | Ks | Kc | Ks | Kc", "4h | 2s", hand="8c")
    check(batch, "S1>2(1) DISCARD")
    play(batch, "S1>2(1)")
    check(batch, "C>1 H>1")


def test_c28_filling_the_last_free_space_brings_the_discard_back():
    batch = position("Ks Qd | - | Kh | Kd | Kh | Kd | Kh | Kd", "4h | 2s", hand="8c")
    check(batch, "C>2 H>2 S1>2(1)")
    play(batch, "S1>2(1)")
    check(batch, "DISCARD")


# C29. The discard.


def test_c29_discard_ends_the_turn():
    batch = position(NO_ROOM, "9s | 2s", "5d | 4d", hand="Th", foundations={"h": (3, 0)})
    check(batch, "DISCARD")
    play(batch, "DISCARD")
    assert (waste(batch, 0), hand(batch), counter(batch, "current_player")) == (
        ["5d", "Th"],
        None,
        1,
    )
    assert counter(batch, "num_turns") == 1


def test_c29_players_discard_on_their_own_waste():
    batch = position(NO_ROOM, "9s | 2s", "5d | 4d", hand="Th", current_player=1)
    play(batch, "DISCARD")
    assert (waste(batch, 0), waste(batch, 1)) == (["5d"], ["4d", "Th"])
    assert counter(batch, "current_player") == 0


# C30. After placing the drawn card.


def test_c30_reserve_before_the_next_draw():
    batch = position(NO_ROOM, "9s 5d | 2s", hand="4d", foundations={"d": (3, 0)})
    play(batch, "H>F")
    assert counter(batch, "current_player") == 0
    check(batch, "C>F")
    play(batch, "C>F")
    check(batch, "DRAW")


@pytest.mark.parametrize("move", ["H>1", "H>F", "H>OW", "H>OC"])
def test_c30_the_main_phase_goes_on_wherever_it_went(move):
    """Nothing but the next draw follows, by the same player."""
    batch = position(
        "6h | Kd | Ks | Kc | Kh | Kd | Ks | -",
        "- | 6c",
        "- | 6c",
        hand="5c",
        foundations={"c": (4, 0)},
    )
    check(batch, "H>1 H>8 H>F H>OW H>OC")
    play(batch, move)
    assert (hand(batch), counter(batch, "current_player"), counter(batch, "num_turns")) == (
        None,
        0,
        0,
    )
    assert "DRAW" in moves(batch)


# C31. Turning the waste over.


def test_c31_the_first_discard_is_drawn_first():
    batch = position(NO_ROOM, "6s | Tc", "4h 9c Jd | 5s", "- | 2h")
    play(batch, "DRAW")
    assert (hand(batch), stock(batch, 0), waste(batch, 0)) == ("4h", ["9c", "Jd"], [])
    assert counter(batch, "stock_known") == [1, 0]
    play(batch, "DISCARD")
    assert (stock(batch, 0), waste(batch, 0)) == (["9c", "Jd"], ["4h"])


def test_c31_only_when_a_card_has_to_be_drawn():
    """The last stock card is drawn and discarded; the waste stays and may still be loaded."""
    spaces = NO_ROOM.replace("Kh", "5s", 1)
    batch = position(spaces, "6d | Tc", "9c 4s | 8d", "Jd | 2h Th")
    play(batch, "DRAW")
    assert (stock(batch, 0), waste(batch, 0)) == ([], ["9c", "4s"])
    play(batch, "DISCARD")
    assert (stock(batch, 0), waste(batch, 0)) == ([], ["9c", "4s", "Jd"])
    play(batch, "DRAW DISCARD")
    assert (stock(batch, 0), waste(batch, 0)) == ([], ["9c", "4s", "Jd"])
    play(batch, "DRAW")
    assert (hand(batch), stock(batch, 0)) == ("9c", ["4s", "Jd"])


def test_c31_a_load_comes_last():
    batch = position(NO_ROOM, "6d | 7c", "9c 4s | 8d", "- | 5s 3d", current_player=1)
    play(batch, "DRAW H>OW")
    assert waste(batch, 0) == ["9c", "4s", "5s"]
    play(batch, "DRAW DISCARD DRAW")
    assert (hand(batch), stock(batch, 0), waste(batch, 0)) == ("9c", ["4s", "5s"], [])


def test_c31_a_waste_is_turned_over_again_and_again():
    batch = position(NO_ROOM, "6s | Tc", "4h | 5s", "- | -")
    for _ in range(3):
        play(batch, "DRAW")
        assert (hand(batch), stock(batch, 0), waste(batch, 0)) == ("4h", [], [])
        play(batch, "DISCARD DRAW DISCARD")
        assert [waste(batch, p) for p in range(2)] == [["4h"], ["5s"]]


# C32. Nothing left to draw.


def test_c32_pass_takes_the_place_of_the_draw():
    spaces = "Kd Qs | Kh | 9s 8d | 9c | 2h | 5c | 5c | 5c"
    batch = position(spaces, "6h | 4c", "- | -", "- | 2h", foundations={"h": (1, 0)})
    check(batch, "S1>2(1) S3>4(1) S5>F S6>OC S7>OC S8>OC PASS")
    play(batch, "PASS")
    assert (counter(batch, "current_player"), counter(batch, "num_turns")) == (1, 1)


def test_c32_no_pass_while_the_reserve_has_an_option():
    check(position(ONE_ROOM, "6h | Tc", "- | -", "- | 2h"), "C>1")
    batch = position(NO_ROOM, "6h | Tc", "- | -", "- | 2h", foundations={"h": (5, 0)})
    check(batch, "C>F")


def test_c32_no_pass_with_a_card_in_stock_or_waste():
    for own_waste, own_stock in (("3h", "-"), ("-", "3h"), ("3h", "3h")):
        batch = position(NO_ROOM, "6h | Tc", f"{own_waste} | -", f"{own_stock} | 2h")
        check(batch, "DRAW")


def test_c32_the_opponents_cards_do_not_matter():
    check(position(NO_ROOM, "6h | Tc", "- | 2d", "- | 2h"), "PASS")
    check(position(NO_ROOM, "6h | Tc", "4s | -", "5s | -"), "DRAW")


def test_c32_pass_after_the_last_card_was_played():
    batch = position("9d | Kd | Ks | Kc | Kh | Kd | Ks | Kc", "6h | Tc", hand="8c", stock="- | 2h")
    play(batch, "H>1")
    check(batch, "PASS")


# C33. Cards out of reach.


def test_c33_wastes_are_out_of_reach():
    """Nothing goes on the own waste, and no waste or reserve of the opponent is played."""
    spaces = "5h | 8s | Ks | Kc | Ks | Kc | Ks | Kc"
    batch = position(spaces, "2c | 7h", "4h | 7d")
    check(batch, "DRAW")
    batch = position(spaces, "7h | 2c", "7d | 4h", current_player=1)
    check(batch, "DRAW")


def test_c33_only_the_owner_plays_from_a_reserve():
    batch = position(NO_ROOM, "9s | 4d", foundations={"d": (3, 0)})
    check(batch, "DRAW")
    batch = position(NO_ROOM, "9s | 4d", foundations={"d": (3, 0)}, current_player=1)
    check(batch, "C>F")
    play(batch, "C>F")
    assert (reserve(batch, 0), reserve(batch, 1), foundations(batch)["d"]) == (["9s"], [], [4, 0])
