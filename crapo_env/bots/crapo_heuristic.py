"""Strong priorities for Crapô: the greedy bot's and moves between spaces that enable others.

Such a move counts only if what it uncovers is of use at once. The order was found on training
deals by trying other places for each line. A turn ends by C36 at the latest.
"""

from crapo_env.bots.crapo_choice import (
    FOR_FOUNDATION,
    FOR_HAND,
    FOR_LOAD,
    FOR_RESERVE,
    FOR_RUN,
    NUM_CONDITIONS,
)
from crapo_env.bots.crapo_greedy import EMPTIES, LAST_CARD, ONTO_RUN
from crapo_env.bots.greedy import ALWAYS, Priority, rank_table
from crapo_env.crapo.actions import ACTIONS

_RESERVE = ("reserve_to_space", "reserve_to_foundation", "reserve_to_waste", "reserve_to_reserve")
_HAND = ("hand_to_space", "hand_to_foundation", "hand_to_waste", "hand_to_reserve")
_MOVE = ("space_to_space",)

PRIORITIES = (
    Priority(_RESERVE + _HAND, LAST_CARD, "wins at once"),
    Priority(("reserve_to_foundation",), ALWAYS, "shortens the reserve and costs no space"),
    Priority(("space_to_reserve",), ALWAYS, "lengthens the slowest pile; the chance may pass"),
    Priority(("hand_to_foundation",), ALWAYS, "the card is gone for good and the turn goes on"),
    Priority(("space_to_foundation",), EMPTIES, "a free space lets the reserve play"),
    Priority(_MOVE, EMPTIES, "a free space for nothing"),
    Priority(("space_to_foundation",), ALWAYS, "uncovers a card that may play"),
    Priority(_MOVE, FOR_RUN, "the rest of the run can follow and free the space"),
    Priority(_MOVE, FOR_RESERVE, "the reserve plays and the free space stays"),
    Priority(("reserve_to_reserve",), ALWAYS, "shortens the own reserve, lengthens the other"),
    Priority(("hand_to_reserve",), ALWAYS, "a card less to own, lengthens the other reserve"),
    Priority(_MOVE, FOR_FOUNDATION, "a card more goes to a foundation"),
    Priority(("reserve_to_waste",), ALWAYS, "shortens the reserve; the waste is drawn again"),
    Priority(("hand_to_waste",), ALWAYS, "a card less to own, one more for the opponent"),
    Priority(("space_to_waste",), EMPTIES, "one more card for the opponent and a free space"),
    Priority(_MOVE, FOR_LOAD, "a card more to load"),
    Priority(("space_to_waste",), ALWAYS, "one more card for the opponent"),
    Priority(("reserve_to_space",), ONTO_RUN, "shortens the reserve, and the free space stays"),
    Priority(("reserve_to_space",), ALWAYS, "the best use of a free space"),
    Priority(_MOVE, FOR_HAND, "the drawn card need not be discarded"),
    Priority(("hand_to_space",), ONTO_RUN, "a card less to own, and the free space stays"),
    Priority(("hand_to_space",), ALWAYS, "a card less to own, but a blocked space"),
    Priority(("draw",), ALWAYS, "the only way on"),
    Priority(("discard", "pass"), ALWAYS, "the turn ends only when nothing else is possible"),
    Priority(("space_to_space", "space_to_free"), ALWAYS, "never: they gain nothing"),
)
RANKS = rank_table(ACTIONS, PRIORITIES, NUM_CONDITIONS)
