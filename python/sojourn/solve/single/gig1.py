"""GI/G/1: gaps between arrivals and services of any two distributions, first come first served.

Source and method: `lindley_grid`. Exact but for the grid: against PH/PH/1, M/G/1 and G/M/1 at loads of 0.1 to 0.999, means and
variances are off by less than 3e-6, quantiles by 5e-5 of the mean response, P(W > 0) by 6e-5 (`tests/cross/test_gig1.py`). Limits:
one server, one class; refused where the grid would be too long (heavy tails, loads very near 1), where waits are lost in
rounding (services a 1000th of the gaps, say), and where both times take only certain values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from sojourn.errors import MethodRefused
from sojourn.model.distribution_registry import Deterministic, Distribution, Empirical
from sojourn.model.network_arrays import Array, Network
from sojourn.solve.method import Method, RequestedOutputs
from sojourn.solve.single import ggm
from sojourn.solve.single.lindley_grid import MOST, WaitGrid, grids
from sojourn.solve.single.station_arrays import StationArrays, refusal
from sojourn.solve.single.station_solution import OpenQueuePoints
from sojourn.solve.solution import Solution

Pair = tuple[WaitGrid, WaitGrid]  # cells of one and of half the width
LEAST_S, CELL_S = 2e-2, 2e-3  # measured, and a standard deviation of a step for each unit of drift


def refuses(n: Network) -> str | None:
    reason = refusal(n, disciplines=("fcfs",), single_server=True, one_class=True, poisson=False) or ggm.refuses(n)
    if reason is None and not isinstance(n.arrivals[0], Distribution):
        return "nobody arrives"
    atoms = all(isinstance(law, Deterministic | Empirical) for law in (n.arrivals[0], n.service[0][0]))
    return reason or ("service times and the gaps between arrivals take only certain values" if atoms else None)


def run(networks: Sequence[Network], wanted: RequestedOutputs) -> Solution:
    read = StationArrays(networks)
    answer = OpenQueuePoints(read, wanted)
    pairs = [_grids(n) if stable else None for n, stable in zip(networks, answer.stable, strict=True)]
    rows = answer.rows
    rows.put("waiting_probability", _each(pairs, lambda grid: grid.waits))
    spread = _each(pairs, lambda grid: grid.variance)
    rows.put("waiting_time_variance", spread)
    rows.put("response_time_variance", spread + read.second - read.service_s**2)
    for q in wanted.quantiles:
        rows.put("waiting_time_quantile", _each(pairs, partial(WaitGrid.quantile, q=q, response=False)), q=q)
        rows.put("response_time_quantile", _each(pairs, partial(WaitGrid.quantile, q=q, response=True)), q=q)
    return answer.solution(_each(pairs, lambda grid: grid.mean_s))


def _grids(n: Network) -> Pair:
    gap, service = n.arrivals[0], n.service[0][0]
    assert isinstance(gap, Distribution) and isinstance(service, Distribution), "refuses let it pass"
    found = grids(gap, service)
    if found is None:
        value = f"waits at station {n.stations[0]} are too long for a grid of {MOST} cells, or too short for one"
        raise MethodRefused(value, "method gig1", "use whitt, or sj.simulate(model), or `sojourn simulate`")
    return found


def _each(pairs: Sequence[Pair | None], read: Callable[[WaitGrid], float]) -> Array:
    """P x 1, without the error of the order of cell^2; 0 or more, as all that is read; NaN where there is no grid."""
    return np.array([[math.nan if p is None else max(0.0, (4 * read(p[1]) - read(p[0])) / 3)] for p in pairs])


def _cost_s(n: Network) -> float:
    """From the length of the grid that exponentially bounded waits need."""
    gap, service = n.arrivals[0], n.service[0][0]
    if not (isinstance(gap, Distribution) and isinstance(service, Distribution)) or service.first >= gap.first:
        return LEAST_S
    deviation = math.sqrt(gap.scv * gap.first**2 + service.scv * service.first**2)
    return LEAST_S + CELL_S * deviation / (gap.first - service.first)


METHOD = Method(
    name="gig1",
    title="GI/G/1 FCFS: any gaps and any services, on a grid",
    exact=True,
    sources=(
        "M. H. Ackroyd: Computing the waiting time distribution for the G/G/1 queue by signal processing methods. IEEE "
        "Trans. Commun. COM-28(1), 1980, pp. 52-58",
        "W. K. Grassmann, J. L. Jain: Oper. Res. 37(1), 1989, pp. 141-150",
    ),
    refuses=refuses,
    run=run,
    cost_s=_cost_s,
)
