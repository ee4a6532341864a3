"""Predictions, written and hashed before their runs start, and read back from what was written.

`predictions.json` has them, `predictions.sha256` the SHA-256 of that file as `sha256sum -c` takes it.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from sojourn.errors import StudyError
from sojourn.fit.model import FittedModel
from sojourn.measure.folder import now
from sojourn.study.engine.models import predicted_rows
from sojourn.study.engine.plan import Plan
from sojourn.system import Point

FILE, SUM, FITTED = "predictions.json", "predictions.sha256", "fitted.toml"
Predicted = dict[str, Any]


def written(folder: Path) -> Predicted | None:
    """What was predicted, None where nothing was yet.

    Raises:
        StudyError: the file is no longer what was written.
    """
    file = folder / FILE
    if not file.exists():
        return None
    lines = (folder / SUM).read_text().splitlines() if (folder / SUM).exists() else []
    sums = {name: number for number, name in (line.split() for line in lines)}
    for name in (FILE, FITTED):
        if sums.get(name) != _sum(folder / name):
            raise StudyError(
                f"{name} is not what was written before the runs", str(folder), "run the study in another --out"
            )
    found: Predicted = json.loads(file.read_text())
    return found


def write(folder: Path, fitted: FittedModel, why: str, plan: Plan) -> Predicted:
    """Predicts every configuration of `[[predict]]`, and writes it with the fitted model.

    Raises:
        StudyError: one of them has been run already.
    """
    for point in plan.predicted:
        if (folder / "runs" / point.name).exists():
            raise StudyError(f"{point.name} was run before it was predicted", str(folder), "use another --out")
    assert plan.study.fit is not None
    level = plan.study.fit.level
    fitted.write(folder / FITTED)
    each = [
        {"section": p.section, "factors": dict(p.factors), "rows": predicted_rows(fitted, p, level)}
        for p in _once(plan)
    ]
    found = {"written": now()["wall"], "level": level, "why": why, "configurations": each}
    (folder / FILE).write_text(json.dumps(found, indent=1, allow_nan=False) + "\n")
    (folder / SUM).write_text("".join(f"{_sum(folder / name)}  {name}\n" for name in (FILE, FITTED)))
    return found


def _once(plan: Plan) -> list[Point]:
    """Each configuration in the order of the file."""
    order = [part.name for part in plan.study.predict]
    first = [point for point in plan.predicted if point.repetition == 1]
    return sorted(first, key=lambda p: (order.index(p.section), [str(v).rjust(24) for v in p.factors.values()]))


def _sum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""
