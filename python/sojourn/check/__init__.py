"""`check`: the laws of operational analysis as a linter for results that any load tool wrote.

check          files → what cannot be true in them, and what does not say what it seems to
CheckResult    the answer; `check_document` as a report, `junit_cases` for a test reporter
Finding        the law, the numbers, how sure, what it means, what to do
"""

from sojourn.check.check import CheckedLoad, CheckResult, check, check_observations
from sojourn.check.check_report import check_document, junit_cases, lines
from sojourn.check.finding import LAWS, Finding

__all__ = [
    "LAWS",
    "CheckResult",
    "CheckedLoad",
    "Finding",
    "check",
    "check_document",
    "check_observations",
    "junit_cases",
    "lines",
]
