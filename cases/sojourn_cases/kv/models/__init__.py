"""Models of the memcached middleware: parameters from instrumented times of some runs.

operation_work        what an operation asks of each part: the terms of fit.cpu_time_regression
operation_costs       the CPU times of a design for every configuration
pinned_cores          a network of cores: who runs on which is known; shared_cores: one where threads share cores
plain_interpolation   what a spreadsheet draws through 1/X
leave_one_out         errors where whole configurations are left out
host_limits           what hosts are limited to bounds all
instrumented_times    constant times of one configuration with intervals; middleware_network: the report's closed network of them
light_load            waiting for servers at few clients
component_speeds      the speed of the cores that each component runs on
"""

from sojourn_cases.kv.models.host_limits import HostLimits, OperationLimits, fit_sent
from sojourn_cases.kv.models.instrumented_times import InstrumentedTimes, fit_times
from sojourn_cases.kv.models.middleware_network import (
    MeanValues,
    MiddlewareConfig,
    closed_network,
    shape_of,
)
from sojourn_cases.kv.models.operation_costs import DemandRegression, fit_costs
from sojourn_cases.kv.models.shared_cores import shared_cores

__all__ = [
    "DemandRegression",
    "HostLimits",
    "InstrumentedTimes",
    "MeanValues",
    "MiddlewareConfig",
    "OperationLimits",
    "closed_network",
    "fit_costs",
    "fit_sent",
    "fit_times",
    "shape_of",
    "shared_cores",
]  # fmt: skip
