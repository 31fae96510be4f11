"""Reading single entries of zip archives that nobody vouches for; nothing is unpacked to disk."""

import zipfile
from pathlib import Path, PurePosixPath
from typing import IO

MAX_ENTRIES = 1000
MAX_UNPACKED = 512_000_000  # bytes, of all entries together
MAX_RATIO = 200  # unpacked to packed


def is_zip(path: Path) -> bool:
    """Return whether a file begins as zip archives do."""
    try:
        with path.open("rb") as file:
            return file.read(4) == b"PK\x03\x04"
    except OSError:
        return False


def open_archive(file: Path | IO[bytes], *, stored: bool = False) -> zipfile.ZipFile:
    """Return an archive whose directory promises nothing dangerous.

    Args:
        file: the archive.
        stored: whether its entries must be uncompressed, as those of torch are.

    Raises:
        ValueError: if it is no whole archive, too large unpacked, packed too tightly, or an entry
            has an odd name or occurs twice.
    """
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, OSError, NotImplementedError, ValueError) as error:
        raise ValueError(f"it is no whole zip archive: {error}") from None
    entries = archive.infolist()
    names = [entry.filename for entry in entries]
    if len(entries) > MAX_ENTRIES or len(set(names)) < len(names):
        raise ValueError(f"the archive has too many entries, {len(names)}, or one of them twice")
    for entry in entries:
        path = PurePosixPath(entry.filename)
        if path.is_absolute() or ".." in path.parts or "\\" in entry.filename or ":" in path.name:
            raise ValueError(f"the archive has an entry that leads elsewhere: {entry.filename!r}")
        if stored and entry.compress_type != zipfile.ZIP_STORED:
            raise ValueError(f"the entry {entry.filename!r} is compressed, which torch never does")
        if entry.file_size > MAX_RATIO * max(entry.compress_size, 1000):
            raise ValueError(f"the entry {entry.filename!r} unpacks to {entry.file_size:,} bytes")
    if sum(entry.file_size for entry in entries) > MAX_UNPACKED:
        raise ValueError(f"the archive unpacks to more than {MAX_UNPACKED:,} bytes")
    return archive


def read_entry(archive: zipfile.ZipFile, name: str, most: int) -> bytes:
    """Return an entry of at most `most` bytes.

    Raises:
        ValueError: if there is none, it is larger or damaged.
    """
    try:
        entry = archive.getinfo(name)
        if entry.file_size > most:
            raise ValueError(f"{name} has {entry.file_size:,} bytes, allowed are {most:,}")
        with archive.open(entry) as file:
            return file.read(most)
    except KeyError:
        raise ValueError(f"the archive has no entry {name!r}") from None
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError, EOFError) as error:
        raise ValueError(f"the entry {name!r} is damaged: {error}") from None
