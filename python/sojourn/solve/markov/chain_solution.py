"""From the measures of a chain to a `Solution`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sojourn.model.network_arrays import Array, Network
from sojourn.model.network_points import as_points
from sojourn.solve.markov.network_chain import differ_in_speeds
from sojourn.solve.method import RequestedOutputs
from sojourn.solve.solution import Solution

LITTLE = 1e-9


@dataclass(frozen=True)
class ChainMeasures:
    """What one network's chain says; `measures` by the names of `NetworkChain.measure`, empty where there is none."""

    status: str
    text: str
    measures: dict[str, Any]
    truncation: float = 0.0  # share of a number that lies beyond the bound on the open customers, at most
    ratio: float = 0.0  # by which the probability falls from one number of open customers to the next, far out
    piled_up: bool = False
    states: int = 0

    @staticmethod
    def unstable(text: str) -> ChainMeasures:
        return ChainMeasures("unstable", text, {})

    @staticmethod
    def of(
        measures: dict[str, Any], states: int, most_open: int, residual: float, converged: bool, apart: float = 0.0
    ) -> ChainMeasures:
        levels = np.array(measures["open"])
        ratio = falling(levels) if len(levels) > most_open else 0.0
        beyond = truncation(levels, ratio, measures)
        text = f"{states} states, residual {residual:.1e}"
        if apart > 0:
            text += f"; from two starting points the numbers differ by {apart:.1e}"
        if beyond > 0:
            text += f"; more than {most_open} open customers at once would not change any number by more than a share of {beyond:.1e} of it"
        piled_up = bool(levels[3 * len(levels) // 4 :].sum() > 0.9)
        return ChainMeasures("ok" if converged else "not_converged", text, measures, beyond, ratio, piled_up, states)


def falling(levels: Array) -> float:
    """p(n + 1)/p(n) over the last quarter of `levels`, p(0) … p(N): of a stable network the tail is geometric."""
    most = len(levels) - 1
    quarter = max(3 * most // 4, 1)
    if levels[-1] == 0:
        return 0.0
    ratio = (
        float((levels[-1] / levels[quarter]) ** (1 / (most - quarter))) if levels[quarter] > 0 < most - quarter else 1.0
    )
    # rounding: so little in the last quarter does not stay as it is beyond
    return min(ratio, 1 - 1 / most) if levels[quarter:].sum() < LITTLE else ratio


def truncation(levels: Array, ratio: float, measures: dict[str, Any]) -> float:
    """What is beyond the last of `levels`, as a share of the smallest number that is told of it: present or waiting at a
    station (a wait below 1e-9 of a response counts as that), second moments, losses; infinite for ratio >= 1."""
    if ratio == 0 or ratio >= 1:
        return 0.0 if ratio == 0 else np.inf
    n = np.arange(len(levels))
    rest, mean = levels[-1] * ratio / (1 - ratio), n[-1] + 1 / (1 - ratio)
    second = mean**2 + ratio / (1 - ratio) ** 2
    present, line, lost = (np.array(measures[name]) for name in ("present", "line", "lost"))
    numbers = np.concatenate([present, np.where(line > 0, np.maximum(line, LITTLE * present), 0.0)])
    done = float(np.array(measures["done"]).sum())
    return float(max(
        rest * mean / numbers[numbers > 0].min(initial=np.inf), rest * second / (levels @ n**2),
        rest * done / lost[lost > 0].min(initial=np.inf), rest,
    ))  # fmt: skip


def answer(networks: Sequence[Network], found: Sequence[ChainMeasures], wanted: RequestedOutputs) -> Solution:
    """All points as one solution."""
    n, points = networks[0], len(networks)
    shape = (points, len(n.stations), len(n.classes))
    queue, busy, rate, loss, line, blocked = (np.full(shape, np.nan) for _ in range(6))
    held = networks[0].blockable
    through, outside = np.full((points, shape[2]), np.nan), np.zeros((points, shape[2]))
    refused = np.zeros((points, shape[2]))  # 1/s of each class that are lost anywhere
    more: list[dict[str, Any]] = []
    every = as_points(networks)
    alike = differ_in_speeds(every)  # of which nothing here depends
    for i, point in enumerate(found):
        if not point.measures:
            continue
        network = every.bases[every.which[i]] if alike else every[i]
        m = {
            name: np.array(point.measures[name]).reshape(-1, shape[2])
            for name in ("present", "square", "busy", "line", "blocked", "done", "lost")
        }
        queue[i], rate[i], line[i] = m["present"][:-1], m["done"][:-1], m["line"][:-1]
        blocked[i, held] = m["blocked"][held]
        busy[i] = m["busy"][:-1] / _servers(network)[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            loss[i] = m["lost"][:-1] / (m["lost"] + m["done"])[:-1]
        through[i] = _passes(network, np.array(point.measures["exit"]))
        refused[i] = m["lost"][:-1].sum(axis=0) + np.array(point.measures["limit_lost"]).reshape(-1, shape[2]).sum(
            axis=0
        )
        outside[i] = np.array(point.measures["waiting"]).reshape(-1, shape[2]).sum(axis=0)
        more += _more(network, point.measures, i, wanted) if wanted.further else []
    with np.errstate(divide="ignore", invalid="ignore"):
        waiting, stuck = line / rate, blocked / rate
    bases = every.bases  # what is lost does not depend on numbers
    lossy = any(np.isfinite(x.capacity).any() for x in bases)
    closing = any(limit.on_full == "lose" for x in bases for limit in x.limits)
    status = [point.status for point in found]
    return Solution(
        through, queue, busy, status if set(status) != {"ok"} else [], waiting_s=waiting,
        blocked_s=stuck if held else None, visit_rate=rate, lost_late=any(map(lost_late, bases)),
        lost_per_s=refused if lossy or closing else None, loss=loss if lossy else None,
        outside=outside if any(x.limits for x in bases) else None, more=more,
        message="; ".join(dict.fromkeys(point.text for point in (found if points < 4 else found[-1:]))),
    )  # fmt: skip


def lost_late(network: Network) -> bool:
    """Whether a pass may be lost after it has been at a station."""
    classes, stations = len(network.classes), len(network.stations)
    if not network.limits and np.isinf(network.capacity).all():
        return False
    routes = network.route[: stations * classes].reshape(stations, classes, stations + 1, classes)
    into = np.asarray((routes > 0).any(axis=(1, 3)))
    full = np.isfinite(network.capacity) & np.array([what == "lose" for what in network.on_full])
    if into[:, :stations][:, full].any():
        return True
    for limit in network.limits:  # who moves inside a limit is not lost there
        within = np.isin(np.arange(stations), limit.stations)
        if limit.on_full == "lose" and into[~within][:, :stations][:, within].any():
            return True
    return False


def _servers(network: Network) -> Array:
    """Servers by station, NaN for delays; the branches of a fork-join."""
    return np.array([
        np.nan if kind == "delay" else getattr(network.model.station(network.stations[k]), "branches", 1)
        if kind == "fork_join" else network.servers[k] for k, kind in enumerate(network.kind)
    ], float)  # fmt: skip


def _passes(network: Network, ended: Array) -> Array:
    """Passes/s by the class that they begin as: in a closed chain as many as end, in an open one by their shares."""
    if len(network.classes) == 1:
        return ended
    whole, alone = ended @ network.same_chain, network.same_chain.sum(axis=0) == 1
    return np.where(network.closed | alone, ended, whole * network.passes)


def _more(network: Network, m: dict[str, Any], point: int, wanted: RequestedOutputs) -> list[dict[str, Any]]:
    """Variances, p(n), and the rows of pools and regions."""
    rows: list[dict[str, Any]] = []
    classes = len(network.classes)

    def row(station: str, cls: str, metric: str, value: float, **key: Any) -> None:
        rows.append({"station": station, "class": cls, "metric": metric, "value": float(value), "point": point, **key})

    for k, name in enumerate(network.stations):
        p = np.array(m["numbers"][k])
        n = np.arange(len(p))
        mean = p @ n
        there = np.flatnonzero(network.visits[k])
        names = ["", network.classes[there[0]]] if len(there) == 1 else [""]
        for cls in names:
            row(name, cls, "queue_length_variance", p @ (n - mean) ** 2)
            for i in range(0 if wanted.state_probabilities is None else min(len(p), wanted.state_probabilities + 1)):
                row(name, cls, "queue_length_probability", p[i], n=i)
        for c in there if len(there) > 1 else ():
            at = k * classes + int(c)
            row(name, network.classes[c], "queue_length_variance", max(m["square"][at] - m["present"][at] ** 2, 0.0))
    for i, limit in enumerate(network.limits):
        row(limit.name, "", "utilisation", m["held"][i] / limit.size)
        inside = np.array([[m["present"][k * classes + c] for c in range(classes)] for k in limit.stations]).sum(axis=0)
        known = abs(inside.sum() - m["held"][i]) < 1e-9 * limit.size  # else some hold this one and wait for another
        for c in (None, *range(classes)):
            own = slice(i * classes, (i + 1) * classes) if c is None else slice(i * classes + c, i * classes + c + 1)
            come, waited, gone, waiting = (
                float(m[x][own].sum()) for x in ("limit_tried", "limit_waited", "limit_lost", "waiting")
            )
            if not come:
                continue
            cls = "" if c is None else network.classes[c]
            row(limit.name, cls, "throughput", come - gone)
            if c is None or known:
                row(limit.name, cls, "queue_length", waiting + (m["held"][i] if c is None else inside[c]))
            row(limit.name, cls, "waiting_time", waiting / (come - gone) if come > gone else 0.0)
            row(limit.name, cls, "waiting_probability", waited / come)
            if limit.on_full == "lose":
                row(limit.name, cls, "loss_probability", gone / come)
    return rows
