"""Rows and solution that M/M/m/K and machine repair share: a law of the number present, and who waits how long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sojourn.model.network_arrays import Array, Network
from sojourn.solve.method import RequestedOutputs
from sojourn.solve.single.birth_death import BirthDeathDistribution, FcfsWaitingTime
from sojourn.solve.single.station_arrays import quantile
from sojourn.solve.single.station_solution import ExtraRows, probabilities


@dataclass(frozen=True)
class FiniteQueuePoint:
    """One point: law of the number present, and the wait of those who enter (None where the discipline has none)."""

    law: BirthDeathDistribution
    wait: FcfsWaitingTime | None


def rows(networks: Sequence[Network], points: Sequence[FiniteQueuePoint], wanted: RequestedOutputs) -> ExtraRows:
    """Variance of the number, p(n), and all that is known of waiting and response."""
    made = ExtraRows(networks, ["ok"] * len(points), wanted)
    made.put("queue_length_variance", np.array([p.law.variance for p in points]))
    waits = [p.wait for p in points if p.wait is not None]
    if len(waits) == len(points):
        _times(made, waits, wanted)
    if wanted.state_probabilities is not None:
        probabilities(made, np.stack([p.law.at(np.arange(wanted.state_probabilities + 1)) for p in points]))
    return made


def _times(made: ExtraRows, waits: Sequence[FcfsWaitingTime], wanted: RequestedOutputs) -> None:
    def put(metric: str, values: list[float], **key: float) -> None:
        made.put(metric, np.repeat(np.array(values)[:, None], len(made.classes), axis=1), **key)

    put("waiting_probability", [w.probability for w in waits])
    put("waiting_time_variance", [w.variance for w in waits])
    put("response_time_variance", [w.variance + w.service_s**2 for w in waits])
    for q in wanted.quantiles:
        put("waiting_time_quantile", [waiting_quantile(w, q) for w in waits], q=q)
        put("response_time_quantile", [response_quantile(w, q) for w in waits], q=q)


def waiting_quantile(wait: FcfsWaitingTime, q: float) -> float:
    """s."""
    return float(quantile(wait.waiting_tail, q, _one(wait.mean_s + wait.service_s / wait.servers))[0])


def response_quantile(wait: FcfsWaitingTime, q: float) -> float:
    """s."""
    return float(quantile(wait.response_tail, q, _one(wait.mean_s + wait.service_s))[0])


def _one(value: float) -> Array:
    return np.array([value])
