"""What a model is made of: stations, classes, limits. Frozen data; nothing here solves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sojourn.model.distribution_registry import ArrivalProcess, Distribution
from sojourn.model.distribution_types import freeze

DISCIPLINES = ("fcfs", "ps", "lcfs_pr", "siro", "priority", "priority_preemptive")
ON_FULL = ("lose", "block")
POLICIES = ("round_robin", "jsq", "random", "power")
VARIANTS = ("priority", "shared", "paper")


@dataclass(frozen=True)
class Breakdowns:
    """Each server works for a time `up`, then is repaired for a time `down` (s); the interrupted job is resumed."""

    up: Distribution
    down: Distribution


@dataclass(frozen=True)
class Queue:
    """`servers` equal servers and one waiting line; `capacity` counts those in service too (None: no limit).

    `on_full`: arrivals at a full station are dropped, or block the upstream server after service. `schedule`: pairs
    (at_s, servers), repeated every `period_s`; simulation only. `breakdowns` of one server
    alone have a method too (mg1-breakdowns). `background`, in [0, `servers`): how many of its servers work beside the customers
    keeps busy in the mean, whoever is there. It counts as utilisation, and the customers find servers that are slower by its share.
    """

    name: str
    servers: int = 1
    discipline: str = "fcfs"
    capacity: int | None = None
    on_full: str = "lose"
    schedule: tuple[tuple[float, int], ...] = ()
    period_s: float | None = None
    breakdowns: Breakdowns | None = None
    background: float = 0.0
    kind: ClassVar[str] = "queue"

    def __post_init__(self) -> None:
        freeze(self)


@dataclass(frozen=True)
class Delay:
    """Every customer is served immediately: think time, a network."""

    name: str
    kind: ClassVar[str] = "delay"


@dataclass(frozen=True)
class LoadDependent:
    """Completes `rates_per_s[n-1]` visits a second with n customers present; the last rate applies to more. Has no demands."""

    name: str
    rates_per_s: tuple[float, ...]
    discipline: str = "fcfs"
    kind: ClassVar[str] = "load_dependent"

    def __post_init__(self) -> None:
        freeze(self)


@dataclass(frozen=True)
class ForkJoin:
    """A visit forks into `branches` tasks, each with a separate single-server FCFS queue, and ends with the last task."""

    name: str
    branches: int = 2
    kind: ClassVar[str] = "fork_join"


@dataclass(frozen=True)
class Multicore:
    """Cores that serve pages. The first `nics` of them also serve one soft interrupt for each request (Chen et al.).

    `interrupt_s` is the mean time of an interrupt (s). `interrupt_scv` is its squared coefficient of variation; only `priority` reads it.
    The service time of the class here is the page. `variant`: priority | shared | paper. `p`: the probability that a page stays on the
    core of its interrupt, or a rule for it. `capacity`: most requests at a leading core (not `priority`). `client_s`: work (s) of the
    load generator per request, if it shares the leading cores. `handoff_s`: a delay (s) of each response. `crossing_s`: a delay (s) of
    each request whose page goes to another core. Times, and `interrupt_scv`, 0 or more. Laws and sources: `solve.two_class`.
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
    kind: ClassVar[str] = "multicore"

    @property
    def parts(self) -> dict[str, int]:
        """What of the station can be watched by itself → on how many cores: `leading` and `trailing` cores, and `interrupts`, the
        time of leading cores in soft interrupts."""
        return {"leading": self.nics, "trailing": self.cores - self.nics, "interrupts": self.nics}


@dataclass(frozen=True)
class Pool:
    """A software resource with `size` tokens: a customer holds one from entering a station of `over` to leaving them."""

    name: str
    size: int
    over: tuple[str, ...]
    kind: ClassVar[str] = "pool"

    def __post_init__(self) -> None:
        freeze(self)


@dataclass(frozen=True)
class Region:
    """At most `limit` customers are inside `stations` together; the others wait outside in order, or are lost."""

    name: str
    limit: int
    stations: tuple[str, ...]
    on_full: str = "wait"
    kind: ClassVar[str] = "region"

    def __post_init__(self) -> None:
        freeze(self)


@dataclass(frozen=True)
class Closed:
    """`population` customers that think `think_s` (a mean, or a distribution) between two passes.

    Where `routing` never leads to `think`, a pass ends at each visit to the station `reference` (default: the first).
    """

    name: str
    population: int
    think_s: float | Distribution = 0.0
    priority: int = 0
    reference: str = ""
    kind: ClassVar[str] = "closed"


@dataclass(frozen=True)
class Open:
    """Poisson arrivals of `rate_per_s`, or `arrivals`: a distribution between arrivals, MAP, Steps, Trace."""

    name: str
    rate_per_s: float = 0.0
    arrivals: ArrivalProcess | None = None
    priority: int = 0
    kind: ClassVar[str] = "open"


@dataclass(frozen=True)
class Choice:
    """A route that depends on the state: `policy` round_robin | jsq | random | power; `power` compares `d` stations."""

    policy: str
    to: tuple[str, ...]
    d: int = 2

    def __post_init__(self) -> None:
        freeze(self)


Station = Queue | Delay | LoadDependent | ForkJoin | Multicore | Pool
CustomerClass = Closed | Open
