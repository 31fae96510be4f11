"""OpenSpiel games: importing this module registers every game of the package, under its own name.

`pyspiel.load_game("crapo")`, `pyspiel.load_game("reis_nos_cantos(num_players=3)")`; the parameters
are the rule options. `reis_nos_cantos_small` is played with a few cards only, for exact solutions.

Chance is explicit: one node for every card, at the moment when somebody sees it. The information
state string is all that a player has seen and done; both tensors are the observation of the game's
README, in named pieces. An action is the integer that it is everywhere in this package.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from crapo_env import reis_nos_cantos
from crapo_env.cards import NUM_CARDS
from crapo_env.chance import DEAL, Chance
from crapo_env.env import CardGameEnv
from crapo_env.game import Game, Option
from crapo_env.lazy import LazyGame, outcome_to_string
from crapo_env.registry import GAMES
from crapo_env.reis_nos_cantos_small import small_chance

try:
    import pyspiel
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "OpenSpiel is not installed: pip install 'crapo-env[adapters-openspiel]'", name=error.name
    ) from error


class Variant(NamedTuple):
    """A game under its name in OpenSpiel."""

    name: str
    game: Game
    options: Mapping[str, Any] = {}  # rule options whose defaults differ
    sizes: Mapping[str, int] = {}  # parameters of `make_chance` with their defaults
    make_chance: Callable[..., Chance] | None = None  # from sizes and players; None: the whole game

    def parameters(self) -> dict[str, Any]:
        """Return OpenSpiel's parameters with their defaults: options and sizes."""
        return as_parameters(self.game, self.game.read_options(self.options)) | dict(self.sizes)

    def read_options(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return the rule options that parameters stand for.

        Raises:
            ValueError: if a value is wrong.
        """
        options = dict(self.options)
        for option in self.game.options:
            if option.name in parameters:
                texts = {as_parameter(option, value): value for value in option.values}
                value = parameters[option.name]
                options[option.name] = texts.get(value, value) if isinstance(value, str) else value
        return self.game.read_options(options)


def as_parameter(option: Option, value: Any) -> Any:
    """Return the value of an option as OpenSpiel takes it.

    Truth values, numbers of a range and texts stay as they are. A number among texts gets a word
    before it, `first_player=player_0`, because OpenSpiel reads "0" as a number.
    """
    if option.range is not None or isinstance(value, str | bool):
        return value
    return f"{option.name.rpartition('_')[2]}_{value}"


def as_parameters(game: Game, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options as OpenSpiel takes them."""
    return {option.name: as_parameter(option, options[option.name]) for option in game.options}


SMALL_REIS = Variant(
    "reis_nos_cantos_small",
    reis_nos_cantos.GAME,
    {"target": 1, "first_player": 0},
    {"ranks": 3, "suits": 2, "hand_cards": 1, "crosses": 1},
    small_chance,
)
VARIANTS = (*(Variant(name, game) for name, game in GAMES.items()), SMALL_REIS)


class CardGame(pyspiel.Game):
    """A game of the package as OpenSpiel sees it; its subclasses name the `variant`."""

    variant: Variant

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        """Make a game with OpenSpiel's parameters, those of `Variant.parameters`.

        Raises:
            ValueError: if a parameter is wrong.
        """
        params, variant = dict(params or {}), self.variant
        self.game = game = variant.game
        self.options = variant.read_options(params)
        seats = int(game.new_games(1, self.options)["num_players"][0])
        sizes = {name: params.get(name, default) for name, default in variant.sizes.items()}
        make_chance = variant.make_chance
        self.chance = game.chance if make_chance is None else make_chance(**sizes, players=seats)
        limit = game.chance.max_return(self.options)
        info = pyspiel.GameInfo(
            num_distinct_actions=len(game.actions),
            max_chance_outcomes=NUM_CARDS + game.max_players,
            num_players=seats,
            min_utility=-limit,
            max_utility=limit,
            utility_sum=0.0,
            max_game_length=game.max_decisions(self.options),
        )
        super().__init__(describe_game(variant, self.options), info, params)

    def new_initial_state(self) -> "CardState":
        """Return a state before the deal."""
        return CardState(self)

    def max_chance_nodes_in_history(self) -> int:
        """Return a bound on the outcomes of chance: one for each decision, and the deals."""
        bound = 2 * NUM_CARDS * (1 + self.game.max_decisions(self.options))
        return min(bound, 2**31 - 1)  # OpenSpiel's integers

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> "CardObserver":
        """Return what observes states, see `open_spiel.python.observation`."""
        kind = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        return CardObserver(self.game, kind, params)


def describe_game(variant: Variant, options: Mapping[str, Any]) -> Any:
    """Return OpenSpiel's description of a game with these options."""
    kinds, game = pyspiel.GameType, variant.game
    seats = next((option.range for option in game.options if option.name == "num_players"), None)
    at_end = game.chance.pays_at_end(options)
    return kinds(
        short_name=variant.name,
        long_name=f"{game.id} of crapo_env",
        dynamics=kinds.Dynamics.SEQUENTIAL,
        chance_mode=kinds.ChanceMode.EXPLICIT_STOCHASTIC,
        information=kinds.Information.IMPERFECT_INFORMATION,
        utility=kinds.Utility.ZERO_SUM,
        reward_model=kinds.RewardModel.TERMINAL if at_end else kinds.RewardModel.REWARDS,
        max_num_players=game.max_players,
        min_num_players=seats[0] if seats else game.max_players,
        provides_information_state_string=True,
        provides_information_state_tensor=True,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification=variant.parameters(),
    )


class CardState(pyspiel.State):
    """A state: all of it is in `play`, a `LazyGame`."""

    def __init__(self, game: CardGame) -> None:
        """Start before the deal; called by `CardGame.new_initial_state`."""
        super().__init__(game)
        self.play = LazyGame(game.game, game.options, game.chance)

    def current_player(self) -> int:
        """Return the seat on turn, or OpenSpiel's number for chance or the end."""
        if self.play.node is not None:
            return int(pyspiel.PlayerId.CHANCE)
        return int(pyspiel.PlayerId.TERMINAL) if self.play.is_over else self.play.on_turn

    def _legal_actions(self, player: int) -> list[int]:
        return list(self.play.legal)

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return what chance may give and its exact probabilities."""
        node = self.play.node
        assert node is not None, "chance is not on turn"
        return list(zip(node.outcomes, node.probabilities, strict=True))

    def _apply_action(self, action: int) -> None:
        self.play.apply(action)

    def _action_to_string(self, player: int, action: int) -> str:
        if player == pyspiel.PlayerId.CHANCE:
            return outcome_to_string(action)
        return self.play.game.action_to_string(self.play.games, action)

    def is_terminal(self) -> bool:
        """Return whether the game is over."""
        return self.play.is_over

    def rewards(self) -> list[float]:
        """Return what every seat received since the decision before."""
        if self.play.node is not None or not self.play.dealt:
            return [0.0] * self.play.num_seats
        return [float(reward) for reward in self.play.rewards]

    def returns(self) -> list[float]:
        """Return what every seat has received in this game."""
        return [float(amount) for amount in self.play.returns]

    def information_state_string(self, player: int | None = None) -> str:
        """Return the options and all that a seat has seen and done, in order."""
        seat = self.play.on_turn if player is None else player
        return " ".join([f"player_{seat}", *self.play.history_of(seat)])

    def resample_from_infostate(self, player: int, sampler: Callable[[], float]) -> "CardState":
        """Return a state that looks the same to a seat, what it cannot know drawn anew.

        Args:
            player: the seat.
            sampler: returns random numbers from 0 to 1.
        """
        rng = np.random.default_rng(int(sampler() * 2**53))
        state: CardState = self.get_game().new_initial_state()
        for decision in self.play.redraw(player, rng):
            state.apply_action(decision)
        return state

    def __str__(self) -> str:
        """Return all that happened, hidden cards too."""
        return " ".join(text for _, text in self.play.log)


class CardObserver:
    """What a seat sees, as a float32 tensor with named pieces and as text."""

    def __init__(self, game: Game, kind: Any, params: Any) -> None:
        """Make an observer of one kind of information.

        Raises:
            ValueError: if it is given parameters.
        """
        if params:
            raise ValueError(f"observers of {game.name} take no parameters, not {params}")
        self._history = kind.perfect_recall
        self.tensor = np.zeros(len(game.fields), np.float32)
        self.dict = game.fields.split(self.tensor)

    def set_from(self, state: CardState, player: int) -> None:
        """Write what a seat sees in a state."""
        self.tensor[:] = state.play.observe(player)

    def string_from(self, state: CardState, player: int) -> str:
        """Return the seat's history, or the table as it sees it."""
        if self._history:
            return state.information_state_string(player)
        return state.play.render(player)


def as_pettingzoo(name: str, **parameters: Any) -> Any:
    """Return an OpenSpiel game as a PettingZoo environment, by Shimmy.

    Shimmy loads a game anew at every reset, and keeps the parameters only if it gets them this way.

    Args:
        name: of the game in OpenSpiel.
        **parameters: of the game, as for `pyspiel.load_game`.
    """
    from shimmy import OpenSpielCompatibilityV0

    return OpenSpielCompatibilityV0(game_name=name, config=parameters)


def state_of(env: CardGameEnv) -> CardState:
    """Return the OpenSpiel state of a freshly dealt environment, with the cards that it shows.

    Raises:
        ValueError: if a decision has been made already.
    """
    games = env.state().view(env.game.dtype)
    if games["num_steps"][0] != 0:
        raise ValueError("only a freshly dealt game can be taken over: call reset() first")
    parameters = as_parameters(env.game, env.options)
    state: CardState = pyspiel.load_game(env.game.name, parameters).new_initial_state()
    give_outcomes(state, games, DEAL, games)
    return state


def give_outcomes(state: CardState, before: np.ndarray, action: int, after: np.ndarray) -> None:
    """Let chance give what it gave in another game with an action or `DEAL`, see `Chance.read`."""
    for outcome in state.play.chance.read(before, action, after):
        state.apply_action(outcome)


# Classes, because OpenSpiel drops other callables after the interpreter has ended, which crashes.
GAME_CLASSES = {
    variant.name: type(f"CardGame_{variant.name}", (CardGame,), {"variant": variant})
    for variant in VARIANTS
}
for _name, _class in GAME_CLASSES.items():
    _variant = _class.variant  # type: ignore[attr-defined]
    pyspiel.register_game(describe_game(_variant, _variant.read_options({})), _class)
