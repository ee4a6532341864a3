"""Errors in the form of Chen et al. 2014, Table 3: of what was fitted, of rates held out, and of what was predicted blind.

Chen et al., ICPE 2014, Table 3, averages all of them; here a mean is over configurations of one kind only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from sojourn import Metrics
from sojourn.fit import Fitted
from sojourn.report import Table
from sojourn.study import BLIND, HELD_OUT, TRAINING
from sojourn.validate import Validation, validate
from sojourn_cases.web.chen_table3 import LABELS, lines_of
from sojourn_cases.web.two_class_template import FittedVariant
from sojourn_cases.web.web_configurations import WebConfiguration

KINDS = (TRAINING, HELD_OUT, BLIND)
Row = dict[str, Any]


def errors_by_kind(parts: Sequence[WebConfiguration], fitted: FittedVariant, model: str) -> list[Row]:
    """A row a quantity: "quantity", a column "NICs/cores" for each configuration, then one for each kind. Relative errors,
    None where there is none."""
    found = {kind: _validation([p for p in parts if p.kind == kind], model) for kind in (TRAINING, BLIND)}
    places = sorted({(nics, cores) for part in parts if part.seen for cores, nics in [part.size]})
    rows = []
    for quantity, label in LABELS.items():
        cells = {kind: _cells(each, quantity) for kind, each in found.items()}
        known = cells[TRAINING] | cells[BLIND]
        means: Row = {kind: cells[kind].get((None, None)) for kind in cells} | {HELD_OUT: _held_out(fitted, quantity)}
        if any(value is not None for value in means.values()):
            each = {f"{nics}/{cores}": known.get((nics, cores)) for nics, cores in places}
            rows.append({"quantity": label, **each, **{kind: means[kind] for kind in KINDS}})
    return rows


def kinds_of(parts: Sequence[WebConfiguration]) -> str:
    """Which configurations were fitted and which predicted: their columns are errors of that kind and of no other."""
    seen = {(part.size[1], part.size[0]): part.kind for part in parts if part.seen}
    return ", ".join(f"{nics}/{cores} {kind}" for (nics, cores), kind in sorted(seen.items()))


def _validation(parts: Sequence[WebConfiguration], model: str) -> Validation | None:
    good = [part for part in parts if part.errors(model) is not None]
    if not good:
        return None
    return validate(pl.concat([part.below for part in good]), Metrics.concat(p.predicted[model] for p in good))


def _cells(found: Validation | None, quantity: str) -> dict[Any, float | None]:
    lines = found.summary if found else ()
    return {(line["nics"], line["cores"]): _mean(line) for line in lines if line["quantity"] == quantity}


def _mean(line: Mapping[str, Any]) -> float | None:
    """Infinite where a point is called saturated that was not: a mean of the others would be one of easier points."""
    return float("inf") if line["saturated"] else line["mean_abs"]


def _held_out(fitted: FittedVariant, quantity: str) -> float | None:
    """Mean over the fits of the mean error at rates that each had not seen."""
    each = [_mean_abs(one, quantity) for one in fitted.groups.values()]
    known = [value for value in each if value is not None]
    return float(np.mean(known)) if known else None


def _mean_abs(fitted: Fitted, quantity: str) -> float | None:
    errors = [abs(row[quantity]) for row in fitted.held_out if quantity in row]
    return float(np.mean(errors)) if errors else None


def table3_lines(rows: Sequence[Row]) -> list[str]:
    """For the verdict."""
    return lines_of(rows, KINDS)


def table3_table(rows: Sequence[Row], model: str) -> Table:
    """For the report."""
    columns = list(rows[0])
    heads = ("NICs/cores", *columns[1:])
    note = (
        "Mean of |predicted / measured - 1| over rates up to 80 % of the measured saturation, the same for every model. "
        "Training: configurations that were fitted; "
        "held out: at each of their rates by a fit without it; blind: predicted and written before they were run."
    )
    cells = tuple(tuple(row[column] for column in columns) for row in rows)
    title = f"Relative errors, {model}, in the form of Chen et al. 2014, Table 3"
    return Table(title, heads, cells, note, ("", *[".1%"] * (len(columns) - 1)))


def overall(rows: Sequence[Mapping[str, Any]], quantity: str, kind: str) -> float | None:
    """One of the means."""
    return next((row[kind] for row in rows if row["quantity"] == LABELS[quantity]), None)
