"""Tests of the slow Crapô reference: single clauses and random playouts."""

import random
from collections import Counter
from typing import Any

import pytest
from positions_reference_crapo import NO_ROOM, TC1_SPACES, check, play, position
from reference_crapo import PACK, RANKS, SUITS, CrapoReference, random_deck


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
