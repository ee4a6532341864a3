"""Points into run folders: those that are there are kept, those that others disturbed are run again."""

from __future__ import annotations

from pathlib import Path

from sojourn.runs.run_folder import RunFolder
from sojourn.runs.run_series import kept
from sojourn.study.run_order import run_seed
from sojourn.study.study_folder import Say
from sojourn.study.study_progress import StudyProgress
from sojourn.study.system import Point, Session

AGAIN = 2
DISTURBED = "disturbed"


def run_points(
    session: Session, points: list[Point], out: Path, seed: int, say: Say, progress: StudyProgress | None = None
) -> list[RunFolder]:
    """The run of each point in `out/runs`, in this order. A disturbed one is kept in `out/disturbed` and run again, at
    most twice. `progress`: of the whole study, where this is a part of it.

    Raises:
        RunFolderError: there are runs of another package, kernel, machine, load or system. ServiceError: it fails.
    """
    if not points:
        return []
    where = out / "runs"
    loads = {point.name: session.conditions(point)["load"] for point in points}
    there = _whole(kept(where, loads, session.conditions(points[0]), others=True))
    if there:
        say(f"{len(there)} of {len(points)} runs already exist")
    progress = progress or StudyProgress(len(points))
    progress.there(sum(point.name in there for point in points))
    found = []
    for point in points:
        if point.name in there:
            found.append(there[point.name])
            continue
        with progress.run(point) as text:
            say(text)
            found.append(_undisturbed(session, point, out, seed, say))
    return found


def _whole(folders: dict[str, RunFolder]) -> dict[str, RunFolder]:
    """Without those that were interrupted after the load, before their resources were told: these are removed."""
    for name in [name for name, folder in folders.items() if "resources" not in folder.manifest]:
        folders.pop(name).discard()
    return folders


def _undisturbed(session: Session, point: Point, out: Path, seed: int, say: Say) -> RunFolder:
    put_aside = [out / DISTURBED / f"{point.name}-{number}" for number in range(1, AGAIN + 1)]
    before = sum(aside.exists() for aside in put_aside)  # by this study before it was interrupted
    for attempt in range(before, AGAIN + 1):
        folder = session.run(point, out / "runs" / point.name, run_seed(seed, f"{point.name}/{attempt}"))
        reasons = folder.manifest["reasons"]
        if reasons:
            say(f"  {'; '.join(reasons)}")
        if attempt == AGAIN or not any(reason.startswith(DISTURBED) for reason in reasons):
            break
        put_aside[attempt].parent.mkdir(exist_ok=True)
        folder.path.rename(put_aside[attempt])
        say("  run again")
    return folder
