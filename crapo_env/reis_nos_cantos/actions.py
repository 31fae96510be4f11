"""The actions of Reis nos cantos: one table of ids, and their text in the notation of the rules."""

import numpy as np

from crapo_env.cards import CARD_NAMES
from crapo_env.game import ActionBlock, ActionTable
from crapo_env.reis_nos_cantos.state import CROSSES, PLACES

# Empty crosses are alike, and so are empty corners: only the first of either is offered.
ACTIONS = ActionTable(
    (
        ActionBlock("hand_to_pile", "{}->{}", (CARD_NAMES, PLACES), "hand card to a place"),
        ActionBlock("pile_to_pile", "{}=>{}", (CROSSES, PLACES), "pile of a cross to a place"),
        ActionBlock("end", "END", (), "end the turn"),
    )
)

NUM_ACTIONS = len(ACTIONS)
PILE_TO_PILE = ACTIONS.offsets["pile_to_pile"]
END = ACTIONS.offsets["end"]


def action_to_string(games: np.ndarray, action: int) -> str:
    """Return the text of an action, which is the same in every state."""
    return ACTIONS.names[action]
