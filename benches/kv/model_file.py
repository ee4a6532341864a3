"""The model files of the memcached middleware beside plain interpolation, on runs that were recorded of the live system.

    python benches/kv/model_file.py benches/kv/recorded/2026-11-26

`runs.tar.xz` has manifest and Metrics of each run of `sojourn study studies/kv --quick
--random-configurations 12 --seed 71`. Fitted are the runs that the
study fits; held out those with 16 or 32 workers and with gets of 6 keys; blind those of the twelve draws. Prints a row for each
model, kind of runs and metric, with the CPU time of the fit and of a prediction, and writes them to `model-files.json`. What
`network-of-cores.json` says of the model that was in the case before was found in the same way, on the same runs.
"""

from __future__ import annotations

import json
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import polars as pl

import sojourn as sj
from sojourn.study.fit_templates import FittedProtocol
from sojourn_cases import kv
from sojourn_cases.kv.plain_interpolation import TEMPLATE

HELD_OUT = {"workers": (16, 32), "workload": ("multi-6",)}
DRAWN = "draw"
FILES = ("none", "direct", "staged")
LEVEL = 0.9
METRICS = ("throughput", "response_time")
Answer = TypeVar("Answer")


def kind_of(run: sj.RunFolder) -> str:
    """Training, held out or blind, as in the study."""
    factors = run.manifest["factors"]
    held = any(factors[name] in values for name, values in HELD_OUT.items())
    return "blind" if run.manifest["section"] == DRAWN else "held out" if held else "training"


def judged(model: FittedProtocol, runs: list[sj.RunFolder], metric: str) -> dict[str, Any]:
    """Errors of the metric, by run and of the means of repeated runs, and how many of the runs lie in their intervals."""
    rows = []
    for run in runs:
        row = model.predict(run.manifest["factors"], LEVEL).frame.filter(metric=metric, station="").row(0, named=True)
        factors = json.dumps(run.manifest["factors"], sort_keys=True)
        rows.append(
            {
                "of": factors,
                "measured": run.metrics().value(metric, cls=""),
                **{k: row[k] for k in ("value", "low", "high")},
            }
        )
    table = pl.DataFrame(rows).with_columns(error=pl.col("value") / pl.col("measured") - 1)
    inside = table.filter(pl.col("measured").is_between("low", pl.col("high").fill_null(np.inf))).height
    means = table.group_by("of").agg(pl.col("value").first() / pl.col("measured").mean() - 1)["value"].abs()
    error = table["error"].abs()
    found = {
        "median_error": error.median(), "rms": float(np.sqrt((error**2).mean())), "worst": error.max(), "inside": inside,
        "of": table.height, "half_width": ((table["high"] - table["low"]) / 2 / table["value"]).median(),
        "configurations": len(means), "median_error_of_means": means.median(),
    }  # fmt: skip
    return {"metric": metric, **{name: round(value, 4) for name, value in found.items()}}


def timed(asked: Callable[[], Answer]) -> tuple[Answer, float]:
    """And the CPU time that it took, s."""
    start = time.process_time()
    found = asked()
    return found, time.process_time() - start


def recorded(folder: Path, place: str) -> list[sj.RunFolder]:
    """The runs, unpacked."""
    with tarfile.open(folder / "runs.tar.xz") as packed:
        packed.extractall(place, filter="data")
    return [sj.RunFolder.open(path) for path in sorted(Path(place).iterdir())]


def main(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as place:
        runs = recorded(folder, place)
        of = {kind: [run for run in runs if kind_of(run) == kind] for kind in ("training", "held out", "blind")}
        models = {name: sj.Model.read(Path(kv.__file__).with_name(f"{name}.toml")) for name in FILES}
        seen = sj.fit.observe_runs(of["training"])
        files, fit_s = timed(lambda: sj.fit_rivals(seen, models, seed=1).best)
        first, *others = [run.manifest["factors"] for run in of["blind"]]
        files.predict(first, LEVEL)  # what is imported then is imported once
        _, predictions_s = timed(lambda: [files.predict(factors, LEVEL) for factors in others])
        took_s = {"fit": round(fit_s, 2), "prediction": round(predictions_s / len(others), 4)}
        plain = TEMPLATE.fit(of["training"], 1, {}).first
        rows = [
            {"model": name, "kind": kind, **judged(model, [run for run in own if run.manifest["valid"]], metric)}
            for name, model in (("model files", files), ("plain interpolation", plain))
            for kind, own in of.items()
            for metric in METRICS
        ]
    for row in rows:
        print(row)
    print(took_s)
    (folder / "model-files.json").write_text(json.dumps({"rows": rows, "took_s": took_s}, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
