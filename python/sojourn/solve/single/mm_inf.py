"""M/G/inf: a delay with Poisson arrivals; the number present is Poisson whatever the distribution of the delay.

Source: Kleinrock, Queueing Systems vol. 1 (1975), p. 101; Ross, Introduction to Probability Models, 10th ed. (2010),
Section 5.3 (thinning of a Poisson process). a = lambda/mu is the mean and the variance of the number present.
Stable: p(n) by scipy's Poisson law. Limits: none on the rate; never unstable.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from sojourn.model.network_arrays import Array, Network
from sojourn.solve.method import Method, RequestedOutputs
from sojourn.solve.single import service_transforms
from sojourn.solve.single.poisson_distribution import poisson
from sojourn.solve.single.station_arrays import StationArrays, refusal
from sojourn.solve.single.station_solution import ExtraRows, probabilities
from sojourn.solve.solution import Solution


def number_probabilities(offered: ArrayLike, most: int) -> Array:
    """P(N = 0 … most), points x (most + 1), for `offered` erlangs."""
    return poisson(np.arange(most + 1), np.atleast_1d(np.asarray(offered, float))[:, None])


def refuses(n: Network) -> str | None:
    return refusal(n, kind="delay")


def run(networks: Sequence[Network], wanted: RequestedOutputs) -> Solution:
    read = StationArrays(networks)
    rows = ExtraRows(networks, ["ok"] * len(networks), wanted)
    number = read.rate * read.service_s
    rows.put("queue_length_variance", number.sum(axis=1))
    if number.shape[1] > 1:
        rows.put("queue_length_variance", number)
    rows.put("response_time_variance", read.second - read.service_s**2)
    for q in wanted.quantiles:
        table = [[service_transforms.quantile_s(d, q) for d in row] for row in read.services]
        rows.put("response_time_quantile", np.array(table), q=q)
    if wanted.state_probabilities is not None:
        probabilities(rows, number_probabilities(number.sum(axis=1), wanted.state_probabilities))
    return Solution(
        read.rate, number[:, None, :], np.full_like(number, np.nan)[:, None, :],
        residence_s=read.service_s[:, None, :], more=rows.made,
    )  # fmt: skip


METHOD = Method(
    name="mg-inf",
    title="M/G/inf: a delay, number present Poisson",
    exact=True,
    sources=("L. Kleinrock: Queueing Systems, vol. 1. Wiley 1975, p. 101",),
    refuses=refuses,
    run=run,
    cost_s=lambda n: 1e-4,
)
