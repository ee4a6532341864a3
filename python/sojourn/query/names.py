"""The names of the language, and what each stands for."""

from __future__ import annotations

from sojourn.query.nodes import Actions, FiringRate, Moment, Node, Num, RequestTime, Share, Span
from sojourn.table import UNITS

TIMES = {
    "response_time": "response_time",
    "response": "response_time",
    "waiting_time": "waiting_time",
    "wait": "waiting_time",
    "service_time": "service_time",
}
EVENTS = {
    "arrivals": "arrivals", "all": "arrivals", "answered": "answered", "departures": "answered", "failed": "failed",
}  # fmt: skip
SHORTHANDS = ("mean", "errors", "rate")
NOT_NUMBERS = {"response_time_quantile", "waiting_time_quantile", "queue_length_probability", "response_time_variance",
               "waiting_time_variance"}  # fmt: skip
METRICS = tuple(name for name in UNITS if name not in TIMES and name not in NOT_NUMBERS)
# how each function is written
FUNCTIONS = {
    "mean": "mean(DISTRIBUTION)",
    "sd": "sd(DISTRIBUTION)",
    "moment": "moment(ORDER, DISTRIBUTION)",
    "quantile": "quantile(LEVEL, DISTRIBUTION)",
    "cdf": "cdf(DISTRIBUTION)",
    "convolve": "convolve(DISTRIBUTION, DISTRIBUTION)",
    "probability": "probability(DISTRIBUTION in RANGE), or probability(STATES [at TIME from STATES])",
    "states": "states(probability in RANGE [at TIME from STATES])",
    "passage": "passage(from [entering|within] STATES to STATES [avoiding STATES])",
    "rate": "rate(EVENTS)",
    "share": "share(EVENTS / EVENTS)",
    "distribution": "distribution(FUNCTION [over STATES])",
    "n": "n([STATION[, CLASS]])",
    "busy": "busy(STATION)",
}


def every_name() -> list[str]:
    """What may stand as a name, for the nearest one."""
    return [*TIMES, *EVENTS, *SHORTHANDS, *METRICS, *FUNCTIONS, "true", "false", "inf"]


def shorthand(name: str, station: str, cls: str, at: Span | None) -> Node:
    """`mean`, `errors`, `rate`: what an objective says in one word."""
    if name == "mean":
        return Moment(Num(1.0, at=at), RequestTime("response_time", station, cls, at=at), at=at)
    if name == "errors":
        return Share(Actions("failed", cls, at=at), Actions("arrivals", cls, at=at), at=at)
    return FiringRate(Actions("answered", cls, at=at), at=at)
