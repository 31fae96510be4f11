"""The one compiler switch of the project: `njit` with a disk cache that no stale kernel survives.

Numba keys its cache by the file of the compiled function alone, so an edit in a callee's file would
go unnoticed. Here the cache folder itself is named after a hash of the package's source. Where no
folder is writable the kernels are compiled anew in every process, which costs seconds and is no
error.
"""

import functools
import hashlib
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core import config

PACKAGE = Path(__file__).parent
_SHARED_NAMES = ("jit", "bits", "threads", "cards", "visited", "runs", "chance", "game")
SHARED = tuple(PACKAGE / f"{name}.py" for name in _SHARED_NAMES)


def _source_digest(part: str) -> str:
    """Hash all source that the kernels of a part of the package (folder or module) depend on.

    A game's kernels use the shared modules and its own folder; all others may use every game.
    """
    games = sorted(path.parent for path in PACKAGE.glob("*/rules.py"))
    folders = [PACKAGE / part] if PACKAGE / part in games else [*games, PACKAGE / part]
    sources = [path for folder in folders for path in sorted(folder.rglob("*.py"))]
    digest = hashlib.sha256()
    for path in (*SHARED, PACKAGE / f"{part}.py", *sources):
        if path.is_file():
            digest.update(str(path.relative_to(PACKAGE)).encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


@functools.cache
def cache_folder(part: str) -> Path | None:
    """Return the first writable folder of NUMBA_CACHE_DIR, the user's cache, the package."""
    bases = [Path(config.CACHE_DIR)] if config.CACHE_DIR else []
    cache_home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if os.path.isabs(cache_home):
        bases.append(Path(cache_home) / "crapo_env")
    bases.append(PACKAGE / "__pycache__")
    name = f"{part}-{_source_digest(part)}"
    return next((base / name for base in bases if _is_writable(base / name)), None)


if (
    config.DISABLE_JIT
):  # plain Python warns where compiled code wraps around, as the generators mean to
    np.seterr(over="ignore")


def njit(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile `function` on its first call, without the interpreter lock, cached if possible."""
    if config.DISABLE_JIT:
        return function
    part = function.__module__.split(".")[1]
    folder = cache_folder(part)
    previous = config.CACHE_DIR
    config.CACHE_DIR = str(folder or "")
    try:
        compiled: Callable[..., Any] = numba.njit(
            nogil=True, error_model="numpy", cache=folder is not None
        )(function)
    finally:
        config.CACHE_DIR = previous
    return compiled


@functools.cache
def announce_compilation(part: str) -> None:
    """Say once, on stderr, that the first use of a part compiles, so that it seems not to hang."""
    folder = None if config.DISABLE_JIT else cache_folder(part)
    if not config.DISABLE_JIT and not (folder and any(folder.iterdir())):
        kept = "kept for later runs" if folder else "no cache folder is writable"
        print(f"crapo_env: compiling {part}, about 10 s ({kept})", file=sys.stderr)
