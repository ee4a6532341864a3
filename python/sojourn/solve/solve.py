"""`solve`, `sweep`, `methods`: choose a method, run it, check what it answered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sojourn.errors import InputError, MethodRefused, SolverError
from sojourn.model import Model, Network
from sojourn.model.checked_values import number
from sojourn.model.model import as_model
from sojourn.solve import registry
from sojourn.solve.law_verification import verify
from sojourn.solve.method import Method, RequestedOutputs
from sojourn.solve.parameter_variation import varied
from sojourn.solve.registry import BUDGET_S, named, nothing_applies, preferred, refusal, too_dear
from sojourn.solve.solution import Solution, metrics
from sojourn.solve.sweep_points import representatives
from sojourn.solve.unconnected_parts import tell_stable_parts
from sojourn.table import Metrics

USUAL = RequestedOutputs()


def solve(
    model: Model | Path | str,
    method: str = "auto",
    *,
    wanted: RequestedOutputs | None = None,
    budget_s: float = BUDGET_S,
) -> Metrics:
    """Solves a model, or the model file at a path; `Metrics.method`, `.status` and `.message` say how, how well and why.

    `auto` takes the exact method that is cheapest within `budget_s`, else the best approximation. Raises MethodRefused
    where `method` does not apply (it names one that does), SolverError for an answer that breaks a law.
    """
    return answer([as_model(model).network], method, wanted or USUAL, _budget(budget_s), {})


def _budget(budget_s: Any) -> float:
    number(budget_s, "budget_s", above=True, what="(s)")
    return float(budget_s)


def sweep(
    model: Model | Path | str, path: str | Mapping[str, Iterable[Any]], values: Iterable[Any] = (), method: str = "auto", *,
    wanted: RequestedOutputs | None = None, budget_s: float = BUDGET_S,
) -> Metrics:  # fmt: skip
    """One table for all `values` of the number at `path` ("classes.user.population"), which becomes a column.

    A mapping of paths to values makes all combinations, with a column each. Errors as `solve`, and ModelError for a
    path or a value that the model cannot have.
    """
    asked = {path: values} if isinstance(path, str) else path
    for name, column in asked.items():
        if not isinstance(column, Iterable) or isinstance(column, str):
            raise InputError(repr(column), f"vary {name}", "give a list of values")
    factors = {name: list(column) for name, column in asked.items()}
    if not factors or not all(factors.values()):
        raise InputError("no values", f"vary {', '.join(factors)}".strip(), "give at least one value for each path")
    networks, columns = varied(as_model(model), factors)
    return answer(networks, method, wanted or USUAL, _budget(budget_s), columns)


def answer(
    networks: Sequence[Network], method: str, wanted: RequestedOutputs, budget_s: float, factors: dict[str, list[Any]]
) -> Metrics:
    def solved(networks: Sequence[Network]) -> tuple[Solution, str] | None:
        if method == "auto":
            return _automatically(networks, wanted, budget_s)
        chosen = named(method, representatives(networks))
        return _run(chosen, networks, wanted), chosen.name

    found = solved(networks)
    if found is None:
        return _apart(networks, wanted, budget_s, factors)
    solution, name = found
    if "unstable" in solution.status:
        tell_stable_parts(networks, solution, solved)
    return metrics(networks, solution, name, factors)


def _automatically(
    networks: Sequence[Network], wanted: RequestedOutputs, budget_s: float
) -> tuple[Solution, str] | None:
    """The first answer that holds and converges, and the name of its method; else the first that did not converge. None
    where no one method serves for all points of a sweep."""
    tried: list[str] = []
    refused: MethodRefused | None = None
    last: tuple[Solution, str] | None = None
    asked = representatives(networks)
    for chosen, why in preferred(networks, budget_s):
        if len(asked) > 1 and any(refusal(chosen, n) for n in asked):
            continue
        try:
            solution = _run(chosen, networks, replace(wanted, budget_s=budget_s))
        except SolverError as error:
            tried.append(f"{chosen.name} was not taken: its answer was caught ({error.value})")
            continue
        except MethodRefused as error:
            refused = error
            tried.append(f"{chosen.name} was not taken: {error.value}")
            continue
        solution.message = "\n".join(filter(None, (why, *tried, solution.message)))
        if "not_converged" not in solution.status:
            return solution, chosen.name
        last = last or (solution, chosen.name)
        tried.append(f"{chosen.name} was not taken: it did not converge")
    if last:
        return last
    if refused:
        raise refused
    if tried:
        raise SolverError("; ".join(tried), "every method that applies", "simulate, and report this model to us")
    if len(networks) > 1:
        return None
    raise too_dear(networks, budget_s) or nothing_applies(networks[-1])


def _run(method: Method, networks: Sequence[Network], wanted: RequestedOutputs) -> Solution:
    """A checked answer; every point of an approximation says that it is one."""
    solution = method.run(networks, wanted)
    if not method.exact and not solution.status:
        solution.status = ["approximate"] * len(networks)
    verify(networks, solution, method.name)
    return solution


def _apart(
    networks: Sequence[Network], wanted: RequestedOutputs, budget_s: float, factors: dict[str, list[Any]]
) -> Metrics:
    """A sweep for which no one method serves: each point with its own."""
    parts = []
    for i, network in enumerate(networks):
        here = {path: [values[i]] for path, values in factors.items()}
        parts.append(answer([network], "auto", wanted, budget_s, here))
    return Metrics.concat(parts)


def methods(model: Model | Path | str | None = None) -> list[tuple[Method, str | None]]:
    """Every method, and with a model why it does not apply (None where it does)."""
    network = None if model is None else as_model(model).network
    return [(m, refusal(m, network) if network else None) for m in registry.all_methods().values()]
