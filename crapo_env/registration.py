"""Registers the environments with PettingZoo and Gymnasium once they are imported, now or later.

Importing them takes longer than this package may, so a finder waits for somebody else to do
it.
"""

import importlib.util
import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

AEC_ENVIRONMENTS = {
    "crapo_env/crapo-v0": "crapo_env.crapo_v0:env",
    "crapo_env/reis_nos_cantos-v0": "crapo_env.reis_nos_cantos_v0:env",
}

GYMNASIUM_ENVIRONMENTS = {
    "crapo_env/Crapo-v0": "crapo",
    "crapo_env/ReisNosCantos-v0": "reis_nos_cantos",
}


def gymnasium_name(game: str) -> str:
    """Return the name of a game's single-agent environment in Gymnasium.

    Raises:
        ValueError: if there is no such game.
    """
    names = {name: environment for environment, name in GYMNASIUM_ENVIRONMENTS.items()}
    if game not in names:
        raise ValueError(f"there is no game {game!r}; the games are {', '.join(names)}")
    return names[game]


def register_with_gymnasium(gymnasium: Any) -> None:
    """Add the single-agent environments to Gymnasium's registry."""
    for environment, game in GYMNASIUM_ENVIRONMENTS.items():
        gymnasium.register(
            environment,
            entry_point="crapo_env.adapters.gymnasium:SingleAgentEnv",
            vector_entry_point="crapo_env.adapters.gymnasium:SingleAgentVectorEnv",
            kwargs={"game": game},
        )


def register_with_pettingzoo(pettingzoo: Any) -> None:
    """Add the environments to PettingZoo's registry, which exists since version 1.27."""
    if hasattr(pettingzoo, "register"):
        for environment, entry_point in AEC_ENVIRONMENTS.items():
            pettingzoo.register("aec", environment, entry_point=entry_point)


REGISTRARS: dict[str, Callable[[Any], None]] = {
    "gymnasium": register_with_gymnasium,
    "pettingzoo": register_with_pettingzoo,
}


class _ThenRegister(Loader):
    """Loads a module as its own loader does, then registers the environments with it."""

    def __init__(self, loader: Any) -> None:
        self.loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        module: ModuleType | None = self.loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__.loader = module.__loader__ = self.loader  # type: ignore[union-attr]
        self.loader.exec_module(module)
        REGISTRARS[module.__name__](module)


class _WaitForImport(MetaPathFinder):
    """Finds a registrar's module as others would and adds the registration to its loader."""

    def __init__(self) -> None:
        self.searching = False

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in REGISTRARS or self.searching:
            return None
        self.searching = True
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self.searching = False
        if spec is not None and spec.loader is not None:
            spec.loader = _ThenRegister(spec.loader)
        return spec


def register_environments() -> None:
    """Register with what is imported already, and wait for the others."""
    for name, register in REGISTRARS.items():
        if name in sys.modules:
            register(sys.modules[name])
    sys.meta_path.insert(0, _WaitForImport())
