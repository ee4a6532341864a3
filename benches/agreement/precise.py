"""Single queues at 40 digits, from the formulas and not from any code of ours.

M/M/m and M/M/m/K: Kleinrock, Queueing Systems, vol. 1 (1975), pp. 94-109; where K = m any service (Erlang B). M/G/1: Pollaczek
and Khinchine, ibid. pp. 187-191, classes together. Priorities at one server: Cobham, and preemptive-resume: vol. 2 (1976),
pp. 119-126. G/M/1: vol. 1, pp. 248-253.
"""

from __future__ import annotations

from typing import Any

import mpmath as mp
import numpy as np

import sojourn as sj
from agreement.rows import Key, Row, Rows
from sojourn.model.components import Queue
from sojourn.model.distribution_types import Deterministic, Empirical, Exponential, Uniform
from sojourn.model.network_arrays import Network

FAIR = ("fcfs", "siro", "ps", "lcfs_pr")
QUANTILES = (0.5, 0.9, 0.99)
Values = dict[Key, Any]
Closed = Deterministic | Uniform | Empirical  # gaps with a transform in closed form


def rows(model: sj.Model) -> Rows:
    """Empty where the model is none of these, or is not stable."""
    station, n = model.stations[0], model.network
    alone = len(model.stations) == 1 and not model.routing and not model.visits and not model.regions
    if not alone or not isinstance(station, Queue) or n.closed.any() or not n.rate_per_s.sum() > 0:
        return {}
    poisson = all(a is None or isinstance(a, Exponential) for a in n.arrivals)
    if not (n.service_s[0] > 0).all() or station.on_full == "block":
        return {}
    with mp.workdps(40):
        found = _formula(n, station) if poisson else _gm1(n, station)
    return {key: Row(float(value), "ok", None, None) for key, value in found.items() if mp.isfinite(value)}


def _formula(n: Network, s: Queue) -> Values:
    exponential = all(isinstance(d, Exponential) for d in n.service[0])
    one = len(n.classes) == 1
    work = (mp.mpf(float(r)) * mp.mpf(float(b)) for r, b in zip(n.rate_per_s, n.service_s[0], strict=True))
    load = mp.fsum(work) / s.servers
    if s.capacity is not None:
        return _room(n, s) if one and s.discipline in FAIR and (exponential or s.capacity == s.servers) else {}
    if load >= 1:
        return {}
    if one and exponential and s.discipline in FAIR:
        return _mmm(n, s)
    if s.servers == 1 and s.discipline == "fcfs":
        return _by_level(n, s, np.zeros(len(n.classes), int), False)
    if s.servers == 1 and s.discipline.startswith("priority"):
        return _by_level(n, s, n.priority, s.discipline == "priority_preemptive")
    return {}


def _mmm(n: Network, s: Queue) -> Values:
    rate, mu = mp.mpf(float(n.rate_per_s[0])), 1 / mp.mpf(float(n.service_s[0, 0]))
    a, drain, name, cls = rate / mu, s.servers * mu - rate, s.name, n.classes[0]
    term, total = mp.mpf(1), mp.mpf(0)
    for k in range(s.servers):
        total += term
        term *= a / (k + 1)
    last = term * s.servers / (s.servers - a)
    waits = last / (total + last)
    wait = waits / drain
    found = {Key(name, cls, "waiting_time"): wait, Key(name, cls, "response_time"): wait + 1 / mu,
             Key(name, cls, "queue_length"): rate * wait + a, Key(name, cls, "utilisation"): a / s.servers,
             Key(name, cls, "queue_length_probability", None, 0): 1 / (total + last)}  # fmt: skip
    if s.discipline == "fcfs":
        found[Key(name, cls, "waiting_probability")] = waits
        for q in QUANTILES:
            found[Key(name, cls, "waiting_time_quantile", q)] = max(mp.log(waits / (1 - mp.mpf(q))) / drain, mp.mpf(0))
    return found


def _gm1(n: Network, s: Queue) -> Values:
    """Of gaps with a transform in closed form; `free` is 1 - sigma, sigma the root of sigma = A*(mu (1 - sigma))."""
    gaps, mean = n.arrivals[0], mp.mpf(float(n.service_s[0, 0]))
    plain = s.servers == 1 and s.capacity is None and s.discipline == "fcfs" and len(n.classes) == 1
    if not plain or not isinstance(n.service[0][0], Exponential) or not isinstance(gaps, Closed):
        return {}
    spare = 1 - mean / mp.mpf(gaps.first)
    if spare <= 0:
        return {}
    low, high = spare / 1000, mp.mpf(1)
    for _ in range(150):  # below the root there is more than sigma
        free = (low + high) / 2
        low, high = (free, high) if 1 - _transform(gaps, free / mean) > free else (low, free)
    name, cls = s.name, n.classes[0]
    return {Key(name, cls, "response_time"): mean / free, Key(name, cls, "waiting_time"): mean / free * (1 - free),
            Key(name, cls, "waiting_probability"): 1 - free,
            Key(name, cls, "response_time_quantile", 0.99): -mp.log(1 - mp.mpf(0.99)) * mean / free}  # fmt: skip


def _transform(gaps: Closed, at: Any) -> Any:
    if isinstance(gaps, Deterministic):
        return mp.exp(-at * gaps.mean)
    if isinstance(gaps, Uniform):
        return (mp.exp(-at * gaps.low) - mp.exp(-at * gaps.high)) / (at * (mp.mpf(gaps.high) - mp.mpf(gaps.low)))
    return mp.fsum(mp.exp(-at * x) for x in gaps.values) / len(gaps.values)


def _room(n: Network, s: Queue) -> Values:
    """Up to 5000 places, more would take seconds."""
    assert s.capacity is not None
    a = mp.mpf(float(n.rate_per_s[0])) * mp.mpf(float(n.service_s[0, 0]))
    rate, name, cls = mp.mpf(float(n.rate_per_s[0])), s.name, n.classes[0]
    if s.capacity > 5000:
        return {}
    terms = [mp.mpf(1)]
    for k in range(1, s.capacity + 1):
        terms.append(terms[-1] * a / min(k, s.servers))
    total = mp.fsum(terms)
    lost, number = terms[-1] / total, mp.fsum(k * p for k, p in enumerate(terms)) / total
    through = rate * (1 - lost)
    return {Key(name, cls, "loss_probability"): lost, Key(name, cls, "throughput"): through,
            Key(name, cls, "queue_length"): number, Key(name, cls, "response_time"): number / through,
            Key(name, cls, "queue_length_probability", None, 0): terms[0] / total}  # fmt: skip


def _by_level(n: Network, s: Queue, level: np.ndarray, preemptive: bool) -> Values:
    rate = [mp.mpf(float(x)) for x in n.rate_per_s]
    mean = [mp.mpf(float(x)) for x in n.service_s[0]]
    second = [mp.mpf(float(d.second)) if d is not None else mp.mpf(0) for d in n.service[0]]
    work = [r * b2 / 2 for r, b2 in zip(rate, second, strict=True)]
    load = [r * b for r, b in zip(rate, mean, strict=True)]
    found: Values = {}
    for c, name in enumerate(n.classes):
        above = mp.fsum(x for x, k in zip(load, level, strict=True) if k < level[c])
        upto = mp.fsum(x for x, k in zip(load, level, strict=True) if k <= level[c])
        ahead = mp.fsum(x for x, k in zip(work, level, strict=True) if k <= level[c] or not preemptive)
        wait = ahead / (1 - above) / (1 - upto)
        response = wait + (mean[c] / (1 - above) if preemptive else mean[c])
        found[Key(s.name, name, "response_time")] = response
        found[Key(s.name, name, "waiting_time")] = response - mean[c]
        found[Key(s.name, name, "queue_length")] = rate[c] * response
    return found
