"""Crapô, clauses C17 to C21: loading the opponent's waste and reserve."""

import pytest
from positions_crapo import NO_ROOM, check, counter, moves, play, position, reserve, tableau, waste

from crapo_env.cards import CARD_NAMES

ONE_ROOM = "- | Kd | Ks | Kc | Kh | Kd | Ks | Kc"


# C17. What loading is.


@pytest.mark.parametrize(
    ("top", "fitting"),
    [("8h", "7h 9h"), ("Ah", "2h"), ("Kd", "Qd"), ("As", "2s"), ("Ks", "Qs"), ("6c", "5c 7c")],
)
def test_c17_same_suit_and_a_neighbouring_rank(top, fitting):
    """Of all 52 cards only these load the top, from each source and on both targets.

    Cards are numbered suit by suit, so a king and the next suit's ace have neighbouring numbers.
    """
    for card in CARD_NAMES:
        loads = set()
        if card in fitting.split():
            loads = {"H>OW", "H>OC", "C>OW", "C>OC", "S1>OW", "S1>OC"}
        spaces = f"{card} | - | 2c | 2s | 2c | 2s | 2c | 2s"
        both = [[], [top]]
        batch = position(spaces, [[card], [top]], both, hand=card, aces="optional")
        own_twos = {f"S{n}>{pile}" for n in range(3, 9) for pile in ("OW", "OC")}
        found = {m for m in moves(batch) if m.endswith(("OW", "OC"))} - own_twos
        assert found == loads, card


def test_c17_an_empty_pile_takes_no_load():
    for card in CARD_NAMES:
        spaces = f"{card} | - | " + "2c | " * 5 + "2c"
        batch = position(spaces, [[card], []], hand=card, aces="optional")
        assert not {move for move in moves(batch) if move.endswith(("OW", "OC"))}


def test_c17_own_piles_take_no_load():
    """The `9s` and `9d` would fit the own waste and reserve."""
    check(position("9s | 9d | " + "Kh | " * 5 + "Kh", "8d | 2c", "8s | 2c"), "DRAW")


def test_c17_loads_go_on_and_turn_direction():
    spaces = "9h | 8h | Th | 9d | 2c | 2s | 2c | 2s"
    batch = position(spaces, "Kc | 5c", "- | 8h")
    assert {m for m in moves(batch) if m.endswith("OW")} == {"S1>OW"}
    play(batch, "S1>OW")
    assert {m for m in moves(batch) if m.endswith("OW")} == {"S2>OW", "S3>OW"}
    play(batch, "S2>OW")
    assert waste(batch, 1) == ["8h", "9h", "8h"]
    assert counter(batch, "current_player") == 0
    assert not {m for m in moves(batch) if m.endswith("OW")}


def test_c17_a_load_is_a_single_card():
    """Only the `8s` of the run goes, although the opponent shows both neighbours of `9d`."""
    batch = position("9d 8s | Kd | Kd | Kd | Kd | Kd | Kd | Kd", "Kc | 7s", "- | Td")
    check(batch, "S1>OC DRAW")
    play(batch, "S1>OC")
    check(batch, "S1>OW DRAW")


def test_c17_loads_belong_to_the_opponent():
    batch = position("8s | Kd | Kd | Kd | Kd | Kd | Kd | Kd", "Kc | 2d 7s", "2d | 9s")
    play(batch, "S1>OC")
    assert (reserve(batch, 1), counter(batch, "reserve_size")) == (["2d", "7s", "8s"], [1, 3])
    batch = position("8s | Kd | Kd | Kd | Kd | Kd | Kd | Kd", "Kc | 2d 7s", "2d | 9s")
    play(batch, "S1>OW")
    assert (waste(batch, 1), waste(batch, 0)) == (["9s", "8s"], ["2d"])


def test_c17_player_1_loads_player_0():
    batch = position("8s | Kd | Kd | Kd | Kd | Kd | Kd | -", "7s | 9s", "9s | 7s", current_player=1)
    check(batch, "C>8 S1>OW S1>OC")
    play(batch, "S1>OC")
    assert reserve(batch, 0) == ["7s", "8s"]
    check(batch, "C>1 C>OC")


# C18 to C21. Loads from the reserve, of the drawn card, from a space.


def test_c18_needs_a_free_space():
    check(position(NO_ROOM, "7h | 6h", "- | 8h"), "DRAW")
    batch = position(ONE_ROOM, "7h | 6h", "- | 8h")
    check(batch, "C>1 C>OW C>OC")
    play(batch, "C>OW")
    assert (reserve(batch, 0), waste(batch, 1), tableau(batch)[0]) == ([], ["8h", "7h"], [])


def test_c18_also_while_holding():
    check(position(NO_ROOM, "7h | 6h", "- | 8h", hand="2s"), "DISCARD")
    check(position(ONE_ROOM, "7h | 6h", "- | 8h", hand="2s"), "C>1 C>OW C>OC H>1")


def test_c19_drawn_card_on_the_reserve_needs_a_free_space():
    check(position(NO_ROOM, "9h | 6c", hand="5c"), "DISCARD")
    for num_free in (1, 2, 3):
        spaces = " | ".join(["Kd"] * (8 - num_free) + ["-"] * num_free)
        batch = position(spaces, "- | 6c", hand="5c")
        check(batch, f"H>{9 - num_free} H>OC")
    play(batch, "H>OC")
    assert reserve(batch, 1) == ["6c", "5c"]


def test_c20_drawn_card_on_the_waste_needs_nothing():
    batch = position(NO_ROOM, "9h | 2d", "- | 4c", hand="5c")
    check(batch, "H>OW DISCARD")
    play(batch, "H>OW")
    assert waste(batch, 1) == ["4c", "5c"]
    check(position(ONE_ROOM, "- | 2d", "- | 4c", hand="5c"), "H>1 H>OW")


def test_c21_top_of_a_space_needs_nothing():
    """On either pile without a free space; a pile of one leaves its space free."""
    batch = position(NO_ROOM.replace("Kc", "7s", 1), "9h | 6s", "- | 8s")
    check(batch, "S4>OW S4>OC DRAW")
    play(batch, "S4>OW")
    assert (waste(batch, 1), tableau(batch)[3]) == (["8s", "7s"], [])
    check(batch, "C>4")


def test_c21_also_while_holding():
    check(
        position(NO_ROOM.replace("Kc", "7s", 1), "9h | 6s", "- | 8s", hand="3d"),
        "S4>OW S4>OC DISCARD",
    )
