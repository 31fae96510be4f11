"""The state of a Reis nos cantos match and how a round is dealt (clauses R1-R7).

Axis letters: `p` a seat, `place` one of the eight piles in the order of `PLACES`. A hand is a set
of cards: bit `c` of a uint64 stands for card `c`. The array `stock` starts a round as the whole
pack in dealing order; once hands and layout are dealt, the stock begins at `stock_next`.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from crapo_env.bits import count_bits
from crapo_env.cards import KING, NUM_CARDS, NUM_RANKS, random_below, seed_game, shuffle
from crapo_env.game import MAX_STEPS, Option, record_dtype
from crapo_env.jit import njit
from crapo_env.runs import base_rank, phase, run_of, top_rank

MAX_PLAYERS = 4
MIN_PLAYERS = 2
CROSSES = ("N", "E", "S", "W")
CORNERS = ("NE", "SE", "SW", "NW")
PLACES = CROSSES + CORNERS
NUM_CROSSES = len(CROSSES)
NUM_PLACES = len(PLACES)
HAND_CARDS = 7  # R3
MAX_TARGET = 1000  # largest value of the option
KING_POINTS = 10  # R16; any other card costs 1
MAX_TOTAL = MAX_TARGET - 1 + NUM_CARDS + 4 * (KING_POINTS - 1)  # R17: no target yet, then a round

OPTIONS = (
    Option("num_players", (MIN_PLAYERS,), "number of players (R1)", (MIN_PLAYERS, MAX_PLAYERS)),
    Option("draw_at", ("start", "end"), "whether a turn starts (R7) or ends (R18) with the draw"),
    Option("target", (25,), "points that end the match (R17); 1: a single round", (1, MAX_TARGET)),
    Option("first_player", ("random", 0, 1, 2, 3), "who starts the first round (R6)"),
    Option("king_pile_to_corner", (False, True), "whether a king's pile may go to a corner (R11)"),
    Option("reward", ("win", "points"), "paid when the match ends, or points after each round"),
    MAX_STEPS,
)

GAME_DTYPE = record_dtype(
    MAX_PLAYERS,
    [
        ("hands", np.uint64, (MAX_PLAYERS,)),  # a set of cards per seat, 0 for an absent seat
        ("piles", np.int32, (NUM_PLACES,)),  # a run per place, 0 = empty
        ("round_number", np.int32),  # from 0
        ("totals", np.int16, (MAX_PLAYERS,)),  # points of the rounds before this one (R16)
        ("target", np.int16),  # option
        ("stock", np.int8, (NUM_CARDS,)),  # next card to draw at `stock_next`
        ("stock_next", np.int8),
        ("stock_end", np.int8),  # index after the last card; stock_next when the stock is empty
        ("dealer", np.int8),  # seat that dealt this round (R6)
        ("dry_turns", np.int8),  # dry turns in a row so far (R15)
        ("turn_is_dry", np.int8),  # 1: nothing was drawn, played or moved in this turn yet (R15)
        ("draw_at", np.int8),  # the other options, as numbered by `Option.encode`
        ("first_player", np.int8),
        ("king_pile_to_corner", np.int8),
        ("reward", np.int8),
    ],
)

ONE = np.uint64(1)
NO_CARDS = np.uint64(0)
ALL_CARDS = np.uint64((1 << NUM_CARDS) - 1)
KINGS = np.uint64(sum(1 << suit * NUM_RANKS + KING for suit in range(4)))

_EVEN_RANKS = 0b1010101010101


def check_options(options: Mapping[str, Any]) -> None:
    """Check what no single option can tell.

    Raises:
        ValueError: if the first player's seat is not taken.
    """
    seat, n = options["first_player"], options["num_players"]
    if seat != "random" and seat >= n:
        raise ValueError(
            f"option first_player must be 'random' or a seat from 0 to {n - 1} "
            f"with num_players={n}, not {seat!r}"
        )


@njit
def bit(card: int) -> Any:
    """Return the set that holds one card."""
    return ONE << np.uint64(card)


@njit
def cards_of(run: int) -> Any:
    """Return the set of the cards of a run."""
    if run == 0:
        return NO_CARDS
    ranks = (2 << base_rank(run)) - (1 << top_rank(run))
    black = _EVEN_RANKS if phase(run) else ~_EVEN_RANKS
    red_first, black_first = ranks & ~run & ~black, ranks & ~run & black  # hearts, spades
    red_last, black_last = ranks & run & ~black, ranks & run & black  # diamonds, clubs
    low = red_first | black_first << NUM_RANKS
    return np.uint64(low | (red_last | black_last << NUM_RANKS) << 2 * NUM_RANKS)


@njit
def hand_points(hand: Any) -> Any:
    """Return what a hand costs at the end of a round (R16)."""
    return count_bits(hand) + (KING_POINTS - 1) * count_bits(hand & KINGS)


@njit
def stock_size(g: Any) -> Any:
    """Return the number of cards left to draw."""
    return np.int64(g.stock_end) - np.int64(g.stock_next)


@njit
def draw(g: Any) -> None:
    """Take the next card of the stock, if there is one, into the hand on turn (R7, R13, R18)."""
    if g.stock_next < g.stock_end:
        g.hands[g.current_player] |= bit(g.stock[g.stock_next])
        g.stock_next += 1
        g.turn_is_dry = 0


@njit
def begin_turn(g: Any, p: int) -> None:
    """Give the turn to seat `p`."""
    g.current_player = p
    g.turn_is_dry = 1
    if g.draw_at == 0:  # R7
        draw(g)


@njit
def deal_round(g: Any, p: int) -> None:
    """Deal a round from the pack in `g.stock` (R3-R5), dealer `p`, and begin its first turn."""
    deal_pack(g, p, NUM_CARDS, HAND_CARDS, NUM_CROSSES)


@njit
def deal_pack(g: Any, p: int, num_cards: int, hand_cards: int, crosses: int) -> None:
    """Deal a round of a pack, hands and layout of any size; see `deal_round`."""
    n = np.int64(g.num_players)
    g.dealer = p
    g.dry_turns = 0  # R15
    g.hands[:] = 0
    g.piles[:] = 0
    k = 0
    for seat in range(n):
        for _ in range(hand_cards):
            g.hands[seat] |= bit(g.stock[k])
            k += 1
    corner = NUM_CROSSES
    for cross in range(crosses):
        while g.stock[k] % NUM_RANKS == KING:  # R5: the next free corner, and another card
            g.piles[corner] = run_of(np.int64(g.stock[k]))
            corner += 1
            k += 1
        g.piles[cross] = run_of(np.int64(g.stock[k]))
        k += 1
    g.stock_next = k
    g.stock_end = num_cards
    begin_turn(g, (p + 1) % n)


@njit
def shuffle_pack(g: Any) -> None:
    """Put the pack into `g.stock` in random order."""
    for c in range(NUM_CARDS):
        g.stock[c] = c
    shuffle(g, g.stock)


@njit
def clear(g: Any) -> None:
    """Forget all rounds of a match; a deal or an observation fills in the rest."""
    g.num_steps = 0
    g.rewards[:] = 0
    g.terminated = 0
    g.truncated = 0
    g.round_number = 0
    g.totals[:] = 0
    g.hands[:] = 0


@njit
def begin_match(g: Any) -> None:
    """Start a match from the pack in `g.stock`."""
    clear(g)
    n = np.int64(g.num_players)
    p = random_below(g, n) if g.first_player == 0 else (np.int64(g.first_player) - 2 + n) % n  # R6
    deal_round(g, p)


@njit
def deal_shuffled(g: Any, seed: Any) -> None:
    """Start a match from a seed."""
    seed_game(g, seed)
    shuffle_pack(g)
    begin_match(g)
