"""The models of the web study on runs that were recorded of the live service.

    python benches/web/recorded.py benches/web/recorded/2026-11-26

`runs.tar.xz` has manifest and Metrics of each run of `sojourn study studies/web --quick`. Fitted are the runs with interrupts on core 0;
the configuration with interrupts spread is predicted, and is no part of any fit. Prints a row a model and metric and writes them to
`models.json`.
"""

from __future__ import annotations

import json
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import sojourn as sj
from sojourn_cases.web.fitted_web import FittedWeb
from sojourn_cases.web.model_files import TEMPLATE

FITTED, LEVEL = ("bare", "interrupts on core 0"), 0.9


def judged(name: str, model: FittedWeb, runs: list[sj.RunFolder]) -> dict[str, Any]:
    """Errors of response times, and how many of the runs lie in their intervals; and of the saturation rate."""
    errors, inside, halves = [], 0, []
    for run in (r for r in runs if "rate_per_s" in r.manifest["factors"]):
        told = model.predict(run.manifest["factors"], LEVEL)
        seen, (low, high) = run.metrics().value("response_time"), told.interval("response_time")
        errors.append(
            np.nan_to_num(abs(told.value("response_time") / seen - 1), nan=np.inf)
        )  # none: it is called saturated
        inside += bool(low is not None and low <= seen and (high is None or seen <= high))
        halves.append(np.inf if low is None or high is None else (high - low) / 2 / told.value("response_time"))
    row = {"model": name, "median_error": _told(np.median(errors)), "worst": _told(max(errors)), "inside": inside, "of": len(errors),
           "half_width": _told(np.median(halves))}  # fmt: skip
    for run in (r for r in runs if "users" in r.manifest["factors"]):
        told = model.predict({**run.manifest["factors"], "rate_per_s": 1.0}, LEVEL)
        row["saturation_error"] = round(told.value("saturation_rate") / run.metrics().value("throughput") - 1, 4)
    return row


def _told(value: Any) -> float | None:
    """None for what is infinite."""
    return round(float(value), 4) if np.isfinite(value) else None


def main(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as place:
        with tarfile.open(folder / "runs.tar.xz") as packed:
            packed.extractall(place, filter="data")
        runs = [sj.RunFolder.open(path) for path in sorted(Path(place).iterdir())]
        runs = [run for run in runs if run.manifest["valid"]]
        rivals = TEMPLATE.fit([run for run in runs if run.manifest["section"] in FITTED], 1, {})
        nics = max(int(run.manifest["factors"]["nics"]) for run in runs)
        held = [run for run in runs if run.manifest["factors"]["nics"] == nics]
        rows = [judged(name, model, held) for name, model in rivals.fitted.items() if isinstance(model, FittedWeb)]
    print(*rivals.notes, *rows, sep="\n")
    (folder / "models.json").write_text(json.dumps({"why": list(rivals.notes), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
