"""Crapô, clauses C1 to C9: packs, ranking, deal, starter, spaces, foundations."""

import math
from collections import Counter

import chi_square
import numpy as np
import pytest
from positions_crapo import (
    NO_ROOM,
    check,
    counter,
    deal,
    deck,
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

from crapo_env.batch import Batch
from crapo_env.cards import CARD_NAMES, NUM_CARDS
from crapo_env.crapo import state
from crapo_env.crapo.checks import check_state
from crapo_env.runs import run_from_names

RANKING = "KQJT98765432A"  # from high to low
NUM_DEALS = 20_000


@pytest.fixture(scope="module")
def dealt() -> np.ndarray:
    """The 52 cards of both players in the order in which they are counted, by deal and player."""
    batch = Batch("crapo", NUM_DEALS)
    batch.reset(0)
    card_of_run = {run_from_names([name]): card for card, name in enumerate(CARD_NAMES)}
    turned = np.vectorize(card_of_run.get)(batch.games["tableau"]).reshape(NUM_DEALS, 2, 4)
    first, last = batch.games["reserve"][..., :14], batch.games["ring"][..., :34]
    return np.concatenate([first, turned, last], axis=2)


# C1. Equipment.


def test_c1_every_card_exists_twice(dealt):
    expected = np.repeat(np.arange(NUM_CARDS), 2)
    assert (np.sort(dealt.reshape(NUM_DEALS, 104), axis=1) == expected).all()


def test_c1_a_third_copy_is_refused():
    cards = deck("Ah Kc Kd Ks | 2c 2d 3h 3s", stock="7h 7h | -")
    cards[cards.index("8h")] = "7h"
    with pytest.raises(ValueError, match="7h 3 times"):
        deal(cards)
    with pytest.raises(ValueError, match="104 cards"):
        deal(cards[:-1])


def test_c1_no_card_is_lost_in_play():
    batch = Batch("crapo", 20)
    batch.reset(1)
    rng = np.random.default_rng(1)
    for n in range(400):
        batch.step(batch.legal[np.arange(20), rng.integers(batch.num_legal)])
        if n % 20 == 0:
            check_state(batch.games)


def test_c1_copies_are_interchangeable():
    """Either `7h` on the hearts leaves the same position."""
    tableau_text = "8s 7h | 8c 7h | Ks | Kc | Ks | Kc | Ks | Kc"
    batches = [position(tableau_text, "4d | 4c", foundations={"h": (6, 6)}) for _ in range(2)]
    play(batches[0], "S1>F S2>F")
    play(batches[1], "S2>F S1>F")
    names = [name for name in batches[0].games.dtype.names if name != "seen"]
    for name in names:
        assert (batches[0].games[name] == batches[1].games[name]).all(), name


# C2. Ranking.


@pytest.mark.parametrize("top", RANKING)
def test_c2_order_on_spaces(top):
    """Of all ranks only the next lower one goes on a top; nothing goes on an ace."""
    lower = RANKING[RANKING.index(top) + 1 :][:1]
    for rank in RANKING:
        batch = position(f"{top}s | " + "2h | " * 6 + "2h", hand=f"{rank}h", aces="optional")
        assert ("H>1" in moves(batch)) == (rank == lower)


@pytest.mark.parametrize("top", RANKING)
def test_c2_order_of_loads(top):
    """Of all ranks only the two neighbours load a top; ace and king are no neighbours."""
    at = RANKING.index(top)
    neighbours = {RANKING[i] for i in (at - 1, at + 1) if 0 <= i < len(RANKING)}
    for rank in RANKING:
        batch = position(NO_ROOM, waste=f"- | {top}d", hand=f"{rank}d", aces="optional")
        assert ("H>OW" in moves(batch)) == (rank in neighbours)


@pytest.mark.parametrize("height", range(14))
def test_c2_order_on_foundations(height):
    """On a pile of so many cards only the next rank goes; nothing follows the king."""
    for n, rank in enumerate(reversed(RANKING)):
        heights = {"c": (height, height)}
        batch = position(NO_ROOM, hand=f"{rank}c", foundations=heights, aces="optional")
        assert ("H>F" in moves(batch)) == (n == height)


# C3. Swapping halves.


def owned_copies(dealt: np.ndarray) -> np.ndarray:
    """Return how many copies of each face player 0 owns in each deal."""
    deals = np.arange(len(dealt))[:, None]
    copies = np.zeros((len(dealt), NUM_CARDS), int)
    np.add.at(copies, (deals, dealt[:, 0]), 1)
    return copies


def singles_chances(weight) -> list[float]:
    """Return the chances that player 0 owns one copy of 0, 2, ..., 52 faces.

    `weight` is the number of ways to divide the copies if the faces owned once are given.
    """
    ways = []
    for m in range(0, NUM_CARDS + 1, 2):
        pairs = (NUM_CARDS - m) // 2
        ways.append(math.comb(NUM_CARDS, m) * math.comb(NUM_CARDS - m, pairs) * weight(m))
    return [way / sum(ways) for way in ways]


def test_c3_chances_of_each_number_of_copies(dealt):
    copies = owned_copies(dealt)
    assert copies.sum(axis=1).tolist() == [NUM_CARDS] * NUM_DEALS
    for card in range(NUM_CARDS):
        counts = np.bincount(copies[:, card], minlength=3)
        assert chi_square.fits(counts, [1 / 4, 1 / 2, 1 / 4]), CARD_NAMES[card]


def test_c3_not_a_deal_from_a_joint_pack(dealt):
    """The number of faces owned once tells 26 of each pack from 52 out of a joint 104."""
    singles = (owned_copies(dealt) == 1).sum(axis=1)
    assert not (singles % 2).any()
    counts = np.bincount(singles // 2, minlength=27)
    halves = singles_chances(lambda m: math.comb(m, m // 2))
    joint = singles_chances(lambda m: 2**m)
    assert chi_square.fits(counts, halves)
    assert not chi_square.fits(counts, joint)


def test_c3_exactly_26_cards_of_each_pack_change_hands(monkeypatch):
    """Packs are marked after the first shuffles and counted at the shuffles of what is owned."""
    shuffled = []

    def mark_instead(_, cards):
        shuffled.append(cards.copy())
        if len(shuffled) == 2:
            cards += NUM_CARDS

    monkeypatch.setattr(state, "shuffle", mark_instead)
    owned = np.zeros(104, np.int16)
    getattr(state.shuffle_packs, "py_func", state.shuffle_packs)(None, owned)
    assert len(shuffled) == 4
    for cards in (owned[:NUM_CARDS], owned[NUM_CARDS:], shuffled[2], shuffled[3]):
        assert (cards < NUM_CARDS).sum() == 26 == (cards >= NUM_CARDS).sum()
    assert (np.sort(owned) == np.arange(104)).all()


def test_c3_two_faces_together(dealt):
    """Copies of two faces: by pack, both in the own half has the chance 26/52 * 25/51."""
    copies = owned_copies(dealt)
    both, one = 26 / 52 * 25 / 51, 26 / 52 * 26 / 51  # of one pack: both faces, only the first
    one_pack = {(1, 1): both, (1, 0): one, (0, 1): one, (0, 0): both}
    chances = Counter()
    for (a, b), p in one_pack.items():
        for (c, d), q in one_pack.items():
            chances[3 * (a + c) + b + d] += p * q
    counts = np.bincount(3 * copies[:, 0] + copies[:, 20], minlength=9)
    assert chi_square.fits(counts, [chances[k] for k in range(9)])


@pytest.mark.parametrize("place", [0, 12, 13, 14, 17, 18, 51])
def test_c3_every_place_is_shuffled(dealt, place):
    for p in range(2):
        counts = np.bincount(dealt[:, p, place], minlength=NUM_CARDS)
        assert chi_square.fits(counts, [1 / NUM_CARDS] * NUM_CARDS)


# C4, C5. The reserve and the four cards shown.


def test_c4_thirteen_face_down_and_one_on_top():
    cards = deck("Ah Kc Kd Ks | 2c 2d 3h 3s")
    batch = deal(cards)
    assert [reserve(batch, p) for p in range(2)] == [cards[:14], cards[52:66]]
    assert counter(batch, "reserve_down") == [13, 13]


def test_c4_the_card_counted_thirteenth_surfaces_next():
    cards = deck("Ah Kc Kd Ks | 2c 2d 3h 3s", "2s 8d Ac | 6c")
    batch = deal(cards)
    play(batch, "C>F")
    assert (reserve(batch, 0)[-1], counter(batch, "reserve_down")) == ("8d", [12, 13])


def test_c5_next_four_are_turned():
    cards = deck("Ah Kc Kd Ks | 2c 2d 3h 3s")
    batch = deal(cards)
    assert tableau(batch) == [[card] for card in cards[14:18] + cards[66:70]]
    assert [len(stock(batch, p)) for p in range(2)] == [34, 34]


# C6. Who plays first.


@pytest.mark.parametrize(
    ("turned", "tops", "starter"),
    [
        ("2h 5c 9d Kd | 2s 5d 8c Kc", "5h | 6c", 1),  # third
        ("3h 3c 7d 9s | 9d 7c 3d 3s", "Th | 4s", 1),  # reserve tops
        ("Kd 9d 5c Ah | 2s 2d 2c 2h", "Kh | As", 0),  # lowest, turned last
        ("2s 2d 2c 2h | Kd 9d 5c Ah", "As | Kh", 1),
        ("4h Kd Kc Ks | 4s 5d 5c 5h", "Kh | As", 1),  # second
        ("9c 4h 6d Qs | Jc 6s 4d 9h", "Kh | As", 1),  # fourth: Q against J
        ("9c 4h 6d Ts | Jc 6s 4d 9h", "Kh | As", 0),
        ("7h 7d 8c 8s | 7s 7c 8d 8h", "Ah | 2s", 0),  # an ace is the lowest reserve top
    ],
)
def test_c6_first_difference_decides(turned, tops, starter):
    cards = deck(turned, tops)
    swapped = cards[52:] + cards[:52]
    for seed in range(4):
        assert counter(deal(cards, seed), "current_player") == starter
        assert counter(deal(swapped, seed), "current_player") == 1 - starter


def test_c6_a_fair_coin_if_all_five_are_equal():
    batch = Batch("crapo", 4000)
    cards = deck("3h 3c 7d 9s | 9d 7c 3d 3s", "Th | Ts")
    batch.deal(cards, seed=0)
    coins = batch.current_player.copy()
    assert chi_square.fits(np.bincount(coins, minlength=2), [1 / 2, 1 / 2])
    batch.deal(cards, seed=0)
    assert (batch.current_player == coins).all()


def test_c6_shuffled_deals_follow_the_order(dealt):
    batch = Batch("crapo", NUM_DEALS)
    batch.reset(0)
    ranks = dealt[:, :, 13:18] % 13
    keys = np.concatenate([np.sort(ranks[:, :, 1:], axis=2), ranks[:, :, :1]], axis=2)
    difference = keys[:, 0] - keys[:, 1]
    first = np.take_along_axis(difference, (difference != 0).argmax(axis=1)[:, None], axis=1)[:, 0]
    decided = first != 0
    assert (batch.current_player[decided] == (first[decided] > 0)).all()
    assert decided.mean() > 0.999


# C7. The stock.


def test_c7_the_other_34_are_the_stock():
    cards = deck("Ah Kc Kd Ks | 2c 2d 3h 3s")
    batch = deal(cards)
    assert [stock(batch, p) for p in range(2)] == [cards[18:52], cards[70:]]
    assert [waste(batch, p) for p in range(2)] == [[], []]
    assert counter(batch, "stock_known") == [0, 0]


def test_c7_the_19th_card_is_drawn_first():
    batch = deal(deck("2h Kc Kd Ks | Kc Kd 3h 3s", "9c | 6c", "Jh 4d | -"))
    assert counter(batch, "current_player") == 0
    play(batch, "DRAW")
    assert (hand(batch), stock(batch, 0)[0], len(stock(batch, 0))) == ("Jh", "4d", 33)


# C8, C9. Spaces and foundations.


def test_c8_player_0_fills_1_to_4():
    batch = deal(deck("5c Kd 2h 9s | Jc 3d 3s 8h"))
    assert tableau(batch) == [[card] for card in "5c Kd 2h 9s Jc 3d 3s 8h".split()]
    assert counter(batch, "current_player") == 0


def test_c8_both_players_use_all_spaces():
    batch = position(
        "2h | Kd | Ks | Kc | 2d | Kd | Ks | Kc", "3s | 4d", "- | Ah", foundations={"s": (2, 0)}
    )
    check(batch, "C>F S1>OW")
    batch = position(
        "2h | Kd | Ks | Kc | 2d | Kd | Ks | Kc",
        "4d | 3s",
        "Ad | -",
        current_player=1,
        foundations={"s": (2, 0)},
    )
    check(batch, "C>F S5>OW")


def test_c8_no_space_is_free_at_the_start(dealt):
    batch = Batch("crapo", 100)
    batch.reset(0)
    assert (batch.games["tableau"] != 0).all()
    at = batch.game.fields.offsets["free_spaces"]
    assert (batch.observations[:, at] == 0).all()


def test_c9_all_foundations_start_empty():
    batch = deal(deck("Ah Kc Kd Ks | 2c 2d 3h 3s"))
    assert foundations(batch) == {key: [0, 0] for key in "hsdc"}


def test_c9_two_piles_of_each_suit():
    """Both aces of a suit go to its own two piles, whatever else stands empty."""
    for suit in "hsdc":
        batch = position(f"A{suit} | A{suit} | " + "9h | " * 5 + "9h", "9c | 9d")
        check(batch, "S1>F S2>F")
        play(batch, "S2>F S1>F")
        assert foundations(batch) == {key: [0, 0] for key in "hsdc"} | {suit: [1, 1]}


def test_c9_a_card_goes_to_its_suit_only():
    heights = {"h": (3, 3), "s": (3, 0), "d": (2, 0), "c": (4, 2)}
    fitting = {"4h", "4s", "As", "3d", "Ad", "5c", "3c"}
    for card in CARD_NAMES:
        batch = position(NO_ROOM, hand=card, foundations=heights, aces="optional")
        assert ("H>F" in moves(batch)) == (card in fitting), card
