"""Predicted against measured.

validate   relative errors per rate, configuration, overall        measured_metrics   observations → measured Metrics
chen_table3     the layout of Chen et al. 2014, Table 3
"""

from sojourn.validate.chen_table3 import table3, table3_text
from sojourn.validate.measured_metrics import measured_metrics
from sojourn.validate.validate import QUANTITIES, Validation, validate

__all__ = [
    "QUANTITIES",
    "Validation",
    "measured_metrics",
    "table3",
    "table3_text",
    "validate",
]
