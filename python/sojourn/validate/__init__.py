"""Predicted against measured.

validate   relative errors per rate, configuration, overall        measured_metrics   observations → measured Metrics
"""

from sojourn.validate.measured_metrics import measured_metrics
from sojourn.validate.validate import QUANTITIES, Validation, validate

__all__ = [
    "QUANTITIES",
    "Validation",
    "measured_metrics",
    "validate",
]
