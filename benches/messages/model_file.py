"""The model files of the message service beside the case's own network, on runs that were recorded of the live service.

    python benches/messages/model_file.py benches/messages/recorded/2026-11-25

`runs.tar.xz` has manifest and Metrics of each run of a study (`sojourn study studies/messages --quick`). Both are fitted to the
sections that the study fits; the others are held out. Prints a row a model and metric and writes them to `model-files.json`.
"""

from __future__ import annotations

import json
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import sojourn as sj
from sojourn.study.fit_templates import FittedProtocol
from sojourn_cases.messages import message_template

FITTED = ("reference", "calibration", "pools", "clients", "middlewares", "moderate")
FILES = Path(message_template.__file__).parent
LEVEL = 0.9


def judged(model: FittedProtocol, runs: list[sj.RunFolder], metric: str) -> dict[str, Any]:
    """Errors of the metric, and how many of the runs lie in their intervals."""
    errors, inside, halves = [], 0, []
    for run in runs:
        measured = run.metrics().value(metric, cls="")
        frame = model.predict(run.manifest["factors"], LEVEL).frame.filter(metric=metric, station="")
        row = frame.filter(pl.col("class") == "").row(0, named=True)
        low, high = row["low"], row["high"]
        errors.append(abs(row["value"] / measured - 1))
        inside += bool(low <= measured and (high is None or measured <= high))
        halves.append(np.nan if high is None else (high - low) / 2 / row["value"])
    return {"metric": metric, "median_error": round(float(np.median(errors)), 4), "worst": round(max(errors), 4), "inside": inside,
            "of": len(runs), "half_width": round(float(np.nanmedian(halves)), 4)}  # fmt: skip


def main(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as place:
        with tarfile.open(folder / "runs.tar.xz") as packed:
            packed.extractall(place, filter="data")
        runs = [sj.RunFolder.open(path) for path in sorted(Path(place).iterdir())]
        fitted = [run for run in runs if run.manifest["section"] in FITTED]
        held = [run for run in runs if run.manifest["section"] not in FITTED and run.manifest["valid"]]
        seen = sj.observe_runs(fitted)
        models: dict[str, FittedProtocol] = {
            "the case's network": message_template.MessageTemplate().fit(fitted, 1, {}).fitted["usl"]
        }
        files = {name: sj.Model.read(FILES / f"{name}.toml") for name in ("model", "batching")}
        models |= {f"{name}.toml": sj.fit_model(seen, model, seed=1) for name, model in files.items()}
        models["both files, averaged"] = sj.fit_rivals(seen, files, seed=1).best
        metrics = ("throughput", "response_time")
        rows = [{"model": name, **judged(model, held, metric)} for name, model in models.items() for metric in metrics]
    for row in rows:
        print(row)
    (folder / "model-files.json").write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
