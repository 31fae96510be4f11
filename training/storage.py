"""Files that are whole at any moment: written aside, flushed to the disk, then renamed.

Arrays and their description are stored as safetensors, so nothing that is read here can run code.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save


def write_whole(path: Path, data: bytes) -> None:
    """Write a file; whoever reads `path` meanwhile, or after a crash, sees the old or the new one.

    Raises:
        OSError: if it cannot be written; the old one is still there.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with aside.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)  # the new name, too, is to survive a crash
    finally:
        os.close(folder)


def write_state(path: Path, arrays: Mapping[str, np.ndarray], facts: Mapping[str, Any]) -> None:
    """Write arrays and facts that JSON can hold."""
    contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    write_whole(path, save(contiguous, metadata={"facts": json.dumps(facts)}))


def read_state(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Return the arrays and the facts of a file of `write_state`.

    Raises:
        ValueError: if there is no such file or it is damaged.
    """
    if not path.is_file():
        raise ValueError(f"there is no {path} to go on from")
    try:
        with safe_open(path, framework="np") as file:
            facts = json.loads((file.metadata() or {})["facts"])
            arrays = {name: file.get_tensor(name) for name in file.keys()}
    except (SafetensorError, OSError, KeyError, json.JSONDecodeError) as error:
        raise ValueError(f"{path} cannot be used: {error}") from None
    return arrays, facts
