"""The model files of the message service on runs that were recorded of the live service.

    python benches/messages/model_file.py benches/messages/recorded/2026-11-25 [--sections]

`runs.tar.xz` has manifest and Metrics of each run of a study (`sojourn study studies/messages --quick`). Each file, and the average of
all as the study takes it, is fitted to the sections that the study fits, and judged at the others. With `--sections` each section is also
left out once, with all runs of its configurations, and predicted by a fit to the rest (half an hour). Prints a row a model, way and metric
and writes them to `model-files.json`.
"""

from __future__ import annotations

import json
import sys
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import sojourn as sj
from sojourn_cases import messages

FITTED = ("reference", "calibration", "pools", "clients", "middlewares", "moderate")
FILES = Path(messages.__file__).parent
NAMES = ("usl", "batching", "telesto")
METRICS = ("throughput", "response_time")
LEVEL = 0.9


def judged(model: sj.FittedModel, runs: Sequence[sj.RunFolder]) -> dict[str, list[dict[str, Any]]]:
    """By metric, of each run its configuration, what was predicted and measured, whether it lies inside, and the half-width."""
    rows: dict[str, list[dict[str, Any]]] = {metric: [] for metric in METRICS}
    told: dict[str, pl.DataFrame] = {}
    for run in runs:
        key = json.dumps(run.manifest["factors"], sort_keys=True)
        if key not in told:
            told[key] = model.predict(run.manifest["factors"], LEVEL).frame.filter(station="")
        for metric in METRICS:
            measured = run.metrics().value(metric, cls="")
            row = told[key].filter(pl.col("class") == "", pl.col("metric") == metric).row(0, named=True)
            low, high = row["low"], row["high"]
            rows[metric].append({
                "configuration": key, "predicted": row["value"], "measured": measured,
                "inside": low is not None and bool(low <= measured and (high is None or measured <= high)),
                "half_width": None if high is None else (high - low) / 2 / row["value"],
            })  # fmt: skip
    return rows


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Median errors of single runs and of means of configurations, the worst, and how many runs lie inside."""
    frame = pl.DataFrame(rows, infer_schema_length=None)
    error = (pl.col("predicted") / pl.col("measured") - 1).abs()
    means = frame.group_by("configuration").agg(pl.col("predicted").first(), pl.col("measured").mean()).select(error)
    single = frame.select(error).to_series()
    return {"median_error": round(float(np.median(single)), 4), "of_means": round(float(np.median(means.to_series())), 4),
            "worst": round(float(single.max()), 4), "inside": int(frame["inside"].sum()), "of": frame.height,  # type: ignore[arg-type]
            "half_width": round(float(frame["half_width"].median()), 4)}  # type: ignore[arg-type] # fmt: skip


def fits(runs: Sequence[sj.RunFolder], models: Mapping[str, sj.Model]) -> dict[str, sj.FittedModel]:
    """Each file, and their average as the study takes it."""
    chosen = sj.fit_rivals(sj.fit.observe_runs(runs), models, seed=1)
    return {**chosen.fits, "averaged": chosen.best}


def main(folder: Path, crossed: bool) -> None:
    with tempfile.TemporaryDirectory() as place:
        with tarfile.open(folder / "runs.tar.xz") as packed:
            packed.extractall(place, filter="data")
        runs = [sj.RunFolder.open(path) for path in sorted(Path(place).iterdir())]
        valid = [run for run in runs if run.manifest["valid"]]
        models = {name: sj.Model.read(FILES / f"{name}.toml") for name in NAMES}
        found: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
        sections = dict.fromkeys(run.manifest["section"] for run in valid)
        splits = {
            "held out": [name for name in sections if name not in FITTED],
            **({name: [name] for name in sections} if crossed else {}),
        }
        for split, out in splits.items():
            own = [run for run in valid if run.manifest["section"] in out]
            there = [run.manifest["factors"] for run in own]
            rest = [run for run in valid if run.manifest["factors"] not in there]
            way = split if split == "held out" else "sections left out"
            for name, model in fits(rest, models).items():
                for metric, rows in judged(model, own).items():
                    found.setdefault((name, way, metric), []).extend(rows)
        table = [{"model": n, "runs": w, "metric": m, **summary(rows)} for (n, w, m), rows in found.items()]
        for row in table:
            print(row)
    (folder / "model-files.json").write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), "--sections" in sys.argv)
