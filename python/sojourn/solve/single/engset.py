"""Engset's loss system, and M/M/m/K//N: N customers that think, m servers, room for K; who finds it full thinks again.

Source: T. O. Engset, Die Wahrscheinlichkeitsrechnung zur Bestimmung der Wählerzahl in automatischen Fernsprechämtern,
Elektrotechn. Zeitschr. 39, 1918, pp. 304-306 (in English: Telektronikk 94(2), 1998); Kleinrock, Queueing Systems vol. 1
(1975), pp. 105-109; R. B. Cooper, Introduction to Queueing Theory, 2nd ed. (1981), ch. 3 (finite sources). What an
arrival finds is the law with one customer less: S. S. Lavenberg, M. Reiser, J. Appl. Prob. 17(4), 1980, pp. 1048-1061.
Any distributions where K = m: J. W. Cohen, The generalized Engset formulae, Philips Telecomm. Rev. 18, 1957, pp. 158-170.

    source                 here
    N, s                   population: sources
    1/gamma                think_s of an idle source
    h, 1/mu                service_s: holding time
    n, m                   servers: lines
    E, time congestion     queue_length_probability with n = capacity
    B, call congestion     loss_probability: what customers find
    Y, carried traffic     queue_length where K = m

A loss ends the pass without success: throughput and response time are of those served, as in a simulation. Stable:
products from the mode outward (`birth_death`), no load is too high. Limits: one closed class that thinks; exponential
times unless K = m, where nobody waits and only means matter (two fixed times would keep their distances for ever).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sojourn.model.distribution_registry import Deterministic, Distribution, Empirical, Exponential
from sojourn.model.network_arrays import Array, Network
from sojourn.solve.method import Method, RequestedOutputs
from sojourn.solve.single import service_transforms
from sojourn.solve.single.birth_death import BirthDeathDistribution, FcfsWaitingTime, stationary
from sojourn.solve.single.finite_queues import FiniteQueuePoint, rows
from sojourn.solve.single.mmmk import entering
from sojourn.solve.single.station_arrays import refusal
from sojourn.solve.single.station_solution import ExtraRows
from sojourn.solve.solution import Solution

FIXED = (Deterministic, Empirical)


def law(population: int, think_s: float, service_s: float, servers: int, capacity: int) -> BirthDeathDistribution:
    """Law of the number present: population >= 0, capacity >= servers >= 1, both times > 0."""

    def ratio(n: Array) -> Array:
        return np.asarray((population - n + 1) * service_s / (think_s * np.minimum(n, servers)))

    return stationary(ratio, min(population, capacity))[0]


def refuses(n: Network) -> str | None:
    if reason := refusal(n, limited=True, one_class=True, closed=True):
        return reason
    name, held, think = n.stations[0], n.service[0][0], n.think[0]
    if n.capacity[0] < n.servers[0]:
        return f"the station `{name}` has more servers than places"
    if n.think_s[0] == 0:
        return f"the class `{n.classes[0]}` does not think: a lost customer would come back immediately"
    if n.service_s[0, 0] == 0:
        return "its mean service time is 0"
    if n.capacity[0] > n.servers[0]:
        both = isinstance(held, Exponential) and isinstance(think, Exponential)
        return None if both else f"the station `{name}` has places to wait, and service or thinking is not exponential"
    if isinstance(held, FIXED) and isinstance(think, FIXED):
        return f"service at the station `{name}` and thinking both take fixed times, so the state never becomes random"
    return None


def run(networks: Sequence[Network], wanted: RequestedOutputs) -> Solution:
    points, lost, means = [], [], []
    for n in networks:
        size, m, room = int(n.population[0]), int(n.servers[0]), int(n.capacity[0])
        think, held = float(n.think_s[0]), float(n.service_s[0, 0])
        present, found = (law(k, think, held, m, room) for k in (size, max(size - 1, 0)))
        points.append(_point(n, present, found))
        lost.append(float(found.at(room)) if size > room else 0.0)
        busy = present.mean(lambda k, m=m: np.minimum(k, m))  # type: ignore[misc]
        means.append((busy, present.mean(lambda k, m=m: np.maximum(k - m, 0)), held, m))  # type: ignore[misc]
    made = rows(networks, points, wanted)
    _told(made, networks, points, np.array(lost), wanted)
    busy, line, held, m = np.array(means).T
    through = busy / held
    wait = np.divide(line, through, out=np.full_like(line, np.nan), where=through > 0)
    each = {"residence_s": wait + held, "waiting_s": wait, "loss": np.array(lost)}
    return Solution(
        through[:, None], (busy + line)[:, None, None], (busy / m)[:, None, None],
        **{name: values[:, None, None] for name, values in each.items()}, more=made.made,
    )  # fmt: skip


def _point(n: Network, present: BirthDeathDistribution, found: BirthDeathDistribution) -> FiniteQueuePoint:
    """With a wait where its law is known: not where those who wait share servers."""
    m, room = int(n.servers[0]), int(n.capacity[0])
    timed = isinstance(n.service[0][0], Exponential) and (n.discipline[0] == "fcfs" or room == m)
    return FiniteQueuePoint(
        present, FcfsWaitingTime(entering(found, room), m, float(n.service_s[0, 0])) if timed else None
    )


def _told(
    made: ExtraRows,
    networks: Sequence[Network],
    points: Sequence[FiniteQueuePoint],
    lost: Array,
    wanted: RequestedOutputs,
) -> None:
    """Losses of the system; P(full), asked or not; times where nobody waits and service is not exponential."""
    for name in (networks[0].classes[0], ""):
        made.system(name, "loss_probability", lost)
    for i, (n, p) in enumerate(zip(networks, points, strict=True)):
        room = int(n.capacity[0])
        for name in (
            ("", n.classes[0])
            if room > (-1 if wanted.state_probabilities is None else wanted.state_probabilities)
            else ()
        ):
            full = {"metric": "queue_length_probability", "n": room, "value": float(p.law.at(room))}
            made.made.append({"point": i, "station": n.stations[0], "class": name, **full})
    held = [d for n in networks if n.capacity[0] == n.servers[0] for d in n.service[0] if d is not None]
    if len(held) == len(networks) and not all(isinstance(d, Exponential) for d in held):
        _at_once(made, held, wanted)


def _at_once(made: ExtraRows, held: Sequence[Distribution], wanted: RequestedOutputs) -> None:
    """The response is the service."""
    none = np.zeros(len(held))
    made.put("waiting_probability", none)
    made.put("waiting_time_variance", none)
    made.put("response_time_variance", np.array([d.second - d.first**2 for d in held]))
    for q in wanted.quantiles:
        made.put("waiting_time_quantile", none, q=q)
        made.put("response_time_quantile", np.array([service_transforms.quantile_s(d, q) for d in held]), q=q)


METHOD = Method(
    name="engset",
    title="Engset's loss system; M/M/m/K//N: a closed class that thinks, and room for K",
    exact=True,
    sources=(
        "T. O. Engset: Elektrotechn. Zeitschr. 39, 1918, pp. 304-306",
        "L. Kleinrock: Queueing Systems, vol. 1. Wiley 1975, pp. 105-109",
    ),
    refuses=refuses,
    run=run,
    cost_s=lambda n: 2e-3,
)
