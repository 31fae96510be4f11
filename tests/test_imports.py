"""The house is built as it was planned: imports go one way, files are short, games are all alike.

All is read from the syntax trees, so lazy imports inside functions count as well.
"""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from source_tree import (
    MODULES,
    ROOT,
    SOURCES,
    TREES,
    foreign_imports,
    list_sources,
    module_name,
    own_imports,
)

from crapo_env.registry import GAMES

PACKAGE = ROOT / "crapo_env"
SHARED = ("jit", "bits", "threads", "cards", "visited", "runs", "chance", "game")
# each may import those before it
GAME_FILES = (
    ("state",),
    ("actions",),
    ("rules", "effects"),
    ("observation",),
)  # the others come after
AFTER_GAMES = (("registry",), ("batch",), ("saved_env",), ("env",))
FREE = ("adapters", "viewer", "bench", "__main__")  # may import what they need
LIGHT = {"numpy", "numba", "llvmlite"}  # llvmlite comes with Numba
API = {"gymnasium", "pettingzoo"}
HEAVY = ("torch", "stable_baselines3", "sb3_contrib", "pygame", "matplotlib", "ray", "pyspiel")
HEAVY += ("shimmy", "torchrl", "tensordict", "tianshou", "agilerl")
MAX_FILE, MAX_FUNCTION = 400, 40


def level(module: str) -> int:
    """Return how late a module stands in the one-way order."""
    parts = module.split(".")
    if parts[0] == "training":
        return 100
    if parts == ["crapo_env"] or parts[1] == "registration":
        return 0  # they import nothing of the package but each other
    if parts[1] in SHARED:
        return 1 + SHARED.index(parts[1])
    if parts[1] in GAMES:
        files = [name for names in GAME_FILES for name in names]
        if len(parts) == 2:
            return 20  # the folder itself, which makes GAME
        place = next((i for i, names in enumerate(GAME_FILES) if parts[2] in names), None)
        return 19 if place is None or parts[2] not in files else 10 + place
    place = next((i for i, names in enumerate(AFTER_GAMES) if parts[1] in names), None)
    if place is not None:
        return 30 + place
    return 40  # the *_v0 modules, bots, adapters and whatever else is built on the environments


def test_imports_go_one_way() -> None:
    for path in SOURCES:
        for name in own_imports(path):
            assert level(name) <= level(module_name(path)), f"{path} imports {name}"


def test_no_imports_go_round_in_a_circle() -> None:
    """Modules of one level may import each other, but not in turn."""
    waiting = {module_name(path): own_imports(path) & set(MODULES) for path in SOURCES}
    waiting = {name: needs - {name, "crapo_env"} for name, needs in waiting.items()}
    while ready := [name for name, needs in waiting.items() if not needs & set(waiting)]:
        for name in ready:
            del waiting[name]
    assert not waiting


def test_games_never_import_each_other() -> None:
    for path in SOURCES:
        parts = module_name(path).split(".")
        if len(parts) > 1 and parts[1] in GAMES:
            for name in own_imports(path):
                other = [*name.split("."), ""][1]
                assert other not in GAMES or other == parts[1], f"{path} imports {name}"


def test_the_engine_imports_numpy_and_numba_alone() -> None:
    """The environments also import the two packages whose interfaces they have."""
    for path in SOURCES:
        folder, *rest = module_name(path).split(".")
        if folder == "crapo_env" and not set(rest) & set(FREE):
            has_api = rest and (rest[0] == "env" or rest[0].rpartition("_v")[0] in GAMES)
            assert foreign_imports(path) <= (LIGHT | API if has_api else LIGHT), path


def test_adapters_do_not_import_each_other() -> None:
    for path in SOURCES:
        name = module_name(path)
        if name.startswith("crapo_env.adapters."):
            others = {n for n in own_imports(path) if n.startswith("crapo_env.adapters.")}
            assert others <= {name}, path


def test_every_game_has_its_folder_and_its_public_module() -> None:
    for game in GAMES.values():
        files = {path.stem for path in (PACKAGE / game.name).glob("*.py")}
        assert files >= {"state", "actions", "rules", "observation", "render", "__init__"}
        assert (PACKAGE / f"{game.id}.py").exists()
    folders = {path.parent.name for path in PACKAGE.glob("*/rules.py")}
    assert folders == set(GAMES)


def test_no_module_is_a_drawer_for_everything() -> None:
    for path in list_sources("crapo_env", "training", "tests"):
        words = {
            word for part in path.relative_to(ROOT).parts for word in Path(part).stem.split("_")
        }
        assert not words & {"util", "utils", "helper", "helpers", "common", "misc"}, path


def count_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the number of lines of a function without its docstring."""
    first = function.body[0]
    is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    docstring = first.end_lineno - first.lineno + 1 if is_text else 0
    return function.end_lineno - function.lineno + 1 - docstring


@pytest.mark.parametrize("folder", ["crapo_env", "training", "tests"])
def test_files_and_functions_are_short(folder: str) -> None:
    too_long = []
    for path in list_sources(folder):
        text = path.read_text(encoding="utf-8")
        if len(text.splitlines()) > MAX_FILE:
            too_long.append(f"{path.name}: {len(text.splitlines())} lines")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = count_lines(node)
                if lines > MAX_FUNCTION:
                    too_long.append(f"{path.name}: {node.name} has {lines} lines")
    assert not too_long


def compared_texts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield line and text of every string constant that something is compared with."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare | ast.MatchValue):
            for inner in ast.walk(node):
                if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
                    yield node.lineno, inner.value
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in ("startswith", "endswith"):
                for inner in node.args:
                    if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
                        yield node.lineno, inner.value


def test_no_code_asks_for_the_name_of_a_game() -> None:
    names = {name.lower() for game in GAMES.values() for name in (game.name, game.id)}
    for path, tree in TREES.items():
        for line, text in compared_texts(tree):
            assert not any(name in text.lower() for name in names), (
                f"{path}:{line} asks for {text!r}"
            )


@pytest.mark.parametrize("code", ["x == 'crapo'", "x in ('a', 'crapo')", "x.startswith('crapo_v')"])
def test_the_search_for_names_can_find_one(code: str) -> None:
    assert any("crapo" in text for _, text in compared_texts(ast.parse(code)))


def loaded_by(statement: str) -> set[str]:
    """Return the top-level packages that a fresh process has loaded after a statement."""
    code = f"{statement}\nimport sys\nprint(*{{name.split('.')[0] for name in sys.modules}})"
    source = str(Path(sys.modules["crapo_env"].__file__).parents[1])
    path = os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])
    result = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return set(result.stdout.split())


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert not loaded_by("import crapo_env") & {*HEAVY, *API, *LIGHT}
    engine = "import crapo_env.registry, crapo_env.batch, crapo_env.bots"
    assert not loaded_by(engine) & {*HEAVY, *API}
    public = "".join(f"import crapo_env.{game.id}\n" for game in GAMES.values())
    assert not loaded_by(public) & set(HEAVY)
