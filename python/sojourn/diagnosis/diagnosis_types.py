"""A load and what was measured at it; and what is said of the limit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from sojourn.former_keyword import former_field
from sojourn.runs.pauses import Pauses

Rate: TypeAlias = tuple[float, float | None, float | None]  # value, low, high, 1/s
Kind: TypeAlias = Literal["cores", "thread", "disk", "station", "unseen", "client", "unknown"]


@dataclass(frozen=True)
class WatchedResource:
    """Something that was watched: its name, what it is, and the share of its capacity that was busy."""

    name: str
    kind: Kind
    busy: float


@dataclass(frozen=True)
class LoadLevel:
    """What was measured at one load. Times in s, rates in 1/s, relative standard errors (None where nobody
    knows). users is 0 in an open loop;
    sent_s: mean response time from when a request was sent; connections: that the client had, 0 where nobody knows;
    client_busy: of a core, by the busiest thread of the generator; client_shares: of the service's cores, by all its threads,
    where it runs on them; late: whether the generator kept no schedule; pauses: None where nobody looked for them."""

    offered_per_s: float
    throughput_per_s: float
    response_s: float
    users: int = 0
    throughput_error: float | None = None
    response_error: float | None = None
    sent_s: float = 0.0
    connections: int = 0
    client_busy: float = 0.0
    client_shares: float = 0.0
    late: bool = False
    resources: tuple[WatchedResource, ...] = ()
    pauses: Pauses | None = None


@former_field(
    next="next_step",
    queue="utilisation_by_waiting",
    full_per_s="saturation_rate_per_s",
    resources="busy_shares",
    changing="changing_times",
)
@dataclass(frozen=True)
class Diagnosis:
    """`kind` of the limit and its `name`; `sentence` says both with the figures, `next_step` what to measure then.

    top: the level it is about. utilisation_by_waiting: least and most that the response times allow, or None. saturation_rate_per_s:
    where the limit is reached; None where nobody knows. busy_shares: by resource. changing_times: a time of a request that is another at
    another load, in words; pauses: of the service, in words."""

    kind: Kind
    name: str
    sentence: str
    next_step: str
    top: LoadLevel
    first: LoadLevel
    utilisation_by_waiting: tuple[float, float] | None = None
    saturation_rate_per_s: Rate | None = None
    busy_shares: Mapping[str, float] = field(default_factory=dict)
    changing_times: str = ""
    pauses: str = ""

    def __str__(self) -> str:
        return f"{self.sentence}; next: {self.next_step}"
