"""The two-class model and M/M/m beside runs, point by point: for `validate` and `report`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn.units import interval, percent

if TYPE_CHECKING:
    from sojourn.fit import Fitted
    from sojourn.report import Table
    from sojourn.validate import Validation

HEADS = ("rate", "", "predicted", "measured", "error", "")
NAMES = {
    "response_time": "response time",
    "throughput": "throughput",
    "utilisation_leading": "utilisation of cores with interrupts",
    "utilisation_trailing": "utilisation of other cores",
}
UNITS = {"response_time": "s", "throughput": "1/s"}


def validated(path: Path, runs: list[Path], up_to: float | None) -> tuple[Fitted, Validation]:
    """The fit of a file, and its errors on the runs."""
    from sojourn.cli.run_folders import two_class_paths
    from sojourn.fit import Fitted
    from sojourn.predict import predict
    from sojourn.runs.observations import observe
    from sojourn.table import Metrics
    from sojourn.validate import validate

    fitted = Fitted.read(path)
    observations = observe(two_class_paths(runs))
    parts = []
    for (cores, nics), group in observations.group_by("cores", "nics", maintain_order=True):
        rates = group["rate_per_s"].unique().sort().to_list()
        parts.append(predict(fitted, rates, cores=int(str(cores)), nics=int(str(nics))))
    return fitted, validate(observations, Metrics.concat(parts), up_to=up_to)


def points(fitted: Fitted, found: Validation) -> list[tuple[str, ...]]:
    """A row a rate and quantity, under HEADS; where there are several configurations, each rate says of which."""
    several = found.frame.select("cores", "nics").n_unique() > 1
    rows, last = [], ""
    for row in found.frame.sort("cores", "nics", "rate_per_s", maintain_order=True).iter_rows(named=True):
        rate = f"{row['rate_per_s']:g} /s" + (f", {configuration(fitted, row)}" if several else "")
        rows.append(("" if rate == last else rate, *_cells(fitted, row)))
        last = rate
    return rows


def configuration(fitted: Fitted, row: dict[str, Any]) -> str:
    """In words of the model: interrupts are only in one of them."""
    return f"{row['cores']} cores" + (f", {row['nics']} with interrupts" if fitted.model != "mmm" else "")


def _cells(fitted: Fitted, row: dict[str, Any]) -> tuple[str, ...]:
    unit = UNITS.get(row["quantity"], "share")
    low, high = row["low"], row["high"]
    predicted = "saturated" if row["predicted"] is None else interval(row["predicted"], low, high, unit)
    inside = {True: "", False: "not in the interval", None: "no interval"}[row["within"]]
    return (
        name(fitted, row["quantity"]), predicted, interval(row["measured"], row["measured_low"], row["measured_high"], unit),
        percent(row["relative_error"], sign=True), inside,
    )  # fmt: skip


def name(fitted: Fitted, quantity: str) -> str:
    return "utilisation of cores" if fitted.model == "mmm" and quantity == "utilisation_leading" else NAMES[quantity]


def scores(fitted: Fitted, found: Validation) -> Iterator[str]:
    """A line a quantity: mean and worst error, how many points lie inside, and how many the model calls saturated."""
    for line in found.summary:
        if line["cores"] is not None:
            continue
        count, wrong = line["points"], line["saturated"]
        over = f" over {count - wrong} of {count} points" if wrong else ""
        said = [f"mean error {percent(line['mean_abs'])}{over}, worst {percent(line['worst'], sign=True)}"]
        if line["mean_abs"] is None:
            said = ["no value was predicted"]
        if line["within"] is not None:
            said.append(f"{round(line['within'] * line['points'])} of {line['points']} in their intervals")
        if wrong:
            said.append(f"{wrong} called saturated that {'were' if wrong > 1 else 'was'} not")
        yield f"{name(fitted, line['quantity'])}: {'; '.join(said)}"


def table(fitted: Fitted, found: Validation) -> Table:
    """The points for a report."""
    from sojourn.report import Table

    return Table(f"{title(fitted)}: each measured rate", HEADS, tuple(points(fitted, found)))


def title(fitted: Fitted) -> str:
    return " ".join(filter(None, (fitted.model, fitted.variant)))
