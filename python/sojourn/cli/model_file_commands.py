"""What `fit`, `predict` and `validate` do with a model file of the user's own: one with unknowns, and the one that a fit wrote."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table

from sojourn.cli.console import console
from sojourn.cli.json_answer import say_answer
from sojourn.errors import InputError, SojournError
from sojourn.file_kind import FIT, MODEL, expect, kind_of
from sojourn.narrow_tables import WidthAwareTable
from sojourn.terminal import say
from sojourn.units import interval, percent, prediction

if TYPE_CHECKING:
    from sojourn.diagnosis import Rate
    from sojourn.fit.fitted_model import FittedModel
    from sojourn.parallel import Workers
    from sojourn.report import Section
    from sojourn.table import Metrics


QUANTILES = (0.5, 0.9, 0.99)
MOST_SHOWN = 0.99  # the one of a table


def is_model_file(name: str) -> bool:
    """Whether `--model` names a file, and no model of ours."""
    return name.endswith(".toml") or Path(name).is_file()


def check_fitted(path: Path) -> None:
    """Raises InputError for a file that is known to be none that a fit wrote; whoever reads it says what else is wrong."""
    from sojourn.model import Model
    from sojourn.model.unknown_parameters import unknowns

    expect(path, FIT, MODEL)
    if kind_of(path) != MODEL:
        return
    free = list(unknowns(Model.read(path)))
    if free:
        remedy = f"run `sojourn fit RUNS --model {path}` first, and use the file that it writes"
        raise InputError(f"not fitted: {', '.join(free)} {'are' if len(free) > 1 else 'is'} unknown", path, remedy)
    remedy = (
        f"`sojourn solve {path}` solves it; for intervals, replace a number by {{ free = true }}, and fit the model"
    )
    raise InputError("a model without a fit", path, remedy)


def of_one_model(path: Path) -> str:
    """Of a fitted file that is an average of several, or has models of different runs: which of them it is as a model file, in words; ""
    of every other file."""
    if kind_of(path) != FIT:
        return ""
    from sojourn.fit.fitted_model import FittedModel  # with all of a fit

    fitted = FittedModel.read(path)
    (weight, first), *others = [
        (weight, model.model.name or "a model without a name") for weight, model in fitted.weighted
    ]
    more = ", ".join(f"{name} {one:.2f}" for one, name in others)
    told = [f"of {first} alone, weight {weight:.2f}; `sojourn predict` averages it with {more}"] if others else []
    elsewhere = ", ".join(one.model.name or "a model without a name" for one in fitted.models_of_other_runs)
    told += [f"of {first} alone; `sojourn predict` uses {elsewhere} for their runs"] if elsewhere else []
    return "; ".join(told)


def fit_files(
    runs: list[Path], names: list[str], out: Path, seed: int, level: float, further: int, on: Workers | None = None,
    tell: Callable[[str], None] = say,
) -> FittedModel:  # fmt: skip
    """Fits the unknowns of a model file, or of several ("auto" may be one), averaged where they predict alike; writes what was fitted,
    and tells of it."""
    from sojourn.fit.assumed_values import fit_assuming
    from sojourn.fit.fit_runs import observe_runs
    from sojourn.fit.model_selection import AUTO, choose_model
    from sojourn.fit.rival_models import fit_rivals, read_rivals
    from sojourn.model import Model

    for name in names:
        if name != AUTO:
            expect(name, MODEL)
    measured = observe_runs(runs)
    if names == [AUTO]:
        chosen = choose_model(measured, level=level, seed=seed, parallel=on)
        tell(chosen.why)
        fitted = chosen.best
    elif len(names) > 1:
        chosen = fit_rivals(measured, read_rivals(names, Path()), level=level, seed=seed, parallel=on)
        tell(chosen.why)
        fitted = chosen.best
    else:
        fitted = fit_assuming(measured, Model.read(names[0]), level, seed, parallel=on)
    fitted.write(out)
    tell(str(fitted))
    tell(f"written to {out}")
    if further:
        from sojourn.fit.next_runs import next_runs

        tell("the most informative next runs:")
        for row in next_runs(fitted, further).iter_rows(named=True):
            factors = ", ".join(
                f"{k} = {v:g}" if isinstance(v, float) else f"{k} = {v}" for k, v in row.items() if k != "narrower"
            )
            tell(f"  {factors}: intervals {percent(row['narrower'])} narrower")
    return fitted


def full_at(fitted: FittedModel, level: float = 0.9) -> Callable[[Mapping[str, Any]], Rate | None]:
    """Factors of a run → the rate, 1/s, at which the fitted model is full, and its interval; None where it has none."""
    names = {name for one in fitted.configurations for name in one}

    def rate(factors: Mapping[str, Any]) -> Rate | None:
        known = {name: value for name, value in factors.items() if name in names}
        try:
            rows = fitted.predict({**known, "rate_per_s": 1.0}, level).frame.filter(metric="saturation_rate")
        except SojournError:  # it is none of arrivals from outside, or not known at these factors
            return None
        row = rows.row(0, named=True) if rows.height else {"value": None}
        return None if row["value"] is None else (float(row["value"]), row["low"], row["high"])

    return rate


def predict_file(path: Path, vary: dict[str, list[Any]], level: float, as_json: bool) -> None:
    """Predicts with a fitted model at all combinations of what is varied."""
    from sojourn.fit import FittedModel, predict
    from sojourn.fit.fitted_model_data import FIT_SAID
    from sojourn.fit.predict_model import OUTSIDE

    metrics = predict(FittedModel.read(path), vary, level, QUANTILES)
    if as_json:
        say_answer("predict", metrics.to_dict())
        return
    points = metrics.frame.select(list(vary)).unique(maintain_order=True).rows(named=True)
    heads = ("response time", "p99", "throughput", "busiest station", "saturates at", "")
    cells = [_cells(metrics, point, OUTSIDE) for point in points]
    there = [k for k, head in enumerate(heads) if head != "p99" or any(row[k] for row in cells)]
    shown = Table(*vary, *(heads[k] for k in there), box=None, header_style="dim")
    for point, row in zip(points, cells, strict=True):
        shown.add_row(*(str(v) for v in point.values()), *(row[k] for k in there))
    out = console()
    lines = metrics.message.splitlines()
    cautions = [line for line in lines if line.startswith(FIT_SAID)]
    for line in cautions:
        out.print(line, markup=False)
    out.print(WidthAwareTable(shown))
    for line in lines[len(cautions) :]:
        out.print(line, style="dim", markup=False)


def _cells(metrics: Metrics, point: dict[str, Any], outside: str) -> tuple[str, ...]:
    rows = [r for r in metrics.frame.iter_rows(named=True) if all(r[k] == v for k, v in point.items())]
    whole = [r for r in rows if r["station"] == "" and r["class"] == ""]
    told = {r["metric"]: r for r in whole if r["q"] is None}
    tail = next((r for r in whole if r["q"] == MOST_SHOWN), None)
    busiest = max((r for r in rows if r["metric"] == "utilisation" and r["value"] is not None),
                  key=lambda r: r["value"], default=None)  # fmt: skip
    response, rate, limit = (told.get(m) for m in ("response_time", "throughput", "saturation_rate"))
    status = response["status"] if response else ""
    note = "" if status == "ok" else status
    return (
        _interval(response, "s"), _interval(tail, "s"), _interval(rate, "1/s"),
        f"{busiest['station']} {percent(busiest['value'])}" if busiest else "", _interval(limit, "1/s"),
        ", ".join(filter(None, (note, "" if rows[0]["in_validated_range"] else outside))),
    )  # fmt: skip


def _interval(row: dict[str, Any] | None, unit: str) -> str:
    if row is None or row["value"] is row.get("low") is None:
        return ""
    return prediction(row["value"], row["low"], row["high"], unit)


def validate_file(
    path: Path,
    runs: list[Path],
    level: float,
    changed: dict[str, Any],
    max_saturation_share: float | None,
    as_json: bool,
) -> None:
    """Each run: predicted, prediction interval, measured, inside or not."""
    from sojourn.fit import FittedModel, observe_runs, validate
    from sojourn.fit.observed_time import stale
    from sojourn.fit.predict_model import OUTSIDE
    from sojourn.fit.validate_model import at_asked_rates, scores

    measured = observe_runs(runs)
    fitted = FittedModel.read(path)
    found = validate(fitted, measured, level, changed, max_saturation_share)
    if as_json:
        say_answer("validate", {"rows": found.to_dicts()})
        return
    shown = Table("run", "", "predicted", "measured", "error", "", box=None, header_style="dim")
    last = ""
    for row in found.iter_rows(named=True):
        shown.add_row("" if row["run"] == last else row["run"], *_judged(row, OUTSIDE))
        last = row["run"]
    out = console()
    out.print(WidthAwareTable(shown))
    old = stale([run.observed for run in measured.runs], fitted.observed_until_unix_s)
    for line in filter(None, [*old, *measured.notes(), scores(found, level), at_asked_rates(found)]):
        out.print(line, markup=False)


def _judged(row: dict[str, Any], outside: str) -> tuple[str, ...]:
    unit = {"response_time": "s", "throughput": "1/s"}.get(row["metric"], "share")
    name = row["metric"].replace("_", " ") + "".join(f" of {row[k]}" for k in ("station", "class") if row[k])
    return (
        name, prediction(row["predicted"], row["low"], row["high"], unit),
        interval(row["measured"], row["measured_low"], row["measured_high"], unit),
        "" if row["error"] is None else percent(row["error"], sign=True),
        ", ".join(filter(None, ("" if row["inside_interval"] else "not in the interval", "" if row["in_validated_range"] else outside))),
    )  # fmt: skip


def section_of(path: Path, runs: list[Path]) -> Section:
    """What a fitted file says of runs, for a report."""
    from sojourn.fit.fit_report import model_section
    from sojourn.fit.fit_runs import observe_runs
    from sojourn.fit.fitted_model import FittedModel

    check_fitted(path)
    return model_section(FittedModel.read(path), observe_runs(runs))


def full_by_file(path: Path) -> Callable[[Mapping[str, Any]], Rate | None]:
    """As `full_at`, of a fitted file."""
    from sojourn.fit.fitted_model import FittedModel

    return full_at(FittedModel.read(path))
