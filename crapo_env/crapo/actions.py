"""The actions of Crapô: one table of ids, and their text in the notation of the rules."""

import numpy as np

from crapo_env.crapo.state import NUM_SPACES
from crapo_env.game import ActionBlock, ActionTable
from crapo_env.runs import count_to_fit

SPACE_LABELS = tuple(str(i + 1) for i in range(NUM_SPACES))
MAX_TO_FREE = 12  # C24: a whole run of 13 may not go to a free space

# Targets of the reserve top, the drawn card and space tops share one order: spaces, F, OW, OC.
ACTIONS = ActionTable(
    (
        ActionBlock("reserve_to_space", "C>{}", (SPACE_LABELS,), "reserve top to a space"),
        ActionBlock("reserve_to_foundation", "C>F", (), "reserve top to its foundation"),
        ActionBlock(
            "reserve_to_waste", "C>OW", (), "load the opponent's waste with the reserve top"
        ),
        ActionBlock(
            "reserve_to_reserve", "C>OC", (), "load the opponent's reserve with the reserve top"
        ),
        ActionBlock("hand_to_space", "H>{}", (SPACE_LABELS,), "drawn card to a space"),
        ActionBlock("hand_to_foundation", "H>F", (), "drawn card to its foundation"),
        ActionBlock("hand_to_waste", "H>OW", (), "load the opponent's waste with the drawn card"),
        ActionBlock(
            "hand_to_reserve", "H>OC", (), "load the opponent's reserve with the drawn card"
        ),
        ActionBlock(
            "space_to_foundation", "S{}>F", (SPACE_LABELS,), "top of a space to its foundation"
        ),
        ActionBlock(
            "space_to_waste", "S{}>OW", (SPACE_LABELS,), "load the opponent's waste from a space"
        ),
        ActionBlock(
            "space_to_reserve",
            "S{}>OC",
            (SPACE_LABELS,),
            "load the opponent's reserve from a space",
        ),
        ActionBlock(
            "space_to_space",
            "S{}>{}",
            (SPACE_LABELS, SPACE_LABELS),
            "the top cards that fit, from a space onto the run of another space",
        ),
        ActionBlock(
            "space_to_free",
            "S{}>free({})",
            (SPACE_LABELS, tuple(str(k) for k in range(1, MAX_TO_FREE + 1))),
            "so many top cards of a space to the lowest-numbered free space",
        ),
        ActionBlock("draw", "DRAW", (), "draw a card"),
        ActionBlock(
            "discard", "DISCARD", (), "put the drawn card on the own waste, which ends the turn"
        ),
        ActionBlock("pass", "PASS", (), "end the turn when no card is left to draw"),
    )
)

NUM_ACTIONS = len(ACTIONS)
FROM_RESERVE = ACTIONS.offsets["reserve_to_space"]
FROM_HAND = ACTIONS.offsets["hand_to_space"]
TO_FOUNDATION = ACTIONS.offsets["reserve_to_foundation"] - FROM_RESERVE
TO_WASTE = ACTIONS.offsets["reserve_to_waste"] - FROM_RESERVE
TO_RESERVE = ACTIONS.offsets["reserve_to_reserve"] - FROM_RESERVE
SPACE_TO_FOUNDATION = ACTIONS.offsets["space_to_foundation"]
SPACE_TO_WASTE = ACTIONS.offsets["space_to_waste"]
SPACE_TO_RESERVE = ACTIONS.offsets["space_to_reserve"]
SPACE_TO_SPACE = ACTIONS.offsets["space_to_space"]
SPACE_TO_FREE = ACTIONS.offsets["space_to_free"]
DRAW = ACTIONS.offsets["draw"]
DISCARD = ACTIONS.offsets["discard"]
PASS = ACTIONS.offsets["pass"]


def action_to_string(games: np.ndarray, action: int) -> str:
    """Return the text of an action in the state `games[0]`, with run length and free space."""
    tableau = games["tableau"][0]
    if SPACE_TO_SPACE <= action < SPACE_TO_FREE:
        i, j = divmod(action - SPACE_TO_SPACE, NUM_SPACES)
        return f"S{i + 1}>{j + 1}({count_to_fit(int(tableau[i]), int(tableau[j]))})"
    if SPACE_TO_FREE <= action < DRAW:
        i, k = divmod(action - SPACE_TO_FREE, MAX_TO_FREE)
        free = np.flatnonzero(tableau == 0)
        return f"S{i + 1}>{free[0] + 1 if len(free) else 'free'}({k + 1})"
    return ACTIONS.names[action]
