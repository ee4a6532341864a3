"""`solve`, `methods`: choose a method, run it, check what it answered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from sojourn.errors import MethodRefused, SolverError
from sojourn.former_keyword import former_keyword
from sojourn.model import Model, Network
from sojourn.model.checked_values import number
from sojourn.model.model import as_model
from sojourn.solve import registry
from sojourn.solve.automatic_method import nothing_applies, preferred, too_dear
from sojourn.solve.law_verification import verify
from sojourn.solve.load_dependent_times import at_load, at_rest, check_dependent_times
from sojourn.solve.method import Method, RequestedOutputs
from sojourn.solve.metric_rows import metrics
from sojourn.solve.registry import BUDGET_S, named, refusal
from sojourn.solve.solution import Solution
from sojourn.solve.sweep_points import representatives
from sojourn.solve.unconnected_parts import tell_stable_parts
from sojourn.table import Metrics
from sojourn.units import percent

USUAL = RequestedOutputs()
FOLLOWS = "times that depend on u are taken at the mean utilisation: an approximation of a service whose speed follows its load"
FAR_OFF = 0.05  # relative error of an approximation from which on its message offers the simulator


@former_keyword(wanted="requested_outputs", budget_s="exact_time_limit_s")
def solve(
    model: Model | Path | str,
    method: str = "auto",
    *,
    requested_outputs: RequestedOutputs | None = None,
    exact_time_limit_s: float = BUDGET_S,
) -> Metrics:
    """Solves a model, or the model file at a path; `Metrics.method`, `.status` and `.message` say how, how well and why.

    `auto` takes the exact method that is cheapest within `exact_time_limit_s`, else the best approximation. Raises MethodRefused
    where `method` does not apply (it names one that does), SolverError for an answer that breaks a law.
    """
    return answer(
        [as_model(model).network], method, requested_outputs or USUAL, checked_budget_s(exact_time_limit_s), {}
    )


def checked_budget_s(budget_s: Any) -> float:
    number(budget_s, "exact_time_limit_s", above=True, what="(s)")
    return float(budget_s)


def answer(
    networks: Sequence[Network], method: str, wanted: RequestedOutputs, budget_s: float, factors: dict[str, list[Any]]
) -> Metrics:
    """One table of networks of one shape, with a column for each of `factors`, a value a network."""
    networks = settled(networks, budget_s)
    found = completed(networks, method, wanted, budget_s)
    return apart(networks, wanted, budget_s, factors) if found is None else metrics(networks, *found, factors)


def completed(
    networks: Sequence[Network], method: str, wanted: RequestedOutputs, budget_s: float
) -> tuple[Solution, str] | None:
    """As `solved`, of `settled` networks, with what is known of points that have no stationary answer as a whole."""
    found = solved(networks, method, wanted, budget_s)
    if found is not None:
        complete(networks, found[0], method, wanted, budget_s)
        if networks[0].dependent_times:
            found[0].message = "\n".join(filter(None, (found[0].message, FOLLOWS)))
    return found


def solved(
    networks: Sequence[Network], method: str, wanted: RequestedOutputs, budget_s: float
) -> tuple[Solution, str] | None:
    """The answer and the name of its method; None where `auto` finds no one method for all."""
    if method != "auto":
        chosen = named(method, representatives(networks))
        return run(chosen, networks, wanted), chosen.name
    asked = representatives(networks)
    timed = replace(wanted, budget_s=budget_s)

    def attempt(chosen: Method) -> Solution | None:
        refused = len(asked) > 1 and any(refusal(chosen, n) for n in asked)
        return None if refused else run(chosen, networks, timed)

    return automatically(networks, budget_s, attempt)


def settled(networks: Sequence[Network], budget_s: float = BUDGET_S) -> Sequence[Network]:
    """With service times that depend on how busy a station is as they are at its load (`load_dependent_times`)."""

    def solution(asked: Sequence[Network]) -> Solution:
        found = solved(asked, "auto", RequestedOutputs(()), budget_s)
        if found is None:
            raise nothing_applies(asked[0])
        return found[0]

    for network in networks[:1]:
        check_dependent_times(network)
    return at_load(networks, solution)


def settled_network(model: Model) -> Network:
    """The arrays of a model, for what takes times as they are: a simulation."""
    return settled([model.network])[0]


def complete(
    networks: Sequence[Network], solution: Solution, method: str, wanted: RequestedOutputs, budget_s: float
) -> None:
    """Adds what is known of points that have no stationary answer as a whole."""
    if "unstable" in solution.status:
        tell_stable_parts(networks, solution, lambda own: solved(own, method, wanted, budget_s))


class HasStatus(Protocol):
    """What a method answered of all points: a Solution, or parts of one."""

    message: str

    @property
    def status(self) -> list[str]: ...


AnyAnswer = TypeVar("AnyAnswer", bound=HasStatus)


def automatically(
    networks: Sequence[Network], budget_s: float, attempt: Callable[[Method], AnyAnswer | None]
) -> tuple[AnyAnswer, str] | None:
    """The first answer that holds and converges, and the name of its method; else the first that did not converge;
    `attempt` gives None for a method that does not apply to every point. None where no one method serves for all points of a sweep."""
    tried: list[str] = []
    refused: MethodRefused | None = None
    last: tuple[AnyAnswer, str] | None = None
    for chosen, why in preferred(networks, budget_s):
        try:
            solution = attempt(chosen)
        except SolverError as error:
            tried.append(f"{chosen.name} was not used: its answer failed a check ({error.value})")
            continue
        except MethodRefused as error:
            refused = error
            tried.append(f"{chosen.name} was not used: {error.value}")
            continue
        if solution is None:
            continue
        solution.message = "\n".join(filter(None, (why, *tried, solution.message)))
        if "not_converged" not in solution.status:
            return solution, chosen.name
        last = last or (solution, chosen.name)
        tried.append(f"{chosen.name} was not used: it did not converge")
    if last:
        return last
    if refused:
        raise too_dear(networks, budget_s) or refused
    if tried:
        raise SolverError("; ".join(tried), "every method that applies", "simulate, and report this model to us")
    if len(networks) > 1:
        return None
    raise too_dear(networks, budget_s) or nothing_applies(networks[-1])


def run(method: Method, networks: Sequence[Network], wanted: RequestedOutputs) -> Solution:
    """A checked answer; every point of an approximation says that it is one."""
    solution = method.run(networks, wanted)
    if not method.exact and not solution.status:
        solution.status = ["approximate"] * len(networks)
    if "approximate" in solution.status and (text := offer(method)):
        solution.message = "\n".join(filter(None, (solution.message, text)))
    verify(networks, solution, method.name)
    return solution


def offer(method: Method) -> str:
    """The simulator, for an approximation that is known to be far off at times; else nothing."""
    if method.known_errors is None or method.known_errors[1] <= FAR_OFF:
        return ""
    usual, most = map(percent, method.known_errors)
    return (
        f"{method.name}: mean response times were off by {usual} in half of the models tried, by {most} in the worst; "
        "`sojourn simulate model.toml --precision 0.01` reaches any precision"
    )


def apart(
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
    network = None if model is None else at_rest([as_model(model).network])[0]
    return [(m, refusal(m, network) if network else None) for m in registry.all_methods().values()]
