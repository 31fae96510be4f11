"""Crapô, clauses C34 to C38: winning, standstill, no circling, no progress, no penalties."""

import pytest
from positions_crapo import NO_ROOM, check, counter, hand, moves, play, position, tableau, waste

from crapo_env.crapo import GAME

ONE_ROOM = "- | Kd | Ks | Kc | Kh | Kd | Ks | Kc"  # F=1, and only queens fit on a card
GOING_ON = (0, [0, 0])
DRAWN = (1, [0, 0])


def result(batch) -> tuple[int, list[float]]:
    """Return whether the game has ended, and the rewards."""
    assert batch.rewards[0].tolist() == counter(batch, "rewards")
    return counter(batch, "terminated"), counter(batch, "rewards")


# C34. Winning.


@pytest.mark.parametrize("move", ["H>1", "H>8", "H>F", "H>OW", "H>OC"])
@pytest.mark.parametrize("current_player", [0, 1])
def test_c34_the_last_drawn_card_wins_wherever_it_goes(move, current_player):
    piles = [[], ["6c"]] if current_player == 0 else [["6c"], []]
    batch = position(
        "6h | Kd | Ks | Kc | Kh | Kd | Ks | -",
        piles,
        piles,
        [[], []],
        hand="5c",
        foundations={"c": (4, 0)},
        current_player=current_player,
    )
    play(batch, move)
    assert result(batch) == (1, [1, -1] if current_player == 0 else [-1, 1])
    check(batch, "")


@pytest.mark.parametrize("move", ["C>1", "C>8", "C>F", "C>OW", "C>OC"])
def test_c34_the_last_reserve_card_wins_wherever_it_goes(move):
    """No further card has to be drawn."""
    batch = position(
        "6h | Kd | Ks | Kc | Kh | Kd | Ks | -",
        "5c | 6c",
        "- | 6c",
        "- | 2h",
        foundations={"c": (4, 0)},
    )
    play(batch, move)
    assert result(batch) == (1, [1, -1])


def test_c34_cards_of_the_table_belong_to_nobody():
    batch = position("Kh Qs Jd | 2h | 3h | 4h | 5h | 6h | 7h | -", "5c | -", stock="- | 2h")
    play(batch, "C>8")
    assert result(batch) == (1, [1, -1])


@pytest.mark.parametrize(
    ("reserve", "waste_text", "stock"),
    [
        ("2c 5c | 6c", "- | -", "- | 2h"),
        ("5c | 6c", "2c | -", "- | 2h"),
        ("5c | 6c", "- | -", "2c | 2h"),
    ],
)
def test_c34_no_win_with_a_card_left(reserve, waste_text, stock):
    """In the reserve, the waste or the stock; a card in hand counts too."""
    batch = position(NO_ROOM, reserve, waste_text, stock, foundations={"c": (4, 0)})
    play(batch, "C>F")
    assert result(batch) == GOING_ON


def test_c34_a_card_in_hand_is_a_card_left():
    batch = position(NO_ROOM, "5c | 6c", "- | -", "- | 2h", hand="9h", foundations={"c": (4, 0)})
    play(batch, "C>F")
    assert result(batch) == GOING_ON
    play(batch, "DISCARD")
    assert result(batch) == GOING_ON


def test_c34_drawing_the_last_card_is_no_win():
    batch = position(NO_ROOM, "- | 6c", "- | -", "9h | 2h")
    play(batch, "DRAW")
    assert (result(batch), hand(batch)) == (GOING_ON, "9h")


def test_c34_loading_the_opponent_back_keeps_him_in_the_game():
    """A player without stock and waste is loaded, and the load is his to play."""
    batch = position(NO_ROOM.replace("Kh", "7c", 1), "2h | 6c", "- | -", "- | -")
    play(batch, "S1>OC")
    check(batch, "C>1")


# C35. Both players stuck.

SHIFTABLE = "8h 7c | 8d | Ks | Kc | Kh | Kd | Ks | 2d"


def test_c35_two_bare_passes():
    """A moved run does not count, and the result is a draw whatever the switch says."""
    options = {"stalemate_result": "fewest_cards"}
    batch = position(SHIFTABLE, "6s | 2c 4s", stock="- | -", **options)
    play(batch, "S1>2(1) PASS")
    assert result(batch) == GOING_ON
    assert counter(batch, "last_turn_bare_pass") == 1
    play(batch, "PASS")
    assert result(batch) == DRAWN
    assert counter(batch, "num_turns") == 2


def test_c35_a_foundation_play_between_the_passes():
    batch = position(SHIFTABLE, "6s | 2c 4s", stock="- | -", foundations={"c": (6, 0)})
    play(batch, "PASS S1>F PASS")
    assert result(batch) == GOING_ON
    play(batch, "PASS")
    assert result(batch) == GOING_ON
    play(batch, "PASS")
    assert result(batch) == DRAWN


def test_c35_a_load_between_the_passes():
    batch = position(SHIFTABLE, "8c | 2c 4s", stock="- | -")
    play(batch, "PASS S1>OC")
    assert "S1>OC" not in moves(batch) and result(batch) == GOING_ON
    play(batch, "PASS")
    assert (result(batch), counter(batch, "last_turn_bare_pass")) == (GOING_ON, 0)


def test_c35_a_reserve_play_before_the_pass():
    batch = position(SHIFTABLE, "6s 9c | 2c 4s", stock="- | -", foundations={"c": (8, 0)})
    play(batch, "C>F PASS PASS")
    assert result(batch) == GOING_ON
    play(batch, "PASS")
    assert result(batch) == DRAWN


def test_c35_a_drawn_card_before_the_pass():
    counters = {"last_turn_bare_pass": 1}
    batch = position(NO_ROOM, "4s | 8s", "- | -", "Qh | -", counters=counters)
    play(batch, "DRAW H>3 PASS")
    assert (result(batch), counter(batch, "last_turn_bare_pass")) == (GOING_ON, 0)


def test_c35_a_discard_between_the_passes():
    batch = position(NO_ROOM, "4s | 8s", "- | -", "- | 9h")
    play(batch, "PASS DRAW DISCARD PASS")
    assert result(batch) == GOING_ON
    play(batch, "DRAW DISCARD PASS")
    assert result(batch) == GOING_ON


# C37. No progress.


def test_c37_numbers_at_the_start():
    batch = position(NO_ROOM)
    assert counter(batch, "no_progress_turns") == 120
    batch.reset(5)
    assert (counter(batch, "smallest"), counter(batch, "turns_without_progress")) == ([48, 48], 0)


def test_c37_ends_after_exactly_so_many_turns():
    """Both players discard for ever: 119 turns go on, the 120th ends the game."""
    batch = position(NO_ROOM, "4s | 8s", stock="9h 7h | 7s 2s")
    for turn in range(1, 121):
        assert result(batch) == GOING_ON
        play(batch, "DRAW DISCARD")
        assert counter(batch, "turns_without_progress") == turn
    assert result(batch) == DRAWN
    assert (hand(batch), counter(batch, "num_turns")) == (None, 120)
    assert len(waste(batch, 1)) == 2
    check(batch, "")


def test_c37_help_at_the_end_of_a_long_stock():
    """The saving card is the 50th of the stock: 98 turns without progress, and the game goes on."""
    useless = ["9s", "7h", "2c", "Jd", "4s"] * 10
    stocks = [[*useless[:49], "5h"], useless]
    batch = position(NO_ROOM, "9d 6h | 9d 8s", stock=stocks, foundations={"h": (4, 0)})
    for turn in range(1, 99):
        play(batch, "DRAW DISCARD")
        assert (result(batch), counter(batch, "turns_without_progress")) == (GOING_ON, turn)
    play(batch, "DRAW H>F C>F DRAW DISCARD")
    assert (result(batch), counter(batch, "turns_without_progress")) == (GOING_ON, 0)


def test_c37_a_pass_counts_too():
    options = {"no_progress_turns": 2}
    batch = position(NO_ROOM, "4s | 8s", stock="- | 9h", **options)
    play(batch, "PASS DRAW DISCARD")
    assert (result(batch), counter(batch, "turns_without_progress")) == (DRAWN, 2)


def test_c37_a_foundation_card_from_a_space_is_progress():
    """The counter falls to zero at the end of the turn, not before."""
    start = {"turns_without_progress": 119}
    spaces = NO_ROOM.replace("Kh", "9h 8c", 1)
    batch = position(spaces, "4s | 8s", foundations={"c": (7, 0)}, counters=start)
    play(batch, "S1>F")
    assert counter(batch, "turns_without_progress") == 119
    play(batch, "DRAW DISCARD")
    assert (result(batch), counter(batch, "turns_without_progress")) == (GOING_ON, 0)
    play(batch, "DRAW DISCARD")
    assert counter(batch, "turns_without_progress") == 1


def test_c37_a_smaller_count_is_progress():
    batch = position(
        NO_ROOM, "4s | 8s", stock="Qh 7h | 7s", counters={"turns_without_progress": 119}
    )
    assert counter(batch, "smallest") == [3, 2]
    play(batch, "DRAW")
    assert (counter(batch, "smallest"), counter(batch, "turn_progress")) == ([3, 2], 0)
    play(batch, "H>3")
    assert (counter(batch, "smallest"), counter(batch, "turn_progress")) == ([2, 2], 1)
    play(batch, "DRAW DISCARD")
    assert (result(batch), counter(batch, "turns_without_progress")) == (GOING_ON, 0)


def test_c37_a_count_reached_before_is_no_progress():
    counters = {"turns_without_progress": 5, "smallest": [2, 2]}
    batch = position(NO_ROOM, "4s | 8s", stock="Qh 7h | 7s", counters=counters)
    play(batch, "DRAW H>3 DRAW DISCARD")
    assert (counter(batch, "smallest"), counter(batch, "turns_without_progress")) == ([2, 2], 6)


def test_c37_a_load_and_its_return_are_no_progress():
    """B's count goes n, n+1, n; A's never falls, as the loaded card came from a space."""
    batch = position(NO_ROOM.replace("Kh", "8s 7h", 1), "4s | 8d", "- | 8h", "9h 9h | -")
    assert counter(batch, "smallest") == [3, 2]
    play(batch, "S1>OW DRAW DISCARD")
    assert counter(batch, "turns_without_progress") == 1
    play(batch, "DRAW DISCARD DRAW DISCARD DRAW")
    assert hand(batch) == "7h"
    play(batch, "H>1 DRAW DISCARD")
    assert counter(batch, "smallest") == [3, 2]
    assert counter(batch, "turns_without_progress") == 4


def test_c37_loading_the_opponent_from_the_reserve_is_progress():
    batch = position(ONE_ROOM, "3d 7h | 6h", stock="9h | 9s")
    play(batch, "C>OC")
    assert (counter(batch, "smallest"), counter(batch, "turn_progress")) == ([2, 2], 1)


@pytest.mark.parametrize(
    ("stocks", "rewards"),
    [("9h 7h | 7s 2s 2c", [1, -1]), ("9h 7h 2d | 7s 2s", [-1, 1]), ("9h 7h | 7s 2s", [0, 0])],
)
def test_c37_fewest_cards(stocks, rewards):
    """Reserve, stock and waste are counted, the last discard included."""
    options = {"no_progress_turns": 1, "stalemate_result": "fewest_cards"}
    batch = position(NO_ROOM, "4s | 8s", stock=stocks, **options)
    play(batch, "DRAW DISCARD")
    assert result(batch) == (1, rewards)
    batch = position(NO_ROOM, "4s | 8s", stock=stocks, no_progress_turns=1)
    play(batch, "DRAW DISCARD")
    assert result(batch) == DRAWN


def test_c37_fewest_cards_counts_reserve_and_waste():
    options = {"no_progress_turns": 1, "stalemate_result": "fewest_cards"}
    batch = position(NO_ROOM, "4s 4d 4c | 8s", "- | 2d 3c", "9h | 7s 2s", **options)
    play(batch, "DRAW DISCARD")
    assert result(batch) == (1, [1, -1])


def test_c37_a_win_comes_first():
    counters = {"turns_without_progress": 119, "smallest": [1, 1]}
    batch = position(NO_ROOM, "- | 8s", "- | -", "- | 2s", hand="Qh", counters=counters)
    play(batch, "H>3")
    assert result(batch) == (1, [1, -1])


def test_c37_a_standstill_comes_before_it():
    """Two bare passes at the very limit are a draw, although the switch names a winner."""
    options = {"no_progress_turns": 2, "stalemate_result": "fewest_cards"}
    batch = position(NO_ROOM, "4s | 8s 3d", stock="- | -", **options)
    play(batch, "PASS PASS")
    assert result(batch) == DRAWN
    options["no_progress_turns"] = 1
    batch = position(NO_ROOM, "4s | 8s 3d", stock="- | -", **options)
    play(batch, "PASS")
    assert result(batch) == (1, [1, -1])


# C38. What is not part of the game.


def test_c38_a_missed_play_costs_nothing():
    """A seven left on a space and a reserve left where it was: no reward, no card, no end."""
    batch = position(NO_ROOM.replace("Kh", "7d", 1), "4s | 8s", foundations={"d": (6, 0)})
    check(batch, "S1>F DRAW")
    before = [counter(batch, name) for name in ("reserve_size", "foundation")]
    play(batch, "DRAW DISCARD")
    assert result(batch) == GOING_ON
    assert [counter(batch, name) for name in ("reserve_size", "foundation")] == before
    assert tableau(batch)[0] == ["7d"]


def test_c38_outcomes_are_win_loss_or_draw():
    assert GAME.dtype["rewards"].shape == (2,)
    batch = position(NO_ROOM, "5c | 6c", "- | -", "- | 2h", foundations={"c": (4, 0)})
    play(batch, "C>F")
    assert sorted(result(batch)[1]) == [-1, 1]
