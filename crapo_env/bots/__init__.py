"""Policies that need no training, and the one place that makes any policy from a written spec.

A spec is a name such as `greedy`, a name with settings such as `planner:nodes=300`, or a kind and
what it loads, such as `checkpoint:runs/last`.
"""

from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from importlib import import_module

import numpy as np

from crapo_env.bots import (
    crapo_choice,
    crapo_greedy,
    crapo_heuristic,
    crapo_planner,
    crapo_search,
    crapo_value,
    reis_choice,
    reis_greedy,
    reis_heuristic,
    reis_planner,
    reis_search,
    reis_value,
)
from crapo_env.bots.crapo_greedy import CrapoGreedy
from crapo_env.bots.evaluators import (
    ROLLOUTS,
    PolicyEvaluator,
    judge_crapo,
    judge_reis_nos_cantos,
)
from crapo_env.bots.planning import HeuristicPolicy, PlannerPolicy
from crapo_env.bots.policy import Policy
from crapo_env.bots.random_bot import FirstLegalPolicy, RandomPolicy
from crapo_env.bots.reis_greedy import ReisGreedy
from crapo_env.bots.search import SearchKernels, SearchPolicy
from crapo_env.bots.specs import Bot, Setting, choice
from crapo_env.bots.tree import MAX_NODES
from crapo_env.bots.tree_search import TreeSearchPolicy, make_with_playouts
from crapo_env.game import Game
from crapo_env.jit import announce_compilation

__all__ = ["Policy", "list_loaders", "list_policies", "make_policy", "register_loader"]

_BUDGETS = (
    Setting("playouts", 400, 1, 10**6, "playouts of a decision"),
    Setting("ms", 0, 0, 10**6, "milliseconds of a decision instead, if not 0"),
)
_TRUST = "playouts that the planner's value counts for"
_TREE = (
    Setting("width", 8, 1, 1024, "simulations side by side"),
    Setting("explore", 50, 0, 10**4, "per cent of the weight of chances against means"),
)
_CHANCE = "per cent that the choice of the %s is likely"
_STAGES = {"reis_nos_cantos": "round_number"}  # the field whose change ends a simulation

_FOR_ALL_GAMES = {
    "random": Bot("A uniformly random legal action, from a generator of its own.", RandomPolicy),
    "first_legal": Bot("The legal action with the lowest id.", FirstLegalPolicy),
}
_FOR_ONE_GAME = {
    "crapo": {
        "greedy": Bot(
            "Foundations, free spaces, loads, then builds; looks no move ahead.", CrapoGreedy
        ),
        "planner": Bot(
            "Searches its turn up to the next hidden card for the best end by a weighed value.",
            partial(
                PlannerPolicy,
                kernel=crapo_planner.plan_in_all,
                weights=crapo_value.WEIGHT_ARRAY,
            ),
            (Setting("nodes", 150, 1, 1000, "positions expanded"),),
        ),
        "heuristic": Bot(
            "Priorities with moves between spaces that make others possible; looks no move ahead.",
            partial(
                HeuristicPolicy,
                kernel=crapo_choice.choose_in_all,
                tables=(crapo_heuristic.RANKS,),
            ),
        ),
        "search": Bot(
            "Compares the planner's best lines by paired playouts over redraws of hidden cards.",
            partial(
                SearchPolicy,
                kernels=SearchKernels(
                    crapo_search.list_lines,
                    crapo_search.simulate,
                    crapo_heuristic.RANKS,
                    crapo_value.WEIGHT_ARRAY,
                ),
            ),
            (
                *_BUDGETS,
                Setting("lines", 6, 2, 64, "lines compared"),
                Setting("nodes", 150, 1, 1000, "positions expanded to find them"),
                Setting("trust", 0, 0, 10**6, _TRUST),
                Setting("horizon", 6, 1, 1000, "turns until a playout is valued"),
                Setting("noise", 3, 0, 100, "per cent of random moves in playouts"),
            ),
        ),
        "ismcts": Bot(
            "Grows a tree of actions over redraws of hidden cards; playouts judge its leaves.",
            partial(make_with_playouts, make_evaluator=judge_crapo, stage=None),
            (
                *_BUDGETS,
                *_TREE,
                Setting("trust", 50, 0, 100, _CHANCE % "heuristic"),
                choice("rollout", "who plays on", ROLLOUTS),
                Setting("horizon", 6, 0, 1000, "turns until a playout is valued"),
                Setting("noise", 3, 0, 100, "per cent of random moves in playouts"),
            ),
        ),
    },
    "reis_nos_cantos": {
        "greedy": Bot(
            "Kings to corners, pile moves, every card that fits; ends its turn only when it must.",
            ReisGreedy,
        ),
        "planner": Bot(
            "Searches all orders of its turn and holds back what helps the others more.",
            partial(
                PlannerPolicy,
                kernel=reis_planner.plan_in_all,
                weights=reis_value.WEIGHT_TABLE,
            ),
            (Setting("nodes", 400, 1, MAX_NODES, "positions looked at"),),
        ),
        "heuristic": Bot(
            "Priorities with cards held back when playing them would open more than it saves.",
            partial(
                HeuristicPolicy,
                kernel=reis_heuristic.choose_in_all,
                tables=(reis_value.WEIGHT_TABLE,),
            ),
        ),
        "search": Bot(
            "Compares the planner's best lines by paired playouts over redraws of hidden cards.",
            partial(
                SearchPolicy,
                kernels=SearchKernels(
                    reis_search.list_lines,
                    reis_search.simulate,
                    np.zeros((0, 0)),
                    reis_value.WEIGHT_TABLE,
                ),
            ),
            (
                *_BUDGETS,
                Setting("trust", 100, 0, 10**6, _TRUST),
                Setting("lines", 8, 2, 64, "lines compared"),
                Setting("nodes", 400, 1, MAX_NODES, "positions looked at to find them"),
                Setting(
                    "horizon", 0, 0, 500, "positions looked at per turn in playouts, 0: a line"
                ),
                Setting("noise", 3, 0, 100, "per cent of random moves in playouts"),
            ),
        ),
        "ismcts": Bot(
            "Grows a tree of actions over redraws of hidden cards; playouts judge its leaves.",
            partial(
                make_with_playouts,
                make_evaluator=judge_reis_nos_cantos,
                stage=_STAGES["reis_nos_cantos"],
            ),
            (
                *_BUDGETS,
                *_TREE,
                Setting("trust", 50, 0, 100, _CHANCE % "planner"),
                Setting("nodes", 400, 1, MAX_NODES, "positions looked at by the planner"),
                choice("rollout", "who plays on", ROLLOUTS),
                Setting("noise", 3, 0, 100, "per cent of turns cut short in playouts"),
            ),
        ),
    },
}
# Plays games (n,) on by the greedy bot's priorities, as fast as the searches do: (games, seeds).
GREEDY_PLAYOUTS = {
    "crapo": partial(crapo_choice.play_out, ranks=crapo_greedy.RANKS, noise=0),
    "reis_nos_cantos": partial(reis_choice.play_out, ranks=reis_greedy.RANKS),
}
# What a policy that says probabilities and values becomes by `SPEC+search`.
_LED_SEARCH = Bot("", TreeSearchPolicy, (*_BUDGETS, *_TREE))

# Kinds that load something: "module:function", imported on first use, so that no heavy package is
# needed before. The function is called as function(argument, game, seed) and returns a Policy.
_LOADERS: dict[str, str] = {"checkpoint": "training.checkpoint:load_policy"}


def register_loader(kind: str, target: str) -> None:
    """Let specs `kind:argument` be made by `target`, "module:function", imported on use."""
    _LOADERS[kind] = target


def list_loaders() -> dict[str, str]:
    """Return kind and target of all loaders, so that another process can register them too."""
    return dict(_LOADERS)


def list_policies(game: Game) -> dict[str, str]:
    """Return the specs that `make_policy` takes for a game and what each policy does."""
    texts = {name: _describe(bot) for name, bot in _bots(game).items()}
    loaded = {f"{kind}:PATH": f"loaded by {target}" for kind, target in _LOADERS.items()}
    led = {
        f"{spec}+search": f"A tree search led by it. Settings: {_LED_SEARCH.describe()}."
        for spec in loaded
    }
    return texts | loaded | led


def make_policy(spec: str, game: Game, seed: int = 0) -> Policy:
    """Return the policy that a spec names.

    Args:
        spec: one of `list_policies`, settings such as `:nodes=300` added or left out.
        game: the game to be played.
        seed: of the policy's own randomness, if it has any.

    Raises:
        ValueError: if there is no such policy for this game, or it has no such setting.
    """
    leader, plus, search = spec.rpartition("+")
    if plus and search.partition(":")[0] == "search":
        led_by = make_policy(leader, game, seed)
        evaluator, stage = PolicyEvaluator(led_by), _STAGES.get(game.name)
        maker = partial(TreeSearchPolicy, evaluator=evaluator, stage=stage)
        policy = replace(_LED_SEARCH, maker=maker).make(search, game, seed)
        policy.name = f"{led_by.name}+{search}"
        return policy
    kind, colon, argument = spec.partition(":")
    if colon and argument and kind in _LOADERS:
        return _load(kind, argument, game, seed)
    bots = _bots(game)
    if kind not in bots or (colon and not bots[kind].settings):
        known = list_policies(game)
        close = get_close_matches(spec, known, n=1) or get_close_matches(kind, _LOADERS, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ";"
        raise ValueError(f"{game.name} has no policy {spec!r}{hint} there are {', '.join(known)}")
    announce_compilation("bots")
    return bots[kind].make(spec, game, seed)


def _bots(game: Game) -> dict[str, Bot]:
    return _FOR_ALL_GAMES | _FOR_ONE_GAME.get(game.name, {})


def _describe(bot: Bot) -> str:
    return f"{bot.text} Settings: {bot.describe()}." if bot.settings else bot.text


def _load(kind: str, argument: str, game: Game, seed: int) -> Policy:
    module, _, function = _LOADERS[kind].partition(":")
    try:
        policy = getattr(import_module(module), function)(argument, game, seed)
    except ModuleNotFoundError as error:
        missing = f"{kind}:{argument} needs the module {error.name}, which is not installed"
        raise ModuleNotFoundError(missing, name=error.name) from error
    if not isinstance(policy, Policy):
        raise TypeError(f"{_LOADERS[kind]} returned {type(policy).__name__}, not a Policy")
    return policy
