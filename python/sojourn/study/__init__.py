"""One TOML file → runs → fit → prediction → check → report.

Map: `engine` studies of any system · `web`, `kv`, `messages` what only studies of a web system, of a memcached
middleware, of a message service have · `study_file` a study file, read and checked · `study_folder` where it ends up,
found again after an interruption · `run_order` an order at random · `mean_of_runs`, `parameter_recovery` intervals, known
numbers found again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sojourn.lab.worker_process import Event
from sojourn.measure.execute_run import listening
from sojourn.study.engine import StudyFindings, run_system_study

__all__ = ["StudyResult", "run_study"]


@dataclass(frozen=True)
class StudyResult:
    """Where the study is, its verdict line by line, its report, and all that was found."""

    folder: Path
    verdict: list[str]
    report: Path
    findings: StudyFindings


def run_study(
    path: Path,
    *,
    out: Path | None = None,
    quick: bool = False,
    seed: int | None = None,
    only: tuple[str, ...] = (),
    draw: int | None = None,
    say: Callable[[str], None] = print,
    progress: Callable[[Event], None] | None = None,
) -> StudyResult:
    """Runs the study in `path` (a file, or a folder with study.toml) into `out`; goes on where one was interrupted.

    `only`: parts of it: sections, fit, predict, analyses. `draw`: so many configurations of `[draw]` at random, too.

    Raises:
        StudyError, LabError, ServiceError: with the value, the place and the remedy.
    """
    with listening(progress):
        found, lines, page = run_system_study(path, out=out, quick=quick, seed=seed, only=only, draw=draw, say=say)
    return StudyResult(found.folder, lines, page, found)
