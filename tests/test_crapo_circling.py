"""Crapô, clause C36: arrangements of the spaces that may not come back, and their number."""

import pytest
from positions_crapo import NO_ROOM, check, counter, moves, play, position, tableau

EXAMPLE = "Qd Js Th | Qh Jc | Kh | Kd | 6s | 8c | 4c | 2d"


def shifts(batch) -> set[str]:
    """Return the legal moves between spaces."""
    return {move for move in moves(batch) if "(" in move}


# The example, and what counts as the same arrangement.


def test_c36_example():
    """There and not back in this turn; the next turn may move it back."""
    batch = position(EXAMPLE, "9h | 9d", stock="5s | 5s")
    play(batch, "S1>2(1)")
    assert shifts(batch) == set()
    with pytest.raises(ValueError, match=r"S2>1\(1\)"):
        play(batch, "S2>1(1)")
    play(batch, "DRAW DISCARD")
    assert counter(batch, "current_player") == 1
    assert shifts(batch) == {"S2>1(1)"}


def test_c36_the_starting_arrangement_counts():
    """Three moves in a circle may not close it: `Js` from one queen to the next and back."""
    batch = position("Qd Js | Qh | Kh | Kd | Qd | 8c | 4c | 2d", "9h | 9d")
    assert shifts(batch) == {"S1>2(1)"}
    play(batch, "S1>2(1)")
    assert shifts(batch) == set()


@pytest.mark.parametrize("spaces", ["9s 8d | 9s", "9s 8d 7c | 9s", "Kh Qs | Kh"])
def test_c36_space_numbers_and_copies_do_not_matter(spaces):
    """A move that only exchanges two spaces, or two copies of a card, changes nothing."""
    assert shifts(position(spaces + " | 2c | 2c | 2c | 2c | 2c | 2c", "Kc | 9d")) == set()


def test_c36_ranks_and_suits_do_matter():
    assert shifts(position("9s 8d | 9c | 2c | 2c | 2c | 2c | 2c | 2c", "Kc | 9d")) == {"S1>2(1)"}


def test_c36_free_spaces_do_not_matter():
    """`8d` on the other free space, or back, would be an arrangement that has been."""
    batch = position("9s 8d | 9c | - | - | 2c | 2c | 2c | 2c", "Kc | 9d")
    assert shifts(batch) == {"S1>2(1)", "S1>3(1)"}
    play(batch, "S1>3(1)")
    assert tableau(batch)[:4] == [["9s"], ["9c"], ["8d"], []]
    assert shifts(batch) == {"S3>2(1)"}
    play(batch, "S3>2(1)")
    assert shifts(batch) == set()


def test_c36_each_arrangement_since_counts():
    """The run of four positions of two cards is walked through; nothing visited comes back."""
    batch = position("9s 8d | 9c | 5s 4d | 5c | 2c | 2c | 2c | 2c", "Kc | 9d")
    assert shifts(batch) == {"S1>2(1)", "S3>4(1)"}
    play(batch, "S1>2(1)")
    assert shifts(batch) == {"S3>4(1)"}
    play(batch, "S3>4(1)")
    assert shifts(batch) == {"S2>1(1)"}
    play(batch, "S2>1(1)")
    assert shifts(batch) == set()


# What makes a new start.

PAIR = "9s 8d | 9c | 4h | Kd | Ks | Kc | Kh | "


@pytest.mark.parametrize(
    ("move", "last_space", "details"),
    [
        ("C>F", "Kd", {"reserve": "2c 5h | 2h", "foundations": {"h": (4, 0)}}),
        ("C>OW", "-", {"reserve": "2c 5h | 2h", "waste": "- | 6h"}),
        ("C>OC", "-", {"reserve": "2c 5h | 6h"}),
        ("C>3", "-", {"reserve": "2c 3s | 2h"}),
        ("C>8", "-", {"reserve": "2c 3s | 2h"}),
        ("S3>F", "Kd", {"reserve": "2c 2d | 2h", "foundations": {"h": (3, 0)}}),
        ("S3>OW", "Kd", {"reserve": "2c 2d | 2h", "waste": "- | 5h"}),
        ("S3>OC", "Kd", {"reserve": "2c 2d | 5h"}),
        ("DRAW", "Kd", {"reserve": "2c 2d | 2h"}),
        ("H>3", "Kd", {"reserve": "2c 2d | 2h", "hand": "3s"}),
        ("H>8", "-", {"reserve": "2c 2d | 2h", "hand": "3s"}),
        ("H>F", "Kd", {"reserve": "2c 2d | 2h", "hand": "3s", "foundations": {"s": (2, 0)}}),
        ("H>OW", "Kd", {"reserve": "2c 2d | 2h", "hand": "3s", "waste": "- | 2s"}),
        ("H>OC", "-", {"reserve": "2c 2d | 4s", "hand": "3s"}),
        ("DISCARD", "Kd", {"reserve": "2c 2d | 2h", "hand": "6d"}),
        ("PASS", "Kd", {"reserve": "2c 2d | 2h", "stock": "- | -"}),
    ],
)
def test_c36_every_other_action_makes_a_new_start(move, last_space, details):
    """The count falls to zero, the move back is legal again, and then not back once more."""
    batch = position(PAIR + last_space, max_rearrangements=1, **details)
    assert "S1>2(1)" in shifts(batch)
    play(batch, "S1>2(1)")
    assert (shifts(batch), counter(batch, "rearrangements")) == (set(), 1)
    play(batch, move)
    assert counter(batch, "rearrangements") == 0
    assert "S2>1(1)" in shifts(batch)
    play(batch, "S2>1(1)")
    assert (shifts(batch), counter(batch, "rearrangements")) == (set(), 1)


def test_c36_before_a_draw_and_after_it():
    """The circle of moves closes over a draw: an arrangement from before it may recur."""
    batch = position(PAIR + "Kd", "2c 2d | 2h", stock="6d | 6d")
    play(batch, "S1>2(1) DRAW S2>1(1)")
    assert shifts(batch) == set()
    play(batch, "DISCARD")
    assert shifts(batch) == {"S1>2(1)"}


# The largest number of moves in a row.

EIGHT_HOMES = "9s 8d | 9c | 5s 4d | 5c | Js Td | Jc | Kh Qs | Kd"


@pytest.mark.parametrize("limit", [0, 1, 2, 3, 16, 32])
def test_c36_limit(limit):
    """Sixteen arrangements of four movable cards; a Gray code walks through all of them."""
    batch = position(EIGHT_HOMES, "2c 2d | 2h", max_rearrangements=limit)
    at, made = [0, 2, 4, 6], 0
    for n in range(1, 16):
        if made == limit:
            assert shifts(batch) == set()
            break
        k = (n & -n).bit_length() - 1
        other = at[k] ^ 1
        play(batch, f"S{at[k] + 1}>{other + 1}(1)")
        at[k], made = other, made + 1
        assert counter(batch, "rearrangements") == made
    assert made == min(limit, 15)


def test_c36_limit_holds_in_both_phases():
    batch = position(EIGHT_HOMES, "2c 2d | 2h", max_rearrangements=2, stock="7h | 7s")
    play(batch, "S1>2(1) S3>4(1)")
    check(batch, "DRAW")
    play(batch, "DRAW S2>1(1) S4>3(1)")
    check(batch, "DISCARD")


def test_c36_default_limit_is_16():
    batch = position(NO_ROOM)
    assert counter(batch, "max_rearrangements") == 16
    spaces = "9s 8d | 9c | 5s 4d | 5c | Js Td | Jc | Kh Qs | -"
    batch = position(spaces, "- | 2h")
    seen = 0
    while shifts(batch):
        play(batch, sorted(shifts(batch), reverse=True)[0])
        seen += 1
    assert seen == counter(batch, "rearrangements") == 16
    check(batch, "DRAW")


# The mask is never empty.


@pytest.mark.parametrize("limit", [0, 16])
def test_c36_something_is_always_legal(limit):
    """The stuck positions of both phases, with all moves between spaces used up."""
    options = {"max_rearrangements": limit}
    check(position(NO_ROOM, "4s | 8s", stock="- | -", **options), "PASS")
    check(position(NO_ROOM, "- | 8s", **options), "DRAW")
    check(position(NO_ROOM, "4s | 8s", hand="9h", **options), "DISCARD")
    check(position(" | ".join("-" * 8), "4s | 8s", **options), "C>1")
    check(position(" | ".join("-" * 8), "- | 8s", "2d | -", "- | -", **options), "DRAW")
    check(position(" | ".join("-" * 8), "- | 8s", hand="9h", **options), "H>1")
