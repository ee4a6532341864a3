"""`compare`: is B better than A, worse, or the same within a margin? The unit is the run.

compare            run folders that are there already, or that something else made
compare_urls       two services, measured here in turn
compare_commands   two commands, run here in turn
compare_values     what runs of any kind said, as numbers
Comparison         the answer
"""

from sojourn.compare.compare import compare, compare_values
from sojourn.compare.compare_commands import compare_commands
from sojourn.compare.compare_urls import compare_urls
from sojourn.compare.comparison import Comparison, MetricComparison
from sojourn.compare.interleaved import InterleavedLimits
from sojourn.compare.log_ratio import LogRatio, paired, stratified
from sojourn.compare.run_values import RunValues, run_values

__all__ = [
    "Comparison",
    "InterleavedLimits",
    "LogRatio",
    "MetricComparison",
    "RunValues",
    "compare",
    "compare_commands",
    "compare_urls",
    "compare_values",
    "paired",
    "run_values",
    "stratified",
]
