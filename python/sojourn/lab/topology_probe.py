"""How far cores are from each other, and memory from a core, as measured: what /sys cannot tell, and what a host that moves its guests'
processors changes from run to run.

Two pinned threads hand one cache line back and forth; a chain of cache lines in an order that no prefetcher follows is gone through in
memory of several sizes (crates/hostmetrics: `cache_line_transfer`, `pointer_chase`). A mean is taken over 200 hand-overs or 1024
accesses; of such batches the median counts, since a batch in which another program had the core is far off.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from sojourn import _native
from sojourn.errors import LabError

SIZES_BYTES = (16 << 10, 512 << 10, 4 << 20, 16 << 20, 128 << 20)
TRANSFER_BATCHES, ACCESS_BATCHES = 20, 10
PAIR_LIMIT_S = 0.02  # where another program has one of the cores
MOST_PAIRS = 64


@dataclass(frozen=True)
class BatchTimes:
    """Median of the batches and their quartiles, s; `batches`: how many."""

    median_s: float
    low_s: float
    high_s: float
    batches: int


@dataclass(frozen=True)
class TopologyProbe:
    """`transfer`: (core, core, one way; None where another program kept one of them busy). `access`: (bytes, of an access) on `core`.
    `measured_s`: how long it took, with laying out memory."""

    transfer: tuple[tuple[int, int, BatchTimes | None], ...]
    access: tuple[tuple[int, BatchTimes], ...]
    core: int
    measured_s: float

    @property
    def transfer_s(self) -> float | None:
        """The median over all pairs of cores; None of a single core."""
        known = [times.median_s for _, _, times in self.transfer if times is not None]
        return float(np.median(known)) if known else None

    @property
    def record(self) -> dict[str, Any]:
        """All of it as plain values for JSON."""
        return {
            "transfer_s": self.transfer_s,
            "transfer": [
                {"cores": [one, other], **(asdict(times) if times else {})} for one, other, times in self.transfer
            ],
            "access": [{"size_bytes": size, **asdict(times)} for size, times in self.access],
            "core": self.core,
            "measured_s": self.measured_s,
        }


def probe_topology(cores: Sequence[int], sizes_bytes: Sequence[int] = SIZES_BYTES) -> TopologyProbe:
    """Measures between all pairs of `cores` (of many an even choice of 64), and accesses on the first of them, in memory of `sizes_bytes`,
    powers of two. On two cores it takes about 0.1 s, most of it to lay memory out.

    Raises:
        LabError: no core, one that cannot be used, or no memory for the largest size.
    """
    if not cores:
        raise LabError("no core", "topology probe", "give at least one")
    start_s = time.monotonic()
    try:
        transfer = tuple((one, other, _transfer(one, other)) for one, other in _pairs(cores))
        chased = _native.pointer_chase(cores[0], list(sizes_bytes), ACCESS_BATCHES)
    except OSError as error:
        remedy = "choose cores that nproc and taskset show, and sizes that are powers of two and fit into memory"
        raise LabError(str(error), f"topology probe of cores {', '.join(map(str, cores))}", remedy) from None
    access = tuple((size, _times(batches)) for size, batches in zip(sizes_bytes, chased, strict=True))
    return TopologyProbe(transfer, access, cores[0], time.monotonic() - start_s)


def _pairs(cores: Sequence[int]) -> list[tuple[int, int]]:
    pairs = list(combinations(sorted(cores), 2))
    if len(pairs) <= MOST_PAIRS:
        return pairs
    return [pairs[k] for k in np.linspace(0, len(pairs) - 1, MOST_PAIRS).round().astype(int)]


def _transfer(one: int, other: int) -> BatchTimes | None:
    batches = _native.cache_line_transfer(one, other, TRANSFER_BATCHES, PAIR_LIMIT_S)
    return _times(batches) if batches else None


def _times(batches: Sequence[float]) -> BatchTimes:
    low, median, high = np.quantile(batches, (0.25, 0.5, 0.75))
    return BatchTimes(float(median), float(low), float(high), len(batches))
