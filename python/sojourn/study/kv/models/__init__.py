"""Models of the key-value system: parameters from instrumented times of some client counts, judged on the others.

times      what is fitted: means of instrumented times with intervals       network   the document's closed network
stations   M/M/1 and M/M/m of one configuration                            cores     the same where threads share cores
judge      which points are fitted, errors on the rest with intervals      limits     what hosts are limited to bounds all
placed     a network of cores, where it is known who runs on which
"""

from sojourn.study.kv.models.cores import shared_cores
from sojourn.study.kv.models.judge import Judgement, judge, split
from sojourn.study.kv.models.limits import Limits, limits_of
from sojourn.study.kv.models.network import Prediction, closed_network
from sojourn.study.kv.models.placed import placed_cores
from sojourn.study.kv.models.stations import station_table
from sojourn.study.kv.models.times import Times, fit_times

__all__ = [
    "Judgement",
    "Limits",
    "Prediction",
    "Times",
    "closed_network",
    "fit_times",
    "judge",
    "limits_of",
    "placed_cores",
    "shared_cores",
    "split",
    "station_table",
]
