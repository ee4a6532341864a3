"""What a method is: a name, whom it refuses, what it costs, and how it answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from sojourn.former_keyword import former_field
from sojourn.model.checked_values import quantile_levels, whole
from sojourn.model.network_arrays import Network
from sojourn.solve.solution import Solution

MILLISECOND = 1e-3


@former_field(probabilities="state_probabilities")
@dataclass(frozen=True)
class RequestedOutputs:
    """What to tell besides means, where a method knows it: quantiles of waiting and response time, p(0) … p(n).

    `quantiles` in (0, 1), `state_probabilities` 0 or more: InputError else. `budget_s`: what a method may take that finds out on
    the way how long it will; `solve` sets it for auto. `further`: rows beside the arrays of a `Solution`; a fit reads none.
    """

    quantiles: tuple[float, ...] = (0.5, 0.9, 0.95, 0.99)
    state_probabilities: int | None = None
    budget_s: float = math.inf
    further: bool = True

    def __post_init__(self) -> None:
        quantile_levels(self.quantiles)
        if self.state_probabilities is not None:
            whole(self.state_probabilities, "state_probabilities")


@former_field(special="on_request_only")
@dataclass(frozen=True)
class Method:
    """One method of `sojourn.solve`.

    `refuses(network)` is None where the method applies, else the reason in words ("station cpu has 2 servers").
    `cost_s` and `memory_bytes` estimate one solution, to an order of magnitude. `run` takes networks of one shape (a
    sweep) and answers all at once. `rank` orders approximations: the smaller, the better; `known_errors` are the median and the
    largest relative error of their mean response times that `benches/approximations` found. A method `on_request_only` is
    never chosen by itself: it answers another question (bounds, transients) or reads the model in its own way. `reads` names
    what it takes into account beyond stations, classes and routes: limits (pools, regions), choices (state-dependent
    routes), multicore, time (schedules, breakdowns); the registry refuses for it what it does not read. The Markov family
    reads limits and choices by itself. `approximate_if`: in words, and as a function, for which models an `exact` method is not exact.
    """

    name: str
    title: str
    exact: bool
    sources: tuple[str, ...]
    refuses: Callable[[Network], str | None]
    run: Callable[[Sequence[Network], RequestedOutputs], Solution]
    cost_s: Callable[[Network], float] = field(default=lambda network: MILLISECOND)
    memory_bytes: Callable[[Network], float] = field(default=lambda network: 0.0)
    rank: int = 0
    known_errors: tuple[float, float] | None = None
    on_request_only: bool = False
    reads: tuple[str, ...] = ()
    approximate_if: tuple[str, Callable[[Network], bool]] | None = None

    def exact_for(self, network: Network) -> bool:
        """Whether its answer to this model is exact."""
        return self.exact and not (self.approximate_if and self.approximate_if[1](network))
