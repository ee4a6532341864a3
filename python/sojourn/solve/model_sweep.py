"""`sweep`: one table for many values of numbers of a model, in this process or on workers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn.errors import InputError
from sojourn.former_keyword import former_keyword
from sojourn.model import Model
from sojourn.model.model import as_model
from sojourn.solve.method import RequestedOutputs
from sojourn.solve.parameter_variation import ParameterVariation, varied
from sojourn.solve.registry import BUDGET_S
from sojourn.solve.solve import USUAL, answer, checked_budget_s
from sojourn.table import Metrics

if TYPE_CHECKING:
    from sojourn.parallel import On


@former_keyword(on="parallel", path="parameter_path", wanted="requested_outputs", budget_s="exact_time_limit_s")
def sweep(
    model: Model | Path | str, parameter_path: str | Mapping[str, Iterable[Any]], values: Iterable[Any] = (), method: str = "auto", *,
    requested_outputs: RequestedOutputs | None = None, exact_time_limit_s: float = BUDGET_S, parallel: On = None,
) -> Metrics:  # fmt: skip
    """One table for all `values` of the number at `parameter_path` ("classes.user.population"), which becomes a column.

    A mapping of paths to values makes all combinations, with a column each. On the workers `parallel` (`sojourn.parallel`: 2 or "local:2",
    "tls://HOST:PORT", an Executor, a dask Client) points are solved in blocks, which pays from a few seconds on: the same to
    the last bit on any workers, and within rounding without them where one recursion or iteration serves all points.
    Errors as `solve`, and ModelError for a path or a value that the model cannot have.
    """
    asked = {parameter_path: values} if isinstance(parameter_path, str) else parameter_path
    for name, column in asked.items():
        if not isinstance(column, Iterable) or isinstance(column, str):
            raise InputError(repr(column), f"vary {name}", "give a list of values")
    factors = {name: list(column) for name, column in asked.items()}
    if not factors or not all(factors.values()):
        raise InputError("no values", f"vary {', '.join(factors)}".strip(), "give at least one value for each path")
    it, outputs, budget = as_model(model), requested_outputs or USUAL, checked_budget_s(exact_time_limit_s)
    if parallel is not None:
        from sojourn.parallel import open_workers  # slow to import
        from sojourn.solve.sweep_on_workers import SweepOfBlocks, SweepOnWorkers

        blocks = SweepOfBlocks(ParameterVariation(it, factors), outputs, budget)
        with open_workers(parallel) as workers, closing(SweepOnWorkers(blocks, workers)) as points:
            return points.answer(method)
    networks, columns = varied(it, factors)
    return answer(networks, method, outputs, budget, columns)
