"""Crapô, clauses C10 to C16 and C22 to C24: sources, spaces, foundations, aces, reserve, runs."""

import pytest
from positions_crapo import (
    NO_ROOM,
    check,
    counter,
    foundations,
    moves,
    play,
    position,
    reserve,
    tableau,
)

from crapo_env.cards import CARD_NAMES, CARD_NUMBERS
from crapo_env.crapo import GAME

ONE_ROOM = "- | Kd | Ks | Kc | Kh | Kd | Ks | Kc"  # F=1, and only queens fit on a card


# C10. Movable cards.


def test_c10_no_other_card_may_move():
    """Wastes, the opponent's reserve, foundations: all four tops would have a place on a space."""
    spaces = "7s | Th | Qc | 4d | Ks | Ks | Ks | Ks"
    batch = position(spaces, "8d | Jd", "6h | 9s", foundations={"c": (3, 0)})
    check(batch, "DRAW")
    batch = position(spaces, "Jd | 8d", "9s | 6h", foundations={"c": (3, 0)}, current_player=1)
    check(batch, "DRAW")


def test_c10_the_three_sources():
    """Reserve top, drawn card and space tops: three fives for one six."""
    batch = position("6s | 5d | Kh | Kd | Ks | Kc | Kh | -", "2h 5h | Kd", hand="5d")
    check(batch, "C>1 C>8 H>1 H>8 S2>1(1)")


def test_c10_covered_cards_stay():
    """A foundation waits for a covered card of a space and for one under the reserve's top."""
    batch = position("3h 2s | " + "9h | " * 6 + "9h", "3h Kd | Kd", foundations={"h": (2, 2)})
    check(batch, "DRAW")


def test_c10_no_action_has_another_source():
    sources = {name.split(">")[0] for name in GAME.actions.names if ">" in name}
    assert sources == {"C", "H", *(f"S{n}" for n in range(1, 9))}


# C11, C12. Building on an occupied space, using a free one.


@pytest.mark.parametrize(("top", "fitting"), [("Td", "9s 9c"), ("8c", "7h 7d"), ("Ks", "Qh Qd")])
def test_c11_one_rank_below_and_of_the_other_colour(top, fitting):
    """Of all 52 cards only these two go on the top, from the hand or from another space."""
    for card in CARD_NAMES:
        batch = position(f"{top} | " + "2s | " * 6 + "2s", hand=card, aces="optional")
        assert ("H>1" in moves(batch)) == (card in fitting.split())
        batch = position(f"{top} | {card} | " + "2s | " * 5 + "2s", aces="optional")
        assert ("S2>1(1)" in moves(batch)) == (card in fitting.split())


def test_c11_nothing_goes_on_an_ace():
    for card in CARD_NAMES:
        batch = position("As | " + "9h | " * 6 + "9h", hand=card, aces="optional")
        assert "H>1" not in moves(batch)


def test_c12_a_free_space_takes_every_card():
    for card in CARD_NAMES:
        assert "C>1" in moves(position(ONE_ROOM, [[card], []], aces="optional"))
        batch = position(ONE_ROOM, hand=card, aces="optional")
        play(batch, "H>1")
        assert tableau(batch)[0] == [card]


def test_c12_the_first_free_space_stands_for_all():
    batch = position("Kd | - | Ks | - | - | Kc | Kc | Kc", "2h 3h | 2d", hand="5d")
    check(batch, "C>2 H>2")


# C13. Building on a foundation.


@pytest.mark.parametrize("heights", [(4, 0), (0, 4)])
def test_c13_the_next_of_either_pile(heights):
    for card in CARD_NAMES:
        batch = position(
            NO_ROOM,
            hand=card,
            foundations={"h": heights, "s": (13, 13), "d": (13, 13), "c": (13, 13)},
            aces="optional",
        )
        assert ("H>F" in moves(batch)) == (card in ("5h", "Ah"))


def test_c13_each_card_grows_its_own_pile():
    batch = position(NO_ROOM, "5h Ah | 2s", foundations={"h": (4, 0)})
    play(batch, "C>F")
    assert foundations(batch)["h"] == [4, 1]
    play(batch, "C>F")
    assert foundations(batch)["h"] == [5, 1]


def test_c13_equal_piles_make_one_move():
    batch = position(NO_ROOM, "9d 5h | 2s", foundations={"h": (4, 4)})
    check(batch, "C>F")
    play(batch, "C>F")
    assert foundations(batch)["h"] == [5, 4]


def test_c13_the_shorter_pile_catches_up():
    batch = position(NO_ROOM, "5h 4h 4h | 2s", foundations={"h": (3, 3)})
    play(batch, "C>F C>F C>F")
    assert sorted(foundations(batch)["h"]) == [4, 5]


def test_c13_from_reserve_hand_and_space():
    batch = position(
        NO_ROOM.replace("Kc", "4c", 1),
        "4s 5s | 2s",
        hand="Td",
        foundations={"s": (4, 0), "c": (3, 3), "d": (9, 7)},
    )
    check(batch, "C>F H>F S4>F")
    play(batch, "S4>F H>F C>F")
    assert foundations(batch) == {"h": [0, 0], "s": [5, 0], "d": [10, 7], "c": [4, 3]}


def test_c13_a_foundation_card_never_comes_back():
    """The `4h` would fit the `5s`; no action starts on a foundation."""
    batch = position(NO_ROOM.replace("Kh", "5s", 1), "9d | 2s", foundations={"h": (4, 0)})
    check(batch, "DRAW")
    assert not [name for name in GAME.actions.names if name.startswith("F")]


# C14. Aces first.


@pytest.mark.parametrize("num_free", [0, 1, 3])
def test_c14_available_aces_are_the_only_moves(num_free):
    others = ["9c", "Jd", "5s", "Kc", "7s"][num_free:] + ["-"] * num_free
    batch = position(" | ".join(["2h", "7h", "2d Ac", *others]), "Ah | 2h", "- | 2c")
    check(batch, "C>F S3>F")


def test_c14_the_player_picks_the_order():
    batch = position("2h As | Ad | " + "9h | " * 5 + "9h", "Ah | 2h")
    check(batch, "C>F S1>F S2>F")
    play(batch, "S2>F")
    check(batch, "C>F S1>F")
    play(batch, "C>F")
    check(batch, "S1>F")


def test_c14_while_holding():
    """A drawn ace and the aces of the table come before the drawn card's other places."""
    spaces = "Kh | 2h Ac | Ks | - | Kh | Kd | Ks | Kc"
    check(position(spaces, "4h | 2s", hand="Ad"), "H>F S2>F")
    check(position(spaces, "Ah | 2s", hand="9d"), "C>F S2>F")
    check(position(NO_ROOM, "4h | 2s", hand="Ad", drawn_card="may_discard"), "H>F")


def test_c14_an_ace_that_surfaces_is_next():
    batch = position(ONE_ROOM, "Ah 9d | 2s")
    check(batch, "C>1")
    play(batch, "C>1")
    check(batch, "C>F")


def test_c14_only_available_aces_count():
    """An ace under a top, on the opponent's reserve or on a waste forces nothing."""
    batch = position(ONE_ROOM, "Ah 9d | Ad", "As | Ac")
    check(batch, "C>1")


def test_c14_other_foundation_plays_are_voluntary():
    batch = position("3c | Kd | Ks | Kc | 4h | Kd | Ks | -", "2h | 5d", foundations={"h": (1, 3)})
    check(batch, "C>1 C>8 C>F S1>5(1) S5>F")


# C15, C16. Leaving the reserve, and its next card.


def test_c15_without_a_free_space():
    """It fits a space, the opponent's waste and reserve, but there is no free space."""
    spaces = "Td | Kd | Ks | Kc | Kh | Kd | Ks | Kc"
    check(position(spaces, "2h 9s | 8s", "- | Ts"), "DRAW")


def test_c15_with_a_free_space():
    spaces = "Td | Kd | Ks | Kc | Kh | Kd | Ks | -"
    batch = position(spaces, "2h 9s | 8s", "- | Ts")
    check(batch, "C>1 C>8 C>OW C>OC")
    play(batch, "C>1")
    assert tableau(batch)[7] == []
    check(batch, "C>8 S1>8(1) S1>OW S1>OC")


def test_c15_to_a_foundation_at_any_time():
    check(position(NO_ROOM, "2h 4d | 2s", foundations={"d": (3, 0)}), "C>F")


def test_c15_a_freed_space_opens_the_way():
    batch = position("Kh | Qs | Kd | Kd | Ks | Kd | Ks | Kc", "2h 9s | 8s")
    play(batch, "S2>1(1)")
    check(batch, "C>2 C>OC S1>3(1) S1>4(1) S1>6(1)")


def test_c16_next_card_is_turned_up_at_once():
    batch = position("Td | Kd | Ks | Kc | Kh | Kd | Ks | -", "2h 6d 9s | 2s")
    play(batch, "C>1")
    assert (reserve(batch, 0), counter(batch, "reserve_down")[0]) == (["2h", "6d"], 1)
    check(batch, "C>8 S1>8(1)")


def test_c16_also_when_the_last_space_is_filled():
    batch = position(ONE_ROOM, "2h 6d 9s | 2s")
    play(batch, "C>1")
    assert (reserve(batch, 0), counter(batch, "reserve_down")[0]) == (["2h", "6d"], 1)
    check(batch, "DRAW")


def test_c16_loaded_cards_lie_face_up():
    batch = position(NO_ROOM.replace("Kh", "Qd", 1), "9c | 2h 4c Kd", draw_gate="any_time")
    play(batch, "S1>OC")
    assert (reserve(batch, 1), counter(batch, "reserve_down")[1]) == (["2h", "4c", "Kd", "Qd"], 2)


def test_c16_only_the_last_face_up_card_turns_another_one():
    batch = position(ONE_ROOM, "2h 4c Kd Qd | 9s", face_down=(2, 0), foundations={"d": (11, 12)})
    play(batch, "C>F")
    assert counter(batch, "reserve_down")[0] == 2
    play(batch, "C>F")
    assert counter(batch, "reserve_down")[0] == 1
    assert reserve(batch, 0) == ["2h", "4c"]


def test_c16_the_last_card_is_turned_up_too():
    batch = position(ONE_ROOM, "6d 9s | 2s")
    play(batch, "C>1")
    assert (reserve(batch, 0), counter(batch, "reserve_down")[0]) == (["6d"], 0)


def test_c16_the_last_card_leaves_an_empty_reserve():
    batch = position(ONE_ROOM, "9s | 2s")
    play(batch, "C>1")
    assert (reserve(batch, 0), counter(batch, "reserve_down")[0]) == ([], 0)
    check(batch, "DRAW")


# C22 to C24. Moving several cards, how many, and to a free space.


def test_c22_the_target_settles_the_number():
    """`Js Td` goes on the `Qd`; with two free spaces no other number does."""
    batch = position("Ks Qh Js Td | Qd | 2c | 2c | 2c | 2c | - | -")
    assert {move for move in moves(batch) if move.startswith("S1>2")} == {"S1>2(2)"}
    play(batch, "S1>2(2)")
    assert tableau(batch)[:2] == [["Ks", "Qh"], ["Qd", "Js", "Td"]]


def test_c22_a_whole_pile_may_go_on_another():
    batch = position("Qh Js | Ks | 2c | 2c | 2c | 2c | 2c | -")
    play(batch, "S1>2(2)")
    assert tableau(batch)[:2] == [[], ["Ks", "Qh", "Js"]]


def test_c22_the_order_is_kept_and_suits_too():
    batch = position("9c 8h 7s 6d | 9s | 2c | 2c | 2c | - | - | -")
    play(batch, "S1>2(3)")
    assert tableau(batch)[:2] == [["9c"], ["9s", "8h", "7s", "6d"]]


@pytest.mark.parametrize("target", ["Jh", "Th", "Qs", "Ks"])
def test_c22_colour_and_rank_must_fit(target):
    batch = position(f"Ks Qh Js Td | {target} | 2c | 2c | 2c | - | - | -")
    assert not {move for move in moves(batch) if move.startswith("S1>2")}


@pytest.mark.parametrize(
    ("num_free", "capacity"), [(0, 1), (1, 2), (2, 4), (3, 8), (4, 13), (5, 13), (6, 13)]
)
def test_c23_capacity_onto_a_card(num_free, capacity):
    """A pile of twelve from the queen down; the target takes just its `k` top cards."""
    run = "Qh Js Th 9s 8h 7s 6h 5s 4h 3s 2h As".split()
    others = ["2c"] * (6 - num_free) + ["-"] * num_free
    for k in range(1, 13):
        deepest = CARD_NUMBERS[run[-k]]
        target = CARD_NAMES[deepest + 1][0] + ("c" if run[-k][1] == "h" else "d")
        batch = position(" | ".join([" ".join(run), target, *others]), aces="optional")
        assert (f"S1>2({k})" in moves(batch)) == (k <= capacity)


@pytest.mark.parametrize(
    ("num_free", "capacity"), [(1, 1), (2, 2), (3, 4), (4, 8), (5, 13), (6, 13), (7, 13)]
)
def test_c24_capacity_into_a_free_space(num_free, capacity):
    """The target is no helper; the whole pile never moves."""
    run = "Kh Qs Jh Ts 9h 8s 7h 6s 5h 4s 3h 2s Ah".split()
    others = ["2c"] * (7 - num_free) + ["-"] * num_free
    for length in range(1, 14):
        batch = position(" | ".join([" ".join(run[:length]), *others]), aces="optional")
        sizes = {move for move in moves(batch) if move.startswith(f"S1>{9 - num_free}(")}
        assert sizes == {f"S1>{9 - num_free}({k})" for k in range(1, min(capacity, length - 1) + 1)}


@pytest.mark.parametrize(
    ("spaces", "expected"),
    [
        ("Qh Js | Ks | 2c | 2c | 2c | 2c | 2c | -", "S1>2(2) S1>8(1)"),
        ("Qh Js Td | Ks | 2c | 2c | 2c | 2c | 2c | -", "S1>8(1)"),
        ("Qh Js Td | Ks | 2c | 2c | 2c | 2c | - | -", "S1>2(3) S1>7(1) S1>7(2)"),
        ("Qh Js Td | Ks | 2c | 2c | 2c | - | - | -", "S1>2(3) S1>6(1) S1>6(2)"),
        ("Qh Js | Ks | 2c | 2c | 2c | 2c | 2c | 2c", ""),
        ("Qh | Ks | 2c | 2c | 2c | 2c | 2c | 2c", "S1>2(1)"),
        ("Qh | Ks | 2c | 2c | 2c | 2c | 2c | -", "S1>2(1)"),
    ],
)
def test_c23_and_c24_examples(spaces, expected):
    check(position(spaces), expected + " DRAW")


def test_c24_the_lowest_numbered_free_space_is_used():
    batch = position("Ks Qh Js | - | 2c | - | - | 2c | 2c | 2c")
    check(batch, "S1>2(1) S1>2(2) DRAW")
    play(batch, "S1>2(2)")
    assert tableau(batch)[:4] == [["Ks"], ["Qh", "Js"], ["2c"], []]
    batch = position("- | Ks Qh Js | 2c | - | - | 2c | 2c | 2c")
    play(batch, "S2>1(2)")
    assert tableau(batch)[:4] == [["Qh", "Js"], ["Ks"], ["2c"], []]
