"""`LazyGame`: one game in which chance decides card by card, no earlier than somebody sees it.

It is what tree search, game theory and OpenSpiel need: at every moment either a player or chance
decides, chance with known probabilities, and each seat has a history of what it has seen.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from crapo_env.cards import CARD_NAMES, NUM_CARDS
from crapo_env.chance import DEAL, Chance, ChanceNode
from crapo_env.game import Game
from crapo_env.registry import find_game

CHANCE = -1  # on turn: chance
_PUBLIC = -1  # seen by: everybody
UNKNOWN = "?"  # what others read of a private outcome
MAX_REDRAWS = 10_000  # all but the rarest positions need one or two


class LazyGame:
    """A game under way.

    Attributes:
        game: the game.
        games: (1,) record of `game.dtype`; its face-down cards are fillers without a meaning.
        node: what chance decides now, None if a player is on turn or the game is over.
        legal: legal actions of the player on turn, ascending.
        log: who saw it and what happened, for all outcomes and actions; the seat -1 is everybody.
        rewards, returns: (seats,) float64, of the last decision and of the whole game.
    """

    def __init__(
        self,
        game: Game | str,
        options: Mapping[str, Any] | None = None,
        chance: Chance | None = None,
    ) -> None:
        """Start before the deal.

        Args:
            game: a game or its name.
            options: rule options, see `game.options`.
            chance: what chance does, if not what `game.chance` says.

        Raises:
            ValueError: if an option is unknown or has a wrong value.
        """
        self.game = find_game(game) if isinstance(game, str) else game
        self.chance = self.game.chance if chance is None else chance
        self.games = self.game.new_games(1, options or {})
        self.num_seats = int(self.games["num_players"][0])
        self.dealt = False
        self.legal: list[int] = []
        self.rewards = np.zeros(self.num_seats)
        self.returns = np.zeros(self.num_seats)
        self.log: list[tuple[int, str]] = []
        self._history: list[int] = []
        self._action = DEAL
        self._drawn: list[int] = []
        self.node: ChanceNode | None = None
        self._go_on()

    @property
    def on_turn(self) -> int:
        """The seat on turn, `CHANCE` if chance decides; of no meaning when the game is over."""
        return CHANCE if self.node is not None else self.games["current_player"].item(0)

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return self.node is None and not self.legal

    def apply(self, decision: int) -> None:
        """Take an outcome of chance or an action of the player on turn.

        Raises:
            ValueError: if chance cannot give this outcome or the action is illegal.
        """
        if self.node is not None:
            if decision not in self.node.outcomes:
                raise ValueError(f"chance cannot give {decision} here, only {self.node.outcomes}")
            self.log.append((self.node.seat, outcome_to_string(decision)))
            self._drawn.append(decision)
        else:
            if decision not in self.legal:
                raise ValueError(f"action {decision} is illegal here; legal are {self.legal}")
            self.log.append((_PUBLIC, self.game.action_to_string(self.games, decision)))
            self._action, self._drawn = decision, []
        self._history.append(decision)
        self._go_on()

    def _go_on(self) -> None:
        """Ask for the next outcome that chance owes, or play."""
        self.node = self.chance.next_node(self.games, self._action, self._drawn)
        if self.node is not None:
            return
        self.chance.play(self.games, self._action, self._drawn)
        self.dealt = True
        self.rewards = _exact(self.games["rewards"][0, : self.num_seats])
        self.returns = self.returns + self.rewards
        observations, masks, legal, num_legal = self._scratch()
        self.game.refresh(self.games, observations, masks, legal, num_legal)
        self.legal = legal[0, : num_legal.item()].tolist()

    def _scratch(self) -> tuple[np.ndarray, ...]:
        n = len(self.game.actions)
        seen = np.empty((1, len(self.game.fields)), np.int8)
        return seen, np.empty((1, n), np.int8), np.empty((1, n), np.int16), np.empty(1, np.int16)

    def observe(self, seat: int) -> np.ndarray:
        """Return what a seat sees, (len(game.fields),) int8; zeros before the deal is done."""
        seen = np.zeros((1, len(self.game.fields)), np.int8)
        if self.dealt:
            self.game.observe(self.games, seat, seen)
        return seen.reshape(-1)

    def render(self, seat: int) -> str:
        """Return the table as a seat sees it."""
        return self.game.render(self.games, seat) if self.dealt else "before the deal"

    def history_of(self, seat: int) -> list[str]:
        """Return all that happened as a seat saw it; outcomes that others alone saw are "?"."""
        return [text if who in (_PUBLIC, seat) else UNKNOWN for who, text in self.log]

    def redraw(self, seat: int, rng: np.random.Generator) -> list[int]:
        """Return decisions that lead to a game like this one in all that `seat` has seen.

        What it cannot know is drawn anew, all cards of other hands in this deal. Draws under which
        the game would have gone otherwise (R15: a round goes on only if somebody can play) are
        drawn again, so the distribution is exact if nothing is inferred from how others play.

        Raises:
            RuntimeError: if none of `MAX_REDRAWS` draws fits what the seat has seen.
        """
        seen = self.history_of(seat)
        for _ in range(MAX_REDRAWS):
            cards = self.chance.redraw(self.games, seat, int(rng.integers(2**63)))
            decisions = list(self._history)
            for k in range(len(decisions) - 1, -1, -1):  # a card's last outcome is the present one
                if self.log[k][0] not in (_PUBLIC, seat) and decisions[k] in cards:
                    decisions[k] = cards.pop(decisions[k])
            if self._is_like(decisions, seat, seen):
                return decisions
        raise RuntimeError(f"{MAX_REDRAWS} redraws do not fit what player_{seat} has seen")

    def _is_like(self, decisions: list[int], seat: int, seen: list[str]) -> bool:
        """Return whether decisions can be played and show the seat the same."""
        if decisions == self._history:
            return True
        other = LazyGame(self.game, self.game.option_values(self.games), self.chance)
        try:
            for decision in decisions:
                other.apply(decision)
        except ValueError:
            return False
        return other.history_of(seat) == seen and other.on_turn == self.on_turn

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the decisions that led here."""
        options = self.game.option_values(self.games)
        return (_replay, (self.game.name, options, self.chance, self._history))

    def __deepcopy__(self, memo: dict[int, Any]) -> "LazyGame":
        """Copy what can change."""
        other = object.__new__(LazyGame)
        other.__dict__.update(self.__dict__)
        other.games = self.games.copy()
        other.log, other._history = self.log.copy(), self._history.copy()
        other._drawn = self._drawn.copy()
        return other


def _exact(rewards: np.ndarray) -> np.ndarray:
    """Return float32 rewards as float64, nearest to the fractions meant: thirds add up to 0."""
    if not rewards.any():
        return np.zeros(len(rewards))
    return np.array([float(Fraction(float(r)).limit_denominator(1000)) for r in rewards])


def outcome_to_string(outcome: int) -> str:
    """Return the text of what chance gave: a card, or who starts."""
    return CARD_NAMES[outcome] if outcome < NUM_CARDS else f"first:{outcome - NUM_CARDS}"


def _replay(
    name: str, options: Mapping[str, Any], chance: Chance, decisions: list[int]
) -> LazyGame:
    game = LazyGame(name, options, chance)
    for decision in decisions:
        game.apply(decision)
    return game
