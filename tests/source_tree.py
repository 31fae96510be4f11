"""The project's own source as syntax trees: which module imports which."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
OWN = ("crapo_env", "training")


def list_sources(*folders: str) -> list[Path]:
    """Return the Python files of the named folders of the repository."""
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


SOURCES = list_sources(*OWN)
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in SOURCES}


def module_name(path: Path) -> str:
    """Return the dotted name of a module, that of the folder for an `__init__`."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in SOURCES}


def imported_names(path: Path) -> Iterator[str]:
    """Yield the modules that a file imports; of `from package import module` the module."""
    for node in ast.walk(TREES[path]):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full in MODULES else str(node.module)


def own_imports(path: Path) -> set[str]:
    """Return the modules of this project that a file imports."""
    return {name for name in imported_names(path) if name.split(".")[0] in OWN}


def foreign_imports(path: Path) -> set[str]:
    """Return the packages of a file that are of neither the standard library nor this project."""
    tops = {name.split(".")[0] for name in imported_names(path)}
    return tops - set(sys.stdlib_module_names) - set(OWN)


def all_imports(path: Path) -> set[str]:
    """Return the modules of this project that a file depends on, directly or not, itself too."""
    found, waiting = set(), {module_name(path)}
    while waiting:
        name = waiting.pop()
        found.add(name)
        waiting |= own_imports(MODULES[name]) - found
    return found


def compiled_modules() -> list[str]:
    """Return the modules that have kernels."""
    marks = {
        name: [d.id for node in ast.walk(TREES[path]) for d in decorators(node)]
        for name, path in MODULES.items()
    }
    return [name for name, used in marks.items() if "njit" in used]


def decorators(node: ast.AST) -> list[ast.Name]:
    """Return the plain names that decorate a function."""
    if not isinstance(node, ast.FunctionDef):
        return []
    return [mark for mark in node.decorator_list if isinstance(mark, ast.Name)]
