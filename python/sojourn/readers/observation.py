"""What a file of somebody else tells of a service under load: the one type that all readers answer with.

Times are in s, rates in 1/s, quantiles and shares in [0, 1]. What a file does not say is None, and `missing_values` names what matters
of it; nothing is guessed by a reader. Little's law and the others are asked of this type alone (`sojourn.check`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sojourn.former_keyword import former_field

Array = NDArray[np.float64]

# what a file cannot know, in words: of `Observation.missing_values`
INTENDED = "when requests were due"
STAMP = "whether a time is of the start or the end"
LOCAL = "the time zone of its times"
USERS = "how many users or connections there were"
THINK = "think time"
REQUESTS = "single requests"


@dataclass(frozen=True)
class Requests:
    """Single requests, in order of their start. Shapes (n,): `start_s` (Unix time, or from the beginning), `response_s`, `ok`.

    `left_out`: how many more the file has, which were not kept."""

    start_s: Array
    response_s: Array
    ok: NDArray[np.bool_]
    left_out: int = 0

    @property
    def end_s(self) -> Array:
        return self.start_s + self.response_s


@dataclass(frozen=True)
class WindowSeries:
    """A series over time, a value a window; shape (n,) each, NaN where a window says nothing.

    `start_s`, `length_s`. `completed`, `failed`: counts. `mean_s`: of the response times that ended there. `users`: mean number.
    `quantiles`:
    q → values in s. `busy`: resource → utilisation in [0, 1], e.g. `cpu`, `disk:sda`. `classes`: class → completed.
    """

    start_s: Array
    length_s: Array
    completed: Array | None = None
    failed: Array | None = None
    mean_s: Array | None = None
    users: Array | None = None
    quantiles: Mapping[float, Array] = field(default_factory=dict)
    busy: Mapping[str, Array] = field(default_factory=dict)
    classes: Mapping[str, Array] = field(default_factory=dict)


@former_field(unknown="missing_values")
@dataclass(frozen=True)
class Observation:
    """One load on one service, as a file tells it; a file may tell of several (`name`).

    Attributes:
        source: path of the file; name: which part of it ("" where it has one).
        tool, version: what wrote it.
        start_s: Unix time; length_s: of the load.
        open_loop: requests sent by a schedule (True), or by users that wait for answers (False).
        users: users or connections of a closed loop, or the most that an open one may use; think_s: mean pause between answer and request.
        asked_per_s: the rate that was asked for.
        completed, failed, dropped: requests answered well, answered badly or not at all, never sent.
        throughput_per_s: of answers, as the file says it.
        mean_s, stdev_s, least_s, most_s, quantiles (q → s): response times, as the file says them.
        counts_failures: whether `mean_s` and `quantiles` are of failed requests too.
        rounding_s: a printed response time may be off by this; rounding: the same as a share of its value.
        stamp_s: resolution of stamps of time.
        busy: resource → mean utilisation in [0, 1], as the file says it; service_s: mean service time there, for `servers` servers.
        queue_length: mean number present, as the file says it.
        client_busy: utilisation in [0, 1] of the busiest core of the load generator.
        requests, windows: where the file has them.
        missing_values: what the file cannot know.
        left_out: what it has that is none of its requests, and was not taken for any.
        valid, invalid_reasons: what the judge of a run folder said of it; None: nobody judged it.
    """

    source: str
    tool: str
    name: str = ""
    version: str | None = None
    start_s: float | None = None
    length_s: float | None = None
    open_loop: bool | None = None
    users: float | None = None
    think_s: float | None = None
    asked_per_s: float | None = None
    completed: int | None = None
    failed: int | None = None
    dropped: int | None = None
    throughput_per_s: float | None = None
    mean_s: float | None = None
    stdev_s: float | None = None
    least_s: float | None = None
    most_s: float | None = None
    quantiles: Mapping[float, float] = field(default_factory=dict)
    counts_failures: bool | None = None
    rounding_s: float = 0.0
    rounding: float = 0.0
    stamp_s: float | None = None
    busy: Mapping[str, float] = field(default_factory=dict)
    service_s: float | None = None
    servers: int = 1
    queue_length: float | None = None
    client_busy: float | None = None
    requests: Requests | None = None
    windows: WindowSeries | None = None
    missing_values: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    valid: bool | None = None
    invalid_reasons: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """For messages: the file, and which part of it."""
        return f"{self.source}, {self.name}" if self.name else self.source
