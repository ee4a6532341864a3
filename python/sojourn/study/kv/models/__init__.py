"""Models of the memcached middleware: parameters from instrumented times of some client counts.

times      what is fitted: means of instrumented times with intervals       light     waiting for servers at few clients
network    the report's closed network                                    placed    a network of cores: who runs on which is known
cores      the first where threads share cores                              limits    what hosts are limited to bounds all
"""

from sojourn.study.kv.models.cores import shared_cores
from sojourn.study.kv.models.limits import Limits, limits_of
from sojourn.study.kv.models.network import Prediction, Shape, closed_network
from sojourn.study.kv.models.placed import placed_cores
from sojourn.study.kv.models.times import Times, fit_times

__all__ = [
    "Limits", "Prediction", "Shape", "Times", "closed_network", "fit_times", "limits_of", "placed_cores", "shared_cores",
]  # fmt: skip
