"""Models of the memcached middleware: parameters from instrumented times of some runs.

work       what an operation asks of each part: the terms of parts       parts     a CPU time as a sum of parts
costs      the CPU times of a design for every configuration             placed    a network of cores: who runs on which is known
cores      one where threads share cores                                 plain     what a spreadsheet draws through 1/X
left_out   errors where whole configurations are left out                limits    what hosts are limited to bounds all
times      constant times of one configuration with intervals            network   the report's closed network of them
light      waiting for servers at few clients
"""

from sojourn.study.kv.models.cores import shared_cores
from sojourn.study.kv.models.costs import DemandRegression, fit_costs
from sojourn.study.kv.models.limits import HostLimits, Limits, fit_sent
from sojourn.study.kv.models.network import Prediction, Shape, closed_network, shape_of
from sojourn.study.kv.models.times import Times, fit_times

__all__ = [
    "DemandRegression",
    "HostLimits",
    "Limits",
    "Prediction",
    "Shape",
    "Times",
    "closed_network",
    "fit_costs",
    "fit_sent",
    "fit_times",
    "shape_of",
    "shared_cores",
]  # fmt: skip
