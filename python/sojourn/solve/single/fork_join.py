"""Fork-join: each job forks into tasks, one to each of B single-server FCFS queues, and ends when the last task has.

Source: L. Flatto, S. Hahn, SIAM J. Appl. Math. 44(5), 1984, pp. 1041-1053 (two queues); R. Nelson, A. N. Tantawi, IEEE
Trans. Computers 37(6), 1988, pp. 739-743: T_2 = (12 - rho)/8 x s/(1 - rho), and
T_B = (H_B/H_2 + 4/11 (1 - H_B/H_2) rho) T_2 with H_B = 1 + 1/2 + … + 1/B.

    source   here
    K        branches
    rho      load = lambda s of each branch

Exact for one and two branches; beyond, an approximation fitted to simulation, within 5 % for B <= 32 by its authors.
Stable: no subtraction but 1 - rho. Limits: Poisson arrivals, exponential tasks of one mean; means only. The number
present counts jobs, not tasks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from sojourn.model.components import ForkJoin
from sojourn.model.network_arrays import Array, Network
from sojourn.solve.method import Method, RequestedOutputs
from sojourn.solve.single.station_arrays import StationArrays, refusal
from sojourn.solve.single.station_solution import OpenQueuePoints
from sojourn.solve.solution import Solution


def response_s(rate_per_s: ArrayLike, service_s: ArrayLike, branches: ArrayLike) -> Array:
    """Mean time from fork to join, s; NaN at and above saturation; broadcasts."""
    s, b = np.asarray(service_s, float), np.asarray(branches, int)
    load = np.asarray(rate_per_s, float) * s
    load = np.where(load < 1, load, np.nan)
    harmonic = np.cumsum(1 / np.arange(1, int(b.max()) + 1))[b - 1]
    two = (12 - load) / 8 * s / (1 - load)
    many = (harmonic / 1.5 + 4 / 11 * (1 - harmonic / 1.5) * load) * two
    return np.where(b == 1, s / (1 - load), np.where(b == 2, two, many))


def _branches(n: Network) -> int:
    station = n.model.station(n.stations[0])
    return station.branches if isinstance(station, ForkJoin) else 0


def _refuses_exact(n: Network) -> str | None:
    reason = _refuses(n)
    return reason or (f"{_branches(n)} branches; it is exact for two" if _branches(n) > 2 else None)


def _refuses(n: Network) -> str | None:
    return refusal(n, kind="fork_join", disciplines=("fcfs",), exponential=True, one_service=True)


def run(networks: Sequence[Network], wanted: RequestedOutputs) -> Solution:
    read = StationArrays(networks)
    branches = np.array([_branches(n) for n in networks])
    found = response_s(read.total, read.mean_s, branches)
    answer = OpenQueuePoints(read, wanted, exact=int(branches.max()) <= 2)
    return answer.solution(found[:, None] - read.service_s)


EXACT = Method(
    name="fork-join",
    title="fork-join of two M/M/1 queues",
    exact=True,
    sources=("L. Flatto, S. Hahn: SIAM J. Appl. Math. 44(5), 1984, pp. 1041-1053",),
    refuses=_refuses_exact,
    run=run,
    cost_s=lambda n: 1e-4,
)
NELSON_TANTAWI = Method(
    name="nelson-tantawi",
    title="fork-join of any number of M/M/1 queues",
    exact=False,
    sources=("R. Nelson, A. N. Tantawi: IEEE Trans. Computers 37(6), 1988, pp. 739-743",),
    refuses=_refuses,
    run=run,
    cost_s=lambda n: 1e-4,
    rank=10,
)
