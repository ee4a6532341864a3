"""What every answer must satisfy by itself, whatever the method: operational laws, order of quantiles, loads.

Little's law, the utilisation law, flow balance: Lazowska et al., Quantitative System Performance (1984), ch. 3.
Cantelli's inequality bounds a quantile by mean and variance: q-quantile <= mean + sd (q/(1 - q))^(1/2).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

import sojourn as sj
from agreement.rows import SHARES, Rows, number
from agreement.tolerance import load
from sojourn.model.network_arrays import Network

CLOSE = 1e-7
ROUGH = 0.05  # what `bound.verify` lets an approximation be off


def broken(model: sj.Model, table: Rows, status: str) -> list[str]:
    """Each law that does not hold, in words. Within rounding of saturation, and for what has not converged, ranges only."""
    n, spare = model.network, 1 - (load(model) or 0.0)
    slack = ROUGH if status == "approximate" else max(CLOSE, 1e-15 / spare if spare > 0 else 1.0)
    if status == "not_converged" or slack > ROUGH:
        return [*_ranges(table)]
    found = [*_ranges(table), *_little(n, table, slack), *_flow(n, table, slack), *_busy(n, table, slack)]
    return [*found, *_times(n, table, slack), *_quantiles(table), *_numbers(table), *_people(n, table, slack)]


def _apart(a: float, b: float, slack: float, floor: float = 0.0) -> bool:
    return abs(a - b) > slack * max(abs(a), abs(b)) + floor


def _ranges(table: Rows) -> Iterator[str]:
    for key, row in table.items():
        if row.value is None:
            if row.status == "ok":
                yield f"{key} is null with status ok"
            continue
        if not math.isfinite(row.value):
            yield f"{key} is {row.value}"
        elif row.value < 0:
            yield f"{key} is {row.value:.9g}, below 0"
        elif key.metric in SHARES and row.value > 1 + 1e-9:
            yield f"{key} is {row.value:.9g}, above 1"


def lossless(n: Network) -> bool:
    full = [k for k in np.flatnonzero(np.isfinite(n.capacity)) if n.on_full[k] == "lose"]
    return not full and not any(limit.on_full == "lose" for limit in n.limits)


def _little(n: Network, table: Rows, slack: float) -> Iterator[str]:
    """Of the system where all that come in get through, and where a pass is of one class."""
    for key, row in table.items():
        if key.metric != "queue_length" or row.value is None:
            continue
        if not key.station and (n.switches or (len(n.stations) > 1 and not lossless(n))):
            continue
        x, r = (number(table, m, key.station, key.cls) for m in ("throughput", "response_time"))
        if x is not None and r is not None and _apart(row.value, x * r, slack):
            yield f"Little at {key}: {row.value:.12g} present, X R = {x * r:.12g}"


def _flow(n: Network, table: Rows, slack: float) -> Iterator[str]:
    passes = [number(table, "throughput", cls=c) for c in n.classes]
    if any(x is None for x in passes) or number(table, "queue_length") is None or not lossless(n):
        return
    for c, name in enumerate(n.classes):
        x = float(passes[c] or 0.0)
        if not n.closed[c] and _apart(x, float(n.rate_per_s[c] if not n.switches else x), slack):
            yield f"throughput of {name} is {x:.12g}, and {n.rate_per_s[c]:.12g} arrive"
        whole = sum(float(passes[j] or 0.0) for j in np.flatnonzero(n.same_chain[c]))
        for k, station in enumerate(n.stations):
            seen = number(table, "throughput", station, name)
            if not n.choices and seen is not None and _apart(seen, whole * float(n.visits[k, c]), slack):
                yield f"flow at {station}/{name}: {seen:.12g}, passes x visits = {whole * n.visits[k, c]:.12g}"


def _busy(n: Network, table: Rows, slack: float) -> Iterator[str]:
    for k, station in enumerate(n.stations):
        if n.kind[k] != "queue":
            continue
        parts = [number(table, "throughput", station, c) for c in n.classes]
        told = number(table, "utilisation", station)
        if told is None:
            continue
        right = sum(float(x or 0.0) * float(n.service_s[k, c]) for c, x in enumerate(parts)) / int(n.servers[k])
        if _apart(told, right, slack, 1e-15):
            yield f"utilisation of {station} is {told:.12g}, X S / m = {right:.12g}"


def _times(n: Network, table: Rows, slack: float) -> Iterator[str]:
    """Response = wait + service + time blocked."""
    for k, station in enumerate(n.stations):
        for name in n.classes if n.kind[k] in ("queue", "delay") else ():
            r, w, s = (number(table, m, station, name) for m in ("response_time", "waiting_time", "service_time"))
            if r is None and w is not None:
                yield f"{station}/{name}: a wait of {w:.9g}, and no response"
            if r is None or w is None or s is None:
                continue
            whole = w + s + (number(table, "blocked_time", station, name) or 0.0)
            if _apart(r, whole, slack):
                yield f"{station}/{name}: response {r:.12g}, wait + service + blocked {whole:.12g}"


def _quantiles(table: Rows) -> Iterator[str]:
    by_place: dict[tuple[str, str, str], list[tuple[float, float]]] = {}
    for key, row in table.items():
        if key.q is not None and row.value is not None:
            by_place.setdefault(key[:3], []).append((key.q, row.value))
    for (station, cls, metric), found in by_place.items():
        found.sort()
        if any(b < a * (1 - 1e-9) for (_, a), (_, b) in pairwise(found)):
            yield f"{metric} at {station}/{cls} falls with q: {found}"
        mean, variance = (number(table, metric.replace("_quantile", x), station, cls) for x in ("", "_variance"))
        for q, value in found:
            if mean is not None and value > mean / (1 - q) * (1 + 1e-4):
                yield f"{metric} q={q:g} at {station}/{cls} is {value:.9g}, above mean/(1 - q), mean {mean:.9g}"
            if mean is None or variance is None:
                continue
            spread = math.sqrt(max(variance, 0.0))
            low, high = mean - spread * math.sqrt((1 - q) / q), mean + spread * math.sqrt(q / (1 - q))
            if not low - 1e-4 * mean <= value <= high + 1e-4 * mean:
                yield f"{metric} q={q:g} at {station}/{cls} is {value:.9g}; mean and variance say {low:.9g} … {high:.9g}"


def _numbers(table: Rows) -> Iterator[str]:
    by_place: dict[tuple[str, str], list[tuple[int, float]]] = {}
    for key, row in table.items():
        if key.n is not None and row.value is not None:
            by_place.setdefault(key[:2], []).append((key.n, row.value))
    for (station, cls), found in by_place.items():
        total, mean = sum(p for _, p in found), sum(n * p for n, p in found)
        if total > 1 + 1e-9:
            yield f"p(n) at {station}/{cls} sum to {total:.12g}"
        most = number(table, "queue_length", station, cls)
        if most is not None and mean > most * (1 + 1e-9) + 1e-12:
            yield f"p(n) at {station}/{cls} have {mean:.12g} present, {most:.12g} are told"
        rest = max(1 - total, 0.0)
        if most is not None and rest > 1e-9 and most < (mean + rest * len(found)) * (1 - 1e-9):
            yield f"p(n) at {station}/{cls} leave {rest:.9g} for n >= {len(found)}, and only {most:.9g} are told"


def _people(n: Network, table: Rows, slack: float) -> Iterator[str]:
    """Closed customers are somewhere: in the system or thinking."""
    for chain in set(n.chain[n.closed].tolist()):
        own = np.flatnonzero(n.chain == chain)
        there = 0.0
        for c in own:
            number_, x = number(table, "queue_length", cls=n.classes[c]), number(table, "throughput", cls=n.classes[c])
            if number_ is None or x is None:
                return
            there += number_ + x * float(n.think_s[c])
        if _apart(there, float(n.population[own].sum()), slack):
            yield f"{there:.12g} customers of {n.classes[own[0]]} are somewhere, of {n.population[own].sum()}"
