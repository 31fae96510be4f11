"""The slow Crapô reference against the written positions TC1 to TC13."""

from collections import Counter

import pytest
from positions_reference_crapo import (
    TC1_SPACES,
    TC2_SPACES,
    TC4_SPACES,
    TC5_SPACES,
    TC7_SPACES,
    TC9_SPACES,
    TC11_SPACES,
    check,
    piles,
    play,
    position,
)
from reference_crapo import PACK, CrapoReference

# TC1-TC12, with the variants of their texts.


def test_tc1_locked_crapo() -> None:
    """TC1, its variant in A-C6 and the same position under other switches."""
    table = {"spaces": TC1_SPACES, "crapo": "9s | 6d", "waste": "- | 8s"}
    check(position(**table), "S1>8(1) S4>7(1) S4>OW S5>3(1) DRAW")
    fit = "C>1 C>OW S1>8(1) S4>7(1) S4>OW S5>3(1)"
    check(position(**table, crapo_gate="fit"), fit)
    check(position(**table, tableau_loading=False), "S1>8(1) S4>7(1) S5>3(1) DRAW")
    both = {"crapo_gate": "fit", "draw_gate": "any_time"}
    check(position(**table, **both), fit + " DRAW")


def test_tc2_one_free_space() -> None:
    """TC2, and that a play on a pile leaves the free space free."""
    table = {"spaces": TC2_SPACES, "crapo": "4h 9s | 6d", "waste": "- | 8s"}
    expected = "C>1 C>8 C>OW S4>7(1) S4>OW S5>3(1)"
    check(position(**table), expected)
    check(position(**table, crapo_gate="fit"), expected)
    check(position(**table, draw_gate="any_time"), expected + " DRAW")
    game = position(**table)
    play(game, "C>1")
    assert game.free_spaces() == [8]
    assert (game.crapo[0], game.crapo_face_down[0]) == (["4h"], 0)


def test_tc3_crapo_fits_a_foundation() -> None:
    """TC3 with the diamonds at 2 and 0 and at 0 and 0."""
    table = {"spaces": TC1_SPACES, "crapo": "3d | Kc", "waste": "- | 6d"}
    shifts = "S1>8(1) S4>7(1) S5>3(1)"
    check(position(**table, foundations={"d": [2, 0]}), "C>F " + shifts)
    check(position(**table, foundations={"d": [0, 0]}), shifts + " DRAW")
    any_time = position(**table, foundations={"d": [2, 0]}, draw_gate="any_time")
    check(any_time, "C>F DRAW " + shifts)


def test_tc4_forced_aces() -> None:
    """TC4 with both values of the switch."""
    table = {"spaces": TC4_SPACES, "crapo": "Ah | 2h", "waste": "- | 2c"}
    check(position(**table), "C>F S3>F")
    check(position(**table, draw_gate="any_time"), "C>F S3>F")
    optional = "C>F C>8 C>OC S3>F S3>OW S3>8(1) S3>1(2)"
    check(position(**table, aces="optional"), optional)


def test_tc5_holding_with_table_play_and_load() -> None:
    """TC5 with the values of the holding switches."""
    table = {"spaces": TC5_SPACES, "crapo": "Td | 7c", "waste": "- | 9c", "hand": "8c"}
    check(position(**table), "H>1 H>OW S4>2(1) S7>4(1)")
    check(position(**table, rearrange_while_holding=False), "H>1 H>OW")
    discard = position(**table, drawn_card="may_discard")
    check(discard, "H>1 H>OW S4>2(1) S7>4(1) DISCARD")


def test_tc6_holding_with_load_only() -> None:
    """TC6."""
    spaces = TC5_SPACES.replace("9d", "9s")
    table = {"spaces": spaces, "crapo": "Td | 9c", "waste": "- | 7c", "hand": "8c"}
    check(position(**table), "H>OW S4>2(1) S7>4(1) DISCARD")
    check(position(**table, rearrange_while_holding=False), "H>OW DISCARD")
    check(position(**table, crapo_gate="fit"), "H>OW S4>2(1) S7>4(1) DISCARD")


def test_tc7_holding_with_two_free_spaces() -> None:
    """TC7."""
    table = {"spaces": TC7_SPACES, "crapo": "- | 9c", "waste": "4h | 7c", "hand": "8c"}
    check(position(**table), "H>7 H>8 H>OW H>OC S4>2(1)", "H>7 H>OW H>OC S4>2(1)")


def test_tc8_capacity() -> None:
    """TC8 with one, two and no free spaces."""
    base = "Ks Qh Js Td 9c | Qd | 5c | 3h | 7d | 2s | "
    crapo = "Kc | Ad"
    check(position(base + "8s | -", crapo), "C>8 S1>8(1) S5>7(1) S6>4(1)")
    two_free = "C>7 C>8 S1>2(3) S1>7(1) S1>7(2) S1>8(1) S1>8(2) S6>4(1)"
    folded = "C>7 S1>2(3) S1>7(1) S1>7(2) S6>4(1)"
    check(position(base + "- | -", crapo), two_free, folded)
    check(position(base + "8s | Th", crapo), "S1>8(1) S5>7(1) S6>4(1) DRAW")


def test_tc9_recycling() -> None:
    """TC9 and what follows the draw."""
    game = position(TC9_SPACES, "6h | Tc", "4h 9c Kd | 6s", "- | 2h")
    check(game, "S5>3(1) S5>4(1) DRAW")
    play(game, "DRAW")
    assert (game.hand, game.stock[0], game.waste[0]) == ("4h", ["9c", "Kd"], [])
    assert game.stock_known == [True, False]
    check(game, "S5>3(1) S5>4(1) DISCARD")


def test_tc10_nothing_to_draw() -> None:
    """TC10: the pass, the drawn end, and the way out by a freed space."""
    table = {"spaces": TC9_SPACES, "crapo": "6h | Tc", "waste": "- | 6s", "stock": "- | 2h"}
    game = position(**table)
    check(game, "S5>3(1) S5>4(1) PASS")
    play(game, "PASS")
    assert (game.terminated, game.current_player) == (False, 1)
    after_pass = position(**table, counters={"last_turn_was_bare_pass": True})
    play(after_pass, "PASS")
    assert (after_pass.terminated, after_pass.rewards) == (True, [0, 0])
    assert after_pass.legal_moves() == []
    shifted = position(**table)
    play(shifted, "S5>3(1)")
    check(shifted, "C>5 S3>4(1)")


def test_tc11_no_repetition() -> None:
    """TC11, with the return legal again after a draw and in the next turn."""
    table = {"spaces": TC11_SPACES, "crapo": "9h | 9d"}
    game = position(**table)
    check(game, "S1>2(1) DRAW")
    play(game, "S1>2(1)")
    check(game, "DRAW")
    with pytest.raises(ValueError, match=r"S2>1\(1\)"):
        game.apply("S2>1(1)")
    play(game, "DRAW")
    check(game, "S2>1(1) DISCARD")
    play(game, "DISCARD")
    check(game, "S2>1(1) S2>OC DRAW")


def test_tc12_last_card_wins() -> None:
    """TC12: the winning play."""
    table = {"spaces": TC5_SPACES, "crapo": "- | 7c", "waste": "- | 2d", "stock": "- | Kd"}
    game = position(**table, hand="8c")
    check(game, "H>1 S4>2(1) S7>4(1)")
    play(game, "H>1")
    assert (game.terminated, game.rewards) == (True, [1, -1])


def test_tc12_discarded_last_card_does_not_win() -> None:
    """TC12: the discarded card comes back at the next turn."""
    game = position(TC5_SPACES, "- | Tc", "- | 2d", "- | Kd", hand="9h")
    check(game, "S4>2(1) S7>4(1) DISCARD")
    play(game, "DISCARD")
    assert (game.terminated, game.current_player, game.waste[0]) == (False, 1, ["9h"])
    play(game, "DRAW DISCARD DRAW")
    assert (game.hand, game.waste[0], game.stock[0]) == ("9h", [], [])


# TC13 and the set-up.


def written_deck(turned: str, tops: str = "5c | 6c") -> list[str]:
    """Complete eight turned cards and two crapo tops to a deck."""
    turned_piles, top_piles = piles(turned), piles(tops)
    left = Counter(PACK + PACK)
    for pile in turned_piles + top_piles:
        left.subtract(pile)
    rest = sorted(left.elements())
    owned = []
    for player in (0, 1):
        others, rest = rest[:47], rest[47:]
        owned += others[:13] + top_piles[player] + turned_piles[player] + others[13:]
    return owned


@pytest.mark.parametrize(
    ("turned", "tops", "starter"),
    [
        ("Ah Kc Kd Ks | 2c 2d 3h 3s", "5c | 6c", 0),
        ("9d 2h 7c 7s | 7d 9s 7h 2c", "Kh | Qs", 1),
        ("2h 5c 9d Kd | 2s 5d 8c Kc", "5h | 6c", 1),
        ("3h 3c 7d 9s | 9d 7c 3d 3s", "Th | 4s", 1),
    ],
)
def test_tc13_starter(turned: str, tops: str, starter: int) -> None:
    """TC13 and the examples of C6; the coin is not looked at."""
    deck = written_deck(turned, tops)
    for coin in (0, 1):
        assert CrapoReference(deck, starter=coin).current_player == starter


def test_tc13_coin() -> None:
    """TC13 (c): the coin decides if all five comparisons are equal."""
    deck = written_deck("9d 2h 7c 7s | 7d 9s 7h 2c", "Qh | Qs")
    assert [CrapoReference(deck, starter=coin).current_player for coin in (0, 1)] == [0, 1]
