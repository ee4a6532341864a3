"""A model: stations, classes, routes, workload. Frozen data, no methods that solve.

components              Queue, Delay, LoadDependent, ForkJoin, Multicore, Pool, Region, SharedCores, Closed, Open, Choice
distribution_types      service, think and inter-arrival times with their moments; distribution_registry: all by name
model                   Model: the components together  check_model   what is wrong with one
parameters              [parameters]: unknowns, cases, what runs measured; formulas: texts in place of numbers
network_arrays          the arrays that every method works on; lowering: how they are made; network_points: of many networks at once
"""

from sojourn.model.components import (
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
    SharedCores,
    Station,
)
from sojourn.model.distribution_registry import (
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
from sojourn.model.network_arrays import Network
from sojourn.model.parameters import NumberByFactor, ParameterFromRuns
from sojourn.model.unknown_parameters import Unknown, replaced

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
    "NumberByFactor",
    "Open",
    "ParameterFromRuns",
    "Pareto",
    "PhaseType",
    "Pool",
    "Queue",
    "Region",
    "SharedCores",
    "Station",
    "Steps",
    "Trace",
    "Uniform",
    "Unknown",
    "Weibull",
    "replaced",
]
