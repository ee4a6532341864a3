"""A model: stations, classes, routes, workload. Frozen data, no methods that solve.

nouns           Queue, Delay, LoadDependent, ForkJoin, Multicore, Pool, Region, Closed, Open, Choice
distributions   service, think and inter-arrival times with their moments
model           Model: the nouns together        check   what is wrong with one
network, lower  the arrays that every method works on, and how they are made
"""

from sojourn.model.distributions import (
    MAP,
    Deterministic,
    Distribution,
    Empirical,
    Erlang,
    Exponential,
    Hyperexponential,
    Lognormal,
    Pareto,
    PhaseType,
    Steps,
    Trace,
    Uniform,
    Weibull,
)
from sojourn.model.model import Model
from sojourn.model.network import Network
from sojourn.model.nouns import (
    Breakdowns,
    Choice,
    Closed,
    Delay,
    ForkJoin,
    LoadDependent,
    Multicore,
    Open,
    Pool,
    Queue,
    Region,
)

__all__ = [
    "MAP",
    "Breakdowns",
    "Choice",
    "Closed",
    "Delay",
    "Deterministic",
    "Distribution",
    "Empirical",
    "Erlang",
    "Exponential",
    "ForkJoin",
    "Hyperexponential",
    "LoadDependent",
    "Lognormal",
    "Model",
    "Multicore",
    "Network",
    "Open",
    "Pareto",
    "PhaseType",
    "Pool",
    "Queue",
    "Region",
    "Steps",
    "Trace",
    "Uniform",
    "Weibull",
]
