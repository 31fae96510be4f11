"""Slow reference implementation of Crapô, written only to be obviously right.

Cards are strings such as "7h", piles are lists with the top card last, moves are strings in the
notation of the rules page. The ids C1-C39 in the comments are the clauses of that page.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from copy import copy
from typing import Any

RANKS = "A23456789TJQK"
SUITS = "hdsc"
RED_SUITS = "hd"
PACK = [rank + suit for suit in SUITS for rank in RANKS]
FIRST_SMALLEST_COUNT = 48
CAPACITY = [1, 2, 4, 8, 13, 13, 13, 13, 13]  # by the number of free spaces (C23)
SHIFT_PATTERN = re.compile(r"S(\d)>(\d)\((\d+)\)")

# Part C of the rules page: every switch with its values, the default first, and the numbers.
SWITCHES: dict[str, tuple[str | bool, ...]] = {
    "aces": ("forced", "optional"),
    "drawn_card": ("must_play", "may_discard"),
    "rearrange_while_holding": (True, False),
    "tableau_loading": (True, False),
    "crapo_gate": ("free_space", "fit"),
    "draw_gate": ("crapo_exhausted", "any_time"),
    "stalemate_result": ("draw", "fewest_cards"),
}
LIMITS = {"max_rearrangements": 16, "no_progress_turns": 120}
NUMBERS = range(1, 9)  # of the spaces

Piles = Sequence[Sequence[str]]


def rank(card: str) -> int:
    """Return 1 for an ace up to 13 for a king (C2)."""
    return RANKS.index(card[0]) + 1


def fits_on_card(card: str, top: str) -> bool:
    """Tell whether the card may be built on this top of a space (C11)."""
    return rank(card) == rank(top) - 1 and (card[1] in RED_SUITS) != (top[1] in RED_SUITS)


def can_load(card: str, pile: Sequence[str]) -> bool:
    """Tell whether the card may be loaded onto an opponent's waste or crapo (C17)."""
    return bool(pile) and card[1] == pile[-1][1] and abs(rank(card) - rank(pile[-1])) == 1


def arrangement_of(spaces: Piles) -> list[list[str]]:
    """Return the piles in sorted order: space numbers and free spaces do not matter (C36)."""
    return sorted(list(pile) for pile in spaces if pile)


def random_deck(rng: random.Random) -> list[str]:
    """Return the 104 cards of both players after the exchange of half packs (C3)."""
    packs = [list(PACK), list(PACK)]
    for pack in packs:
        rng.shuffle(pack)
    owned = [packs[0][:26] + packs[1][26:], packs[1][:26] + packs[0][26:]]
    for cards in owned:
        rng.shuffle(cards)
    return owned[0] + owned[1]


def starting_player(turned: Piles, tops: Sequence[str], coin: int) -> int:
    """Return who starts: lower sorted turned ranks, then lower crapo top, then the coin (C6)."""
    keys = [[*sorted(map(rank, turned[p])), rank(tops[p])] for p in (0, 1)]
    if keys[0] == keys[1]:
        return coin
    return 0 if keys[0] < keys[1] else 1


def complete_options(given: dict[str, Any]) -> dict[str, Any]:
    """Return all switches and numbers, with the defaults for those not given."""
    for name, value in given.items():
        if name not in LIMITS and value not in SWITCHES.get(name, ()):
            raise ValueError(f"unknown option {name}={value!r}")
    return {name: values[0] for name, values in SWITCHES.items()} | LIMITS | given


class CrapoReference:
    """One game of Crapô.

    `spaces[0]` is space 1; spaces, crapos and wastes are lists with the base first, a stock has
    the next card first. `crapo_face_down` counts from the bottom. `hand` is None in the main
    phase. `rewards` is 0, 0 until there is a winner. `num_turns` counts the `DISCARD`s and
    `PASS`es. When the game ends, `current_player` stays the one who made the last move.
    """

    def __init__(self, deck: Sequence[str], starter: int = 0, **options: Any) -> None:
        """Deal from 104 card names, player 0's 52 first (C4-C8); `starter` is the coin of C6."""
        if sorted(deck) != sorted(PACK + PACK):
            raise ValueError("a deck must hold every card exactly twice")
        owned = [list(deck[:52]), list(deck[52:])]
        crapo = [cards[:14] for cards in owned]
        turned = [cards[14:18] for cards in owned]
        stock = [cards[18:] for cards in owned]
        self.options = complete_options(options)
        self._lay_out([[card] for card in turned[0] + turned[1]], crapo, stock, [[], []])
        self._start_turn(starting_player(turned, [pile[-1] for pile in crapo], starter))

    @classmethod
    def from_position(
        cls,
        spaces: Piles,
        crapo: Piles,
        stock: Piles,
        waste: Piles,
        *,
        foundations: dict[str, Sequence[int]] | None = None,
        hand: str | None = None,
        current_player: int = 0,
        crapo_face_down: Sequence[int] | None = None,
        stock_known: Sequence[bool] = (False, False),
        counters: dict[str, Any] | None = None,
        **options: Any,
    ) -> CrapoReference:
        """Build a position, which may hold fewer than 104 cards.

        By default all crapo cards but the tops are face down. `counters` gives the values of
        `smallest_count`, `turn_is_bare` and any other attribute of that kind.
        """
        game = cls.__new__(cls)
        game.options = complete_options(options)
        game._lay_out(spaces, crapo, stock, waste)
        game._start_turn(current_player)
        for s, heights in (foundations or {}).items():
            game.foundations[s] = list(heights)
        if crapo_face_down is not None:
            game.crapo_face_down = list(crapo_face_down)
        game.stock_known = list(stock_known)
        game.hand = hand
        game.turn_is_bare = hand is None
        game.smallest_count = [min(FIRST_SMALLEST_COUNT, game.card_count(p)) for p in (0, 1)]
        for name, value in (counters or {}).items():
            if not hasattr(game, name):
                raise ValueError(f"unknown counter {name!r}")
            setattr(game, name, copy(value))
        return game

    def _lay_out(self, spaces: Piles, crapo: Piles, stock: Piles, waste: Piles) -> None:
        self.spaces = [list(pile) for pile in spaces]
        self.crapo = [list(pile) for pile in crapo]
        self.crapo_face_down = [max(len(pile) - 1, 0) for pile in crapo]
        self.stock = [list(pile) for pile in stock]
        self.stock_known = [False, False]
        self.waste = [list(pile) for pile in waste]
        self.foundations = {s: [0, 0] for s in SUITS}
        self.hand: str | None = None
        self.terminated = False
        self.rewards = [0, 0]
        self.num_turns = 0
        self.turns_without_progress = 0
        self.smallest_count = [FIRST_SMALLEST_COUNT, FIRST_SMALLEST_COUNT]
        self.last_turn_was_bare_pass = False

    def card_count(self, player: int) -> int:
        """Return crapo + stock + waste + hand of a player (C34, C37)."""
        held = 1 if self.hand is not None and player == self.current_player else 0
        piles = (self.crapo[player], self.stock[player], self.waste[player])
        return sum(len(pile) for pile in piles) + held

    def free_spaces(self) -> list[int]:
        """Return the numbers of the free spaces in rising order."""
        return [n for n in NUMBERS if not self.spaces[n - 1]]

    def fits_foundation(self, card: str) -> bool:
        """Tell whether one of the two piles of the suit waits for this card (C13)."""
        return rank(card) - 1 in self.foundations[card[1]]

    def fitting_spaces(self, card: str) -> list[int]:
        """Return the numbers of all spaces, free ones included, that take the card (C11, C12)."""
        tops = {n: self.spaces[n - 1][-1] for n in NUMBERS if self.spaces[n - 1]}
        return [n for n in NUMBERS if n not in tops or fits_on_card(card, tops[n])]

    def crapo_top(self) -> str | None:
        """Return the top of the crapo of the player on turn."""
        pile = self.crapo[self.current_player]
        return pile[-1] if pile else None

    # Which moves are legal.

    def legal_moves(self, fold: bool = True) -> list[str]:
        """Return the legal moves; with `fold` only the first free space is a destination."""
        if self.terminated:
            return []
        ace_moves = self._ace_moves()
        if ace_moves:
            return ace_moves
        free = self.free_spaces()
        targets = [n for n in NUMBERS if not fold or n not in free[1:]]
        if self.hand is None:
            return self._table_moves(targets) + self._draw_or_pass()
        moves = self._table_moves(targets) if self.options["rearrange_while_holding"] else []
        return moves + self._hand_moves(self.hand, targets)

    def _ace_moves(self) -> list[str]:
        """Return the moves of available aces if they are forced, in both phases (C14)."""
        if self.options["aces"] == "optional":
            return []
        available = [("H", self.hand)]
        if self.hand is None or self.options["rearrange_while_holding"]:
            available.append(("C", self.crapo_top()))
            available += [(f"S{i + 1}", pile[-1]) for i, pile in enumerate(self.spaces) if pile]
        return [
            f"{source}>F"
            for source, card in available
            if card is not None and rank(card) == 1 and self.fits_foundation(card)
        ]

    def _table_moves(self, targets: list[int]) -> list[str]:
        """Return what may be played besides a drawn card (C25, C28)."""
        return self._crapo_moves(targets) + self._space_moves() + self._shift_moves(targets)

    def _crapo_moves(self, targets: list[int]) -> list[str]:
        card = self.crapo_top()
        if card is None:
            return []
        moves = ["C>F"] if self.fits_foundation(card) else []
        if self.free_spaces() or self.options["crapo_gate"] == "fit":  # C15, C18
            moves += [f"C>{n}" for n in self.fitting_spaces(card) if n in targets]
            moves += self._load_moves("C", card)
        return moves

    def _load_moves(self, source: str, card: str) -> list[str]:
        """Return the loads that fit, whatever the free spaces (C17)."""
        opponent = 1 - self.current_player
        moves = [f"{source}>OW"] if can_load(card, self.waste[opponent]) else []
        return moves + ([f"{source}>OC"] if can_load(card, self.crapo[opponent]) else [])

    def _space_moves(self) -> list[str]:
        """Return the moves of single tops of spaces to foundations and as loads (C13, C21)."""
        moves = []
        for number, pile in enumerate(self.spaces, start=1):
            if pile and self.fits_foundation(pile[-1]):
                moves.append(f"S{number}>F")
            if pile and self.options["tableau_loading"]:
                moves += self._load_moves(f"S{number}", pile[-1])
        return moves

    def _shift_moves(self, targets: list[int]) -> list[str]:
        """Return the moves of sets between spaces (C22-C24, C36)."""
        if self.rearrangements >= self.options["max_rearrangements"]:
            return []
        return [
            f"S{i}>{j}({k})"
            for i, pile in enumerate(self.spaces, start=1)
            for j in targets
            for k in range(1, len(pile) + 1)
            if i != j and self._set_fits(i, j, k) and self._is_new_arrangement(i, j, k)
        ]

    def _set_fits(self, i: int, j: int, k: int) -> bool:
        """Tell whether the k top cards of space i may be set down on space j (C22-C24)."""
        source, target = self.spaces[i - 1], self.spaces[j - 1]
        free = len(self.free_spaces())
        if not target:  # C24: the target does not help, and a whole pile stays where it is
            return k < len(source) and k <= CAPACITY[free - 1]
        return k <= CAPACITY[free] and fits_on_card(source[-k], target[-1])

    def _is_new_arrangement(self, i: int, j: int, k: int) -> bool:
        after = [list(pile) for pile in self.spaces]
        after[j - 1] += after[i - 1][-k:]
        del after[i - 1][-k:]
        return arrangement_of(after) not in self.seen_arrangements

    def _hand_moves(self, card: str, targets: list[int]) -> list[str]:
        """Return the moves of the drawn card (C19, C20, C28)."""
        moves = ["H>F"] if self.fits_foundation(card) else []
        moves += [f"H>{n}" for n in self.fitting_spaces(card) if n in targets]
        must_be_played = bool(moves) and self.options["drawn_card"] == "must_play"
        loads = self._load_moves("H", card)
        moves += [load for load in loads if load == "H>OW" or self.free_spaces()]
        return moves if must_be_played else [*moves, "DISCARD"]

    def _draw_or_pass(self) -> list[str]:
        """Return `DRAW`, or `PASS` if there is nothing to draw, if the crapo allows (C26, C32)."""
        if self.options["draw_gate"] == "crapo_exhausted" and self._crapo_has_option():
            return []
        player = self.current_player
        return ["DRAW"] if self.stock[player] or self.waste[player] else ["PASS"]

    def _crapo_has_option(self) -> bool:
        """Tell whether the crapo forbids drawing; loads never do (C26)."""
        card = self.crapo_top()
        if card is None:
            return False
        only_fitting = self.options["crapo_gate"] == "fit"
        room = self.fitting_spaces(card) if only_fitting else self.free_spaces()
        return self.fits_foundation(card) or bool(room)

    # What the moves do.

    def apply(self, move: str) -> None:
        """Make a move, to any free space if it goes to one; an illegal one raises ValueError."""
        if move not in self.legal_moves(fold=False):
            raise ValueError(f"illegal move {move!r}")
        shift = SHIFT_PATTERN.fullmatch(move)
        if shift:
            self._shift(*map(int, shift.groups()))
            return
        if move != "PASS":
            self.turn_is_bare = False  # C35
        if move == "DISCARD":
            self.waste[self.current_player].append(self._take("H"))
        if move in ("DISCARD", "PASS"):
            self._end_turn()
        else:
            self._draw_or_play(move)

    def _shift(self, i: int, j: int, k: int) -> None:
        self.spaces[j - 1] += self.spaces[i - 1][-k:]
        del self.spaces[i - 1][-k:]
        self.rearrangements += 1
        self.seen_arrangements.append(arrangement_of(self.spaces))

    def _draw_or_play(self, move: str) -> None:
        if move == "DRAW":
            self._draw()
        else:
            source, target = move.split(">")
            self._put(self._take(source), target)
        self._reset_arrangements()
        player = self.current_player
        if self.card_count(player) < self.smallest_count[player]:  # C37
            self.smallest_count[player] = self.card_count(player)
            self.turn_had_progress = True
        if self.card_count(player) == 0:  # C34
            self._finish(winner=player)

    def _draw(self) -> None:
        player = self.current_player
        if not self.stock[player]:  # C31: the card discarded first is drawn first
            self.stock[player], self.waste[player] = self.waste[player], []
            self.stock_known[player] = True
        self.hand = self.stock[player].pop(0)

    def _take(self, source: str) -> str:
        if source == "H":
            card, self.hand = str(self.hand), None
            return card
        if source[0] == "S":
            return self.spaces[int(source[1]) - 1].pop()
        player = self.current_player
        card = self.crapo[player].pop()
        highest = max(len(self.crapo[player]) - 1, 0)  # C16: the next card is turned up
        self.crapo_face_down[player] = min(self.crapo_face_down[player], highest)
        return card

    def _put(self, card: str, target: str) -> None:
        if target == "F":
            heights = self.foundations[card[1]]
            heights[heights.index(rank(card) - 1)] += 1
            self.turn_had_progress = True
        elif target == "OW":
            self.waste[1 - self.current_player].append(card)
        elif target == "OC":
            self.crapo[1 - self.current_player].append(card)
        else:
            self.spaces[int(target) - 1].append(card)

    def _reset_arrangements(self) -> None:
        self.rearrangements = 0
        self.seen_arrangements = [arrangement_of(self.spaces)]

    def _start_turn(self, player: int) -> None:
        self.current_player = player
        self.turn_is_bare = True  # nothing but moves between spaces so far
        self.turn_had_progress = False
        self._reset_arrangements()

    def _end_turn(self) -> None:
        self.num_turns += 1
        so_far = -1 if self.turn_had_progress else self.turns_without_progress
        self.turns_without_progress = so_far + 1
        both_passed = self.turn_is_bare and self.last_turn_was_bare_pass
        self.last_turn_was_bare_pass = self.turn_is_bare
        if both_passed:  # C35 comes before C37
            self._finish(winner=None)
        elif self.turns_without_progress >= self.options["no_progress_turns"]:
            self._finish(winner=self._stalemate_winner())
        else:
            self._start_turn(1 - self.current_player)

    def _stalemate_winner(self) -> int | None:
        first, second = self.card_count(0), self.card_count(1)
        if self.options["stalemate_result"] == "draw" or first == second:
            return None
        return 0 if first < second else 1

    def _finish(self, winner: int | None) -> None:
        self.terminated = True
        if winner is not None:
            self.rewards = [1 if p == winner else -1 for p in (0, 1)]
