"""Reis nos cantos (Kings in the Corner), 2 to 4 players; rules in `seeds/reis_nos_cantos.md`."""

from collections.abc import Mapping
from typing import Any

from crapo_env.cards import NUM_CARDS
from crapo_env.game import Game
from crapo_env.reis_nos_cantos import kernels
from crapo_env.reis_nos_cantos.actions import ACTIONS, action_to_string
from crapo_env.reis_nos_cantos.chance import CHANCE
from crapo_env.reis_nos_cantos.checks import check_state
from crapo_env.reis_nos_cantos.features import FEATURES
from crapo_env.reis_nos_cantos.hidden import determinize, resample
from crapo_env.reis_nos_cantos.observation import FIELDS
from crapo_env.reis_nos_cantos.render import render
from crapo_env.reis_nos_cantos.state import (
    GAME_DTYPE,
    HAND_CARDS,
    MAX_PLAYERS,
    NUM_CROSSES,
    OPTIONS,
    check_options,
)


def max_decisions(options: Mapping[str, Any]) -> int:
    """Return a bound on the decisions of a match (R20).

    In a round every card outside the layout is played at most once, and a pile move takes away one
    of the first four cross piles or one that a play has put there. A turn that is not dry has a
    draw, a play or a move, and fewer dry turns than players lie between two such turns (R15). At
    most one player has no card at the end of a round, so each round adds at least n - 1 points
    (R16), while before the last round no total has reached the target (R17).
    """
    n = int(options["num_players"])
    plays = NUM_CARDS - NUM_CROSSES
    moves = NUM_CROSSES + plays
    draws = NUM_CARDS - NUM_CROSSES - n * HAND_CARDS
    turns = n * (draws + plays + moves + 1)
    rounds = n * (int(options["target"]) - 1) // (n - 1) + 1
    return (plays + moves + turns) * rounds


GAME = Game(
    name="reis_nos_cantos",
    version=0,
    dtype=GAME_DTYPE,
    options=OPTIONS,
    actions=ACTIONS,
    fields=FIELDS,
    features=FEATURES,
    deck_copies=1,
    max_players=MAX_PLAYERS,
    reset=kernels.reset,
    deal=kernels.deal,
    refresh=kernels.refresh,
    step=kernels.step,
    share=kernels.share,
    play=kernels.play,
    observe=kernels.observe_all,
    playout=kernels.playout,
    resample=resample,
    determinize=determinize,
    check_state=check_state,
    max_decisions=max_decisions,
    action_to_string=action_to_string,
    render=render,
    chance=CHANCE,
    check_options=check_options,
    points="totals",
)
