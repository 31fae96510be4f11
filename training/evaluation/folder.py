"""The folder of a tournament: games as they end, and the settings they were played with."""

import json
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from training.evaluation.policies import Description
from training.evaluation.records import GameRecord, read_line, write_line
from training.evaluation.request import Request
from training.source import package_version
from training.storage import write_whole

GAMES, RESULTS, REPORT = "games.jsonl", "results.json", "report.html"


class Folder:
    """Where a tournament writes; a context manager."""

    def __init__(self, path: Path, request: Request, policies: list[Description]) -> None:
        self.path = path
        self._names = [policy.name for policy in policies]
        self._settings = request.fixed() | {
            "policies": {policy.spec: policy.sha256 for policy in policies}
        }
        self._header = {
            "game": self._settings["game"],
            "tables_hash": self._settings["tables_hash"],
            "package_version": package_version(),
            "options": request.options,
        }
        self._file: IO[str] | None = None

    def open(self, *, resume: bool, drop_changed: bool = False) -> list[GameRecord]:
        """Begin to write and return the games that are there already.

        Args:
            resume: whether to go on with a folder that is there.
            drop_changed: whether games of policies that have changed or are not asked for any more
                are dropped first, not refused.

        Raises:
            ValueError: if there are games, but they are not to be resumed or were played with other
                settings.
        """
        games = self.path / GAMES
        if resume:
            if drop_changed:
                self._drop_changed()
            self._check_settings()
        elif games.exists():
            raise ValueError(f"{games} exists already; go on with it by --resume")
        self.path.mkdir(parents=True, exist_ok=True)
        if not resume:
            self.write_results({"settings": self._settings, "complete": False})
        records = self._read_games(games) if games.exists() else []
        self._file = games.open("a", encoding="utf-8")
        return records

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file is not None:
            self._file.close()

    def write_games(self, records: Iterable[GameRecord]) -> None:
        """Add games; they are in the file when this returns."""
        assert self._file is not None
        self._file.writelines(write_line(r, self._header, self._names) + "\n" for r in records)
        self._file.flush()

    def write_results(self, values: dict[str, Any]) -> None:
        """Write `results.json`; the one before stays until the new one is whole."""
        values = values | {"settings": self._settings}
        text = json.dumps(values, indent=2, allow_nan=False) + "\n"
        write_whole(self.path / RESULTS, text.encode())

    def _drop_changed(self) -> None:
        """Keep only games between policies whose files are what they were."""
        settings, games = self._read_settings(), self.path / GAMES
        before, now = settings["policies"], self._settings["policies"]
        same = {
            name
            for name, (spec, digest) in zip(self._names, now.items(), strict=True)
            if spec in before and before[spec] == digest
        }
        if len(same) < len(before) and games.exists():
            lines = [line for line in games.read_bytes().splitlines(True) if line[-1:] == b"\n"]
            kept = [line for line in lines if same.issuperset(json.loads(line)["seats"])]
            write_whole(games, b"".join(kept))
            others = settings | {"policies": {}}
            text = json.dumps({"settings": others, "complete": False}, indent=2) + "\n"
            write_whole(self.path / RESULTS, text.encode())

    def _read_settings(self) -> dict[str, Any]:
        path = self.path / RESULTS
        try:
            return dict(json.loads(path.read_text(encoding="utf-8"))["settings"])
        except (OSError, ValueError, KeyError, TypeError):
            raise ValueError(f"there is nothing to resume: cannot read {path}") from None

    def _check_settings(self) -> None:
        settings = self._read_settings()
        for name, value in json.loads(json.dumps(self._settings)).items():
            before = settings.get(name)
            if name == "policies" and isinstance(before, dict) and before.items() <= value.items():
                continue  # policies may be added: what was played before stays as it is
            if before != value:
                raise ValueError(
                    f"{self.path} was played with {name} {before!r}, now it is {value!r}"
                )

    def _read_games(self, path: Path) -> list[GameRecord]:
        """Return the games of a file, from which a line without an end is cut off."""
        data = path.read_bytes()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            with path.open("r+b") as file:
                file.truncate(whole)
        return [read_line(line, self._names) for line in data[:whole].decode().splitlines()]
