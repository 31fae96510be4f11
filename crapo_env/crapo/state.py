"""The state of a Crapô game and how a deal lays it out (clauses C1-C9).

Axis letters: `p` a player, `i` a space. The players' own piles are named `reserve` (the crapo),
`stock` and `waste`. Stock and waste share one ring of cards per player: cards are drawn at its head
and discarded at its tail, so turning the waste over (C31) only renames its cards.
"""

from typing import Any

import numpy as np

from crapo_env.cards import (
    NUM_CARDS,
    NUM_RANKS,
    mix64,
    random_below,
    seed_game,
    shuffle,
)
from crapo_env.game import MAX_STEPS, Option, record_dtype
from crapo_env.jit import njit
from crapo_env.runs import run_of, top_rank

NUM_SPACES = 8
NUM_SUITS = 4
NO_CARD = -1
PACK_CARDS = 104  # both packs; also the size of a ring
RESERVE_CARDS = 14  # C4
TURNED_CARDS = 4  # C5
STOCK_CARDS = 34  # C7
MAX_RESERVE = 40  # 13 hidden cards, one turned up, at most 25 others of its suit loaded on it
STALE_PILES = 1 << NUM_SPACES  # the piles of player 0; the next bit: of player 1
STALE_ALL = 4 << NUM_SPACES  # everything, as in a new game
MAX_REARRANGEMENTS = 32  # largest value of the option

OPTIONS = (
    Option("aces", ("forced", "optional"), "whether available aces must be played first (C14)"),
    Option(
        "drawn_card",
        ("must_play", "may_discard"),
        "whether a playable drawn card must be played (C28)",
    ),
    Option(
        "rearrange_while_holding", (True, False), "other moves while holding a drawn card (C28)"
    ),
    Option("tableau_loading", (True, False), "whether tops of spaces may be loaded (C21)"),
    Option("crapo_gate", ("free_space", "fit"), "what the reserve top needs to leave (C15, C18)"),
    Option("draw_gate", ("crapo_exhausted", "any_time"), "when drawing is allowed (C26)"),
    Option("stalemate_result", ("draw", "fewest_cards"), "result of a game without progress (C37)"),
    Option(
        "max_rearrangements", (16,), "moves between spaces in a row (C36)", (0, MAX_REARRANGEMENTS)
    ),
    Option(
        "no_progress_turns", (120,), "turns without progress that end the game (C37)", (1, 1000)
    ),
    MAX_STEPS,
)

GAME_DTYPE = record_dtype(
    2,
    [
        ("arrangement", np.uint64),  # sum of mix64 over the runs of the tableau, see `set_space`
        ("seen", np.uint64, (MAX_REARRANGEMENTS + 1,)),  # since the last other action (C36)
        ("tableau", np.int32, (NUM_SPACES,)),  # a run per space, 0 = free
        ("no_progress_turns", np.int16),  # option
        ("turns_without_progress", np.int16),  # C37
        ("stale", np.int16),  # what `observation.update` must write: a bit per space, STALE_...
        ("num_turns", np.int32),  # turns ended in this game
        ("foundation", np.int8, (NUM_SUITS, 2)),  # heights of the two piles of a suit, taller first
        ("ring", np.int8, (2, PACK_CARDS)),  # stock, next card first, then waste, bottom first
        ("head", np.int8, (2,)),  # index in the ring of the next card to draw
        ("stock_size", np.int8, (2,)),
        ("waste_size", np.int8, (2,)),
        ("stock_known", np.int8, (2,)),  # 1: turned over, so its order is public (C31, C39)
        ("reserve", np.int8, (2, MAX_RESERVE)),  # bottom first
        ("reserve_size", np.int8, (2,)),
        ("reserve_down", np.int8, (2,)),  # how many of them lie face down, never the top (C16)
        ("dealt", np.int8, (2, NUM_CARDS)),  # copies seen, by the player they were dealt to
        ("smallest", np.int8, (2,)),  # smallest card count in this game (C37)
        ("hand", np.int8),  # the drawn card or NO_CARD
        ("rearrangements", np.int8),  # moves between spaces since the last other action (C36)
        ("turn_progress", np.int8),  # 1: this turn made progress (C37)
        ("turn_bare", np.int8),  # 1: this turn so far has only moves between spaces (C35)
        ("last_turn_bare_pass", np.int8),  # 1: the turn before was bare and ended by PASS (C35)
        ("aces", np.int8),  # the options, as numbered by `Option.encode`
        ("drawn_card", np.int8),
        ("rearrange_while_holding", np.int8),
        ("tableau_loading", np.int8),
        ("crapo_gate", np.int8),
        ("draw_gate", np.int8),
        ("stalemate_result", np.int8),
        ("max_rearrangements", np.int8),
    ],
)


@njit
def set_space(g: Any, i: int, run: int) -> None:
    """Put a run into space `i`; the arrangement's hash ignores the order of spaces (C36)."""
    g.arrangement = g.arrangement - mix64(np.uint64(g.tableau[i])) + mix64(np.uint64(run))
    g.tableau[i] = run
    g.stale |= 1 << i


@njit
def card_count(g: Any, p: int) -> int:
    """Return the number of cards that player `p` owns, the drawn card apart (C34, C37)."""
    return np.int64(g.reserve_size[p]) + g.stock_size[p] + g.waste_size[p]


@njit
def waste_top(g: Any, p: int) -> int:
    """Return the top card of the waste of player `p` or NO_CARD."""
    if g.waste_size[p] == 0:
        return NO_CARD
    tail = np.int64(g.head[p]) + g.stock_size[p] + g.waste_size[p] - 1
    return np.int64(g.ring[p, tail % PACK_CARDS])


@njit
def reserve_top(g: Any, p: int) -> int:
    """Return the top card of the reserve of player `p` or NO_CARD."""
    if g.reserve_size[p] == 0:
        return NO_CARD
    return np.int64(g.reserve[p, g.reserve_size[p] - 1])


@njit
def reveal(g: Any, p: int, card: int) -> None:
    """Note that a card dealt to player `p` has been seen for the first time (C39)."""
    g.dealt[p, card] += 1


@njit
def open_new_stretch(g: Any) -> None:
    """Forget the arrangements of the tableau seen before this action (C36)."""
    g.rearrangements = 0
    g.seen[0] = g.arrangement


@njit
def shuffle_packs(g: Any, deck: Any) -> None:
    """Fill `deck` (104,) with the cards of both players after the exchange of half packs (C3)."""
    first = deck[:NUM_CARDS]
    second = deck[NUM_CARDS:]
    for c in range(NUM_CARDS):
        first[c] = c
        second[c] = c
    shuffle(g, first)
    shuffle(g, second)
    for i in range(NUM_CARDS // 2):
        first[i], second[i] = second[i], first[i]
    shuffle(g, first)
    shuffle(g, second)


@njit
def lay_out(g: Any, deck: Any) -> None:
    """Deal the written cards of both players, 52 each (C4-C9), and let the starter begin (C6)."""
    clear(g)
    for p in range(2):
        first = p * NUM_CARDS
        for k in range(RESERVE_CARDS):
            g.reserve[p, k] = deck[first + k]
        reveal(g, p, reserve_top(g, p))
        for i in range(TURNED_CARDS):
            card = np.int64(deck[first + RESERVE_CARDS + i])
            set_space(g, p * TURNED_CARDS + i, run_of(card))
            reveal(g, p, card)
        for k in range(STOCK_CARDS):
            g.ring[p, k] = deck[first + RESERVE_CARDS + TURNED_CARDS + k]
    g.current_player = _starter(g)
    open_new_stretch(g)


@njit
def clear(g: Any) -> None:
    """Set everything but the options and the generator to the start of a deal, without cards."""
    g.stale = STALE_ALL
    g.num_players = 2
    g.num_steps = 0
    g.num_turns = 0
    g.terminated = 0
    g.truncated = 0
    g.arrangement = 0
    g.hand = NO_CARD
    g.turns_without_progress = 0
    g.turn_progress = 0
    g.turn_bare = 1
    g.last_turn_bare_pass = 0
    for i in range(NUM_SPACES):
        g.tableau[i] = 0
    for suit in range(NUM_SUITS):
        for pile in range(2):
            g.foundation[suit, pile] = 0
    for p in range(2):
        g.rewards[p] = 0
        g.smallest[p] = RESERVE_CARDS + STOCK_CARDS
        _clear_piles(g, p)
    for k in range(
        MAX_REARRANGEMENTS + 1
    ):  # unused places hold 0, so that equal games are equal bytes
        g.seen[k] = 0


@njit
def _clear_piles(g: Any, p: int) -> None:
    g.head[p] = 0
    g.stock_size[p] = STOCK_CARDS
    g.waste_size[p] = 0
    g.stock_known[p] = 0
    g.reserve_size[p] = RESERVE_CARDS
    g.reserve_down[p] = RESERVE_CARDS - 1
    for k in range(PACK_CARDS):
        g.ring[p, k] = 0
    for k in range(MAX_RESERVE):
        g.reserve[p, k] = 0
    for card in range(NUM_CARDS):
        g.dealt[p, card] = 0


@njit
def decided_starter(g: Any) -> int:
    """Return who starts by the first sorted ranks or reserve tops that differ, -1 if none (C6)."""
    first = _sorted_ranks(g, 0)
    second = _sorted_ranks(g, 1)
    if first != second:
        return 0 if first < second else 1
    first = reserve_top(g, 0) % NUM_RANKS
    second = reserve_top(g, 1) % NUM_RANKS
    if first != second:
        return 0 if first < second else 1
    return -1


@njit
def _starter(g: Any) -> int:
    """Return who starts (C6)."""
    starter = decided_starter(g)
    return random_below(g, 2) if starter < 0 else starter


@njit
def _sorted_ranks(g: Any, p: int) -> int:
    """Return the ranks of the four turned cards as one number, lowest rank in the highest digit."""
    code = 0
    for rank in range(NUM_RANKS):
        for i in range(TURNED_CARDS):
            if top_rank(g.tableau[p * TURNED_CARDS + i]) == rank:
                code = code * NUM_RANKS + rank
    return code


@njit
def deal_shuffled(g: Any, seed: Any) -> None:
    """Deal a new game from a seed."""
    seed_game(g, seed)
    deck = np.empty(PACK_CARDS, np.int8)
    shuffle_packs(g, deck)
    lay_out(g, deck)
