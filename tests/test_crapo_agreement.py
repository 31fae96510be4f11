"""The Crapô engine against the slow reference, move for move, in whole games and late positions.

`python tests/test_crapo_agreement.py --games 100000` plays as many games in changing settings.
"""

import argparse
import random
import sys
import time
from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import pytest
from late_crapo import late_position
from positions_crapo import position
from reference_crapo import SWITCHES, CrapoReference, random_deck

from crapo_env.batch import Batch
from crapo_env.cards import CARD_NAMES, SUITS
from crapo_env.crapo.checks import check_state
from crapo_env.crapo.state import NO_CARD, PACK_CARDS
from crapo_env.runs import run_to_names

NUM_DEALS = 300  # whole games per setting
NUM_LATE = 260  # games per setting that start near the end

OTHER_VALUES = {name: values[1] for name, values in SWITCHES.items()}
NUMBERS = {"max_rearrangements": (0, 1, 3, 32), "no_progress_turns": (1, 3, 12, 1000)}


def random_options(rng: random.Random) -> dict[str, Any]:
    """Return options each of which may differ from its default."""
    options: dict[str, Any] = {n: v for n, v in OTHER_VALUES.items() if rng.random() < 0.5}
    options |= {n: rng.choice(values) for n, values in NUMBERS.items() if rng.random() < 0.4}
    return options


def list_settings() -> list[dict[str, Any]]:
    """Return the defaults, every other value alone, all others at once, and some mixtures."""
    alone = [{name: value} for name, value in OTHER_VALUES.items()]
    alone += [{name: value} for name, values in NUMBERS.items() for value in values]
    mixtures = random.Random(3)
    return [{}, *alone, dict(OTHER_VALUES), *(random_options(mixtures) for _ in range(4))]


SETTINGS = list_settings()


class Reference(CrapoReference):
    """The reference, asked but once about each state: it plays moves of its folded list only."""

    _legal: list[str] | None = None
    _free: list[int] | None = None

    def legal_moves(self, fold: bool = True) -> list[str]:
        """Return the folded list."""
        if self._legal is None:
            self._legal = super().legal_moves()
        return self._legal

    def free_spaces(self) -> list[int]:
        """Return the numbers of the free spaces."""
        if self._free is None:
            self._free = super().free_spaces()
        return self._free

    def apply(self, move: str) -> None:
        """Make a move and forget what was true before it."""
        super().apply(move)
        self._legal = self._free = None


# What is compared.


def reference_state(game: Reference) -> dict[str, Any]:
    """Return everything that the engine must agree with."""
    state = {
        "tableau": game.spaces,
        "reserve": game.crapo,
        "reserve_down": game.crapo_face_down,
        "stock": game.stock,
        "stock_known": game.stock_known,
        "waste": game.waste,
        "foundation": [sorted(game.foundations[suit], reverse=True) for suit in SUITS],
        "hand": game.hand,
        "current_player": game.current_player,
        "smallest": game.smallest_count,
        "num_turns": game.num_turns,
        "turns_without_progress": game.turns_without_progress,
        "terminated": game.terminated,
        "rewards": game.rewards,
    }
    if not game.terminated:
        state |= {
            "rearrangements": game.rearrangements,
            "turn_bare": game.turn_is_bare,
            "turn_progress": game.turn_had_progress,
            "last_turn_bare_pass": game.last_turn_was_bare_pass,
        }
    return state


@cache
def run_names(run: int) -> list[str]:
    """Return the cards of a run, base first."""
    return run_to_names(run)


def engine_state(batch: Batch) -> dict[str, Any]:
    """Return the same of the engine's only game."""
    g = batch.games[0]
    sizes = {
        name: g[name].tolist() for name in ("head", "stock_size", "waste_size", "reserve_size")
    }
    stock, waste, reserve = [], [], []
    for p in range(2):
        ring = g["ring"][p].tolist()
        first, last = sizes["head"][p] + sizes["stock_size"][p], sizes["head"][p]
        stock.append([CARD_NAMES[ring[k % PACK_CARDS]] for k in range(last, first)])
        last = first + sizes["waste_size"][p]
        waste.append([CARD_NAMES[ring[k % PACK_CARDS]] for k in range(first, last)])
        cards = g["reserve"][p, : sizes["reserve_size"][p]].tolist()
        reserve.append([CARD_NAMES[card] for card in cards])
    state = {
        "tableau": [run_names(run) for run in g["tableau"].tolist()],
        "reserve": reserve,
        "stock": stock,
        "waste": waste,
        "foundation": g["foundation"].tolist(),
        "hand": None if g["hand"] == NO_CARD else CARD_NAMES[g["hand"]],
    }
    names = ["reserve_down", "stock_known", "current_player", "smallest", "num_turns"]
    names += ["turns_without_progress", "terminated", "rewards"]
    if not g["terminated"]:
        names += ["rearrangements", "turn_bare", "turn_progress", "last_turn_bare_pass"]
    return state | {name: g[name].tolist() for name in names}


def compare(batch: Batch, game: Reference) -> dict[str, int]:
    """Compare both states and return the legal moves by their text."""
    legal = batch.legal[0, : batch.num_legal[0]].tolist()
    actions = {batch.game.action_to_string(batch.games, action): action for action in legal}
    assert len(actions) == len(legal) == batch.masks[0].sum()
    wanted = set(game.legal_moves())
    assert set(actions) == wanted, f"{sorted(actions)} is not {sorted(wanted)}"
    assert actions or game.terminated
    assert engine_state(batch) == reference_state(game)
    assert batch.ended[0] == game.terminated
    assert batch.rewards[0].tolist() == game.rewards
    assert (batch.observations == batch.observe(game.current_player)).all()
    return actions


# Where games start.


def start_deal(rng: random.Random, options: dict[str, Any]) -> tuple[Batch, Reference]:
    """Deal the same shuffled deck to both; the engine tosses the coin of C6."""
    deck = random_deck(rng)
    batch = Batch("crapo", 1, options, auto_reset=False)
    batch.deal(deck, rng.getrandbits(64))
    return batch, Reference(deck, starter=int(batch.current_player[0]), **options)


def start_late(rng: random.Random, options: dict[str, Any]) -> tuple[Batch, Reference]:
    """Lay out the same late position for both."""
    arguments = late_position(rng, options)
    batch = position(**arguments, **options)
    counters = arguments["counters"]
    game = Reference.from_position(
        arguments["tableau"],
        arguments["reserve"],
        arguments["stock"],
        arguments["waste"],
        foundations=arguments["foundations"],
        hand=arguments["hand"],
        current_player=arguments["current_player"],
        stock_known=[known == 1 for known in arguments["stock_known"]],
        counters={
            "smallest_count": counters["smallest"],
            "turns_without_progress": counters["turns_without_progress"],
            "last_turn_was_bare_pass": counters["last_turn_bare_pass"] == 1,
        },
        **options,
    )
    return batch, game


# How they go on.


def choose(rng: random.Random, moves: list[str], style: int) -> str:
    """Pick a move: any, rather not one between spaces, rather to a foundation, or rather a load."""
    preferred = moves
    if style == 1:
        preferred = [move for move in moves if "(" not in move]
    elif style == 2:
        preferred = [move for move in moves if move[-1] == "F"]
        preferred = preferred or [move for move in moves if move[0] in "CH"]
        preferred = preferred or [move for move in moves if "(" not in move]
    elif style == 3:
        preferred = [m for m in moves if m[-2:] in ("OW", "OC") or m in ("DISCARD", "PASS")]
    return rng.choice(preferred if preferred and rng.random() < 0.9 else moves)


def note_events(events: Counter[str], game: Reference, move: str) -> None:
    """Count what is rare, before the move is made."""
    legal, player = game.legal_moves(), game.current_player
    if move == "DRAW" and not game.stock[player]:
        move = "recycling"
    elif move[-2:] in ("OW", "OC"):
        move = f"{move[0]}>{move[-2:]}"
    elif "(" in move:
        several = "" if move.endswith("(1)") else "several "
        move = several + ("to a free space" if not game.spaces[int(move[3]) - 1] else "to a pile")
    elif move[-1] == "F" and len(legal) > 1 and all(other[-1] == "F" for other in legal):
        move = "choice of foundation plays"
    events[move] += 1
    if game.rearrangements == game.options["max_rearrangements"]:
        events["no rearrangement left"] += 1


def note_end(events: Counter[str], game: Reference, last_move: str, after_pass: bool) -> None:
    """Count how a game ended; `after_pass` tells of the turn before the last."""
    if any(game.card_count(p) == 0 for p in range(2)):
        events[f"win with {last_move[0]}"] += 1
    elif last_move == "PASS" and game.turn_is_bare and after_pass:
        events["standstill"] += 1
    else:
        events["no progress"] += 1


def play_both(batch: Batch, game: Reference, rng: random.Random, events: Counter[str]) -> None:
    """Play a game to its end, both sides compared before and after every move."""
    style, history, after_pass = rng.randrange(4), [], False
    start = batch.game.render(batch.games, None)
    try:
        actions = compare(batch, game)
        while not game.terminated:
            move = choose(rng, list(actions), style)
            history.append(move)
            note_events(events, game, move)
            after_pass = game.last_turn_was_bare_pass
            game.apply(move)
            batch.step(np.array([actions[move]]))
            actions = compare(batch, game)
        check_state(batch.games)
    except AssertionError as error:
        now = batch.game.render(batch.games, None)
        error.add_note(f"{game.options}\n{start}{' '.join(history)}\n{now}{vars(game)}")
        raise
    events["decisions"] += len(history)
    if history:
        note_end(events, game, history[-1], after_pass)


# The tests and the long run.


def expected_events(options: dict[str, Any]) -> set[str]:
    """Return the rare events that hundreds of games in a setting must have met."""
    events = {"DRAW", "DISCARD", "PASS", "recycling", "standstill", "no progress"}
    events |= {"win with H", "win with C", "C>OW", "C>OC", "H>OW", "H>OC"}
    if options.get("tableau_loading", True):
        events |= {"S>OW", "S>OC"}
    if options.get("aces") != "optional":
        events.add("choice of foundation plays")
    limit = options.get("max_rearrangements", 16)
    if limit < 4:
        events.add("no rearrangement left")
    if limit > 0:
        events |= {"to a pile", "to a free space", "several to a pile", "several to a free space"}
    return events


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(SETTINGS)), ids=lambda n: setting_name(SETTINGS[n]))
def test_games_agree_with_the_reference(number):
    options, events = SETTINGS[number], Counter()
    for n in range(NUM_DEALS):
        rng = random.Random(f"deal {number} {n}")
        play_both(*start_deal(rng, options), rng, events)
    for n in range(NUM_LATE):
        rng = random.Random(f"late {number} {n}")
        play_both(*start_late(rng, options), rng, events)
    assert not expected_events(options) - set(events)


def setting_name(options: dict[str, Any]) -> str:
    """Return a short name of a setting."""
    return " ".join(f"{name}={value}" for name, value in options.items()) or "defaults"


def main() -> None:
    """Play the long run and print a line of progress; the first disagreement ends it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=1000, help="games to play, one in five late")
    parser.add_argument("--seed", type=int, default=0, help="start of the row of games")
    arguments = parser.parse_args()
    events: Counter[str] = Counter()
    began = time.monotonic()
    for n in range(arguments.games):
        rng = random.Random(f"long {arguments.seed + n}")
        options = rng.choice([*SETTINGS, random_options(rng)])
        start = start_late if rng.random() < 0.2 else start_deal
        play_both(*start(rng, options), rng, events)
        if (n + 1) % 50 == 0 or n + 1 == arguments.games:
            line = f"{n + 1}/{arguments.games} games, {events['decisions']} decisions agree"
            print(
                f"\r{line}, {time.monotonic() - began:.0f} s", end="", file=sys.stderr, flush=True
            )
    print(file=sys.stderr)
    for event, times in sorted(events.items()):
        print(f"{times:10} {event}")


if __name__ == "__main__":
    main()
