"""What the greedy bots choose in written positions: each priority against the next one."""

from typing import Any

import numpy as np
import pytest
from positions_crapo import position

from crapo_env.batch import Batch
from crapo_env.bots import make_policy
from crapo_env.cards import card_number
from crapo_env.crapo.state import NUM_SPACES
from crapo_env.reis_nos_cantos.state import PLACES
from crapo_env.runs import run_from_names

KINGS = "Kh | Kd | Ks | Kc | Kh | Kd | Ks | Kc"  # no space is free, and only queens fit


def choice(batch: Batch) -> str:
    """Return the text of the greedy action in the only game of a batch."""
    action = make_policy("greedy", batch.game).act(batch.observations[0], batch.masks[0])
    assert batch.masks[0, action]
    return batch.game.action_to_string(batch.games, action)


def spaces(first: str) -> str:
    """Return the eight spaces of Crapô: the given ones, then kings."""
    written = first.split(" | ")
    return " | ".join(written + KINGS.split(" | ")[: NUM_SPACES - len(written)])


# In each position the moves named in the comment are legal; the expected one is the first of them.
CRAPO_POSITIONS: dict[str, tuple[dict[str, Any], str]] = {
    "win before all others": (  # H>2, S1>F
        {"tableau": "5s | 9d", "hand": "8c", "stock": "- | 2h", "foundations": {"s": (4, 0)}},
        "H>2",
    ),
    "win with the reserve": (  # C>4, C>2, S1>F, S3>F
        {
            "tableau": "5s | 9d | 6h | -",
            "reserve": "8c | -",
            "stock": "- | 2h",
            "foundations": {"s": (4, 0), "h": (5, 0)},
        },
        "C>4",
    ),
    "no win while the stock holds a card": (  # S1>F, H>2
        {"tableau": "5s | 9d", "hand": "8c", "foundations": {"s": (4, 0)}},
        "S1>F",
    ),
    "no win while the waste holds a card": (
        {
            "tableau": "5s | 9d",
            "hand": "8c",
            "stock": "- | 2h",
            "waste": "2h | -",
            "foundations": {"s": (4, 0)},
        },
        "S1>F",
    ),
    "no win while the reserve holds a card": (
        {
            "tableau": "5s | 9d",
            "hand": "8c",
            "stock": "- | 2h",
            "reserve": "2h | -",
            "foundations": {"s": (4, 0)},
        },
        "S1>F",
    ),
    "reserve to foundation before hand": (  # C>F, H>F
        {
            "tableau": KINGS,
            "reserve": "5h | -",
            "hand": "4d",
            "foundations": {"h": (4, 0), "d": (3, 0)},
        },
        "C>F",
    ),
    "hand to foundation before space": (  # H>F, S1>F
        {"tableau": "5s", "hand": "4d", "foundations": {"s": (4, 0), "d": (3, 0)}},
        "H>F",
    ),
    "space to foundation, first what frees a space": (  # S2>F, S1>F
        {"tableau": "6h 5s | 4d", "foundations": {"s": (4, 0), "d": (3, 0)}},
        "S2>F",
    ),
    "space to foundation before a run that empties": (  # S1>F, S2>3(1)
        {"tableau": "6h 5s | 7c | 8d", "foundations": {"s": (4, 0)}},
        "S1>F",
    ),
    "a run that empties before loads": (  # S1>2(1), C>OC
        {"tableau": "7s | 8d | -", "reserve": "7h | 8h"},
        "S1>2(1)",
    ),
    "a whole run empties, a part of it does not": (  # S3>4(2), S1>2(1)
        {"tableau": "Tc 9d 8s | 9h | 6s 5d | 7h | -"},
        "S3>4(2)",
    ),
    "reserve onto the other reserve before hand": (  # C>OC, H>OC
        {"tableau": "-", "reserve": "7h | 8h", "hand": "9h"},
        "C>OC",
    ),
    "hand onto the other reserve before space": (  # H>OC, S1>OC
        {"tableau": "7h | -", "reserve": "- | 8h", "hand": "9h"},
        "H>OC",
    ),
    "space onto the other reserve, first what frees a space": (  # S2>OC, S1>OC
        {"tableau": "8s 7h | 9h", "reserve": "- | 8h"},
        "S2>OC",
    ),
    "the other reserve before the waste": (  # S1>OC, C>OW
        {"tableau": "8s 7h | -", "reserve": "6s | 8h", "waste": "- | 7s"},
        "S1>OC",
    ),
    "reserve onto the waste before hand": (  # C>OW, H>OW
        {"tableau": "-", "reserve": "6s | -", "waste": "- | 7s", "hand": "8s"},
        "C>OW",
    ),
    "hand onto the waste before space": (  # H>OW, S1>OW
        {"tableau": "6s | -", "waste": "- | 7s", "hand": "8s"},
        "H>OW",
    ),
    "space onto the waste, first what frees a space": (  # S2>OW, S1>OW
        {"tableau": "7d 6s | 8s", "waste": "- | 7s"},
        "S2>OW",
    ),
    "the waste before building": (  # S1>OW, C>2, C>3
        {"tableau": "7d 6s | Td | -", "reserve": "9c | -", "waste": "- | 7s"},
        "S1>OW",
    ),
    "reserve onto a run before the free space": (  # C>2, C>1
        {"tableau": "- | Td", "reserve": "9c | -"},
        "C>2",
    ),
    "reserve onto the free space before the hand": (  # C>1, H>2, H>1
        {"tableau": "- | Td", "reserve": "5c | -", "hand": "9c"},
        "C>1",
    ),
    "hand onto a run before the free space": (  # H>2, H>1
        {"tableau": "- | Td", "hand": "9c"},
        "H>2",
    ),
    "hand onto the longest run": (  # H>2, H>1, H>3
        {"tableau": "Td | Qd Jc Td | Js Th", "hand": "9c"},
        "H>2",
    ),
    "reserve onto the longest run": (  # C>2, C>1, C>3, C>4
        {"tableau": "Td | Qd Jc Td | Js Th | -", "reserve": "9c | -"},
        "C>2",
    ),
    "the free space before a discard": (  # H>1, DISCARD
        {"tableau": "-", "hand": "9c", "drawn_card": "may_discard"},
        "H>1",
    ),
    "other moves never, the free space": (  # H>1, S2>1(1)
        {"tableau": "- | Td 9s", "hand": "4c"},
        "H>1",
    ),
    "other moves never, draw": (  # DRAW, S1>2(1)
        {"tableau": "Tc 9d 8s | 9h"},
        "DRAW",
    ),
    "other moves never, discard": (  # DISCARD, S1>2(1)
        {"tableau": "Tc 9d 8s | 9h", "hand": "4c"},
        "DISCARD",
    ),
    "other moves never, pass": (  # PASS, S1>2(1)
        {"tableau": "Tc 9d 8s | 9h", "reserve": "4c | -", "stock": "- | 2h"},
        "PASS",
    ),
}


@pytest.mark.parametrize("name", CRAPO_POSITIONS)
def test_crapo_priorities(name: str) -> None:
    written, expected = CRAPO_POSITIONS[name]
    assert choice(position(**written | {"tableau": spaces(written["tableau"])})) == expected


def test_crapo_greedy_sees_the_table_from_its_own_side() -> None:
    """Player 1 loads the reserve of player 0 and not his own."""
    batch = position(spaces("-"), reserve="8h | 7h", current_player=1)
    assert choice(batch) == "C>OC"


def reis(piles: str, hand: str) -> Batch:
    """Return a round from piles such as "N Tc 9h | E Jd" and the hand of the player on turn."""
    batch = Batch("reis_nos_cantos", 1, {"num_players": 2}, auto_reset=False)
    batch.reset(0)
    g = batch.games[0]
    g["piles"] = 0
    for pile in piles.split(" | "):
        place, *cards = pile.split()
        g["piles"][PLACES.index(place)] = run_from_names(cards)
    g["hands"][g["current_player"]] = sum(1 << card_number(card) for card in hand.split())
    batch.refresh()
    return batch


REIS_POSITIONS = {
    "going out before a pile move": ("N 9h | E Ts | S Qs | W 3d", "2c", "2c->W"),
    "going out with a king before a pile move": ("N 9h | E Ts | S Qs | W 3d", "Kd", "Kd->NE"),
    "a king to a corner before a pile move": ("N 9h | E Ts | S Qs | W 3d", "Kd 4c", "Kd->NE"),
    "a king to a corner before a play": ("N 9h | E 2s | S Qs | W 4d", "8s Kd", "Kd->NE"),
    "a king to a corner, not to a cross": ("N 9h | E 2s | S Qs", "8h Kd", "Kd->NE"),
    "a king to the first empty corner": ("N 9h | NE Ks | S Qs", "8h Kd", "Kd->SE"),
    "a pile move before a play": ("N 9h | E Ts | S Qs | W 5d", "4c 7c", "N=>E"),
    "a play before a free cross": ("N 9h | E 2s | S Qs", "Jc 8s", "8s->N"),
    "a play before a free cross that many cards can follow": (
        "N 9h | E 2s | S Qs",
        "6h 5s 5c 8s",
        "8s->N",
    ),
    "a free cross before the end": ("N 9h | E 2s | S Qs", "4d 2c", "4d->W"),
    "the longest pile first": ("N Qh | NE Kc Qd Jc Th | S 3s | W 2c", "Js 9c", "9c->NE"),
    "then the highest card": ("N Qh | E Th | S 3s | W 2c", "9c Js", "Js->N"),
    "long piles before high cards": ("N Jd Ts | E Qh | S 3s | W 2c", "Jc 9h", "9h->N"),
    "onto a free cross what an own spade can follow": ("N 2h | E 2s | S 5s", "Qs 9h 8s", "9h->W"),
    "onto a free cross what an own club can follow": ("N 2h | E 2s | S 5s", "Qs 9h 8c", "9h->W"),
    "onto a free cross what more own cards can follow": (
        "N 2h | E 2s | S 5s",
        "Qs Jh 9h 8c 8s",
        "9h->W",
    ),
    "colour decides what follows": ("N 2h | E 2s | S 5s", "Qs 9h 8d 8h", "Qs->W"),
    "onto a free cross an ace last": ("N 9h | E 9s | S 5s | NW Kc", "As 3d", "3d->W"),
    "the end when nothing else is possible": ("N 9h | E 2s | S Qs | W 4d", "7c 5h", "END"),
}


@pytest.mark.parametrize("name", REIS_POSITIONS)
def test_reis_priorities(name: str) -> None:
    piles, hand, expected = REIS_POSITIONS[name]
    assert choice(reis(piles, hand)) == expected


def test_reis_greedy_ends_its_turn_only_when_nothing_else_is_legal() -> None:
    batch = Batch("reis_nos_cantos", 64, {"num_players": 3})
    batch.reset(0)
    policy = make_policy("greedy", batch.game)
    end = batch.game.actions.encode("end")
    for _ in range(300):
        actions = policy.act(batch.observations, batch.masks)
        assert ((actions == end) == (batch.num_legal == 1)).all()
        batch.step(actions)


def test_crapo_greedy_moves_runs_only_to_empty_a_space() -> None:
    batch = Batch("crapo", 64)
    batch.reset(0)
    policy = make_policy("greedy", batch.game)
    first = batch.game.actions.encode("space_to_space", 0, 0)
    last = batch.game.actions.encode("draw") - 1
    moves = 0
    for _ in range(500):
        free = (batch.games["tableau"] == 0).sum(axis=1)
        actions = policy.act(batch.observations, batch.masks)
        moved = (first <= actions) & (actions <= last)
        batch.step(actions)
        after = (batch.games["tableau"] == 0).sum(axis=1)
        assert (after[moved] == free[moved] + 1).all()
        moves += np.count_nonzero(moved)
    assert moves > 100
