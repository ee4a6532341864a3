"""The model files of the bulletin board beside the fit that the case had before them, on runs of the live site: two cores from one.

    python benches/ntier/model_file.py benches/ntier/recorded/2026-11-26

`runs.tar.xz` has manifest and Metrics of each run of `sojourn study studies/ntier --quick`; `earlier-fit.json` what the earlier fit
(constant and hand-over demands by tier, commit in README.md) said of the same runs. All are fitted to the runs on one core; those on
two are held out. Prints a row a model, section and metric, and writes them to `model-files.json`.
"""

from __future__ import annotations

import json
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import polars as pl

import sojourn as sj
import sojourn_cases.ntier

FITTED, HELD_OUT = "one core", "two cores"
FILES = Path(sojourn_cases.ntier.__file__).parent
NAMES = ("hand-over", "constant")
METRICS = ("throughput", "response_time")
LEVEL = 0.9
Factors = Mapping[str, Any]
Row = tuple[float, float | None, float | None]  # value, low, high
Predict = Callable[[Factors, str], Row]


def read_runs(folder: Path, place: Path) -> list[sj.RunFolder]:
    """The valid runs, unpacked into `place`."""
    with tarfile.open(folder / "runs.tar.xz") as packed:
        packed.extractall(place, filter="data")
    runs = [sj.RunFolder.open(path) for path in sorted(place.iterdir())]
    return [run for run in runs if run.manifest["valid"]]


def of_file(fitted: sj.FittedModel) -> Predict:
    known: dict[str, pl.DataFrame] = {}

    def predict(factors: Factors, metric: str) -> Row:
        key = repr(sorted(factors.items()))
        if key not in known:
            known[key] = fitted.predict(factors, LEVEL).frame.filter(station="")
        row = known[key].filter(pl.col("class") == "", metric=metric).row(0, named=True)
        return row["value"], row["low"], row["high"]

    return predict


def of_earlier(said: Iterable[Mapping[str, Any]]) -> Predict:
    known = list(said)

    def predict(factors: Factors, metric: str) -> Row:
        for one in known:
            if all(factors[name] == value for name, value in one["factors"].items()):
                return one[metric], None, None
        raise KeyError(factors)

    return predict


def judged(predict: Predict, runs: list[sj.RunFolder], metric: str) -> dict[str, Any]:
    """Errors of single runs and of the means of repeated runs, and how many runs lie in their intervals."""
    each: dict[str, list[sj.RunFolder]] = {}
    for run in runs:
        each.setdefault(repr(run.manifest["factors"]), []).append(run)
    errors, of_means, inside, halves = [], [], 0, []
    for own in each.values():
        value, low, high = predict(own[0].manifest["factors"], metric)
        measured = [run.metrics().value(metric, cls="") for run in own]
        errors += [abs(value / one - 1) for one in measured]
        of_means.append(abs(value / fmean(measured) - 1))
        inside += sum(low is not None and low <= one and (high is None or one <= high) for one in measured)
        halves += [np.nan if low is None or high is None else (high - low) / 2 / value] * len(own)
    return {
        "metric": metric, "median_error": _round(np.median(errors)), "worst": _round(max(errors)), "of_means": _round(np.median(of_means)),
        "worst_of_means": _round(max(of_means)), "inside": None if np.isnan(halves).all() else inside, "of": len(runs),
        "half_width": None if np.isnan(halves).all() else _round(np.nanmedian(halves)),
    }  # fmt: skip


def maxima(predict: Predict, runs: list[sj.RunFolder]) -> dict[str, float]:
    """By mix the error of the throughput at the users with which the most was completed, in the mean of the runs."""
    found = {}
    for mix in sorted({run.manifest["factors"]["mix"] for run in runs}):
        by_users: dict[int, list[sj.RunFolder]] = {}
        for run in runs:
            if run.manifest["factors"]["mix"] == mix:
                by_users.setdefault(run.manifest["factors"]["users"], []).append(run)
        means = {n: fmean(run.metrics().value("throughput", cls="") for run in own) for n, own in by_users.items()}
        most = max(means, key=lambda n: means[n])
        value, _, _ = predict(by_users[most][0].manifest["factors"], "throughput")
        found[mix] = _round(value / means[most] - 1)
    return found


def _round(value: Any) -> float:
    return round(float(value), 4)


def main(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as place:
        runs = read_runs(folder, Path(place))
        sections = {name: [run for run in runs if run.manifest["section"] == name] for name in (FITTED, HELD_OUT)}
        seen, files = (
            sj.fit.observe_runs(sections[FITTED]),
            {name: sj.Model.read(FILES / f"{name}.toml") for name in NAMES},
        )
        chosen = sj.fit_rivals(seen, files, seed=1)
        said = folder / "earlier-fit.json"  # of the first session alone
        earlier = json.loads(said.read_text())["predictions"] if said.exists() else []
        models = {f"earlier fit, {name}": of_earlier([one for one in earlier if one["model"] == name])
                  for name in dict.fromkeys(one["model"] for one in earlier)}  # fmt: skip
        models |= {f"{name}.toml": of_file(fitted) for name, fitted in chosen.fits.items()}
        models["both files, averaged"] = of_file(chosen.best)
        rows = [
            {"model": name, "section": section, **judged(predict, own, metric)}
            for section, own in sections.items()
            for name, predict in models.items()
            for metric in METRICS
        ]
        most = {name: maxima(predict, sections[HELD_OUT]) for name, predict in models.items()}
    print(chosen.why)
    for name, fitted in chosen.fits.items():
        print(name, {path: tuple(estimate) for path, estimate in fitted.estimates.items()}, fitted.model_error)
    for row in (*rows, most):
        print(row)
    (folder / "model-files.json").write_text(json.dumps({"rows": rows, "maxima_of_two_cores": most}, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
