"""What a model is made of: stations, classes, limits. Frozen data; nothing here solves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sojourn.former_keyword import former_field
from sojourn.model.distribution_registry import ArrivalProcess, Distribution
from sojourn.model.distribution_types import freeze

DISCIPLINES = ("fcfs", "ps", "lcfs_pr", "siro", "priority", "priority_preemptive")
ON_FULL = ("lose", "block")
POLICIES = ("round_robin", "jsq", "random", "power")
VARIANTS = ("priority", "shared", "paper")


@dataclass(frozen=True)
class Breakdowns:
    """Each server works for a time `up` (s). Then it is repaired for a time `down` (s), after which it resumes the interrupted job."""

    up: Distribution
    down: Distribution


@former_field(schedule="server_schedule", period_s="schedule_period_s")
@dataclass(frozen=True)
class Queue:
    """`servers` equal servers with one waiting line. `capacity` limits the customers at the station, those in service included
    (None: no limit).

    `on_full` says what happens to an arrival at a full station: `lose` drops it, and `block` blocks the upstream server after
    service. `server_schedule` is a list of pairs (at_s, servers), which repeats every `schedule_period_s`; only a simulation supports it.
    `breakdowns` needs a simulation, or the method `mg1-breakdowns` for a model of one server. `background`, in [0, `servers`), is
    the mean number of servers that other work keeps busy, with or without customers. This work counts as
    utilisation, and makes the servers slower for the customers, by its share.
    """

    name: str
    servers: int = 1
    discipline: str = "fcfs"
    capacity: int | None = None
    on_full: str = "lose"
    server_schedule: tuple[tuple[float, int], ...] = ()
    schedule_period_s: float | None = None
    breakdowns: Breakdowns | None = None
    background: float = 0.0
    kind: ClassVar[str] = "queue"

    def __post_init__(self) -> None:
        freeze(self)


@dataclass(frozen=True)
class Delay:
    """A station without a queue: every customer is served immediately. Examples are a think time and a network."""

    name: str
    kind: ClassVar[str] = "delay"


@dataclass(frozen=True)
class LoadDependent:
    """With n customers present, the station completes `rates_per_s[n-1]` visits a second. With more customers than rates, the last
    rate applies. The station has no demands."""

    name: str
    rates_per_s: tuple[float, ...]
    discipline: str = "fcfs"
    kind: ClassVar[str] = "load_dependent"

    def __post_init__(self) -> None:
        freeze(self)


@dataclass(frozen=True)
class ForkJoin:
    """A visit forks into `branches` tasks. Each task has a separate single-server FCFS queue. The visit ends with the last task."""

    name: str
    branches: int = 2
    kind: ClassVar[str] = "fork_join"


@dataclass(frozen=True)
class Multicore:
    """Cores that serve pages. The first `nics` cores, called leading cores, also serve one soft interrupt for each request (Chen et al.).

    `interrupt_s` is the mean time of an interrupt (s), and `interrupt_scv` its squared coefficient of variation, which only the variant
    `priority` uses. The service time of the class at this station is the time of a page. `variant` is priority, shared or paper. `p` is
    the probability that a page stays on the core of its interrupt, or a rule for this probability. `capacity` is the maximum number of
    requests at a leading core (not with `priority`). `client_s` is the work (s) of the load generator for each request, if the generator
    shares the leading cores. `handoff_s` is a delay (s) of each response. `crossing_s` is a delay (s) of each request whose page goes to
    another core. `saved` says how much longer interrupts and pages take at low rates: 1 + `saved` (1 - r)² times, where r is the arrival
    rate as a share of the saturation rate. All times, `interrupt_scv` and `saved` are 0 or more. `solve.two_class` has the laws and the
    sources.
    """

    name: str
    cores: int
    nics: int
    interrupt_s: float
    variant: str = "priority"
    p: float | str = "uniform"
    capacity: int = 1000
    client_s: float = 0.0
    handoff_s: float = 0.0
    crossing_s: float = 0.0
    interrupt_scv: float = 0.0
    saved: float = 0.0
    kind: ClassVar[str] = "multicore"

    @property
    def parts(self) -> dict[str, int]:
        """What of the station can be watched by itself → on how many cores: `leading` and `trailing` cores, and `interrupts`, the
        time of leading cores in soft interrupts."""
        return {"leading": self.nics, "trailing": self.cores - self.nics, "interrupts": self.nics}


@former_field(over="held_over_stations")
@dataclass(frozen=True)
class Pool:
    """A software resource with `size` tokens. A customer who enters `held_over_stations` takes a token, and returns it on leaving them."""

    name: str
    size: int
    held_over_stations: tuple[str, ...]
    kind: ClassVar[str] = "pool"

    def __post_init__(self) -> None:
        freeze(self)


@dataclass(frozen=True)
class Region:
    """At most `limit` customers are at the `stations` together. `on_full`: further customers wait outside in order, or are lost."""

    name: str
    limit: int
    stations: tuple[str, ...]
    on_full: str = "wait"
    kind: ClassVar[str] = "region"

    def __post_init__(self) -> None:
        freeze(self)


@dataclass(frozen=True)
class SharedCores:
    """Queues whose servers are threads on the same `cores`, such as virtual CPUs of guests on a host. In each state, the cores are divided
    by weighted fair sharing (generalised processor sharing).

    `weights`: one for each station, of each of its busy servers (none: all 1). No station gets more cores than it has busy servers.
    What one leaves goes to the others. `overhead`, 0 or more: CPU time that the hypervisor takes on these cores beside each second that the
    stations take. `together`: 1, or 0 if each station has `cores` cores of its own.
    """

    name: str
    stations: tuple[str, ...]
    cores: float = 1.0
    weights: tuple[float, ...] = ()
    overhead: float = 0.0
    together: float = 1.0
    kind: ClassVar[str] = "shared_cores"

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def guests(self) -> dict[str, str]:
        """Station → where the account of its guest stands in Metrics."""
        return {name: f"{name}.guest" for name in self.stations}


@former_field(reference="reference_station")
@dataclass(frozen=True)
class Closed:
    """`population` customers that think for `think_s` (a mean, or a distribution) between two passes.

    If the `routing` never leads to `think`, a pass ends at each visit to `reference_station` (default: the first station).
    """

    name: str
    population: int
    think_s: float | Distribution = 0.0
    priority: int = 0
    reference_station: str = ""
    kind: ClassVar[str] = "closed"


@dataclass(frozen=True)
class Open:
    """Poisson arrivals at `rate_per_s`, or `arrivals`: a distribution of the times between arrivals, a MAP, Steps or a Trace."""

    name: str
    rate_per_s: float = 0.0
    arrivals: ArrivalProcess | None = None
    priority: int = 0
    kind: ClassVar[str] = "open"


@dataclass(frozen=True)
class Choice:
    """A choice among the stations `to`. `policy` is round_robin, jsq, random or power. `power` compares `d` stations."""

    policy: str
    to: tuple[str, ...]
    d: int = 2

    def __post_init__(self) -> None:
        freeze(self)


Station = Queue | Delay | LoadDependent | ForkJoin | Multicore | Pool
CustomerClass = Closed | Open
