"""Recorded request logs of somebody else: fitted on the first half hour, the response times of the rest predicted by window and class.

    python benches/external/librede.py FOLDER [--window 60] [--at-rates] [--out predictions.csv]

FOLDER has one folder a set (`wcN.csv.gz`, `cpu.csv.gz`) and `recorded_estimates.csv`: what other estimators said of the demands of the
same data. Ours and theirs go through the same model, that of the first half hour with a load as it was seen to be, and are asked the
same: the mean response time of each class in each window of the rest. Of a load that waits for its answers a window's rate is
no cause but a result, so that users and think times are those of the first half hour; with `--at-rates` think times are those
that give the rates of the window. Of the windows predicted nothing else is given.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

import sojourn as sj
from sojourn.fit import FittedModel
from sojourn.model import Closed
from sojourn.observe import ObservedService, observe_files
from sojourn.observe.observed_windows import ObservedWindow

LEARNT_S = 1800.0
ROUNDS, CLOSE = 200, 1e-6  # of think times that give the rates of a window
LEVEL = 0.9
OURS = "sojourn"
OPEN = "sojourn's demands, open load"
BARE = ", no background"  # of a recorded estimate: through the model without work beside the requests, which none of them knows


def estimates(folder: Path, name: str) -> dict[str, list[float]]:
    """Estimator → mean demand of each class, s. Estimators of one class at a time are put together."""
    found: dict[str, dict[int, float]] = {}
    with (folder / "recorded_estimates.csv").open() as file:
        for row in csv.DictReader(file):
            if row["set"] != name:
                continue
            own = row["estimator"].split("_")[-1] if row["estimator"].startswith("WC") else row["estimator"]
            told = {i: float(row[f"class{i}_s"]) for i in range(3) if row[f"class{i}_s"]}
            one = int(row["estimator"][2]) if row["estimator"].startswith("WC") else None
            found.setdefault(own, {}).update(told if one is None else {one: told[0]})
    return {own: [of[i] for i in sorted(of)] for own, of in found.items()}


def at_rates(model: sj.Model, window: ObservedWindow) -> tuple[sj.Model, dict[str, float]]:
    """The model with this window's rates, and the response time of each class, s. Of classes that wait for their answers think times are
    looked for that give these rates."""
    rates = {one.name: window.classes[one.name].rate_per_s for one in model.classes}
    closed = [one for one in model.classes if isinstance(one, Closed)]
    own = open_rates(model, window)
    new = response_times(own)
    if not closed:
        return own, new
    response = dict.fromkeys(rates, 0.0)
    for _ in range(ROUNDS):
        thinks = {one.name: max(one.population / rates[one.name] - response[one.name], 1e-6) for one in closed}
        own = sj.replaced(own, {f"classes.{name}.think_s": think for name, think in thinks.items()})
        new = response_times(own)
        moved = max(abs(new[one.name] - response[one.name]) for one in closed)
        response = {name: 0.5 * (response[name] + new[name]) for name in rates}
        if moved < CLOSE:
            break
    return own, new


def open_rates(model: sj.Model, window: ObservedWindow) -> sj.Model:
    """The model with this window's rates of the classes that do not wait."""
    names = [one.name for one in model.classes if not isinstance(one, Closed)]
    return sj.replaced(model, {f"classes.{name}.rate_per_s": window.classes[name].rate_per_s for name in names})


def response_times(model: sj.Model) -> dict[str, float]:
    """By class, s."""
    names, solved = [one.name for one in model.classes], sj.solve(model)
    return {name: solved.value("response_time", cls=name if len(names) > 1 else "") for name in names}


def with_demands(model: sj.Model, demands: Sequence[float]) -> sj.Model:
    """Recorded demands in place of ours."""
    names = [one.name for one in model.classes]
    return sj.replaced(model, {f"demands_s.cpu.{n}": max(d, 1e-9) for n, d in zip(names, demands, strict=True)})


def as_open(model: sj.Model) -> sj.Model:
    """The same demands under a load that does not wait."""
    demands = {"cpu": {one.name: model.demands_s["cpu"][one.name] for one in model.classes}}
    return sj.Model(model.stations, [sj.Open(one.name, 1.0) for one in model.classes], demands_s=demands)


def as_seen(model: sj.Model, window: ObservedWindow, by_rates: bool) -> tuple[sj.Model, dict[str, float]]:
    """The model with the load of this window, and the response time of each class, s."""
    if by_rates:
        return at_rates(model, window)
    own = open_rates(model, window)
    return own, response_times(own)


def rows(
    name: str, fitted: FittedModel, rest: ObservedService, folder: Path, by_rates: bool
) -> Iterator[dict[str, object]]:
    """A row a window, class and estimator."""
    bare = sj.replaced(fitted.model, {"stations.cpu.background": 0.0})
    models = {own: with_demands(fitted.model, of) for own, of in estimates(folder, name).items()}
    models |= {f"{own}{BARE}": with_demands(bare, of) for own, of in estimates(folder, name).items()}
    models[OPEN] = as_open(fitted.model)
    names = [one.name for one in fitted.model.classes]
    alike = not by_rates and all(isinstance(one, Closed) for one in fitted.model.classes)  # in all windows
    known: dict[str, dict[str, float]] = {}
    interval: dict[str, tuple[float, float]] = {}
    for window in rest.windows:
        for other, m in {OURS: fitted.model, **models}.items():
            if not alike or other == OPEN or other not in known:
                own, known[other] = as_seen(m, window, by_rates)
                interval = intervals(fitted, own, names) if other == OURS else interval
        told = known
        for who, predicted in told.items():
            for cls in names:
                low, high = interval[cls] if who == OURS else (None, None)
                measured = window.classes[cls].response_s
                yield {"set": name, "who": who, "start_s": window.start_s, "class": cls, "rate_per_s": window.classes[cls].rate_per_s,
                       "predicted_s": predicted[cls], "low_s": low, "high_s": high, "measured_s": measured}  # fmt: skip


def intervals(fitted: FittedModel, own: sj.Model, names: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Of the window's mean response times by class, at the think times or rates of `own`."""
    one = len(names) == 1
    factors = {}
    for c in own.classes:
        if isinstance(c, Closed):
            factors["think_s" if one else f"think_{c.name}_s"] = c.think_s
        else:
            factors["rate_per_s" if one else f"rate_{c.name}_per_s"] = c.rate_per_s
    table = sj.predict(fitted, factors, LEVEL).frame.filter(
        pl.col("station") == "", pl.col("metric") == "response_time"
    )
    return {name: table.filter(pl.col("class") == ("" if one else name)).select("low", "high").row(0) for name in names}


def summary(found: pl.DataFrame) -> pl.DataFrame:
    """Median error by set and estimator, over windows and classes; ours first."""
    error = (pl.col("predicted_s") / pl.col("measured_s") - 1).abs()
    inside = pl.col("measured_s").is_between(pl.col("low_s"), pl.col("high_s"))
    return (
        found.drop_nulls("measured_s")
        .group_by("set", "who", maintain_order=True)
        .agg(error.median().alias("median error"), error.mean().alias("mean error"), pl.len().alias("means"),
             inside.sum().alias("inside"))
        .sort("set", "median error")
    )  # fmt: skip


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--window", type=float, default=60.0, help="s")
    parser.add_argument("--at-rates", action="store_true")
    parser.add_argument("--sets", nargs="*", default=["r1", "r2", "r3", "r4"])
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args(arguments)
    found = []
    for name in asked.sets:
        files = sorted((asked.folder / name).glob("*.csv.gz"))
        learnt = observe_files(files, window_s=asked.window, end_s=LEARNT_S)
        rest = observe_files(files, window_s=asked.window, start_s=LEARNT_S)
        assert learnt.model is not None
        fitted = fit(learnt)
        print(f"{name}: users {dict(learnt.users)}")
        for path, one in fitted.estimates.items():
            print(f"  {path} = {one.value:.5f} s ({one.low:.5f} … {one.high:.5f})", flush=True)
        found += list(rows(name, fitted, rest, asked.folder, asked.at_rates))
    table = pl.DataFrame(found, infer_schema_length=None)
    with pl.Config(tbl_rows=100, tbl_cols=20, tbl_width_chars=140):
        print(summary(table))
    if asked.out:
        table.write_csv(asked.out)


def fit(learnt: ObservedService) -> FittedModel:
    """Of run folders in a folder of its own, as `sojourn fit` does."""
    from tempfile import TemporaryDirectory

    assert learnt.model is not None
    with TemporaryDirectory() as folder:
        return sj.fit(learnt.write(Path(folder)), learnt.model)


if __name__ == "__main__":
    main(sys.argv[1:])
