"""Distributions and arrival processes under one name each: `times` has the first, `processes` the others."""

from __future__ import annotations

from sojourn.model.arrival_processes import MAP, Steps, Trace
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

ArrivalProcess = Distribution | MAP | Steps | Trace
TIMES: dict[str, type[Distribution]] = {
    kind.kind: kind
    for kind in (
        Exponential, Deterministic, Erlang, Hyperexponential, Uniform, Lognormal, Weibull, Pareto, PhaseType, Empirical,
    )
}  # fmt: skip
KINDS: dict[str, type] = {**TIMES, **{kind.kind: kind for kind in (MAP, Steps, Trace)}}
__all__ = [
    "KINDS",
    "MAP",
    "TIMES",
    "ArrivalProcess",
    "Deterministic",
    "Distribution",
    "Empirical",
    "Erlang",
    "Exponential",
    "Hyperexponential",
    "Lognormal",
    "Pareto",
    "PhaseType",
    "Steps",
    "Trace",
    "Uniform",
    "Weibull",
]
