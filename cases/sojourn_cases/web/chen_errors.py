"""Errors in the form of Chen et al. 2014, Table 3: of what was fitted, of rates held out, and of what was predicted blind.

Chen et al., ICPE 2014, Table 3, averages all of them; here a mean is over configurations of one kind only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sojourn.report import Table
from sojourn.study import BLIND, HELD_OUT, TRAINING
from sojourn_cases.web.chen_table3 import LABELS, cells, lines_of
from sojourn_cases.web.fitted_web import FittedWeb
from sojourn_cases.web.web_configurations import WebConfiguration

KINDS = (TRAINING, HELD_OUT, BLIND)
LEFT_OUT = {
    "response_time": "response_time",
    "utilisation_leading": "busy leading",
    "utilisation_trailing": "busy trailing",
}  # of a row of `held_out`
Row = dict[str, Any]


def errors_by_kind(parts: Sequence[WebConfiguration], fitted: FittedWeb, model: str) -> list[Row]:
    """A row a quantity: "quantity", a column "NICs/cores" for each configuration, then one for each kind. Relative errors,
    None where there is none."""
    known = [(part.kind, errors) for part in parts if (errors := part.errors(model)) is not None]
    places = sorted({(nics, cores) for part in parts if part.seen for cores, nics in [part.size]})
    rows = []
    for quantity, label in LABELS.items():
        found = [(kind, place, mean) for kind, errors in known for place, mean in cells(errors, quantity).items()]
        each = {place: mean for _, place, mean in found}
        means: Row = {kind: _mean([mean for k, _, mean in found if k == kind]) for kind in (TRAINING, BLIND)}
        # no model of an open system foretells another throughput than the rate: fitted or left out is the same
        left = means[TRAINING] if quantity == "throughput" else _held_out(fitted, quantity)
        if found:
            columns = {f"{nics}/{cores}": each.get((nics, cores)) for nics, cores in places}
            rows.append({"quantity": label, **columns, TRAINING: means[TRAINING], HELD_OUT: left, BLIND: means[BLIND]})
    return rows


def kinds_of(parts: Sequence[WebConfiguration]) -> str:
    """Which configurations were fitted and which predicted: their columns are errors of that kind and of no other."""
    seen = {(part.size[1], part.size[0]): part.kind for part in parts if part.seen}
    return ", ".join(f"{nics}/{cores} {kind}" for (nics, cores), kind in sorted(seen.items()))


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def _held_out(fitted: FittedWeb, quantity: str) -> float | None:
    """Mean size over all configurations that were left out."""
    return _mean([abs(error) for error in fitted.held_out(LEFT_OUT[quantity])])


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
    body = tuple(tuple(row[column] for column in columns) for row in rows)
    title = f"Relative errors, {model}, in the form of Chen et al. 2014, Table 3"
    return Table(title, heads, body, note, ("", *[".1%"] * (len(columns) - 1)))
