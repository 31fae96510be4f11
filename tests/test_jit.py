"""Compiled kernels are kept on disk, never outlive the source they came from, and need no disk.

Every test works on a copy of the package in a temporary folder, mostly in processes of its own.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from source_tree import MODULES, ROOT, all_imports, compiled_modules

from crapo_env.game import Game
from crapo_env.registry import GAMES

PACKAGE = Path(sys.modules["crapo_env"].__file__).parent

# Quick to compile: two decisions, or more after an edit of the first number.
TINY_RULES = """

@njit
def legal_actions(g, legal):
    legal[0] = 0
    return 1 if g.num_steps < 10 else 0
"""
TINY_APPLY = """

@njit
def apply(g, action):
    g.num_steps += {step}
"""
PLAYOUT = """
import numpy as np
from crapo_env.registry import GAMES
game = GAMES[{name!r}]
games = game.new_games(1, {{}})
print(game.playout(games, np.zeros(1, np.uint64)))
"""
MIX = """
import numpy as np
from crapo_env.cards import mix64
from crapo_env.jit import cache_folder
print(mix64(np.uint64(5)), cache_folder("cards"))
"""


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """Return a folder that holds a copy of the package."""
    shutil.copytree(PACKAGE, tmp_path / "crapo_env", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def run(root: Path, code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run code on the copied package; caches go to the folder `cache` unless said."""
    clean = {k: v for k, v in os.environ.items() if k not in ("NUMBA_CACHE_DIR", "PYTHONPATH")}
    places = {"NUMBA_CACHE_DIR": str(root / "cache"), "PYTHONPATH": str(root)}
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=clean | places | environment,
        cwd=root,
        capture_output=True,
        text=True,
        timeout=300,
    )


def output(result: subprocess.CompletedProcess[str]) -> str:
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def list_cache(root: Path) -> dict[str, int]:
    """Return the files of the cache with the times of their last change."""
    return {str(path): path.stat().st_mtime_ns for path in (root / "cache").rglob("*.nb*")}


def defining_file(game: Game, function: str) -> str:
    """Return the file of a game's folder in which a function is defined."""
    folder = PACKAGE / game.name
    return next(p.name for p in folder.glob("*.py") if f"def {function}(" in p.read_text())


def make_tiny(root: Path, game: Game, step: int) -> None:
    """Append quick kernels to a game's rules; the last definition counts."""
    for function, source in (("legal_actions", TINY_RULES), ("apply", TINY_APPLY)):
        name = defining_file(game, function)
        original = (PACKAGE / game.name / name).read_text(encoding="utf-8")
        target = root / "crapo_env" / game.name / name
        already = target.read_text(encoding="utf-8") if function == "apply" else original
        if name != defining_file(game, "legal_actions"):
            already = original
        target.write_text(already + source.format(step=step), encoding="utf-8")


def test_an_edit_of_a_callee_in_another_file_takes_effect(copied: Path, game: Game) -> None:
    """`playout` is in another file than `apply`, so Numba alone would not notice."""
    assert defining_file(game, "playout") != defining_file(game, "apply")
    for step, decisions in ((5, "2"), (1, "10"), (5, "2")):
        make_tiny(copied, game, step)
        assert output(run(copied, PLAYOUT.format(name=game.name))) == decisions


def test_an_edit_of_a_shared_module_takes_effect(copied: Path) -> None:
    first = output(run(copied, MIX))
    assert output(run(copied, MIX)) == first
    with (copied / "crapo_env" / "cards.py").open("a", encoding="utf-8") as file:
        file.write("\n\n@njit\ndef mix64(x):\n    return x + np.uint64(1)\n")
    second = output(run(copied, MIX))
    assert second.split()[0] == "6" and second.split()[1] != first.split()[1]


def test_the_second_process_compiles_nothing(copied: Path) -> None:
    game = next(iter(GAMES.values()))
    make_tiny(copied, game, 5)
    code = PLAYOUT.format(name=game.name) + "print(sum(game.playout.stats.cache_hits.values()))"
    assert output(run(copied, code)).split() == ["2", "0"]
    files = list_cache(copied)
    assert files
    assert output(run(copied, code)).split() == ["2", "1"]
    assert list_cache(copied) == files


@pytest.fixture
def digest_of(copied: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Return a function that names the cache folder of a part of the copied package."""
    spec = importlib.util.spec_from_file_location("copied_jit", copied / "crapo_env" / "jit.py")
    jit = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(jit)
    monkeypatch.setattr(jit.config, "CACHE_DIR", str(copied / "cache"))

    def name_folder(part: str) -> str:
        jit.cache_folder.cache_clear()
        return jit.cache_folder(part).name

    return name_folder


def change(path: Path) -> bytes:
    """Add a comment to a file and return what it was."""
    text = path.read_bytes()
    path.write_bytes(text + b"\n# changed\n")
    return text


def test_the_folder_name_depends_on_all_source_that_a_kernel_can_call(
    copied: Path, digest_of: Callable[[str], str]
) -> None:
    for name in compiled_modules():
        assert name.split(".")[0] == "crapo_env", "njit knows no source but the package's"
        part = name.split(".")[1]
        before = digest_of(part)
        assert before.startswith(f"{part}-")
        for other in all_imports(MODULES[name]) - {"crapo_env", "crapo_env.registration"}:
            path = copied / MODULES[other].relative_to(ROOT)
            if other.startswith("crapo_env.registry") or path.name == "__init__.py":
                continue  # lists of games and policies, no kernels
            text = change(path)
            assert digest_of(part) != before, f"{name}: an edit of {path.name} goes unnoticed"
            path.write_bytes(text)
        assert digest_of(part) == before


def test_one_game_is_not_compiled_anew_for_an_edit_of_another(
    copied: Path, digest_of: Callable[[str], str]
) -> None:
    before = [digest_of(name) for name in GAMES]
    for edited in GAMES:
        path = copied / "crapo_env" / edited / "state.py"
        text = change(path)
        after = [digest_of(name) for name in GAMES]
        changed = [name for name, a, b in zip(GAMES, before, after, strict=True) if a != b]
        assert changed == [edited]
        path.write_bytes(text)


def test_it_works_where_nothing_can_be_written(copied: Path) -> None:
    """A file stands wherever a folder would have to be made, which stops even an administrator."""
    game = next(iter(GAMES.values()))
    make_tiny(copied, game, 5)
    wall = copied / "wall"
    wall.write_text("a file, not a folder")
    for folder in (copied / "crapo_env").rglob("*"):
        if folder.is_dir():
            (folder / "__pycache__").write_text("a file, not a folder")
    (copied / "crapo_env" / "__pycache__").write_text("a file, not a folder")
    blocked = {name: str(wall / "x") for name in ("HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR")}
    blocked |= {"USERPROFILE": str(wall / "x"), "TMPDIR": str(wall / "x")}
    code = PLAYOUT.format(name=game.name)
    code += f"from crapo_env.jit import announce_compilation as a, cache_folder\na({game.name!r})\n"
    code += "print(cache_folder('cards'))"
    result = run(copied, code, **blocked)
    assert output(result).split() == ["2", "None"]
    assert "no cache folder is writable" in result.stderr


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"NUMBA_CACHE_DIR": "{root}/first"}, "{root}/first"),
        ({"NUMBA_CACHE_DIR": "{root}/wall/x", "XDG_CACHE_HOME": "{root}/xdg"}, "{root}/xdg"),
        (
            {"NUMBA_CACHE_DIR": "", "XDG_CACHE_HOME": "", "HOME": "{root}/home"},
            "{root}/home/.cache",
        ),
        (
            {"NUMBA_CACHE_DIR": "", "XDG_CACHE_HOME": "{root}/wall/x"},
            "{root}/crapo_env/__pycache__",
        ),
    ],
    ids=["NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "HOME", "package"],
)
def test_the_first_writable_place_is_used(
    copied: Path, environment: dict[str, str], expected: str
) -> None:
    (copied / "wall").write_text("a file, not a folder")
    filled = {name: value.format(root=copied) for name, value in environment.items()}
    folder = output(run(copied, MIX, **filled)).split()[1]
    assert folder.startswith(expected.format(root=copied))
    assert any(Path(folder).rglob("*.nbi")), "the compiled code lies there"


def test_without_compilation_nothing_is_written(copied: Path) -> None:
    result = run(copied, MIX, NUMBA_DISABLE_JIT="1")
    assert output(result).split()[0] == output(run(copied, MIX)).split()[0]
    assert "compiling" not in result.stderr


def test_a_user_of_numba_keeps_his_own_cache_folder(copied: Path) -> None:
    code = "from numba.core import config\nimport crapo_env.registry\nprint(config.CACHE_DIR)"
    assert output(run(copied, code, NUMBA_CACHE_DIR=str(copied / "mine"))) == str(copied / "mine")
