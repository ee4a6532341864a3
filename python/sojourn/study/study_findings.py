"""All that a study found."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from sojourn.runs.run_folder import RunFolder
from sojourn.study.analysis import Analysis
from sojourn.study.best_configuration import BestConfiguration
from sojourn.study.counted_values import asked_rows
from sojourn.study.evaluation import BLIND, HELD_OUT, SCHEMA, TRAINING
from sojourn.study.fit_templates import FittedProtocol, RivalModels
from sojourn.study.predictions import Prediction

__all__ = ["BLIND", "HELD_OUT", "TRAINING", "StudyFindings"]


@dataclass(frozen=True)
class StudyFindings:
    """`evaluation`: see evaluation.SCHEMA, all rivals and kinds; `varied`: factors that differ between its runs; `not_shown`: what
    cannot be run here, and why; `used_anyway`: names of runs that are not valid and that the fit uses."""

    folder: Path
    runs: list[RunFolder]
    varied: tuple[str, ...] = ()
    rivals: RivalModels | None = None
    predicted: Prediction | None = None
    evaluation: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=SCHEMA))
    choices: tuple[BestConfiguration, ...] = ()
    analyses: tuple[Analysis, ...] = ()
    not_shown: tuple[str, ...] = ()
    used_anyway: tuple[str, ...] = ()

    @property
    def fitted(self) -> FittedProtocol | None:
        """The model that the verdict quotes."""
        return None if self.rivals is None else self.rivals.first

    @property
    def why(self) -> str:
        """Why it is this one."""
        return "" if self.rivals is None else self.rivals.why

    def rows(self, kind: str, rival: str | None = None) -> pl.DataFrame:
        """Judged rows of one kind (training, held out, blind) and one rival, the best where none is named."""
        rival = rival or (self.rivals.best if self.rivals else "")
        return self.evaluation.filter(pl.col("kind") == kind, pl.col("model") == rival)

    @property
    def blind(self) -> pl.DataFrame:
        """What was predicted before it was run, by the best model."""
        return self.rows(BLIND)

    @property
    def asked(self) -> pl.DataFrame:
        """Of `blind` what says more than what was given: each is judged, or could not be."""
        return asked_rows(self.blind, {run.path.name: run.manifest["factors"] for run in self.runs})

    def of(self, *sections: str) -> list[RunFolder]:
        """The runs of these sections."""
        return [run for run in self.runs if run.manifest["section"] in sections]
