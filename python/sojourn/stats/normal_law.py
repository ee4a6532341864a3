"""The normal law, as far as spreads need it that a few wild values do not change."""

from __future__ import annotations

MEDIAN_DEVIATION = 0.6745  # median of the distance from the mean, in standard deviations: the third quartile, NormalDist().inv_cdf(0.75)
