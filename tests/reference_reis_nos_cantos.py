"""Slow second implementation of Reis nos cantos, against which the fast engine is checked.

It is written from the numbered rules alone (clause ids R1 to R20) and shares no code with the
engine: cards are strings, piles and hands are lists, and every list of moves is found by trying
each card and each pile on each place. Nothing here is meant to be fast.

Notation: a card is rank then suit (`7h`), a pile runs from its base to its top, `9h->N` plays a
hand card, `N=>W` puts the pile of N on W, `END` ends the turn.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

RANKS = "A23456789TJQK"  # R2: low to high
SUITS = "hdsc"
DECK = tuple(rank + suit for suit in SUITS for rank in RANKS)
CROSSES = ("N", "E", "S", "W")
CORNERS = ("NE", "SE", "SW", "NW")
PLACES = CROSSES + CORNERS
HAND_SIZE = 7  # R3: whatever the number of players
POINTS_SCALE = 25  # divisor of reward="points", whatever the target of the match
END = "END"


def rank_of(card: str) -> int:
    """Return 0 for an ace up to 12 for a king."""
    return RANKS.index(card[0])


def is_red(card: str) -> bool:
    """Return True for hearts and diamonds."""
    return card[1] in "hd"


def is_king(card: str) -> bool:
    """Return True for the four cards that may open a corner."""
    return card[0] == "K"


def fits(card: str, pile: Sequence[str]) -> bool:
    """Return True if the card continues this pile; nothing continues an empty one."""
    if not pile:
        return False
    top = pile[-1]
    # R2, R8: exactly one rank below and of the other colour; no step from ace back to king.
    return rank_of(card) + 1 == rank_of(top) and is_red(card) != is_red(top)


def hand_points(hand: Sequence[str]) -> int:
    """Return what a hand costs its owner at the end of a round."""
    return sum(10 if is_king(card) else 1 for card in hand)  # R16


def random_deck(rng: random.Random) -> list[str]:
    """Return the 52 cards in an order drawn from `rng`."""
    deck = list(DECK)
    rng.shuffle(deck)
    return deck


def lay_out(cards: Sequence[str]) -> tuple[dict[str, list[str]], list[str]]:
    """Turn cards for N, E, S, W in order.

    Returns:
        The eight piles, and the cards that were not turned.
    """
    piles: dict[str, list[str]] = {place: [] for place in PLACES}
    rest = list(cards)
    for cross in CROSSES:
        card = rest.pop(0)
        while is_king(card):  # R5: kings step aside until another card comes
            corner = next(place for place in CORNERS if not piles[place])
            piles[corner].append(card)
            card = rest.pop(0)
        piles[cross].append(card)  # R4
    return piles, rest


def _no_deck() -> list[str]:
    """Stand in for `next_deck` in a position that should not outlive its round."""
    raise ValueError("the round ended but the match did not, and no next_deck was given")


class ReisReference:
    """A whole match.

    Attributes:
        num_players: 2, 3 or 4 (R1).
        current_player: The seat on turn; after the match, the seat that made the last move.
        hands: One list per seat, in the order in which the cards came.
        piles: Each of the eight places with its pile, base first; empty places have `[]`.
        stock: Face-down cards, the next one to be drawn first.
        dealer: The seat that dealt this round (R6).
        round_number: 1 in the first round.
        scores: Totals of the finished rounds.
        dry_turns: Successive dry turns before the present one (R15).
        turn_is_dry: True as long as nothing was drawn, played or moved in this turn.
        rewards: What the last move earned each seat.
        terminated: True once the match is over.
        round_points: Points of the round finished last, None before that.
        round_end: Why that round ended: "won" (R14), "no play" (R15a) or "dry" (R15b).
    """

    num_players: int
    current_player: int
    hands: list[list[str]]
    piles: dict[str, list[str]]
    stock: list[str]
    dealer: int
    round_number: int
    scores: list[int]
    dry_turns: int
    turn_is_dry: bool
    rewards: list[float]
    terminated: bool
    round_points: list[int] | None
    round_end: str | None

    def __init__(
        self,
        num_players: int,
        deck: Sequence[str],
        next_deck: Callable[[], Sequence[str]],
        first_starter: int,
        **options: Any,
    ) -> None:
        """Deal the first round.

        Args:
            num_players: 2, 3 or 4.
            deck: Seven cards for seat 0, seven for seat 1, ..., then the cards of the layout
                in the order turned, then the stock, first drawn first.
            next_deck: Called once for each later round; the same order, by absolute seat.
            first_starter: The seat that begins the first round.
            **options: `draw_at`, `target`, `king_pile_to_corner`, `reward`; see `_set_up`.
        """
        self._set_up(num_players, next_deck, **options)
        if first_starter not in range(num_players):
            raise ValueError(f"no seat {first_starter} among {num_players} players")
        self.dealer = (first_starter - 1) % num_players  # R6
        self._deal(deck)

    @classmethod
    def from_position(
        cls,
        hands: Sequence[Sequence[str]],
        piles: Mapping[str, Sequence[str]],
        *,
        stock: Sequence[str] = (),
        current_player: int = 0,
        dry_turns: int = 0,
        turn_is_dry: bool = False,
        scores: Sequence[int] | None = None,
        dealer: int = 0,
        next_deck: Callable[[], Sequence[str]] = _no_deck,
        **options: Any,
    ) -> "ReisReference":
        """Return a match in the middle of a turn.

        Args:
            hands: One per seat; their number is the number of players.
            piles: Places left out are empty; cards may be missing from the whole position.
            stock: Nothing is drawn from it here: the draw at the start of the turn is over.
            current_player: The seat on turn.
            dry_turns: Successive dry turns before this one.
            turn_is_dry: True if this turn has seen nothing yet, not even a draw.
            scores: Totals before this round, default all 0.
            dealer: The seat that dealt this round.
            next_deck: Needed only if the match goes on after this round.
            **options: As in the constructor.
        """
        game = cls.__new__(cls)
        game._set_up(len(hands), next_deck, **options)
        game.hands = [list(hand) for hand in hands]
        game.piles = {place: list(piles.get(place, ())) for place in PLACES}
        game.stock = list(stock)
        game.scores = list(scores) if scores is not None else game.scores
        game.current_player, game.dealer = current_player, dealer
        game.dry_turns, game.turn_is_dry = dry_turns, turn_is_dry
        game._check_position(piles)
        return game

    def legal_moves(self, fold: bool = True) -> list[str]:
        """Return the moves open to `current_player`; none after the match.

        Args:
            fold: Offer only the first empty cross (N, E, S, W) and the first empty corner
                (NE, SE, SW, NW), since empty places of one kind are worth the same.
        """
        if self.terminated:
            return []
        hand = self.hands[self.current_player]
        return [*self._hand_plays(hand, fold), *self._pile_moves(fold), END]  # R12: END always

    def apply(self, move: str) -> None:
        """Make one move, and whatever follows by itself: draws, scoring, the next deal."""
        if move not in self.legal_moves(fold=False):
            why = "the match is over" if self.terminated else f"seat {self.current_player} to move"
            raise ValueError(f"illegal move {move!r}: {why}")
        self.rewards = [0.0] * self.num_players
        if move == END:
            self._end_turn()
        elif "=>" in move:
            self._move_pile(*move.split("=>"))
        else:
            self._play_card(*move.split("->"))

    # Legal moves.

    def _empty(self, places: Sequence[str], fold: bool) -> list[str]:
        """Return the empty ones of these places, with `fold` only the first of them."""
        empty = [place for place in places if not self.piles[place]]
        return empty[:1] if fold else empty

    def _hand_plays(self, hand: Sequence[str], fold: bool) -> list[str]:
        """Return every play that this hand could make."""
        empty_crosses = self._empty(CROSSES, fold)
        empty_corners = self._empty(CORNERS, fold)
        moves = []
        for card in hand:
            for place in PLACES:
                on_pile = fits(card, self.piles[place])  # R8
                on_cross = place in empty_crosses  # R9: any card, kings too
                on_corner = place in empty_corners and is_king(card)  # R10
                if on_pile or on_cross or on_corner:
                    moves.append(f"{card}->{place}")
        return moves

    def _pile_moves(self, fold: bool) -> list[str]:
        """Return every move of a whole pile."""
        empty_corners = self._empty(CORNERS, fold)
        moves = []
        for source in CROSSES:  # R11: what lies in a corner stays there
            pile = self.piles[source]
            if not pile:
                continue
            for target in PLACES:
                on_pile = source != target and fits(pile[0], self.piles[target])  # R11
                king_moves = self.king_pile_to_corner and is_king(pile[0])  # A-R6
                if on_pile or (king_moves and target in empty_corners):
                    moves.append(f"{source}=>{target}")
        return moves

    # What a move does.

    def _play_card(self, card: str, place: str) -> None:
        """Put a hand card on a place; the round is won with the last card (R14)."""
        hand = self.hands[self.current_player]
        hand.remove(card)
        self.piles[place].append(card)
        self.turn_is_dry = False
        if not hand:
            self.dry_turns = 0  # R15: the turn that wins is over too, and it was not dry
            self._end_round("won")

    def _move_pile(self, source: str, target: str) -> None:
        """Put the whole pile of `source` on the pile or empty corner `target`."""
        self.piles[target].extend(self.piles[source])
        self.piles[source] = []
        self.turn_is_dry = False

    def _draw(self) -> None:
        """Give the player on turn the next card of the stock, if there is one (R7, R13)."""
        if self.stock:
            self.hands[self.current_player].append(self.stock.pop(0))
            self.turn_is_dry = False

    def _start_turn(self, seat: int) -> None:
        """Hand the turn to a seat."""
        self.current_player = seat
        self.turn_is_dry = True
        if self.draw_at == "start":
            self._draw()  # R7

    def _end_turn(self) -> None:
        """Close the turn, and the round if it is blocked."""
        if self.draw_at == "end":
            self._draw()  # R18; R15: this draw still belongs to the turn now ending
        self.dry_turns = self.dry_turns + 1 if self.turn_is_dry else 0
        if not self.stock and self._nobody_can_play():
            self._end_round("no play")  # R15(a)
        elif not self.stock and self.dry_turns >= self.num_players:
            self._end_round("dry")  # R15(b)
        else:
            self._start_turn((self.current_player + 1) % self.num_players)  # R1

    def _nobody_can_play(self) -> bool:
        """Return True if no hand holds a play and no pile can move (R15a)."""
        hand_plays = [move for hand in self.hands for move in self._hand_plays(hand, fold=False)]
        return not hand_plays and not self._pile_moves(fold=False)

    # Rounds and match.

    def _deal(self, deck: Sequence[str]) -> None:
        """Deal a round from a written deck and let the seat after the dealer begin."""
        if sorted(deck) != sorted(DECK):
            raise ValueError(f"not a pack of 52 different cards: {list(deck)}")
        dealt = HAND_SIZE * self.num_players
        self.hands = [list(deck[i : i + HAND_SIZE]) for i in range(0, dealt, HAND_SIZE)]  # R3
        self.piles, self.stock = lay_out(deck[dealt:])
        self.dry_turns = 0  # R15
        self._start_turn((self.dealer + 1) % self.num_players)  # R6

    def _end_round(self, reason: str) -> None:
        """Score the hands, pay the rewards, and stop or deal again."""
        points = [hand_points(hand) for hand in self.hands]  # R16: the winner holds nothing
        self.round_points, self.round_end = points, reason
        self.scores = [total + new for total, new in zip(self.scores, points, strict=True)]
        self.terminated = max(self.scores) >= self.target  # R17
        if self.reward == "points":
            self.rewards = self._points_rewards(points)
        elif self.terminated:
            self.rewards = self._win_rewards()
        if not self.terminated:
            self.dealer = (self.dealer + 1) % self.num_players  # R6: blocked rounds as well
            self.round_number += 1
            self._deal(self.next_deck())

    def _points_rewards(self, points: Sequence[int]) -> list[float]:
        """Return how much better each seat did than the mean of the others, scaled."""
        others = self.num_players - 1
        return [((sum(points) - own) / others - own) / POINTS_SCALE for own in points]

    def _win_rewards(self) -> list[float]:
        """Return +1 shared by the lowest totals and -1 shared by the rest, 0 if all are equal."""
        lowest = min(self.scores)
        winners = self.scores.count(lowest)  # R17: equal lowest totals share
        losers = self.num_players - winners
        if not losers:
            return [0.0] * self.num_players
        return [1 / winners if total == lowest else -1 / losers for total in self.scores]

    # Construction.

    def _set_up(
        self,
        num_players: int,
        next_deck: Callable[[], Sequence[str]],
        *,
        draw_at: Literal["start", "end"] = "start",
        target: int = 25,
        king_pile_to_corner: bool = False,
        reward: Literal["win", "points"] = "win",
    ) -> None:
        """Set what holds for the whole match.

        Args:
            num_players: 2, 3 or 4.
            next_deck: Gives the written deck of each later round.
            draw_at: The end of the turn at which a card is drawn (R7, R18).
            target: The match stops once a total is at least this; 1 gives a single round (R17).
            king_pile_to_corner: A king and its pile may go from a cross to an empty corner (A-R6).
            reward: "win" pays when the match ends, "points" when each round ends.
        """
        if num_players not in (2, 3, 4):
            raise ValueError(f"num_players must be 2, 3 or 4, not {num_players}")  # R1
        if draw_at not in ("start", "end") or reward not in ("win", "points") or target < 1:
            raise ValueError(f"unknown option: {draw_at=}, {reward=}, {target=}")
        self.num_players, self.next_deck = num_players, next_deck
        self.draw_at, self.target, self.reward = draw_at, target, reward
        self.king_pile_to_corner = king_pile_to_corner
        self.scores = [0] * num_players
        self.round_number = 1
        self.terminated = False
        self.rewards = [0.0] * num_players
        self.round_points = None
        self.round_end = None

    def _check_position(self, piles: Mapping[str, Sequence[str]]) -> None:
        """Reject a written position with a misspelt place or card, a card twice, or no cards."""
        cards = [c for group in (*self.hands, *self.piles.values(), self.stock) for c in group]
        wrong = [c for c in cards if c not in DECK or cards.count(c) > 1]
        wrong += [place for place in piles if place not in PLACES]
        if wrong:
            raise ValueError(f"unknown or repeated in the position: {sorted(set(wrong))}")
        if not all(self.hands):
            raise ValueError("a hand is empty, so the round is already over (R14)")
        counts = (self.current_player, self.dealer, self.dry_turns)
        if len(self.scores) != self.num_players or max(counts) >= self.num_players:
            raise ValueError(f"too many for {self.num_players} seats: {self.scores=}, {counts=}")
