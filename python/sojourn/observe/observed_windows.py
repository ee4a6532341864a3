"""What is known of a service over a stretch of time: rates and response times by class, and how busy its resources were."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sojourn.errors import InputError

MOST_WINDOWS = 100_000
LEAST_S = 1.0  # of a window


@dataclass(frozen=True)
class ClassMeans:
    """One class of requests in one window. `rate_per_s`: answers a second; `response_s` their mean response time, with its 90 % interval
    (`low_s`, `high_s`) where it is known, None where there was no answer. `think_s`: of a load that waits for its answers, the mean time
    between an answer and the next request of the same user; None where the load does not wait, or nobody knows."""

    rate_per_s: float
    response_s: float | None
    low_s: float | None = None
    high_s: float | None = None
    rate_low_per_s: float | None = None
    rate_high_per_s: float | None = None
    think_s: float | None = None


@dataclass(frozen=True)
class ObservedWindow:
    """`start_s`: Unix time; `classes`: name → means; `busy`: resource → share of its capacity in use, in [0, 1]."""

    start_s: float
    length_s: float
    classes: Mapping[str, ClassMeans]
    busy: Mapping[str, float] = field(default_factory=dict)

    @property
    def rate_per_s(self) -> float:
        """Of all classes."""
        return sum(one.rate_per_s for one in self.classes.values())

    @property
    def response_s(self) -> float | None:
        """Mean over all answers, s."""
        known = [one for one in self.classes.values() if one.response_s is not None and one.rate_per_s > 0]
        done = sum(one.rate_per_s for one in known)
        return sum(one.rate_per_s * (one.response_s or 0.0) for one in known) / done if done else None


def check_count(count: float, start_s: float, end_s: float) -> float:
    """The number of windows. InputError where there are too many: each is a folder."""
    if count >= MOST_WINDOWS + 1:
        said = f"{int(count)} windows from {start_s:.10g} to {end_s:.10g} (Unix time, s)"
        remedy = (
            f"give a longer one, or look whether all times are in the unit that is said: at most {MOST_WINDOWS} windows"
        )
        raise InputError(said, "--window", remedy)
    return count


def check_length(window_s: float) -> None:
    """InputError for windows of which two could begin in one second: their folders are named by it."""
    if not window_s >= LEAST_S:
        raise InputError(f"{window_s:g} s", "--window", f"give at least {LEAST_S:g} s, such as 60s")
