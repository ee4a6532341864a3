"""`solve`, `sweep`, `methods`: choose a method, run it, check what it answered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sojourn.model import Model, Network
from sojourn.solve.bound import verify
from sojourn.solve.method import Method, Wanted
from sojourn.solve.registry import BUDGET_S, all_methods, choose, named
from sojourn.solve.solution import metrics
from sojourn.solve.vary import varied
from sojourn.table import Metrics


def solve(model: Model, method: str = "auto", *, wanted: Wanted | None = None, budget_s: float = BUDGET_S) -> Metrics:
    """Solves a model; `Metrics.method`, `.status` and `.message` say how, how well and why.

    Raises MethodRefused where `method` does not apply (it names one that does), SolverError for an answer that breaks
    a law.
    """
    return _answer([model.network], method, wanted, budget_s, {})


def sweep(
    model: Model, path: str, values: Iterable[Any], method: str = "auto", *, wanted: Wanted | None = None,
    budget_s: float = BUDGET_S,
) -> Metrics:  # fmt: skip
    """One table for all `values` of the number at `path` ("classes.user.population"), which becomes a column."""
    values = list(values)
    return _answer(varied(model, path, values), method, wanted, budget_s, {path: values})


def _answer(
    networks: Sequence[Network], method: str, wanted: Wanted | None, budget_s: float, factors: dict[str, list[Any]]
) -> Metrics:
    last = networks[-1]
    chosen, why = choose(last, len(networks), budget_s) if method == "auto" else (named(method, last), "")
    solution = chosen.run(networks, wanted or Wanted())
    verify(networks, solution, chosen.name)
    solution.message = "\n".join(filter(None, (why, solution.message)))
    return metrics(networks, solution, chosen.name, factors)


def methods(model: Model | None = None) -> list[tuple[Method, str | None]]:
    """Every method, and with a model why it does not apply (None where it does)."""
    return [(m, m.refuses(model.network) if model else None) for m in all_methods().values()]
