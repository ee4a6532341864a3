"""The nodes of a query's tree, and what type each gives.

After Suto, Bradley, Knottenbelt, Performance Trees: Expressiveness and Quantitative Semantics, QEST 2007, pp. 41-50, and the service
level nodes of Dingle, Knottenbelt, Wang, ESM 2008. Ours are the last six: what most objectives ask, of requests and not of states.

    num num | bool | states, actions: sets | range | func: of the state | dens, dist: of a random time or number | multi: several

A field that is a node, or a tuple of nodes, is a child, and the field's name is its role. `at` is where it stands in the text;
two trees are equal where they say the same, wherever it stands.
"""

from __future__ import annotations

from dataclasses import dataclass

from sojourn.query.node import Node as Node
from sojourn.query.node import Num as Num
from sojourn.query.node import Span as Span


@dataclass(frozen=True)
class Bool(Node):
    gives = "bool"
    value: bool


@dataclass(frozen=True)
class Argument(Node):
    """An argument of a macro, inside its definition."""

    name: str


@dataclass(frozen=True)
class Macro(Node):
    """A macro, called by its name."""

    name: str
    argument: tuple[Node, ...] = ()


@dataclass(frozen=True)
class Definition(Node):
    """`let name(arguments) = body`."""

    name: str
    arguments: tuple[str, ...]
    body: Node


@dataclass(frozen=True)
class StateFunction(Node):
    """`n`: customers at a station ("": the system), of a class ("": all); `busy`: servers of the station that work."""

    gives = "func"
    function: str
    station: str = ""
    cls: str = ""


@dataclass(frozen=True)
class States(Node):
    """The states in which `predicate` is true."""

    gives = "states"
    predicate: Node


@dataclass(frozen=True)
class Actions(Node):
    """Events: `arrivals`, `answered` or `failed`, of a class ("": all)."""

    gives = "actions"
    event: str
    cls: str = ""


@dataclass(frozen=True)
class Range(Node):
    """From `low` to `high`; `closed` says for each end whether it belongs to the range."""

    gives = "range"
    low: Node
    high: Node
    closed: tuple[bool, bool] = (True, True)


@dataclass(frozen=True)
class ArithOp(Node):
    """`operation`: + - * / ^"""

    operation: str
    left: Node
    right: Node


@dataclass(frozen=True)
class ArithComp(Node):
    """`relation`: < <= > >= == !="""

    gives = "bool"
    relation: str
    left: Node
    right: Node


@dataclass(frozen=True)
class Discon(Node):
    """`operation`: and, or."""

    gives = "bool"
    operation: str
    left: Node
    right: Node


@dataclass(frozen=True)
class Negation(Node):
    gives = "bool"
    operand: Node


@dataclass(frozen=True)
class InInterval(Node):
    gives = "bool"
    number: Node
    range: Node


@dataclass(frozen=True)
class Subset(Node):
    gives = "bool"
    part: Node
    whole: Node


@dataclass(frozen=True)
class PassageTimeDensity(Node):
    """The time from `start` to the first entry into `target`, without an entry into `excluded`. `mode` says where it starts: in
    the state at each entry into `start` (`entering`), or in the state at a random time in `start` (`within`)."""

    gives = "dens"
    start: Node
    target: Node
    excluded: Node | None = None
    mode: str = "entering"


@dataclass(frozen=True)
class Distribution(Node):
    gives = "dist"
    density: Node


@dataclass(frozen=True)
class Convolution(Node):
    """The distribution of the sum of two independent times."""

    gives = "dens"
    first: Node
    second: Node


@dataclass(frozen=True)
class Percentile(Node):
    """The quantile at `level` in [0, 1]."""

    gives = "num"
    level: Node
    density: Node


@dataclass(frozen=True)
class Moment(Node):
    """The raw moment of `order`."""

    gives = "num"
    order: Node
    density: Node


@dataclass(frozen=True)
class ProbInInterval(Node):
    gives = "num"
    density: Node
    range: Node


@dataclass(frozen=True)
class ProbInStates(Node):
    """The probability of the states at `time` after a start in `start`; without a time, in the steady state."""

    gives = "num"
    observed: Node
    time: Node | None = None
    start: Node | None = None


@dataclass(frozen=True)
class SteadyStateProb(Node):
    """The distribution of a state function over time, or over the time in `over`."""

    gives = "dist"
    function: Node
    over: Node | None = None


@dataclass(frozen=True)
class SteadyStateStates(Node):
    """The states whose probability in the steady state lies in a range."""

    gives = "states"
    range: Node


@dataclass(frozen=True)
class StatesAtTime(Node):
    """The states whose probability at `time` after a start in `start` lies in a range."""

    gives = "states"
    range: Node
    time: Node
    start: Node


@dataclass(frozen=True)
class FiringRate(Node):
    """How often events happen, 1/s."""

    gives = "num"
    actions: Node


@dataclass(frozen=True)
class Sequential(Node):
    """Two or more queries in one."""

    gives = "multi"
    query: tuple[Node, ...]


@dataclass(frozen=True)
class Result(Node):
    """The root: macros, and the query."""

    query: Node
    macro: tuple[Definition, ...] = ()


@dataclass(frozen=True)
class RequestTime(Node):
    """The time of a request: `response_time`, `waiting_time` or `service_time`, at a station ("": all), of a class ("": all)."""

    gives = "dens"
    time: str
    station: str = ""
    cls: str = ""


@dataclass(frozen=True)
class Measure(Node):
    """A row of `Metrics`: a metric of a station ("": the system) and a class ("": all)."""

    gives = "num"
    metric: str
    station: str = ""
    cls: str = ""


@dataclass(frozen=True)
class Deviation(Node):
    """The standard deviation."""

    gives = "num"
    density: Node


@dataclass(frozen=True)
class Share(Node):
    """The number of events `part` divided by the number of events `whole`."""

    gives = "num"
    part: Node
    whole: Node


@dataclass(frozen=True)
class Slices(Node):
    """`condition` is true in at least the share `least` of all windows of time of `length`."""

    gives = "bool"
    condition: Node
    least: Num
    length: Num
