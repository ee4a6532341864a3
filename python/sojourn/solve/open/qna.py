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

A station that is shared (`ps`, `lcfs_pr`) has, with Poisson arrivals, the numbers present and the departures of one with exponential
service and the same mean, whatever the law, and a class stays there in proportion to its own mean (Baskett, Chandy, Muntz and
Palacios, J. ACM 22(2), 1975, pp. 248-260). So it counts as c²_s = 1 here, and a class has s_c/tau times the wait.

Limits: queues in order of arrival (or random order) or shared, with any number of servers, and delays; arrivals by a
distribution (its squared coefficient of variation) or a MAP (that of the stationary interval: correlation is not seen). Exact for
M/G/1 and M/M/m; within a few per cent at light or moderate variability in its author's tables, and off by more where streams are
bursty or correlated. The status is `approximate`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sojourn.model.arrival_processes import stationary
from sojourn.model.distribution_registry import MAP, Distribution
from sojourn.model.network_arrays import Array, Network
from sojourn.model.network_points import as_points, outline, some, stacked
from sojourn.solve.method import Method, RequestedOutputs
from sojourn.solve.open.open_rates import TrafficSolution, only_open
from sojourn.solve.population_distribution import PopulationDistribution
from sojourn.solve.product_form import SHARED, structure
from sojourn.solve.solution import Solution

Flags = NDArray[np.bool_]


def refuses(network: Network) -> str | None:
    if reason := only_open(network) or structure(network):
        return reason
    for k, name in enumerate(network.stations):
        if network.kind[k] == "load_dependent":
            return f"the station `{name}` is load-dependent, which this method does not support"
        if network.kind[k] == "queue" and network.discipline[k] not in ("fcfs", "siro", *SHARED):
            has = f"the station `{name}` has `{network.discipline[k]}`"
            return f"this method needs the discipline `fcfs`, `siro`, `ps` or `lcfs_pr`, but {has}"
        if network.discipline[k] not in SHARED and not np.isfinite(network.scv[k]).all():
            return f"a service time at the station `{name}` has no second moment"
    for c, name in enumerate(network.classes):
        if network.arrivals[c] is not None and not np.isfinite(interval_scv(network.arrivals[c])):
            return f"the arrivals of class `{name}` are not a stationary stream with two finite moments"
    return None


def _shared(network: Network) -> Flags:
    """K: stations whose customers are all served at once, or the last to come first."""
    return np.array([kind == "queue" and d in SHARED for kind, d in zip(network.kind, network.discipline, strict=True)])


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


def run(networks: Sequence[Network], wanted: RequestedOutputs) -> Solution:
    traffic = TrafficSolution.of(networks)
    solution = traffic.unstable(wanted.further)
    assert solution.waiting_s is not None, "unstable makes it"
    stable = np.flatnonzero(traffic.stable)
    if not len(stable):
        return solution
    rate, load = traffic.rate[stable], traffic.load[stable]
    nodes = QnaNodes.of(some(traffic.networks, stable), rate, load)
    service = stacked(traffic.networks, "service_s")[stable]
    with np.errstate(divide="ignore", invalid="ignore"):
        own = np.where(_shared(outline(networks))[:, None], service / nodes.service_s[:, :, None], 1.0)
    wait = nodes.waiting_s()[:, :, None] * np.where(np.isfinite(own), own, 1.0)
    solution.throughput[stable] = traffic.passes[stable]
    solution.waiting_s[stable] = np.where(rate > 0, wait, np.nan)
    solution.queue_length[stable] = load + rate * wait
    solution.utilisation[stable] = load / np.where(np.isinf(nodes.servers), np.nan, nodes.servers)[:, :, None]
    for p in stable.tolist():
        solution.status[p] = "approximate"
    return solution


@dataclass(frozen=True)
class QnaNodes:
    """All classes together, P points x K stations; those without a visit have rate 0."""

    rate: Array
    servers: Array  # infinite at delays
    service_s: Array
    service_scv: Array
    back: Array  # probability of an immediate return
    arrival_scv: Array  # of the stream without immediate returns

    @staticmethod
    def of(networks: Sequence[Network], rate: Array, load: Array) -> QnaNodes:
        """Classes aggregated, immediate feedback taken out, and the arrival variabilities solved for; `rate` and `load`
        P x K x C."""
        points, stations, classes = rate.shape
        size = stations * classes
        total = rate.sum(axis=2)
        safe = np.where(total > 0, total, 1.0)
        every = as_points(networks)
        inside = every.by_base(lambda n: n.route[:size, :size], "inside").reshape(
            points, stations, classes, stations, classes
        )
        flow = np.einsum("pic,picjd->pij", rate, inside)
        mean = load.sum(axis=2) / safe
        squares = every.column("service_s") ** 2 * (1 + every.by_base(lambda n: n.scv, "scv"))
        with np.errstate(divide="ignore", invalid="ignore"):  # a shared station needs no second moment
            second = (rate * squares).sum(axis=2) / safe
            scv = np.where((mean > 0) & ~_shared(outline(networks)), second / mean**2 - 1, 1.0)
        own = np.diagonal(flow, axis1=1, axis2=2)
        back, flow = own / safe, flow * (1 - np.eye(stations))
        is_delay = np.array([kind == "delay" for kind in outline(networks).kind])
        servers = np.where(is_delay, np.inf, every.column("servers"))
        stay = 1 - back
        arrival = _variability(networks, flow, total * stay, load.sum(axis=2) / servers, servers, back + stay * scv)
        return QnaNodes(total, servers, mean, scv, back, arrival)

    def waiting_s(self) -> Array:
        """P x K, mean wait of one visit. A customer that returns at once counts as one long visit, whose wait is shared."""
        stay = 1 - self.back
        service, scv = self.service_s / stay, self.back + stay * self.service_scv
        found = np.zeros(self.rate.shape)
        waits = (self.rate > 0) & np.isfinite(self.servers) & (self.service_s > 0)
        for m in np.unique(self.servers[waits]).tolist():
            at = waits & (self.servers == m)
            load = self.rate[at] * self.service_s[at] / m
            found[at] = _wait(int(m), load, service[at], self.arrival_scv[at], scv[at])
        with np.errstate(divide="ignore", invalid="ignore"):  # the mean number present is the same in both readings
            shared = np.maximum(0.0, self.rate * stay * (found + service) / self.rate - self.service_s)  # it rounds
        return np.where(waits, np.where(self.back == 0, found, shared), 0.0)


def _wait(servers: int, load: Array, service: Array, arrival_scv: Array, scv: Array) -> Array:
    """Mean waits of G/G/m: (44) for one server, (70) for more."""
    both = arrival_scv + scv
    if servers > 1:
        levels = PopulationDistribution.of(load * servers, np.arange(1.0, servers + 1))
        return np.asarray(both / 2 * levels.beyond * service / (servers * (1 - load)))
    regular = (arrival_scv < 1) & (both > 0)
    exponent = 2 * (1 - load) * (1 - arrival_scv) ** 2 / (3 * load * np.where(regular, both, 1.0))
    correction = np.where(regular, np.exp(-exponent), 1.0)
    return np.asarray(service * load * both * correction / (2 * (1 - load)))


def _variability(
    networks: Sequence[Network], flow: Array, rate: Array, load: Array, servers: Array, scv: Array
) -> Array:
    """P x K, squared coefficients of variation of the arrivals: (24)-(29)."""
    safe = np.where(rate > 0, rate, 1.0)
    external, outer_scv = _external(networks, load)
    route, part, outer = flow / safe[:, :, None], flow / safe[:, None, :], external / safe
    squares = (part**2).sum(axis=1) + outer**2
    weight = 1 / (1 + 4 * (1 - load) ** 2 * (1 / np.where(squares > 0, squares, 1.0) - 1))
    x = 1 + (np.maximum(scv, 0.2) - 1) / np.sqrt(servers)
    through = part * (1 - route + route * (load**2 * x)[:, :, None])
    a = 1 + weight * (outer * outer_scv - 1 + through.sum(axis=1))
    b = weight[:, None, :] * part * route * (1 - load**2)[:, :, None]
    return np.asarray(np.linalg.solve(np.eye(rate.shape[1]) - b.transpose(0, 2, 1), a[:, :, None])[:, :, 0])


def _external(networks: Sequence[Network], load: Array) -> tuple[Array, Array]:
    """P x K each: rate from outside, and its squared coefficient of variation ((15), (16); split by (13))."""
    stations, classes = outline(networks).visits.shape
    size = stations * classes
    every = as_points(networks)
    rows = (
        every.by_base(lambda n: n.route[size:, :size], "entries")
        .reshape(len(networks), classes, stations, classes)
        .sum(axis=3)
    )
    each = every.column("rate_per_s")[:, :, None] * rows
    # as the bases have it: points change how often they come, and not how evenly
    own = every.by_base(lambda n: [1.0 if a is None else interval_scv(a) for a in n.arrivals], "interval scv")
    split = rows * own[:, :, None] + 1 - rows
    total = each.sum(axis=1)
    share = each / np.where(total > 0, total, 1.0)[:, None, :]
    squares = (share**2).sum(axis=1)
    weight = 1 / (1 + 4 * (1 - load) ** 2 * (1 / np.where(squares > 0, squares, 1.0) - 1))
    return total, 1 - weight + weight * (share * split).sum(axis=1)


METHOD = Method(
    name="qna",
    title="QNA: G/G/m stations by two moments",
    exact=False,
    sources=("W. Whitt: Bell System Technical Journal 62(9), 1983, pp. 2779-2815",),
    refuses=refuses,
    run=run,
    cost_s=lambda n: 1e-3 + 2e-10 * float(n.visits.shape[0]) ** 3,
    memory_bytes=lambda n: 40.0 * float(n.visits.size) ** 2 + 100.0 * float(n.servers.sum()),
    rank=10,
    known_errors=(0.024, 0.38),
)
