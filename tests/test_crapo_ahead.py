"""What a Crapô turn can still bring, against a search that plays every line by the engine."""

import numpy as np
import pytest
from conftest import Setting
from positions_crapo import position
from traces import walk

from crapo_env.batch import Batch
from crapo_env.crapo import GAME
from crapo_env.crapo.ahead import BUDGET, MOST, SOON

NAMES = ("reserve", "hand", "foundation", "on_waste", "on_reserve", "gained", "free", "turned_up")
SOON_NAMES = ("reserve", "hand", "gained", "turned_up")


def ahead_of(batch: Batch) -> list[int]:
    """Return what the features say of the first game, seen by who is on turn."""
    table = GAME.features.position
    out = np.zeros((1, len(table)), np.int8)
    seats = batch.current_player[:1].astype(np.int64)
    GAME.features.write_positions(batch.games[:1], np.zeros(1, np.int64), seats, out)
    return table.split(out[0])["ahead"].tolist()


def brought(now: np.void, before: np.void) -> dict[str, int]:
    """Return what a line has brought that leads from one state to another."""
    p = before["current_player"]
    gone = {
        name: before[name].astype(int) - now[name]
        for name in ("reserve_size", "reserve_down", "waste_size")
    }
    found = {
        "reserve": gone["reserve_size"][p],
        "hand": int(before["hand"] != now["hand"]),
        "foundation": now["foundation"].sum(dtype=int) - before["foundation"].sum(dtype=int),
        "on_waste": -gone["waste_size"][1 - p],
        "on_reserve": -gone["reserve_size"][1 - p],
        "free": (now["tableau"] == 0).sum(),
        "turned_up": gone["reserve_down"][p],
    }
    found["gained"] = sum(found[name] for name in ("reserve", "hand", "on_waste", "on_reserve"))
    return found


def key_of(now: np.void) -> tuple[object, ...]:
    """Return what tells the tables of a turn apart; spaces have no order."""
    piles = ("hand", "reserve_size", "waste_size", "foundation", "reserve")
    return (tuple(sorted(now["tableau"].tolist())), *(now[name].tobytes() for name in piles))


def follow(batch: Batch, state: np.ndarray) -> list[np.ndarray]:
    """Return what every action leads to that neither draws nor ends the turn."""
    states = []
    batch.games[:] = state
    batch.refresh()
    for action in batch.legal[0, : batch.num_legal[0]].tolist():
        if GAME.actions.names[action] not in ("DRAW", "DISCARD", "PASS"):
            batch.games[:] = state
            batch.refresh()
            batch.step(np.array([action]))
            states.append(batch.games.copy())
    return states


def search(start: np.ndarray, most_tables: int) -> list[int] | None:
    """Return what the features should say of a game, (1,); None if there are too many tables."""
    batch = Batch(GAME, 1, {"max_steps": 0}, auto_reset=False)
    start = start.copy()
    start["rearrangements"], start["seen"][0, 0] = 0, start["arrangement"][0]
    start["max_steps"] = 0
    most, soon = dict.fromkeys(NAMES, 0), dict.fromkeys(NAMES, 0)
    met, level, moves = {key_of(start[0])}, [start], 0
    while level:
        moves += 1
        following = []
        for state in (after for before in level for after in follow(batch, before)):
            found = brought(state[0], start[0])
            for name, number in found.items():
                if number > most[name]:
                    is_first = most[name] == 0 or name == "gained"
                    soon[name] = max(1, SOON - moves) if is_first else soon[name]
                    most[name] = number
            if not found["turned_up"] and not state["terminated"] and key_of(state[0]) not in met:
                met.add(key_of(state[0]))
                following.append(state)
        if len(met) > most_tables:
            return None
        level = following
    return [*(min(MOST, most[name]) for name in NAMES), *(soon[name] for name in SOON_NAMES)]


@pytest.mark.parametrize("options", [{}, {"max_steps": 50}], ids=str)
def test_every_line_of_the_turn_is_looked_at(options: dict[str, int]) -> None:
    """Also those past a limit on steps, which is no rule. Nothing but zeros would be no test."""
    seen = []
    for count, batch in enumerate(walk(Setting(GAME, options), 8, 200)):
        row = count % 8
        if batch.num_legal[row] and (wanted := search(batch.games[row : row + 1], BUDGET // 2)):
            other = Batch(GAME, 1, options)
            other.games[:] = batch.games[row]
            assert ahead_of(other) == wanted
            seen.append(wanted)
    assert len(seen) > 50 and (np.array(seen).max(axis=0) > 0).all()


def test_a_line_stops_where_a_card_is_turned_up() -> None:
    """`Qd Js` frees a space for the king in two moves; `9h` is known in the second case only."""
    spaces = "Qd Js | 7h | Kh | Ks | 6s | 8c | 4c | 2d"
    hides, shows = (position(spaces, "9h Kc | 9d", face_down=[n, 0]) for n in (1, 0))
    assert ahead_of(hides) == [1, 0, 0, 0, 0, 1, 3, 1, SOON - 2, 0, SOON - 2, SOON - 2]
    assert ahead_of(shows) == [2, 0, 0, 0, 0, 2, 3, 0, SOON - 2, 0, SOON - 4, 0]
