"""Crapô: every switch of the rules with each of its values, and the two numbers."""

import pytest
from positions_crapo import NO_ROOM, check, counter, moves, play, position

from crapo_env.crapo import GAME

ONE_ROOM = "- | Kd | Ks | Kc | Kh | Kd | Ks | Kc"  # F=1, and only queens fit on a card
ACES = "2h | Ac | Ks | Kc | Kh | Kd | Ks | -"
LOADABLE = NO_ROOM.replace("Kh", "7s", 1)
FITTING = NO_ROOM.replace("Kh", "8s", 1)
SHIFTABLE = "9s 8d | 9c | Ks | Kc | Kh | Kd | Ks | Kc"
DEFAULTS = {
    "aces": "forced",
    "drawn_card": "must_play",
    "rearrange_while_holding": True,
    "tableau_loading": True,
    "crapo_gate": "free_space",
    "draw_gate": "crapo_exhausted",
    "stalemate_result": "draw",
    "max_rearrangements": 16,
    "no_progress_turns": 120,
}


def test_switch_defaults():
    assert {o.name: o.default for o in GAME.options if o.name != "max_steps"} == DEFAULTS
    assert GAME.option_values(position(NO_ROOM).games) == DEFAULTS | {"max_steps": 0}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("aces", "always"),
        ("drawn_card", True),
        ("rearrange_while_holding", 1),
        ("tableau_loading", "true"),
        ("crapo_gate", "free"),
        ("draw_gate", "fit"),
        ("stalemate_result", "win"),
        ("max_rearrangements", 33),
        ("max_rearrangements", -1),
        ("no_progress_turns", 0),
        ("no_progress_turns", 1001),
        ("ace", "forced"),
    ],
)
def test_switch_wrong_values_are_refused(name, value):
    with pytest.raises(ValueError, match=name):
        position(NO_ROOM, **{name: value})


# aces


def test_switch_aces_forced():
    check(position(ACES, "As | 2s", "- | 2c", aces="forced"), "C>F S2>F")
    batch = position(ACES, "As | 2s", "- | 2c", hand="Ad", aces="forced", drawn_card="may_discard")
    check(batch, "C>F H>F S2>F")
    check(position(ACES, "As | 2s", aces="forced", draw_gate="any_time"), "C>F S2>F")


def test_switch_aces_optional():
    """An ace goes to a free space, on a red two, on the opponent, or out."""
    batch = position(ACES, "As | 2s", "- | 2c", aces="optional")
    check(batch, "C>1 C>8 C>F C>OC S2>F S2>OW S2>1(1)")
    batch = position(ACES, "Kd | 2s", "- | 2c", hand="As", aces="optional")
    check(batch, "C>8 H>1 H>8 H>F H>OC S2>F S2>OW S2>1(1)")


def test_switch_aces_optional_fit_still_counts():
    """An ace on the reserve bars `DRAW` and `PASS`, a drawn one the `DISCARD` under must_play."""
    check(position(NO_ROOM, "As | 3s", aces="optional"), "C>F")
    check(position(NO_ROOM, "As | 3s", stock="- | -", aces="optional"), "C>F")
    check(position(NO_ROOM, "9h | 3s", hand="As", aces="optional"), "H>F")
    batch = position(NO_ROOM, "9h | 3s", hand="As", aces="optional", drawn_card="may_discard")
    check(batch, "H>F DISCARD")
    check(position(NO_ROOM, "As | 3s", aces="optional", draw_gate="any_time"), "C>F DRAW")


def test_switch_aces_optional_an_ace_in_a_space_bars_nothing():
    check(position(NO_ROOM.replace("Kd", "Ac"), "9h | 3s", aces="optional"), "S2>F S6>F DRAW")


# drawn_card


def test_switch_drawn_card_must_play():
    check(position(ONE_ROOM, "- | 2s", hand="8c", drawn_card="must_play"), "H>1")
    check(position(NO_ROOM, "4h | 2s", hand="8c", drawn_card="must_play"), "DISCARD")


def test_switch_drawn_card_may_discard():
    """Whether it fits a free space, a card, a foundation or nothing."""
    options = {"drawn_card": "may_discard"}
    check(position(ONE_ROOM, "- | 2s", hand="8c", **options), "H>1 DISCARD")
    check(position(NO_ROOM, "4h | 2s", hand="Qh", **options), "H>3 H>4 H>7 H>8 DISCARD")
    heights = {"c": (7, 0)}
    check(position(NO_ROOM, "4h | 2s", hand="8c", foundations=heights, **options), "H>F DISCARD")
    check(position(NO_ROOM, "4h | 2s", hand="8c", **options), "DISCARD")
    check(position(ONE_ROOM, "- | 2s", **options), "DRAW")


def test_switch_drawn_card_may_discard_but_aces_come_first():
    check(position(NO_ROOM, "4h | 2s", hand="As", drawn_card="may_discard"), "H>F")
    check(position(NO_ROOM, "As | 2s", hand="8c", drawn_card="may_discard"), "C>F")


# rearrange_while_holding

EVERY_KIND = "Th | 9s 8d | 9c | Kd Qs | Kh | 2h | 5c | -"
EVERY_FOUNDATION = {"c": (6, 0), "h": (1, 0)}


@pytest.mark.parametrize("value", [True, False])
def test_switch_rearrange_while_holding(value):
    others = (
        "C>2 C>8 C>F C>OW C>OC S6>F S7>OW S3>OC S4>5(1) S4>8(1) S3>1(1) S2>3(1) S2>1(2) S2>8(1)"
    )
    batch = position(
        EVERY_KIND,
        "2c 7c | 8c",
        "- | 6c",
        hand="4d",
        foundations=EVERY_FOUNDATION,
        rearrange_while_holding=value,
    )
    check(batch, "H>7 H>8 " + others if value else "H>7 H>8")
    play(batch, "H>8")
    assert {"C>2", "C>F", "S6>F", "S7>OW", "S2>1(1)"} & moves(batch) == {"C>F", "S6>F", "S7>OW"}


def test_switch_rearrange_while_holding_false_discard():
    options = {"rearrange_while_holding": False}
    check(position(SHIFTABLE, "4h | 2s", hand="7d", **options), "DISCARD")
    check(position(SHIFTABLE, "4h | 8s", "- | 6d", hand="7d", **options), "H>OW DISCARD")
    check(position(SHIFTABLE, "4h | 2s", **options), "S1>2(1) DRAW")


def test_switch_rearrange_while_holding_false_aces():
    """The aces of the table wait until the drawn card is placed; a drawn ace goes out first."""
    options = {"rearrange_while_holding": False}
    batch = position(ACES, "As | 2s", hand="3c", **options)
    check(batch, "H>8")
    play(batch, "H>8")
    check(batch, "C>F S2>F")
    check(position(ACES, "As | 2s", hand="Ad", **options), "H>F")
    free = position(ACES, "As | 2s", hand="Ad", aces="optional", **options)
    check(free, "H>8 H>F")


# tableau_loading


@pytest.mark.parametrize("value", [True, False])
def test_switch_tableau_loading(value):
    loads = " S1>OW S1>OC" if value else ""
    batch = position(LOADABLE, "4h | 6s", "- | 8s", tableau_loading=value)
    check(batch, "DRAW" + loads)
    batch = position(LOADABLE, "4h | 6s", "- | 8s", hand="3d", tableau_loading=value)
    check(batch, "DISCARD" + loads)


def test_switch_tableau_loading_false_leaves_the_other_loads():
    batch = position(ONE_ROOM, "7s | 6s", "- | 8s", hand="7s", tableau_loading=False)
    check(batch, "C>1 C>OW C>OC H>1 H>OW H>OC")


# crapo_gate


def test_switch_crapo_gate_free_space():
    options = {"crapo_gate": "free_space"}
    check(position(FITTING, "7h | 6h", "- | 8h", **options), "DRAW")
    check(position(ONE_ROOM, "7h | 6h", "- | 8h", **options), "C>1 C>OW C>OC")


def test_switch_crapo_gate_fit():
    """Without a free space the reserve plays on or loads; a fit bars `DRAW`, a load does not."""
    options = {"crapo_gate": "fit"}
    check(position(FITTING, "7h | 6h", "- | 8h", **options), "C>1 C>OW C>OC")
    check(position(NO_ROOM, "7h | 6h", "- | 8h", **options), "C>OW C>OC DRAW")
    check(position(NO_ROOM, "7h | 6h", "- | 8h", stock="- | -", **options), "C>OW C>OC PASS")
    check(position(FITTING, "7h | 2s", stock="- | -", **options), "C>1")
    check(position(NO_ROOM, "7h | 2s", foundations={"h": (6, 0)}, **options), "C>F")
    check(position(NO_ROOM, "- | 2s", **options), "DRAW")
    check(position(ONE_ROOM, "7h | 6h", "- | 8h", **options), "C>1 C>OW C>OC")


def test_switch_crapo_gate_fit_while_holding():
    """The drawn card keeps its own condition (C19), and the reserve bars no discard."""
    batch = position(FITTING, "7h | 6c", "- | 8h", hand="5c", crapo_gate="fit")
    check(batch, "C>1 C>OW DISCARD")
    batch = position(FITTING, "7h | 2c", "- | 6c", hand="5c", crapo_gate="fit")
    check(batch, "C>1 H>OW DISCARD")


# draw_gate


def test_switch_draw_gate_crapo_exhausted():
    options = {"draw_gate": "crapo_exhausted"}
    check(position(ONE_ROOM, "7h | 2s", **options), "C>1")
    check(position(NO_ROOM, "7h | 2s", foundations={"h": (6, 0)}, **options), "C>F")


def test_switch_draw_gate_any_time():
    options = {"draw_gate": "any_time"}
    check(position(ONE_ROOM, "7h | 2s", **options), "C>1 DRAW")
    check(position(NO_ROOM, "7h | 2s", foundations={"h": (6, 0)}, **options), "C>F DRAW")
    check(position(ONE_ROOM, "7h | 2s", stock="- | 2c", **options), "C>1 PASS")
    check(position(ONE_ROOM, "7h | 2s", "2c | -", "- | 2c", **options), "C>1 DRAW")


def test_switch_draw_gate_any_time_aces_come_first():
    check(position(ONE_ROOM, "Ah | 2s", draw_gate="any_time"), "C>F")


def test_switch_draw_gate_any_time_not_while_holding():
    check(position(ONE_ROOM, "7h | 2s", hand="8c", draw_gate="any_time"), "C>1 H>1")


def test_switch_draw_gate_any_time_with_fit():
    options = {"draw_gate": "any_time", "crapo_gate": "fit"}
    check(position(FITTING, "7h | 2s", **options), "C>1 DRAW")


# stalemate_result


@pytest.mark.parametrize(("value", "rewards"), [("draw", [0, 0]), ("fewest_cards", [-1, 1])])
def test_switch_stalemate_result(value, rewards):
    options = {"stalemate_result": value, "no_progress_turns": 1}
    batch = position(NO_ROOM, "4s 3s | 8s", stock="9h | 7s", **options)
    play(batch, "DRAW DISCARD")
    assert (counter(batch, "terminated"), counter(batch, "rewards")) == (1, rewards)


@pytest.mark.parametrize("value", ["draw", "fewest_cards"])
def test_switch_stalemate_result_does_not_touch_a_standstill(value):
    batch = position(NO_ROOM, "4s 3s | 8s", stock="- | -", stalemate_result=value)
    play(batch, "PASS PASS")
    assert (counter(batch, "terminated"), counter(batch, "rewards")) == (1, [0, 0])


# The two numbers.


@pytest.mark.parametrize(("value", "expected"), [(0, "DRAW"), (1, "S1>2(1) DRAW")])
def test_switch_max_rearrangements(value, expected):
    check(position(SHIFTABLE, "4h | 2s", max_rearrangements=value), expected)


def test_switch_max_rearrangements_0_bars_free_spaces_too():
    spaces = SHIFTABLE.replace("Kh", "-", 1)
    check(position(spaces, "4h | 2s", max_rearrangements=0), "C>5")
    check(position(spaces, "4h | 2s"), "C>5 S1>2(1) S1>5(1)")


@pytest.mark.parametrize("value", [1, 2, 5, 121])
def test_switch_no_progress_turns(value):
    batch = position(NO_ROOM, "4s | 8s", stock="9h 7h | 7s 2s", no_progress_turns=value)
    for _ in range(value):
        assert not counter(batch, "terminated")
        play(batch, "DRAW DISCARD")
    assert (counter(batch, "terminated"), counter(batch, "num_turns")) == (1, value)
