"""M/M/1 and M/M/m (also with room for K) at given times after a start with a given number present: uniformisation.

Source: A. Jensen, Skand. Aktuarietidskr. 36, 1953, pp. 87-91; Gross, Miller, Oper. Res. 32(2), 1984, pp. 343-361:
p(t) = sum over k of e^-Lt (Lt)^k/k! p(0) P^k with P = I + Q/L, L = lambda + m mu.

    source   here
    L        events_per_s, at least the rate out of any state
    P^k      k steps of a chain: one array operation each

Stable: probabilities times probabilities, nothing is subtracted. Without a limit K the states end where Poisson arrivals
lead within the time with probability 1 - 1e-16, so the cut is known. Limits: events_per_s x time <= 2 million steps, and
1e11 states x steps; beyond, a stationary method answers the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from sojourn.errors import InputError, MethodRefused
from sojourn.model import Model
from sojourn.model.network_arrays import Array
from sojourn.solve.single.station_arrays import refusal
from sojourn.table import Metrics

STEPS = 2_000_000
WORK = 1e11
LEFT = 1e-16  # probability that is cut off, of arrivals and of events


def state_probabilities(
    rate_per_s: float,
    service_s: float,
    servers: int,
    times_s: ArrayLike,
    *,
    start: int = 0,
    capacity: int | None = None,
) -> Array:
    """P(N(t) = n), times x states, n = 0 … capacity, or as far as arrivals can lead.

    rate_per_s >= 0, service_s > 0, servers >= 1, times_s >= 0 (1-d), start >= 0 present at time 0. Any load.
    """
    from scipy.stats import poisson  # slow to import

    times = np.atleast_1d(np.asarray(times_s, float))
    if not (np.all(np.isfinite(times)) and np.all(times >= 0)):
        raise InputError(times.tolist(), "times_s", "give finite times >= 0 in s")
    events = rate_per_s + servers / service_s
    most = start + int(poisson.isf(LEFT, rate_per_s * times.max(initial=0.0))) + 2
    most = most if capacity is None else capacity
    if start > most or start < 0:
        raise InputError(start, "start", f"give a whole number of 0 … {most}")
    steps = int(poisson.isf(LEFT, events * times.max(initial=0.0))) + 1
    if steps > STEPS or steps * float(most) > WORK:
        raise InputError(f"{steps} steps of {most + 1} states", "times_s", "give shorter times, or use solve")
    return _mixed(_chain(rate_per_s / events, np.minimum(np.arange(most + 1), servers) / service_s / events, start),
                  events * times, steps)  # fmt: skip


def _chain(up: float, down: Array, start: int) -> Iterator[Array]:
    """Laws after 0, 1, 2, … events; from the last state nobody goes up."""
    rise = np.full(len(down), up)
    rise[-1] = 0.0
    stay = 1 - rise - down
    law = np.zeros(len(down))
    law[start] = 1.0
    while True:
        yield law
        now = law * stay
        now[1:] += law[:-1] * rise[:-1]
        now[:-1] += law[1:] * down[1:]
        law = now


def _mixed(chain: Iterator[Array], events: Array, steps: int) -> Array:
    """Laws weighted by the Poisson number of events; weights in blocks, so that memory does not grow with the steps."""
    from scipy.stats import poisson  # slow to import

    found: Array | float = 0.0
    block = 1024
    for low in range(0, steps + 1, block):
        weights = poisson.pmf(np.arange(low, low + block), events[:, None])
        laws = np.stack([next(chain) for _ in range(block)])
        found = found + weights @ laws
    assert isinstance(found, np.ndarray)
    return found / found.sum(axis=1, keepdims=True)


def transient(model: Model, times_s: Sequence[float], *, start: int = 0, most: int | None = None) -> Metrics:
    """Number present, its variance, utilisation and P(an arrival would wait) at `times_s`, a column of the table.

    One queue, one open class, exponential service, Poisson arrivals, with or without a capacity; `start`: number present
    at time 0; `most`: P(N = 0 … most) as rows too. MethodRefused where the model is another.
    """
    network = model.network
    limited = bool(np.isfinite(network.capacity[0]))
    reason = refusal(network, exponential=True, one_class=True, limited=limited)
    if reason:
        raise MethodRefused(reason, "transient", "use solve for the steady state, or sj.simulate(model)")
    servers = int(network.servers[0])
    laws = state_probabilities(
        float(network.rate_per_s[0]), float(network.service_s[0, 0]), servers, times_s, start=start,
        capacity=int(network.capacity[0]) if limited else None,
    )  # fmt: skip
    rows = []
    for t, law in zip(np.atleast_1d(np.asarray(times_s, float)).tolist(), laws, strict=True):
        at = {"station": network.stations[0], "class": network.classes[0], "time_s": t}
        rows += [{**at, "metric": name, "value": value} for name, value in _measures(law, servers).items()]
        if most is not None:
            padded = np.concatenate([law, np.zeros(most + 1)])[: most + 1].tolist()
            rows += [{**at, "metric": "queue_length_probability", "n": n, "value": p} for n, p in enumerate(padded)]
    return Metrics.of(rows, "transient", message=f"at times after a start with {start} present, by uniformisation")


def _measures(law: Array, servers: int) -> dict[str, float]:
    n = np.arange(len(law))
    mean = float(law @ n)
    return {
        "queue_length": mean,
        "queue_length_variance": float(law @ (n - mean) ** 2),
        "utilisation": float(law @ np.minimum(n, servers)) / servers,
        "waiting_probability": float(law[servers:].sum()),
    }
