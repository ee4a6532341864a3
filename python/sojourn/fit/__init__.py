"""Observations → parameters with intervals; one file per step.

observations    what a fit is given, checked; which runs may be used       bootstrap       resampled run means
forward         parameters → what can be observed                          least_squares   one fit, or many in step
fit, data       the estimators, outside and inside                         fitted          the result, fitted.toml
compare         which variant, decided on held-out rates
"""

from sojourn.fit.compare import Comparison, compare
from sojourn.fit.fit import fit
from sojourn.fit.fitted import Estimate, Fitted

__all__ = ["Comparison", "Estimate", "Fitted", "compare", "fit"]
