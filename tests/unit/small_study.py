"""What tests of a study's runs have in common: a small file, a system that counts its runs, one run that is lost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sojourn.errors import StudyError
from sojourn.study.folder import open_study, save_state


@dataclass
class Counting:
    """The simulated system where a machine is expected; counts its runs."""

    kind: str = "simulated"
    runs: list[str] = field(default_factory=list)

    def run(self, point: Any) -> Any:
        self.runs.append(point.name)
        return self.seen(point)

    def seen(self, point: Any) -> Any:
        raise NotImplementedError


def written(folder: Path, text: str) -> Path:
    """A study file."""
    path = folder / "study.toml"
    path.write_text(text)
    return path


def mistaken(file: Path, text: str, read: Callable[[Path], object]) -> str:
    """What a study file with a mistake in it is told."""
    file.write_text(text)
    with pytest.raises(StudyError) as found:
        read(file)
    return str(found.value)


def resumed(out: Path, plan: Any, before: Counting, measure: Callable[..., Any]) -> pl.DataFrame:
    """The rows after one run was lost, as if the study had been interrupted: that run is done again, no other."""
    lost, again = before.runs[3], type(before)()
    (out / "points" / f"{lost}.json").unlink()
    found = measure(plan, open_study(out, plan, print), lambda _: None, again)
    assert again.runs == [lost]
    rows: pl.DataFrame = found.seen
    return rows


def refuses_another(out: Path, plan: Any, other: Any) -> None:
    """A folder that holds one study, finished, does not take another."""
    save_state(out, plan, finished=True)
    with pytest.raises(StudyError, match="another study"):
        open_study(out, other, print)
