"""Predicted against measured, and both against the laws that every stationary system obeys.

validate   relative errors per rate, configuration, overall        observed   observations → measured Metrics
table3     the layout of Chen et al. 2014, Table 3                    laws       Little, utilisation, flow balance,
interactive
delivery   a message service's promise, judged from its clients' logs
"""

from sojourn.validate.laws import Finding, broken, check_laws
from sojourn.validate.observed import measured_metrics
from sojourn.validate.table3 import table3, table3_text
from sojourn.validate.validate import QUANTITIES, Validation, validate

__all__ = [
    "QUANTITIES",
    "Finding",
    "Validation",
    "broken",
    "check_laws",
    "measured_metrics",
    "table3",
    "table3_text",
    "validate",
]
