"""`capacity`: how much load a service bears within an objective, found by few runs that a model chooses.

capacity          a service at a URL: measured, fitted, answered
capacity_of_runs  the same from runs that are there, without any load
search            the same for whatever makes a run at a rate
Capacity          the answer; `capacity_document` as a report, `junit_cases` for a test reporter
SearchLimits      how many runs, how long, how far
"""

from sojourn.capacity.capacity import capacity
from sojourn.capacity.capacity_report import capacity_document, junit_cases, write_report
from sojourn.capacity.capacity_result import Capacity, CapacityRun
from sojourn.capacity.light_load import light_load
from sojourn.capacity.rate_interval import RateInterval
from sojourn.capacity.recorded_capacity import capacity_of_runs
from sojourn.capacity.search import search
from sojourn.capacity.search_limits import LightLoad, SearchLimits

__all__ = [
    "Capacity",
    "CapacityRun",
    "LightLoad",
    "RateInterval",
    "SearchLimits",
    "capacity",
    "capacity_document",
    "capacity_of_runs",
    "junit_cases",
    "light_load",
    "search",
    "write_report",
]
