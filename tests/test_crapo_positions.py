"""Crapô positions TC1 to TC13 with their complete lists of legal moves.

Of several free spaces the engine offers the one with the lowest number.
"""

import pytest
from positions_crapo import check, counter, deal, deck, hand, play, position, stock, tableau, waste

TC1 = "Th | 5c | Kd | 7s | Qs | 2d | 8h | Jc"
TC2 = "Th | 5c | Kd | 7s | Qs | 2d | 8h | -"
TC4 = "3s | 7h | 2d Ac | 9c | Jd | 5s | Kc | -"
TC5 = "9d | Kh | Ks | Qc | 5h | 2s | Jd | 3c"
TC6 = "9s | Kh | Ks | Qc | 5h | 2s | Jd | 3c"
TC7 = "9s | Kh | Ks | Qc | 5h | 2s | - | -"
TC8 = "Ks Qh Js Td 9c | Qd | 5c | 3h | 7d | 2s | 8s | -"
TC9 = "Kh | Kd | Ks | Kc | Qh | Th | Td | 8s"
TC11 = "Qd Js Th | Qh Jc | Kh | Kd | 6s | 8c | 4c | 2d"


def test_tc1_locked_reserve():
    batch = position(TC1, reserve="9s | 6d", waste="- | 8s")
    check(batch, "S1>8(1) S4>7(1) S4>OW S5>3(1) DRAW")


def test_tc1_with_fit():
    batch = position(TC1, reserve="9s | 6d", waste="- | 8s", crapo_gate="fit")
    check(batch, "C>1 C>OW S1>8(1) S4>7(1) S4>OW S5>3(1)")


def test_tc2_one_free_space():
    batch = position(TC2, reserve="9s | 6d", waste="- | 8s")
    check(batch, "C>1 C>8 C>OW S4>7(1) S4>OW S5>3(1)")


def test_tc3_reserve_fits_a_foundation():
    batch = position(TC1, reserve="3d | Kc", waste="- | 6d", foundations={"d": (2, 0)})
    check(batch, "C>F S1>8(1) S4>7(1) S5>3(1)")


def test_tc3_reserve_fits_no_foundation():
    batch = position(TC1, reserve="3d | Kc", waste="- | 6d", foundations={"d": (0, 0)})
    check(batch, "S1>8(1) S4>7(1) S5>3(1) DRAW")


def test_tc4_forced_aces():
    check(position(TC4, reserve="Ah | 2h", waste="- | 2c"), "C>F S3>F")


def test_tc4_optional_aces():
    batch = position(TC4, reserve="Ah | 2h", waste="- | 2c", aces="optional")
    check(batch, "C>F C>8 C>OC S3>F S3>OW S3>8(1) S3>1(2)")


def test_tc5_holding_a_card_that_fits_and_loads():
    batch = position(TC5, hand="8c", reserve="Td | 7c", waste="- | 9c")
    check(batch, "H>1 H>OW S4>2(1) S7>4(1)")


def test_tc5_without_rearranging():
    batch = position(
        TC5, hand="8c", reserve="Td | 7c", waste="- | 9c", rearrange_while_holding=False
    )
    check(batch, "H>1 H>OW")


def test_tc6_holding_a_card_that_only_loads():
    batch = position(TC6, hand="8c", reserve="Td | 9c", waste="- | 7c")
    check(batch, "H>OW S4>2(1) S7>4(1) DISCARD")


def test_tc7_holding_with_two_free_spaces():
    batch = position(TC7, hand="8c", reserve="- | 9c", waste="4h | 7c")
    check(batch, "H>7 H>OW H>OC S4>2(1)")


def test_tc8_capacity_with_one_free_space():
    check(position(TC8, reserve="Kc | Ad"), "C>8 S1>8(1) S5>7(1) S6>4(1)")


def test_tc8_capacity_with_two_free_spaces():
    batch = position(TC8.replace("8s", "-"), reserve="Kc | Ad")
    check(batch, "C>7 S1>2(3) S1>7(1) S1>7(2) S6>4(1)")


def test_tc8_capacity_without_a_free_space():
    batch = position(TC8.replace("-", "Th"), reserve="Kc | Ad")
    check(batch, "S1>8(1) S5>7(1) S6>4(1) DRAW")


def test_tc9_recycling():
    batch = position(TC9, reserve="6h | Tc", waste="4h 9c Kd | 6s", stock="- | 2h")
    check(batch, "S5>3(1) S5>4(1) DRAW")
    play(batch, "DRAW")
    assert (hand(batch), stock(batch, 0), waste(batch, 0)) == ("4h", ["9c", "Kd"], [])
    check(batch, "S5>3(1) S5>4(1) DISCARD")


def test_tc10_nothing_to_draw():
    batch = position(TC9, reserve="6h | Tc", waste="- | 6s", stock="- | 2h")
    check(batch, "S5>3(1) S5>4(1) PASS")
    play(batch, "PASS")
    assert (counter(batch, "terminated"), counter(batch, "current_player")) == (0, 1)


def test_tc10_second_bare_pass():
    counters = {"last_turn_bare_pass": 1}
    batch = position(TC9, reserve="6h | Tc", waste="- | 6s", stock="- | 2h", counters=counters)
    play(batch, "PASS")
    assert (counter(batch, "terminated"), counter(batch, "rewards")) == (1, [0, 0])
    check(batch, "")


def test_tc10_freed_space_bars_the_pass():
    batch = position(TC9, reserve="6h | Tc", waste="- | 6s", stock="- | 2h")
    play(batch, "S5>3(1)")
    check(batch, "C>5 S3>4(1)")


def test_tc11_no_repetition():
    batch = position(TC11, reserve="9h | 9d")
    check(batch, "S1>2(1) DRAW")
    play(batch, "S1>2(1)")
    check(batch, "DRAW")


def test_tc12_last_card_wins():
    batch = position(TC5, hand="8c", reserve="- | 7c", waste="- | 2d", stock="- | Kd")
    check(batch, "H>1 S4>2(1) S7>4(1)")
    play(batch, "H>1")
    assert (counter(batch, "terminated"), counter(batch, "rewards")) == (1, [1, -1])
    assert tableau(batch)[0] == ["9d", "8c"]
    check(batch, "")


def test_tc12_discarded_last_card_comes_back():
    batch = position(TC5, hand="9h", reserve="- | Tc", waste="- | 2d", stock="- | Kd")
    check(batch, "S4>2(1) S7>4(1) DISCARD")
    play(batch, "DISCARD")
    assert (counter(batch, "terminated"), counter(batch, "current_player")) == (0, 1)
    assert waste(batch, 0) == ["9h"]
    play(batch, "DRAW DISCARD DRAW")
    assert (hand(batch), waste(batch, 0)) == ("9h", [])


@pytest.mark.parametrize(
    ("turned", "reserve", "starter"),
    [
        ("Ah Kc Kd Ks | 2c 2d 3h 3s", "5c | 6c", 0),
        ("9d 2h 7c 7s | 7d 9s 7h 2c", "Kh | Qs", 1),
    ],
)
def test_tc13_starter(turned, reserve, starter):
    for seed in range(8):
        assert counter(deal(deck(turned, reserve), seed), "current_player") == starter


def test_tc13_coin():
    cards = deck("9d 2h 7c 7s | 7d 9s 7h 2c", "Qh | Qs")
    assert {counter(deal(cards, seed), "current_player") for seed in range(20)} == {0, 1}
