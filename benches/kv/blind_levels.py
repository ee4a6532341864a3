"""Blind predictions of the memcached middleware at four levels, a row a value: for the figure in docs/explain/accuracy.md.

    python benches/kv/blind_levels.py benches/kv/recorded/2026-11-26-seed-72

The files `none`, `direct` and `staged.toml` (in the folder: the file as it was then) were final before these runs. At the time only
intervals at 90 % were counted. The others are of the same fit and the same seed, asked for afterwards. Writes `blind-levels.csv`.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import polars as pl
from model_file import FILES, METRICS, kind_of, recorded

import sojourn as sj
from sojourn_cases import kv

LEVELS = (0.5, 0.8, 0.9, 0.95)


def main(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as place:
        runs = [run for run in recorded(folder, place) if run.manifest["valid"] or kind_of(run) == "training"]
        files = {name: Path(kv.__file__).with_name(f"{name}.toml") for name in FILES}
        files["staged"] = folder / "staged.toml"
        models = {name: sj.Model.read(path) for name, path in files.items()}
        fitted = sj.fit_rivals(
            sj.fit.observe_runs([run for run in runs if kind_of(run) == "training"]), models, seed=1
        ).best
        rows = []
        for run in runs:
            if kind_of(run) != "blind":
                continue
            for level in LEVELS:
                table = fitted.predict(run.manifest["factors"], level).frame
                for metric in METRICS:
                    row = table.filter(metric=metric, station="").row(0, named=True)
                    measured = run.metrics().value(metric, cls="")
                    said = {"predicted": row["value"], "low": row["low"], "high": row["high"], "measured": measured}
                    rows.append(
                        {"run": run.path.name, "metric": metric, "level": level}
                        | {key: float(f"{value:.9g}") for key, value in said.items()}
                    )
    pl.DataFrame(rows).write_csv(folder / "blind-levels.csv")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
