"""Crapô, clause C39: what both players see, and that every entry of the observation says so."""

import numpy as np
import pytest
from positions_crapo import (
    NO_ROOM,
    counter,
    deal,
    foundations,
    hand,
    play,
    position,
    reserve,
    stock,
    tableau,
    waste,
)

from crapo_env.batch import Batch
from crapo_env.cards import CARD_NAMES, NUM_CARDS
from crapo_env.crapo.observation import FIELDS

FACE_DOWN = 53
SIDES = ("own", "opponent")


def fields(batch, seat: int) -> dict[str, np.ndarray]:
    """Return the named fields of what a seat sees."""
    return FIELDS.split(batch.observe(seat)[0])


def shown(row: np.ndarray) -> list[str]:
    """Return the cards that a row of 52 shows."""
    return [CARD_NAMES[card] for card in row.nonzero()[0]]


def listed(row: np.ndarray) -> list[str]:
    """Return the cards of a list of codes, "?" for a card that lies face down."""
    return ["?" if code == FACE_DOWN else CARD_NAMES[code - 1] for code in row[row > 0]]


@pytest.fixture
def example():
    """A position with something in every pile; player 1 is on turn and holds a card."""
    return position(
        "Kh Qs | 7d | Ks | Kc | Kh | - | Ks | -",
        "2c 3d 9s | 2h Td Jd",
        "4s 6c | 8h 8c",
        "3h 3c | 9d 5s",
        foundations={"h": (2, 0), "s": (13, 12)},
        hand="5d",
        current_player=1,
        face_down=(2, 1),
        stock_known=(0, 1),
    )


# Public cards.


@pytest.mark.parametrize("seat", [0, 1])
def test_c39_spaces_foundations_and_drawn_card(example, seat):
    seen = fields(example, seat)
    spaces = [["Kh", "Qs"], ["7d"], ["Ks"], ["Kc"], ["Kh"], [], ["Ks"], []]
    assert [sorted(shown(row)) for row in seen["tableau"]] == [sorted(pile) for pile in spaces]
    assert seen["foundation"].tolist() == [[2, 0], [13, 12], [0, 0], [0, 0]]
    assert shown(seen["hand"]) == ["5d"]
    assert (seen["free_spaces"].tolist(), seen["on_turn"].tolist()) == ([2], [seat])


@pytest.mark.parametrize("seat", [0, 1])
def test_c39_piles_of_both_players(example, seat):
    """Tops and sizes, the wastes in full, loaded reserve cards with the once visible top."""
    seen = fields(example, seat)
    expected = {
        0: (["9s"], ["6c"], ["?", "?", "4s", "6c"], ["9s"], [3, 2, 2, 2]),
        1: (["Jd"], ["8c"], ["9d", "5s", "8h", "8c"], ["Td", "Jd"], [3, 1, 2, 2]),
    }
    for side, name in enumerate(SIDES):
        found = (
            shown(seen[f"{name}_reserve_top"]),
            shown(seen[f"{name}_waste_top"]),
            listed(seen[f"{name}_cycle"]),
            listed(seen[f"{name}_reserve_up"]),
            seen[f"{name}_sizes"].tolist(),
        )
        assert found == expected[seat ^ side]
    assert seen["stock_known"].tolist() == [seat, 1 - seat]


def test_c39_nothing_lies_on_empty_piles():
    seen = fields(position(NO_ROOM, "4s | -", "- | -", "- | -"), 0)
    for name in ("opponent_reserve_top", "own_waste_top", "opponent_waste_top", "hand"):
        assert shown(seen[name]) == []
    for name in ("own_cycle", "opponent_cycle", "opponent_reserve_up"):
        assert listed(seen[name]) == []


@pytest.mark.parametrize("seat", [0, 1])
def test_c39_the_order_of_a_turned_over_stock_is_known(seat):
    batch = position(NO_ROOM, "6s | Tc", "4h 9c Jd | 5s", "- | 2h")
    play(batch, "DRAW")
    seen = fields(batch, seat)
    assert listed(seen[f"{SIDES[seat]}_cycle"]) == ["9c", "Jd"]
    assert shown(seen["hand"]) == ["4h"]
    assert "stock 2 9c Jd" in batch.game.render(batch.games, seat)


@pytest.mark.parametrize("seat", [0, 1])
def test_c39_a_discard_behind_a_hidden_stock_is_known(seat):
    batch = position(NO_ROOM, "6s | Tc", "4h | 5s", "9c Jd Td | 2h")
    play(batch, "DRAW DISCARD")
    assert listed(fields(batch, seat)[f"{SIDES[seat]}_cycle"]) == ["?", "?", "4h", "9c"]


def test_c39_loaded_cards_stay_known():
    """A load covers the visible top; when it leaves, the top is on view again, nothing else."""
    batch = position(
        NO_ROOM.replace("Kh", "Qd", 1), "5c | 2h 4c Kd", stock="9h | 9s", foundations={"d": (11, 9)}
    )
    play(batch, "S1>OC")
    for seat in range(2):
        assert listed(fields(batch, seat)[f"{SIDES[1 - seat]}_reserve_up"]) == ["Kd", "Qd"]
    play(batch, "C>1 DRAW DISCARD C>F")
    for seat in range(2):
        assert listed(fields(batch, seat)[f"{SIDES[1 - seat]}_reserve_up"]) == ["Kd"]


# Counters and rules.


def test_c39_counters():
    counters = {
        "turns_without_progress": 119,
        "smallest": [7, 9],
        "turn_progress": 1,
        "turn_bare": 0,
        "last_turn_bare_pass": 1,
    }
    batch = position("9s 8d | 9c | 2c | 2c | 2c | 2c | 2c | 2c", "4h | 3s", counters=counters)
    play(batch, "S1>2(1)")
    for seat in range(2):
        seen = fields(batch, seat)
        assert seen["smallest"].tolist() == [[7, 9], [9, 7]][seat]
        assert seen["turn_flags"].tolist() == [1, 0, 1]
        assert seen["turns_without_progress"].tolist() == [1, 19]
        assert seen["no_progress_turns"].tolist() == [1, 20]
        assert seen["rearrangements_left"].tolist() == [15]


def test_c39_a_turn_is_no_longer_bare_once_a_card_was_drawn():
    batch = position("9s 8d | 9c | 2c | 2c | 2c | 2c | 2c | 2c", "4h | 3s")
    for move, bare in (("S1>2(1)", 1), ("DRAW", 0), ("DISCARD", 1)):
        play(batch, move)
        for seat in range(2):
            assert fields(batch, seat)["turn_flags"].tolist() == [0, bare, 0]


@pytest.mark.parametrize("place", range(8))
def test_c39_options(place):
    """Each option has an entry of its own, in the order of the table."""
    option = Batch("crapo", 1).game.options[place]
    value = 5 if option.range else option.values[1]
    rows = [
        fields(position(NO_ROOM, **given), 0)["rules"].tolist()
        for given in ({}, {option.name: value})
    ]
    assert [k for k in range(8) if rows[0][k] != rows[1][k]] == [place]
    assert rows[1][place] == option.encode(value)


def test_c39_long_games_have_their_number():
    seen = fields(position(NO_ROOM, no_progress_turns=1000), 1)
    assert seen["no_progress_turns"].tolist() == [10, 0]


# Every field, in whole games, against the piles and the deck.


def dealt_so_far(batch, cards: list[str], p: int) -> list[int]:
    """Count by face what was seen of a player's own 52: the turned up, the four, the drawn."""
    g = batch.games[0]
    drawn = 34 if g["stock_known"][p] else 34 - int(g["stock_size"][p])
    own = cards[52 * p : 52 * (p + 1)]
    seen = own[g["reserve_down"][p] : 18 + drawn]
    return [seen.count(name) for name in CARD_NAMES]


def expected_side(batch, cards: list[str], p: int, name: str) -> dict[str, list]:
    """Return the fields that tell of the piles of player `p`, in plain Python."""
    down, known = counter(batch, "reserve_down")[p], counter(batch, "stock_known")[p]
    pile, hidden = reserve(batch, p), [] if known else ["?"] * len(stock(batch, p))
    first = stock(batch, p) if known else hidden
    return {
        f"{name}_reserve_top": pile[-1:],
        f"{name}_waste_top": waste(batch, p)[-1:],
        f"{name}_cycle": first + waste(batch, p),
        f"{name}_reserve_up": pile[down:],
        f"{name}_sizes": [len(pile), down, len(stock(batch, p)), len(waste(batch, p))],
        f"{name}_dealt": dealt_so_far(batch, cards, p),
    }


def found_side(seen: dict[str, np.ndarray], name: str) -> dict[str, list]:
    """Return the same fields of an observation."""
    return {
        f"{name}_reserve_top": shown(seen[f"{name}_reserve_top"]),
        f"{name}_waste_top": shown(seen[f"{name}_waste_top"]),
        f"{name}_cycle": listed(seen[f"{name}_cycle"]),
        f"{name}_reserve_up": listed(seen[f"{name}_reserve_up"]),
        f"{name}_sizes": seen[f"{name}_sizes"].tolist(),
        f"{name}_dealt": seen[f"{name}_dealt"].tolist(),
    }


def check_observation(batch, cards: list[str], seat: int) -> None:
    """Compare an observation with the piles."""
    seen = fields(batch, seat)
    assert [sorted(shown(row)) for row in seen["tableau"]] == [sorted(p) for p in tableau(batch)]
    assert seen["foundation"].tolist() == list(foundations(batch).values())
    assert shown(seen["hand"]) == ([] if hand(batch) is None else [hand(batch)])
    for side, name in enumerate(SIDES):
        assert found_side(seen, name) == expected_side(batch, cards, seat ^ side, name)
    seen_copies = np.add(*(dealt_so_far(batch, cards, p) for p in range(2)))
    assert (seen["unseen"] == 2 - seen_copies).all()
    known, smallest = counter(batch, "stock_known"), counter(batch, "smallest")
    assert seen["stock_known"].tolist() == [known[seat], known[1 - seat]]
    assert seen["smallest"].tolist() == [smallest[seat], smallest[1 - seat]]
    assert seen["on_turn"][0] == (counter(batch, "current_player") == seat)
    assert seen["free_spaces"][0] == tableau(batch).count([])


@pytest.mark.parametrize("seed", range(6))
def test_c39_every_field_in_whole_games(seed):
    """The mover's own array is the same as a freshly written observation."""
    rng = np.random.default_rng(seed)
    cards = written_by_chance(rng)
    batch = deal(cards, seed)
    for n in range(1500):
        if batch.num_legal[0] == 0:
            break
        if n % 5 == 0:
            for seat in range(2):
                check_observation(batch, cards, seat)
        mover = counter(batch, "current_player")
        assert (batch.observations == batch.observe(mover)).all()
        legal = batch.legal[0, : batch.num_legal[0]]
        batch.step(rng.choice(legal, 1))


def written_by_chance(rng: np.random.Generator) -> list[str]:
    """Return the 104 cards of a deck after the exchange of half packs."""
    first, second = rng.permutation(NUM_CARDS), rng.permutation(NUM_CARDS)
    own = rng.permutation(np.concatenate([first[:26], second[26:]]))
    other = rng.permutation(np.concatenate([first[26:], second[:26]]))
    return [CARD_NAMES[card] for card in np.concatenate([own, other])]


def test_c39_nothing_is_private():
    """The observations of the two seats differ only in who is own."""
    rng = np.random.default_rng(1)
    batch = deal(written_by_chance(rng))
    while batch.num_legal[0]:
        first, second = fields(batch, 0), fields(batch, 1)
        for name, row in first.items():
            if name.startswith("own"):
                assert (row == second[name.replace("own", "opponent")]).all()
            elif name.startswith("opponent"):
                assert (row == second[name.replace("opponent", "own")]).all()
            elif name in ("stock_known", "smallest"):
                assert (row == second[name][::-1]).all()
            elif name == "on_turn":
                assert row[0] + second[name][0] == 1
            else:
                assert (row == second[name]).all()
        batch.step(rng.choice(batch.legal[0, : batch.num_legal[0]], 1))


def test_c39_the_text_shows_no_hidden_card():
    """A player's face-down `7h` and `7d` appear in no text; they are counted."""
    batch = position(NO_ROOM, "7h 9s | 4c", "- | -", "7d 7d | 2s")
    for seat in range(2):
        text = batch.game.render(batch.games, seat)
        assert "7h" not in text and "7d" not in text
        assert "reserve 1 down 9s | stock 2 | waste -" in text
