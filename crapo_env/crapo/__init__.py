"""Crapô, a competitive patience for two players; the rules are in `seeds/crapo.md`."""

from collections.abc import Mapping
from typing import Any

from crapo_env.crapo import kernels
from crapo_env.crapo.actions import ACTIONS, action_to_string
from crapo_env.crapo.chance import CHANCE
from crapo_env.crapo.checks import check_state
from crapo_env.crapo.features import FEATURES
from crapo_env.crapo.hidden import determinize, resample
from crapo_env.crapo.observation import FIELDS
from crapo_env.crapo.render import render
from crapo_env.crapo.state import GAME_DTYPE, OPTIONS, PACK_CARDS, RESERVE_CARDS, STOCK_CARDS
from crapo_env.game import Game


def max_decisions(options: Mapping[str, Any]) -> int:
    """Return a bound on the decisions of a game (C36, C37).

    A turn makes progress at most once per foundation card and once per card of either player's
    smallest count. In a turn every card is drawn, played and moved from a space at most once each.
    """
    progress = PACK_CARDS + 2 * (RESERVE_CARDS + STOCK_CARDS)
    turns = (progress + 1) * options["no_progress_turns"]
    return int(turns * (3 * PACK_CARDS + 1) * (options["max_rearrangements"] + 1))


GAME = Game(
    name="crapo",
    version=0,
    dtype=GAME_DTYPE,
    options=OPTIONS,
    actions=ACTIONS,
    fields=FIELDS,
    features=FEATURES,
    deck_copies=2,
    max_players=2,
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
)
