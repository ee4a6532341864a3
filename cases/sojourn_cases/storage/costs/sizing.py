"""What a wanted rate of I/Os needs: I/Os per core, cores, and the response time of the CPU as M/M/m.

Source: the storage post of the fifth source document, step 5. Letters: S CPU time of an I/O, X wanted rate: X S cores are kept busy; m
the least whole number of cores above it. Response as `sojourn.solve.single.mmm`: Poisson arrivals, exponential service; the interval of S
gives those of the rest, which grow with it. CPU that fits, and no more: disks and links have limits of their own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from sojourn.errors import DesignError, InputError
from sojourn.solve import MMm
from sojourn.units import USUAL_LEVEL
from sojourn_cases.storage.costs.cost_per_io import CpuCostPerIo, cost_per_io
from sojourn_cases.storage.costs.published_cost import is_published, published_cost
from sojourn_cases.storage.costs.storage_run_list import read_storage_runs

RUNS = "storage_runs.csv"
MOST_IOPS, MOST_CORES = 1e12, 100_000
Range = tuple[float | None, float | None]


@dataclass(frozen=True)
class StoragePathSizing:
    """Of one path. `per_core` I/Os that a core can pay for, 1/s; `busy` cores kept busy; `cores` whole ones that this needs;
    `utilisation` and `response_s` on `servers` cores (None: they do not suffice). Each with the range that the cost's interval gives
    (None: the cost has none, or it has no end)."""

    cost: CpuCostPerIo
    iops: float
    per_core: float
    per_core_range: Range
    busy: float
    busy_range: Range
    cores: int
    cores_range: tuple[int | None, int | None]
    servers: int
    utilisation: float
    response_s: float | None
    response_range: Range


def size_storage(
    source: Path | str, iops: float, cores: int | None = None, read: float | None = None, level: float = USUAL_LEVEL
) -> list[StoragePathSizing]:
    """Of each path in `source`: a run list with `cpu_cores`, a folder that has one, or a table of published coefficients. `cores`: on
    how many the response time is told, else as many as the rate needs. `read`: share of reads, else the middle of those run (of
    published coefficients: none).

    Raises:
        DesignError: nothing there to size from. InputError: a rate or a number of cores out of range.
    """
    if not (math.isfinite(iops) and 0 < iops <= MOST_IOPS):
        raise InputError(iops, "iops", f"give a rate above 0, at most {MOST_IOPS:g}/s")
    if cores is not None and not 1 <= cores <= MOST_CORES:
        raise InputError(cores, "cores", f"give a whole number from 1 to {MOST_CORES}")
    return [size_path(cost, iops, cores) for cost in costs_of(source, read, level)]


def costs_of(source: Path | str, read: float | None = None, level: float = USUAL_LEVEL) -> list[CpuCostPerIo]:
    """The costs in `source`. DesignError as `size_storage`."""
    path = Path(source)
    if path.is_dir():
        path = path / RUNS
    if is_published(path):
        return published_cost(path, read or 0.0)
    return cost_per_io(read_storage_runs(path), None if read is None else {"read": read}, level)


def size_path(cost: CpuCostPerIo, iops: float, cores: int | None = None) -> StoragePathSizing:
    """One path at one rate. DesignError where its cost is not above 0."""
    if cost.seconds <= 0:
        raise DesignError(
            f"{cost.seconds:.3g} s an I/O",
            f"path {cost.path}",
            "check the background: it is larger than the CPU that the runs used",
        )
    low, high = cost.low, cost.high
    needed = whole_cores(iops * cost.seconds)
    servers = cores or needed
    respond = lambda s: None if s is None or s <= 0 else _response(iops, s, servers)  # noqa: E731
    scaled = lambda s: None if s is None else max(iops * s, 0.0)  # noqa: E731
    whole = lambda s: None if s is None else whole_cores(max(iops * s, 0.0))  # noqa: E731
    inverse = lambda s: 1 / s if s is not None and s > 0 else None  # noqa: E731
    return StoragePathSizing(
        cost, iops, cost.per_core, (inverse(high), inverse(low)), iops * cost.seconds, (scaled(low), scaled(high)),
        needed, (whole(low), whole(high)), servers, iops * cost.seconds / servers,
        respond(cost.seconds), (respond(low), respond(high)),
    )  # fmt: skip


def whole_cores(busy: float) -> int:
    """Least whole number above `busy`: as many cores as are busy would never catch up."""
    return math.floor(busy) + 1


def _response(rate: float, service_s: float, servers: int) -> float | None:
    return float(MMm(rate, service_s, servers).response_s[0]) if rate * service_s < servers else None
