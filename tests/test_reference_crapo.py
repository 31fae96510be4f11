"""Tests of the slow Crapô reference: the written positions TC1-TC13, clauses, random playouts."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from reference_crapo import PACK, RANKS, SUITS, CrapoReference, random_deck

NO_ROOM = "Kh | Kd | Ks | Kc | Kh | Kd | Ks | Kc"  # F=0, and only queens and aces fit anywhere
TC1_SPACES = "Th | 5c | Kd | 7s | Qs | 2d | 8h | Jc"
TC2_SPACES = "Th | 5c | Kd | 7s | Qs | 2d | 8h | -"
TC4_SPACES = "3s | 7h | 2d Ac | 9c | Jd | 5s | Kc | -"
TC5_SPACES = "9d | Kh | Ks | Qc | 5h | 2s | Jd | 3c"
TC7_SPACES = "9s | Kh | Ks | Qc | 5h | 2s | - | -"
TC9_SPACES = "Kh | Kd | Ks | Kc | Qh | Th | Td | 8s"
TC11_SPACES = "Qd Js Th | Qh Jc | Kh | Kd | 6s | 8c | 4c | 2d"


def piles(text: str) -> list[list[str]]:
    """Read piles written as "Kd Qs | 4h | -"."""
    return [pile.replace("-", "").split() for pile in text.split("|")]


def position(
    spaces: str,
    crapo: str = "- | -",
    waste: str = "- | -",
    stock: str = "Kh Ks | Kd Kc",
    **details: Any,
) -> CrapoReference:
    """Build a position from pile texts; both stocks hold something unless said."""
    return CrapoReference.from_position(
        piles(spaces), piles(crapo), piles(stock), piles(waste), **details
    )


def check(game: CrapoReference, expected: str, folded: str | None = None) -> None:
    """Compare the unfolded and the folded legal moves with written lists."""
    assert sorted(game.legal_moves(fold=False)) == sorted(expected.split())
    wanted = expected if folded is None else folded
    assert sorted(game.legal_moves()) == sorted(wanted.split())


def play(game: CrapoReference, moves: str) -> None:
    """Apply the moves of a text one after the other."""
    for move in moves.split():
        game.apply(move)


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


def test_set_up() -> None:
    """C4-C9: where the cards of a written deck lie."""
    deck = random_deck(random.Random(1))
    game = CrapoReference(deck)
    assert game.spaces == [[card] for card in deck[14:18] + deck[66:70]]
    assert game.crapo == [deck[:14], deck[52:66]]
    assert game.crapo_face_down == [13, 13]
    assert game.stock == [deck[18:52], deck[70:]]
    assert (game.waste, game.hand, game.stock_known) == ([[], []], None, [False, False])
    assert game.foundations == {s: [0, 0] for s in SUITS}
    assert game.smallest_count == [48, 48] == [game.card_count(0), game.card_count(1)]


def test_bad_deck_and_bad_options() -> None:
    """A wrong deck, switch value or counter is an error."""
    deck = random_deck(random.Random(1))
    with pytest.raises(ValueError):
        CrapoReference(["7h", *deck[1:-1], "7h"])
    with pytest.raises(ValueError):
        CrapoReference(deck, aces="always")
    with pytest.raises(ValueError):
        position(NO_ROOM, counters={"turn_count": 1})


def test_random_deck_owns_half_of_each_pack() -> None:
    """C3: 0, 1 or 2 copies with probabilities 1/4, 1/2, 1/4, and 52 cards each."""
    copies: Counter[int] = Counter()
    for seed in range(100):
        deck = random_deck(random.Random(seed))
        assert sorted(deck) == sorted(PACK + PACK)
        owned = Counter(deck[:52])
        copies.update(owned[card] for card in PACK)
    assert [round(copies[n] / 5200, 1) for n in (0, 1, 2)] == [0.2, 0.5, 0.2]


# Single clauses.


def test_c13_foundations() -> None:
    """C13: hearts at 4 and 0 take the 5h and no 2h, 6h; the fitting pile grows."""
    for card, fits in (("5h", True), ("6h", False), ("2h", False)):
        game = position(NO_ROOM, f"{card} | 2s", foundations={"h": [4, 0]})
        assert ("C>F" in game.legal_moves()) == fits
    game = position(NO_ROOM, "Ah | 2s", foundations={"h": [4, 0]})
    play(game, "C>F")
    assert sorted(game.foundations["h"]) == [1, 4]


def test_c14_aces_while_holding() -> None:
    """C14: in the holding phase every available ace comes before all else."""
    spaces = NO_ROOM.replace("Kc | Kh", "2h Ac | -")
    check(position(spaces, "4h | 2s", hand="Ad"), "H>F S4>F")
    check(position(spaces, "Ah | 2s", hand="9d"), "C>F S4>F")
    free = position(spaces, "4h | 2s", hand="Ad", drawn_card="may_discard")
    assert "DISCARD" not in free.legal_moves()


def test_optional_ace_blocks_draw_and_discard() -> None:
    """A-C5: a crapo ace blocks `DRAW`, a drawn ace blocks `DISCARD` under must_play only."""
    check(position(NO_ROOM, "Ah | 2s", aces="optional"), "C>F")
    table = {"spaces": NO_ROOM, "crapo": "9h | 2s", "hand": "As", "aces": "optional"}
    check(position(**table), "H>F")
    check(position(**table, drawn_card="may_discard"), "H>F DISCARD")


def test_c16_next_card_is_turned_up_without_room() -> None:
    """C16 and C39: face-down cards are counted from the bottom; loads lie face up."""
    spaces = NO_ROOM.replace("Kh", "-", 1)
    game = position(spaces, "3c 6d 9s | 4c 5s 5h", crapo_face_down=[2, 1], waste="- | 8h")
    play(game, "C>1")
    assert (game.crapo[0], game.crapo_face_down[0], game.free_spaces()) == (["3c", "6d"], 1, [])
    assert game.crapo_face_down[1] == 1
    loading = position(NO_ROOM.replace("Kh", "Jd", 1), "3c | 4c Td", draw_gate="any_time")
    play(loading, "S1>OC")
    assert (loading.crapo[1], loading.crapo_face_down[1]) == (["4c", "Td", "Jd"], 1)


def test_c17_loads_turn_direction() -> None:
    """C17: a 9h on the 8h, then back to 8h or on to Th; no wrap from king to ace."""
    spaces = NO_ROOM.replace("Kh | Kd | Ks | Kc", "9h | 8h | Th | 9d", 1)
    game = position(spaces, "3c | 5c", "- | 8h")
    assert [m for m in game.legal_moves() if m.endswith("OW")] == ["S1>OW"]
    play(game, "S1>OW")
    assert [m for m in game.legal_moves() if m.endswith("OW")] == ["S2>OW", "S3>OW"]
    wrap = position(NO_ROOM, "3c | 5c", "- | Ah")
    check(wrap, "DRAW")


def test_c18_c19_c20_c21_conditions_of_loads() -> None:
    """C18-C21: which loads need a free space."""
    table = {"spaces": NO_ROOM, "crapo": "7h | 6c", "waste": "- | 8h"}
    check(position(**table), "DRAW")
    check(position(**table, hand="5c"), "DISCARD")
    check(position(NO_ROOM, "7h | 6c", "- | 4c", hand="5c"), "H>OW DISCARD")
    table["spaces"] = NO_ROOM.replace("Kh", "-", 1)
    check(position(**table), "C>1 C>OW")
    check(position(**table, hand="5c"), "C>1 C>OW H>1 H>OC")
    fit = {"crapo_gate": "fit", "hand": "5c"}
    check(position(NO_ROOM, "7h | 6c", "- | 8h", **fit), "C>OW DISCARD")


def test_c26_fit_gate_and_any_time() -> None:
    """A-C6 and A-C11: a load never blocks the draw, a fitting space does under `fit`."""
    check(position(NO_ROOM, "7h | 8h", crapo_gate="fit"), "C>OC DRAW")
    check(position(NO_ROOM, "Qh | 2s", crapo_gate="fit"), "C>3 C>4 C>7 C>8")
    room = NO_ROOM.replace("Kh", "-", 1)
    check(position(room, "7h | 2s", draw_gate="any_time"), "C>1 DRAW")
    check(position(room, "7h | 2s", stock="- | 4s", draw_gate="any_time"), "C>1 PASS")
    check(position(room, "7h | 2s", stock="- | 4s"), "C>1")


def test_c24_capacity_into_a_free_space() -> None:
    """C24: with F=1, 2, 3 at most 1, 2, 2 cards of three, never the whole pile."""
    for free, sizes in ((1, [1]), (2, [1, 2]), (3, [1, 2])):
        rest = ["4s"] * (7 - free) + ["-"] * free
        game = position(" | ".join(["Ks Qh Js", *rest]), "- | 2c")
        first = 9 - free
        moves = [m for m in game.legal_moves() if m.startswith("S1")]
        assert moves == [f"S1>{first}({k})" for k in sizes]


def test_c30_crapo_before_the_next_draw() -> None:
    """C30: a played drawn card can oblige the crapo top to follow."""
    game = position(NO_ROOM, "5d | 2s", hand="4d", foundations={"d": [3, 0]})
    check(game, "H>F")
    play(game, "H>F")
    check(game, "C>F")


def test_c34_win_with_the_crapo_top() -> None:
    """C34: the last card may also leave from the crapo, without a draw."""
    game = position(
        NO_ROOM, "5c | 4d", "- | -", "4s | -", current_player=1, foundations={"d": [3, 0]}
    )
    play(game, "C>F")
    assert (game.terminated, game.rewards, game.current_player) == (True, [-1, 1], 1)


def test_c35_two_bare_passes() -> None:
    """C35: moves between spaces do not count, anything else does."""
    spaces = "8h 7c | 8d | Ks | Kc | Kh | Kd | Ks | 2d"
    table = {"spaces": spaces, "crapo": "6s | 2c 4s", "stock": "- | -"}
    options = {"stalemate_result": "fewest_cards", "no_progress_turns": 2}
    game = position(**table, **options)
    play(game, "S1>2(1) PASS")
    assert (game.terminated, game.turn_is_bare, game.last_turn_was_bare_pass) == (False, True, True)
    play(game, "PASS")
    assert (game.terminated, game.rewards, game.num_turns) == (True, [0, 0], 2)
    other = position(**table, foundations={"c": [6, 0]})
    play(other, "PASS S1>F PASS")
    assert (other.terminated, other.last_turn_was_bare_pass) == (False, False)
    play(other, "PASS PASS")
    assert (other.terminated, other.num_turns) == (True, 4)


def test_c35_a_drawn_card_is_not_bare() -> None:
    """C35: a turn that drew, played and passed is not a bare pass."""
    game = position(
        NO_ROOM, "4s | 8s", "- | -", "Qh | -", counters={"last_turn_was_bare_pass": True}
    )
    play(game, "DRAW H>3 PASS")
    assert (game.terminated, game.last_turn_was_bare_pass) == (False, False)


def test_c36_limit_of_rearrangements() -> None:
    """C36: the counter bars all moves between spaces until another action."""
    spaces = "Kh Qs | Kd | 5h 4s | 5d | 2c | 2c | 2c | 2c"
    check(position(spaces, "9h | 9d"), "S1>2(1) S3>4(1) DRAW")
    for limit, left in ((1, "DRAW"), (2, "S3>4(1) DRAW")):
        game = position(spaces, "9h | 9d", max_rearrangements=limit)
        play(game, "S1>2(1)")
        assert game.rearrangements == 1
        check(game, left)
    play(game, "DRAW")
    assert game.rearrangements == 0
    check(game, "S2>1(1) S3>4(1) DISCARD")
    play(game, "S2>1(1) S3>4(1)")
    check(game, "DISCARD")


def test_c36_arrangements_ignore_numbers_and_copies() -> None:
    """C36: swapping equal piles between space numbers recreates an arrangement."""
    spaces = "Kh Qs | Kh | Kd | Kd | 4s | 4s | 4s | 4s"
    game = position(spaces, "9c | 9d")
    check(game, "S1>3(1) S1>4(1) DRAW")


def test_c37_no_progress() -> None:
    """C37: a load and its return is no progress; the limit ends the game at a turn end."""
    table = {"spaces": NO_ROOM, "crapo": "4s | 8s", "stock": "9h 7h | 7s 2s 2d"}
    game = position(**table, no_progress_turns=2)
    play(game, "DRAW DISCARD")
    assert (game.turns_without_progress, game.terminated) == (1, False)
    play(game, "DRAW DISCARD")
    assert (game.turns_without_progress, game.rewards, game.terminated) == (2, [0, 0], True)
    few = position(**table, no_progress_turns=2, stalemate_result="fewest_cards")
    play(few, "DRAW DISCARD DRAW DISCARD")
    assert (few.terminated, few.rewards) == (True, [1, -1])


def test_c37_progress_is_a_new_smallest_count() -> None:
    """C37: only a count below the smallest so far is progress."""
    spaces = NO_ROOM.replace("Kh", "8c", 1)
    table = {"spaces": spaces, "crapo": "4s | 8s", "stock": "7h 9s | 7s"}
    game = position(**table, counters={"smallest_count": [3, 2], "turns_without_progress": 5})
    play(game, "DRAW H>1")
    assert (game.smallest_count, game.turn_had_progress) == ([2, 2], True)
    play(game, "DRAW DISCARD")
    assert game.turns_without_progress == 0
    again = position(**table, counters={"smallest_count": [2, 2], "turns_without_progress": 5})
    play(again, "DRAW H>1 DRAW DISCARD")
    assert again.turns_without_progress == 6


def test_c37_progress_by_a_foundation_card() -> None:
    """C37: a card from a space to a foundation is progress; the counter falls at the turn end."""
    spaces = NO_ROOM.replace("Kh", "9h 8c", 1)
    start = {"foundations": {"c": [7, 0]}, "counters": {"turns_without_progress": 5}}
    game = position(spaces, "4s | 8s", **start)
    play(game, "S1>F")
    assert (game.turns_without_progress, game.smallest_count) == (5, [3, 3])
    play(game, "DRAW DISCARD")
    assert game.turns_without_progress == 0


def test_illegal_moves_change_nothing() -> None:
    """An illegal or nonsensical move is named and leaves the game as it was."""
    game = position(TC1_SPACES, "9s | 6d", "- | 8s")
    before = repr(vars(game))
    for move in ("C>1", "C>F", "H>1", "DISCARD", "PASS", "S1>8(01)", "S9>1(1)", "", "draw"):
        with pytest.raises(ValueError, match="illegal move"):
            game.apply(move)
    assert repr(vars(game)) == before


# Random playouts.


def all_cards(game: CrapoReference) -> Counter[str]:
    """Count every card of the game, the foundations included."""
    cards: Counter[str] = Counter()
    for pile in game.spaces + game.crapo + game.stock + game.waste:
        cards.update(pile)
    for suit, heights in game.foundations.items():
        for height in heights:
            cards.update(rank + suit for rank in RANKS[:height])
    if game.hand is not None:
        cards[game.hand] += 1
    return cards


def check_state(game: CrapoReference) -> None:
    """Check what must hold after every move."""
    assert all_cards(game) == Counter(PACK + PACK)
    for player in (0, 1):
        assert game.crapo_face_down[player] <= max(len(game.crapo[player]) - 1, 0)
        assert game.smallest_count[player] <= game.card_count(player)
    if game.terminated:
        assert (game.legal_moves(), sum(game.rewards)) == ([], 0)
        return
    assert 0 <= game.rearrangements <= game.options["max_rearrangements"]
    assert game.card_count(game.current_player) > 0
    folded, unfolded = game.legal_moves(), game.legal_moves(fold=False)
    assert folded and set(folded) <= set(unfolded)
    assert len(set(unfolded)) == len(unfolded)


def play_out(seed: int, **options: Any) -> CrapoReference:
    """Play one checked game with uniformly random moves."""
    rng = random.Random(seed)
    game = CrapoReference(random_deck(rng), starter=rng.randrange(2), **options)
    check_state(game)
    while not game.terminated:
        game.apply(rng.choice(game.legal_moves(fold=seed % 2 == 0)))
        check_state(game)
    return game


@pytest.mark.parametrize("seed", range(50))
def test_random_games(seed: int) -> None:
    """Whole random games with the defaults end, and winners have no card left."""
    game = play_out(seed)
    for player in (0, 1):
        assert (game.rewards[player] == 1) == (game.card_count(player) == 0)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("aces", "optional"),
        ("drawn_card", "may_discard"),
        ("rearrange_while_holding", False),
        ("tableau_loading", False),
        ("crapo_gate", "fit"),
        ("draw_gate", "any_time"),
        ("stalemate_result", "fewest_cards"),
        ("max_rearrangements", 2),
        ("no_progress_turns", 10),
    ],
)
def test_random_games_with_one_switch(name: str, value: Any) -> None:
    """A few whole random games with each switch."""
    for seed in (1, 2):
        assert play_out(seed, **{name: value}).terminated


def test_random_games_with_all_switches() -> None:
    """Whole random games with every switch away from its default."""
    options = {
        "aces": "optional",
        "drawn_card": "may_discard",
        "rearrange_while_holding": False,
        "tableau_loading": False,
        "crapo_gate": "fit",
        "draw_gate": "any_time",
        "stalemate_result": "fewest_cards",
    }
    for seed in (1, 2):
        assert play_out(seed, **options).terminated
