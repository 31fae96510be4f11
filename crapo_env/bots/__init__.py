"""Policies that need no training, and the one place that makes any policy from a written spec.

A spec is a name such as `greedy`, or a kind and what it loads, such as `checkpoint:runs/last`.
"""

from collections.abc import Callable
from difflib import get_close_matches
from importlib import import_module

from crapo_env.bots.crapo_greedy import CrapoGreedy
from crapo_env.bots.policy import Policy
from crapo_env.bots.random_bot import FirstLegalPolicy, RandomPolicy
from crapo_env.bots.reis_greedy import ReisGreedy
from crapo_env.game import Game
from crapo_env.jit import announce_compilation

__all__ = ["Policy", "list_policies", "make_policy", "register_loader"]

Maker = Callable[[Game, int], Policy]
_FOR_ALL_GAMES: dict[str, Maker] = {"random": RandomPolicy, "first_legal": FirstLegalPolicy}
_FOR_ONE_GAME: dict[str, dict[str, Maker]] = {
    "crapo": {"greedy": CrapoGreedy},
    "reis_nos_cantos": {"greedy": ReisGreedy},
}

# Kinds that load something: "module:function", imported on first use, so that no heavy package is
# needed before. The function is called as function(argument, game, seed) and returns a Policy.
_LOADERS: dict[str, str] = {"checkpoint": "training.checkpoint:load_policy"}


def register_loader(kind: str, target: str) -> None:
    """Let specs `kind:argument` be made by `target`, "module:function", imported on use."""
    _LOADERS[kind] = target


def list_policies(game: Game) -> dict[str, str]:
    """Return the specs that `make_policy` takes for a game and what each policy does."""
    texts = {spec: _first_line(maker) for spec, maker in _makers(game).items()}
    loaded = {f"{kind}:PATH": f"loaded by {target}" for kind, target in _LOADERS.items()}
    return texts | loaded


def make_policy(spec: str, game: Game, seed: int = 0) -> Policy:
    """Return the policy that a spec names.

    Args:
        spec: one of `list_policies`.
        game: the game to be played.
        seed: of the policy's own randomness, if it has any.

    Raises:
        ValueError: if there is no such policy for this game.
    """
    kind, colon, argument = spec.partition(":")
    if colon and argument and kind in _LOADERS:
        return _load(kind, argument, game, seed)
    makers = _makers(game)
    if spec not in makers:
        known = list_policies(game)
        close = get_close_matches(spec, known, n=1) or get_close_matches(kind, _LOADERS, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ";"
        raise ValueError(f"{game.name} has no policy {spec!r}{hint} there are {', '.join(known)}")
    announce_compilation("bots")
    return makers[spec](game, seed)


def _makers(game: Game) -> dict[str, Maker]:
    return _FOR_ALL_GAMES | _FOR_ONE_GAME.get(game.name, {})


def _first_line(maker: Maker) -> str:
    return (maker.__doc__ or "").partition("\n")[0]


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
