"""Statistics of series that no other room owns.

Map: `batch_means` intervals of correlated series, measured and simulated · `stationarity` whether a series has a trend · `quantiles`
with intervals · `student`, `normal_law` two laws · `rank_correlation` of two series · `circular_shift` whether two series go together by
more than chance · `in_flight` how many requests are there over time.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sojourn.stats.batch_means import batch_interval as batch_interval
else:
    from lazy_loader import attach

    __getattr__, __dir__, __all__ = attach(
        __name__,
        submod_attrs={
            "batch_means": ["batch_interval"],
        },
    )
