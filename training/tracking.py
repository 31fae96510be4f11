"""W&B or MLflow beside the logs of a run: `python -m training.train CONFIG --track wandb`.

Neither package comes with the extra `train`. A resumed run goes on in the record that it began: its
id stands in the folder of the run.
"""

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

TRACKERS = ("wandb", "mlflow")
PROJECT = "crapo_env"  # of W&B; the experiment of MLflow


class Tracker:
    """The record of one run."""

    def __init__(self, name: str, folder: Path, settings: Mapping[str, Any]) -> None:
        """Begin the record of the run in `folder`, or go on with it.

        Args:
            name: one of TRACKERS.
            folder: of the run, also of W&B's files.
            settings: of the run; shown beside its curves.

        Raises:
            ValueError: if the package is not installed.
        """
        try:
            self._package = importlib.import_module(name)
        except ModuleNotFoundError as error:
            raise ValueError(f"--track {name}: {error}; pip install {name}") from None
        self.name = name
        path = folder / f"{name}.id"
        known = path.read_text(encoding="utf-8") if path.exists() else None
        begin = self._begin_wandb if name == "wandb" else self._begin_mlflow
        path.write_text(begin(known, folder, dict(settings)), encoding="utf-8")

    def _begin_wandb(self, known: str | None, folder: Path, settings: dict[str, Any]) -> str:
        run = self._package.init(
            project=PROJECT, name=folder.name, dir=folder, config=settings, id=known, resume="allow"
        )
        return str(run.id)

    def _begin_mlflow(self, known: str | None, folder: Path, settings: dict[str, Any]) -> str:
        self._package.set_experiment(PROJECT)
        run = self._package.start_run(run_id=known, run_name=folder.name)
        if known is None:
            self._package.log_params(settings)
        return str(run.info.run_id)

    def write(self, decisions: int, numbers: Mapping[str, float]) -> None:
        """Add the numbers of an update that ended after so many decisions."""
        log = self._package.log if self.name == "wandb" else self._package.log_metrics
        log(dict(numbers), step=decisions)

    def close(self) -> None:
        """End the record."""
        end = self._package.finish if self.name == "wandb" else self._package.end_run
        end()
