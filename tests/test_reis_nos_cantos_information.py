"""Reis nos cantos, clause R19: what each seat sees, and that it learns nothing else."""

import numpy as np
import pytest
from positions_reis import hand, pile, play, position, random_batch

from crapo_env.batch import Batch
from crapo_env.cards import CARD_NAMES, CARD_NUMBERS
from crapo_env.reis_nos_cantos import GAME
from crapo_env.reis_nos_cantos.observation import FIELDS
from crapo_env.reis_nos_cantos.state import PLACES

NOT_SEEN = {"rng", "seed", "num_steps", "round_number", "first_player", "rewards"}
HIDDEN = {"hands", "stock", "stock_next", "stock_end"}


def split(batch: Batch, seat: int) -> dict[str, np.ndarray]:
    return FIELDS.split(batch.observe(seat))


def test_r19_what_a_player_sees():
    batch = position(
        {"N": "Ts 9h", "E": "4d", "NE": "Kd Qs"},
        ["3s Kc", "2h", "7c 7d 7h"],
        stock="Ah Ac",
        player=1,
        num_players=3,
        totals=[3, 104, 0],
        target=250,
    )
    seen = split(batch, 2)
    piles = [sum(1 << CARD_NUMBERS[c] for c in pile(batch, place).split()) for place in PLACES]
    assert [int("".join(map(str, row[::-1])), 2) for row in seen["piles"][0]] == piles
    assert {CARD_NAMES[c] for c in np.flatnonzero(seen["hand"])} == {"7c", "7d", "7h"}
    table = {"Ts", "9h", "4d", "Kd", "Qs"}
    unseen = {CARD_NAMES[c] for c in np.flatnonzero(seen["unseen"])}
    assert unseen == set(CARD_NAMES) - table - {"7c", "7d", "7h"}
    assert seen["hand_sizes"].tolist() == [[3, 2, 1, 0]]
    assert seen["stock_size"].tolist() == [[2]]
    assert seen["on_turn"].tolist() == [[0, 0, 1, 0]]
    assert seen["dealer"].tolist() == [[0, 1, 0, 0]]
    assert seen["totals"].tolist() == [[[0, 0], [0, 3], [1, 4], [0, 0]]]
    assert seen["num_players"].tolist() == [[0, 1, 0]]
    assert seen["target"].tolist() == [[2, 50]]
    assert seen["rules"].tolist() == [[0, 0, 0]]


@pytest.mark.parametrize("n", [2, 3, 4])
def test_r19_hidden_cards_change_nothing_that_a_player_sees(n):
    batch = random_batch(200, 3, 77, num_players=n)
    for seat in range(n):
        other = GAME.resample_hidden(batch.games, seat, 99)
        GAME.check_state(other)
        assert not np.array_equal(other["hands"], batch.games["hands"])
        assert not np.any(other["rng"] == batch.games["rng"])
        before = batch.observe(seat)
        redrawn = Batch(GAME, 200, {"num_players": n})
        redrawn.games[:] = other
        redrawn.refresh()
        assert np.array_equal(redrawn.observe(seat), before)
        own = batch.current_player == seat
        assert np.array_equal(redrawn.masks[own], batch.masks[own])
        for i in range(20):
            shown = GAME.render(other[i : i + 1], seat)
            assert shown == GAME.render(batch.games[i : i + 1], seat)
            assert GAME.render(other[i : i + 1], None) == GAME.render(batch.games[i : i + 1], None)


def test_r19_hidden_cards_are_redrawn_uniformly():
    batch = position({"N": "Ts"}, ["3s", "2h 5d", "7c 7d 7h"], stock="Ah Ac 6d 6c", num_players=3)
    games = np.repeat(batch.games, 18000)
    redrawn = GAME.resample_hidden(games, 0, 1)
    unseen = ["2h", "5d", "7c", "7d", "7h", "Ah", "Ac", "6d", "6c"]
    assert np.all(redrawn["hands"][:, 0] == games["hands"][:, 0])
    for name in unseen:
        bit = np.uint64(1 << CARD_NUMBERS[name])
        assert abs((redrawn["hands"][:, 1] & bit > 0).mean() - 2 / 9) < 0.015
        assert abs((redrawn["hands"][:, 2] & bit > 0).mean() - 3 / 9) < 0.015
        for k in range(4):
            assert abs((redrawn["stock"][:, k] == CARD_NUMBERS[name]).mean() - 1 / 9) < 0.012
    pair = np.uint64(sum(1 << CARD_NUMBERS[name] for name in ("Ah", "6c")))
    assert abs((redrawn["hands"][:, 1] == pair).mean() - 1 / 36) < 0.006


@pytest.mark.parametrize("n", [2, 3, 4])
def test_r19_later_deals_are_hidden_too(n):
    batch = random_batch(50, 4, 60, num_players=n, target=1000)
    seat = 0
    redrawn = GAME.resample_hidden(batch.games, seat, 7)
    rounds = []
    for games in (batch.games, redrawn):
        games["hands"][:, 0] = 1  # one card, the ace of hearts, about to be played on N
        games["piles"][:, 0] = 0
        games["current_player"] = 0
        after = Batch(GAME, 50, {"num_players": n}, auto_reset=False)
        after.games[:] = games
        after.refresh()
        after.step(np.zeros(50, np.int64))
        assert np.all(after.games["dealer"] == (batch.games["dealer"] + 1) % n)
        rounds.append(after.games["stock"].copy())
    assert not np.any(np.all(rounds[0] == rounds[1], axis=1))


def test_r19_states_from_observations():
    variants = (
        {"num_players": 2, "draw_at": "end"},
        {"num_players": 3, "reward": "points", "target": 7},
        {"num_players": 4, "king_pile_to_corner": True, "target": 120, "draw_at": "end"},
    )
    for options in variants:
        batch = random_batch(200, 21, 90, **options)
        batch.games["totals"][:, 1] += 300
        for seat in range(options["num_players"]):
            seen = batch.observe(seat)
            states = GAME.states_behind(seen, seat, 5)
            GAME.check_state(states)
            used = batch.games.copy()
            GAME.determinize(seen, seat, np.arange(5, 205, dtype=np.uint64), used)
            assert used.tobytes() == states.tobytes()
            redrawn = GAME.resample_hidden(batch.games, seat, 5)
            for name in set(batch.games.dtype.names) - NOT_SEEN:
                assert np.array_equal(states[name], redrawn[name]), name
            for name in set(batch.games.dtype.names) - NOT_SEEN - HIDDEN:
                assert np.array_equal(states[name], batch.games[name]), name
            again = np.empty_like(seen)
            GAME.observe(states, seat, again)
            assert np.array_equal(again, seen)


def test_r19_the_text_of_the_table_shows_a_seat_its_own_hand():
    batch = position({"N": "Ts 9h", "NE": "Kd"}, ["3s Kc", "2h", "7c 7d 7h"], num_players=3)
    texts = [GAME.render(batch.games, seat) for seat in (0, 1, 2, None)]
    for seat, text in enumerate(texts[:3]):
        lines = text.splitlines()
        for p in range(3):
            (line,) = [line for line in lines if line.startswith(f"  player_{p}")]
            shown = set(line.replace(",", " ").split()) & set(CARD_NAMES)
            assert shown == (hand(batch, p) if p == seat else set())
            assert f"{len(hand(batch, p))} cards" in line
    assert "   N: Ts 9h" in texts[3].splitlines()
    assert "  NE: Kd" in texts[3].splitlines()
    assert not any(name in texts[3] for p in range(3) for name in hand(batch, p))
    assert "match over" in GAME.render(
        play(position({"E": "4d"}, ["3s"], target=1), "3s->E").games, 0
    )


# Inconsistent records


@pytest.mark.parametrize(
    ("field", "number"),
    [
        ("current_player", 3),
        ("num_players", 5),
        ("dealer", 3),
        ("first_player", 4),
        ("stock_next", 52),
        ("stock_end", 53),
        ("stock_end", 3),
        ("dry_turns", -1),
        ("target", 0),
        ("draw_at", 2),
    ],
)
def test_a_field_out_of_range_is_no_state(field, number):
    batch = random_batch(3, 1, 5, num_players=3)
    GAME.check_state(batch.games)
    batch.games[field][1] = number
    with pytest.raises(ValueError):
        GAME.check_state(batch.games)


def test_a_pack_with_a_card_too_many_or_too_few_is_no_state():
    batch = position({"N": "Ts"}, ["2h", "4h"])
    GAME.check_state(batch.games)
    batch.games["stock_end"] -= 1
    with pytest.raises(ValueError, match=r"must occur once.* 0 times"):
        GAME.check_state(batch.games)
    batch.games["stock_end"] += 1
    batch.games["hands"][0, 0] |= batch.games["hands"][0, 1]
    with pytest.raises(ValueError, match="4h 2 times"):
        GAME.check_state(batch.games)


def test_seats_without_a_player_have_no_cards_and_hands_no_other_bits():
    batch = position({"N": "Ts"}, ["2h", "4h"])
    batch.games["hands"][0, 2] = 1
    with pytest.raises(ValueError, match="without a player"):
        GAME.check_state(batch.games)
    batch.games["hands"][0, 2] = 0
    batch.games["hands"][0, 1] |= np.uint64(1 << 52)
    with pytest.raises(ValueError, match="do not exist"):
        GAME.check_state(batch.games)


@pytest.mark.parametrize("run", [-1, 1, 12 << 19, 1 << 30, 15 << 19 | 1 << 18 | 15 << 13])
def test_a_number_that_is_no_run_is_no_pile(run):
    batch = position({"N": "Ts"}, ["2h", "4h"])
    batch.games["piles"][0, 0] = run
    with pytest.raises(ValueError):
        GAME.check_state(batch.games)


def test_a_corner_pile_begins_with_a_king():
    batch = position({"N": "Ts"}, ["2h", "4h"])
    batch.games["piles"][0, 4] = batch.games["piles"][0, 0]
    batch.games["piles"][0, 0] = 0
    with pytest.raises(ValueError, match="corner"):
        GAME.check_state(batch.games)
