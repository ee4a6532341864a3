"""What is wrong with a service, think or inter-arrival time, or an arrival process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sojourn.errors import ModelError
from sojourn.model.arrival_processes import MAP, Steps, Trace
from sojourn.model.checked_values import CLOSE, list_of, matrix, number, sums_to_one, whole
from sojourn.model.distribution_types import (
    Deterministic,
    Distribution,
    Empirical,
    Erlang,
    Exponential,
    Hyperexponential,
    Lognormal,
    Pareto,
    PhaseType,
    Uniform,
    Weibull,
)


def check_time(value: Any, place: str, above: bool = False) -> None:
    """A mean in s, or a distribution, of a time of at least 0 (`above`: whose mean is above 0)."""
    if not isinstance(value, Distribution):
        if isinstance(value, (MAP, Steps, Trace)):
            raise ModelError(
                type(value).__name__, place, "an arrival process is not allowed here: give a number or a distribution"
            )
        return number(value, place, above=above, what="(s), or a distribution")
    for kind, rule in RULES.items():
        if isinstance(value, kind):
            rule(value, place)
    if above:
        number(value.first, place, above=True, what="as mean (s)")
    return None


def check_arrivals(value: Any, place: str) -> None:
    """A distribution of the time between arrivals, or a process."""
    if isinstance(value, MAP):
        _map(value, place)
    elif isinstance(value, Steps):
        _steps(value, place)
    elif isinstance(value, Trace):
        _trace(value, place)
    elif isinstance(value, Distribution):
        check_time(value, place, above=True)
    else:
        remedy = "give rate_per_s for Poisson arrivals, or a distribution, MAP, Steps or Trace"
        raise ModelError(repr(value), place, remedy)


def _mean(value: Any, place: str) -> None:
    number(value.mean, f"{place}.mean", what="(s)")


def _erlang(value: Erlang, place: str) -> None:
    _mean(value, place)
    whole(value.shape, f"{place}.shape", 1)


def _hyperexponential(value: Hyperexponential, place: str) -> None:
    list_of(value.probabilities, f"{place}.probabilities", "probabilities")
    list_of(value.means, f"{place}.means", "means (s)")
    if len(value.probabilities) != len(value.means):
        found = f"{len(value.probabilities)} probabilities, {len(value.means)} means"
        raise ModelError(found, f"{place}.means", "give the same number of means and probabilities")
    sums_to_one(value.probabilities, f"{place}.probabilities")
    for mean in value.means:
        number(mean, f"{place}.means", what="(s)")


def _uniform(value: Uniform, place: str) -> None:
    number(value.low, f"{place}.low", what="(s)")
    number(value.high, f"{place}.high", what="(s)")
    if value.high < value.low or value.high == 0:
        raise ModelError(f"{value.low:g} to {value.high:g}", f"{place}.high", "give high above low and above 0")


def _lognormal(value: Lognormal, place: str) -> None:
    _mean(value, place)
    number(value.scv_, f"{place}.scv")


def _weibull(value: Weibull, place: str) -> None:
    _mean(value, place)
    number(value.shape, f"{place}.shape", 0.02)  # the third moment of a smaller one is out of range


def _pareto(value: Pareto, place: str) -> None:
    _mean(value, place)
    number(value.shape, f"{place}.shape", 1.0, above=True, what="(else there is no mean)")


def _phase_type(value: PhaseType, place: str) -> None:
    import numpy as np

    list_of(value.start, f"{place}.start", "probabilities")
    sums_to_one(value.start, f"{place}.start")
    matrix(value.rates, f"{place}.rates")
    rates = np.array(value.rates, float)
    if len(rates) != len(value.start):
        raise ModelError(f"{len(rates)} rows", f"{place}.rates", f"give one row for each of {len(value.start)} phases")
    _generator(rates, f"{place}.rates")
    if rates.sum(axis=1).max() > CLOSE * np.abs(rates).max() or np.linalg.matrix_rank(rates) < len(rates):
        raise ModelError(
            rates.tolist(), f"{place}.rates", "give rows that sum to at most 0, with a way to leave each phase"
        )


def _generator(rates: Any, place: str) -> None:
    import numpy as np

    inside = rates - np.diag(rates.diagonal())
    if inside.min() < 0 or rates.diagonal().max() >= 0:
        raise ModelError(rates.tolist(), place, "give rates of at least 0 (1/s), with a diagonal below 0")


def _empirical(value: Empirical, place: str) -> None:
    list_of(value.values, f"{place}.values", "times (s)")
    for x in value.values:
        number(x, f"{place}.values", what="(s)")


def _map(value: MAP, place: str) -> None:
    import numpy as np

    matrix(value.D0, f"{place}.D0")
    matrix(value.D1, f"{place}.D1")
    d0, d1 = np.array(value.D0, float), np.array(value.D1, float)
    if d0.shape != d1.shape:
        raise ModelError(f"{len(d0)} and {len(d1)} rows", f"{place}.D1", "give D0 and D1 of the same size")
    _generator(d0, f"{place}.D0")
    if d1.min() < 0 or d1.max() == 0:
        raise ModelError(d1.tolist(), f"{place}.D1", "give rates of at least 0 (1/s), one of them above 0")
    sums = (d0 + d1).sum(axis=1)
    if np.abs(sums).max() > CLOSE * np.abs(d0).max():
        raise ModelError(f"rows of D0 + D1 sum to {sums.tolist()}", f"{place}.D0", "give rows that sum to 0")


def _steps(value: Steps, place: str) -> None:
    list_of(value.steps, f"{place}.steps", "pairs [rate_per_s, duration_s]")
    for step in value.steps:
        if not isinstance(step, tuple) or len(step) != 2:
            raise ModelError(repr(step), f"{place}.steps", "give pairs [rate_per_s, duration_s]")
        number(step[0], f"{place}.steps", what="as rate (1/s)")
        number(step[1], f"{place}.steps", above=True, what="as duration (s)")
    number(value.rate_per_s, f"{place}.steps", above=True, what="as mean rate (1/s)")


def _trace(value: Trace, place: str) -> None:
    if not isinstance(value.run, str) or bool(value.run) == bool(value.times_s):
        found = f"times_s with {len(value.times_s)} values, run {value.run!r}"
        raise ModelError(found, place, "give one of times_s (a list) and run (a path)")
    for x in value.times_s:
        number(x, f"{place}.times_s", what="(s)")
    if any(b < a for a, b in zip(value.times_s, value.times_s[1:], strict=False)):
        raise ModelError("times that go back", f"{place}.times_s", "give times in ascending order")


RULES: dict[type[Distribution], Callable[[Any, str], None]] = {
    Exponential: _mean, Deterministic: _mean, Erlang: _erlang, Hyperexponential: _hyperexponential, Uniform: _uniform,
    Lognormal: _lognormal, Weibull: _weibull, Pareto: _pareto, PhaseType: _phase_type, Empirical: _empirical,
}  # fmt: skip
