"""What a window of a running service would show by a model: the solver as an extended Kalman filter wants it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sojourn.control.load_trace import Array
from sojourn.errors import InputError, ModelError, NoSuchRow, SolverError
from sojourn.model import Model
from sojourn.model.unknown_parameters import replaced

Row = tuple[str, str, str]  # metric, station ("": the system), class ("": all)


def observer(model: Model, unknowns: Sequence[str], rows: Sequence[Row], **rates: float) -> Callable[[Array], Array]:
    """A function from demands (s, in the order of `unknowns`, paths such as `demands_s.cpu.user`) to the values of `rows` by
    `sojourn.solve`; NaN where there is none, as of the response time of a saturated station. `rates`: of classes, 1/s, in the window.

    Raises:
        InputError: no unknowns or rows. ModelError: a path that the model does not have.
    """
    from sojourn.solve import solve

    if not unknowns or not rows:
        raise InputError("nothing", "unknowns, rows", "give the demands to estimate, and the metrics of a window")
    model = replaced(model, {f"classes.{name}.rate_per_s": rate for name, rate in rates.items()})
    replaced(model, dict.fromkeys(unknowns, 1e-3))

    def values(demands_s: Array) -> Array:
        at = replaced(model, dict(zip(unknowns, map(float, demands_s), strict=True)))
        found = np.full(len(rows), np.nan)
        try:
            told = solve(at)
        except (SolverError, ModelError):
            return found
        for k, (metric, station, cls) in enumerate(rows):
            try:
                found[k] = told.value(metric, station, cls)
            except NoSuchRow:
                continue
        return found

    return values
