"""QNA: open networks of general single- and multi-server stations, by two moments. An approximation.

Source: W. Whitt: The Queueing Network Analyzer. Bell System Technical Journal 62(9), 1983, pp. 2779-2815: aggregation of
classes (9)-(16), immediate feedback (section III), traffic variability (24)-(29), G/G/1 (44), G/G/m (70); superposition
of external arrivals (15)-(16). M/M/m: `levels`.

| letters        | here                                                            | unit |
|----------------|-----------------------------------------------------------------|------|
| lambda_j, rho_j, m_j | `rate`, `load`, `servers`                                 | 1/s, 1, 1 |
| q_ij, p_ij     | `route` (i to j), `part` (arrivals at j that come from i)       | 1    |
| c²_aj, c²_sj   | `arrival_scv`, `service_scv`                                    | 1    |
| tau_j          | `service_s`                                                     | s    |

Limits: FCFS (or random order) queues with any number of servers, and delays; arrivals by a distribution (its squared
coefficient of variation) or a MAP (that of the stationary interval: correlation is not seen). Exact for M/G/1 and
M/M/m; within a few per cent at light or moderate variability in its author's tables, and off by more where streams are
bursty or correlated. The status is `approximate`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sojourn.model.distributions import MAP, Distribution
from sojourn.model.network import Array, Network
from sojourn.model.processes import stationary
from sojourn.solve.levels import Levels
from sojourn.solve.method import Method, Wanted
from sojourn.solve.open.traffic import Traffic, only_open
from sojourn.solve.productform import structure
from sojourn.solve.solution import Solution


def refuses(network: Network) -> str | None:
    if reason := only_open(network) or structure(network):
        return reason
    for k, name in enumerate(network.stations):
        if network.kind[k] == "load_dependent":
            return f"station {name} is load-dependent"
        if network.kind[k] == "queue" and network.discipline[k] not in ("fcfs", "siro"):
            return f"station {name} has discipline {network.discipline[k]}, and it needs fcfs"
        if not np.isfinite(network.scv[k]).all():
            return f"a service time at {name} has no second moment"
    for c, name in enumerate(network.classes):
        if network.arrivals[c] is not None and not np.isfinite(interval_scv(network.arrivals[c])):
            return f"the arrivals of class {name} are no stationary stream with two moments"
    return None


def interval_scv(process: object) -> float:
    """Squared coefficient of variation between arrivals; infinite where there is none."""
    if isinstance(process, Distribution):
        return process.scv
    if not isinstance(process, MAP):
        return np.inf
    d0, d1 = np.array(process.D0, float), np.array(process.D1, float)
    start = stationary(d0 + d1) @ d1
    inverse = np.linalg.inv(-d0)
    first, second = start @ inverse, 2 * start @ inverse @ inverse
    return float(second.sum() * start.sum() / first.sum() ** 2 - 1)


def run(networks: Sequence[Network], wanted: Wanted) -> Solution:
    traffic = Traffic.of(networks)
    solution = traffic.unstable()
    assert solution.waiting_s is not None, "unstable makes it"
    for p in np.flatnonzero(traffic.stable).tolist():
        nodes = _nodes(networks[p], traffic.rate[p], traffic.load[p])
        wait = nodes.waiting_s()
        solution.throughput[p] = traffic.passes[p]
        solution.waiting_s[p] = wait[:, None]
        solution.queue_length[p] = traffic.load[p] + traffic.rate[p] * wait[:, None]
        solution.utilisation[p] = traffic.load[p] / np.where(np.isinf(nodes.servers), np.nan, nodes.servers)[:, None]
        solution.status[p] = "approximate"
    return solution


@dataclass(frozen=True)
class Nodes:
    """All classes together, K stations; those without a visit have rate 0."""

    rate: Array
    servers: Array  # infinite at delays
    service_s: Array
    service_scv: Array
    back: Array  # probability of an immediate return
    arrival_scv: Array  # of the stream without immediate returns

    def waiting_s(self) -> Array:
        """K, mean wait of one visit. A customer that returns at once counts as one long visit, whose wait is shared."""
        found = np.zeros(len(self.rate))
        for k in np.flatnonzero((self.rate > 0) & np.isfinite(self.servers) & (self.service_s > 0)).tolist():
            stay = 1 - self.back[k]
            service, scv = self.service_s[k] / stay, self.back[k] + stay * self.service_scv[k]
            load = self.rate[k] * self.service_s[k] / self.servers[k]
            whole = _wait(int(self.servers[k]), load, service, self.arrival_scv[k], scv)
            found[k] = whole * stay if self.back[k] == 0 else self._shared(k, whole, service)
        return found

    def _shared(self, k: int, whole: float, service: float) -> float:
        """From the mean number present, which is the same in both readings."""
        number = self.rate[k] * (1 - self.back[k]) * (whole + service)
        return float(number / self.rate[k] - self.service_s[k])


def _wait(servers: int, load: float, service: float, arrival_scv: float, scv: float) -> float:
    """Mean wait of G/G/m: (44) for one server, (70) for more."""
    both = arrival_scv + scv
    if servers > 1:
        levels = Levels.of(np.array([load * servers]), np.arange(1.0, servers + 1))
        return float(both / 2 * levels.beyond[0] * service / (servers * (1 - load)))
    correction = 1.0
    if arrival_scv < 1 and both > 0:
        correction = float(np.exp(-2 * (1 - load) * (1 - arrival_scv) ** 2 / (3 * load * both)))
    return service * load * both * correction / (2 * (1 - load))


def _nodes(network: Network, rate: Array, load: Array) -> Nodes:
    """Classes aggregated, immediate feedback taken out, and the arrival variabilities solved for."""
    stations, classes = rate.shape
    total = rate.sum(axis=1)
    safe = np.where(total > 0, total, 1.0)
    inside = network.route[: stations * classes, : stations * classes].reshape(stations, classes, stations, classes)
    flow = np.einsum("ic,icjd->ij", rate, inside)
    mean = load.sum(axis=1) / safe
    second = (rate * network.service_s**2 * (1 + network.scv)).sum(axis=1) / safe
    with np.errstate(divide="ignore", invalid="ignore"):
        scv = np.where(mean > 0, second / mean**2 - 1, 1.0)
    back = np.diag(flow) / safe
    servers = np.array(
        [np.inf if kind == "delay" else m for kind, m in zip(network.kind, network.servers, strict=True)]
    )
    stay = 1 - back
    flow = flow - np.diag(np.diag(flow))
    arrival = _variability(network, flow, total * stay, load.sum(axis=1) / servers, servers, back + stay * scv)
    return Nodes(total, servers, mean, scv, back, arrival)


def _variability(network: Network, flow: Array, rate: Array, load: Array, servers: Array, scv: Array) -> Array:
    """K, squared coefficients of variation of the arrivals: (24)-(29)."""
    count = len(rate)
    safe = np.where(rate > 0, rate, 1.0)
    external, outer_scv = _external(network, load)
    route, part, outer = flow / safe[:, None], flow / safe, external / safe
    squares = (part**2).sum(axis=0) + outer**2
    weight = 1 / (1 + 4 * (1 - load) ** 2 * (1 / np.where(squares > 0, squares, 1.0) - 1))
    x = 1 + (np.maximum(scv, 0.2) - 1) / np.sqrt(servers)
    through = part * (1 - route + route * (load**2 * x)[:, None])
    a = 1 + weight * (outer * outer_scv - 1 + through.sum(axis=0))
    b = weight * part * route * (1 - load**2)[:, None]
    return np.asarray(np.linalg.solve(np.eye(count) - b.T, a))


def _external(network: Network, load: Array) -> tuple[Array, Array]:
    """K and K: rate from outside, and its squared coefficient of variation ((15), (16); split by (13))."""
    stations, classes = network.visits.shape
    rows = network.route[stations * classes :, : stations * classes].reshape(classes, stations, classes).sum(axis=2)
    each = network.rate_per_s[:, None] * rows
    own = np.array([1.0 if a is None else interval_scv(a) for a in network.arrivals])
    split = rows * own[:, None] + 1 - rows
    total = each.sum(axis=0)
    share = each / np.where(total > 0, total, 1.0)
    squares = (share**2).sum(axis=0)
    weight = 1 / (1 + 4 * (1 - load) ** 2 * (1 / np.where(squares > 0, squares, 1.0) - 1))
    return total, 1 - weight + weight * (share * split).sum(axis=0)


METHOD = Method(
    name="qna",
    title="QNA: G/G/m stations by two moments",
    exact=False,
    sources=("W. Whitt: Bell System Technical Journal 62(9), 1983, pp. 2779-2815",),
    refuses=refuses,
    run=run,
    cost_s=lambda n: 1e-3,
    rank=10,
)
