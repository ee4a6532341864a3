"""What the table of a sweep needs of its networks, as arrays: points that are solved apart are put together again by them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sojourn.model.network_arrays import Array, Network
from sojourn.model.network_points import stacked

NAMES = ("visits", "service_s", "rate_per_s", "servers", "background")


@dataclass(frozen=True)
class PointArrays:
    """P points of K stations and C classes; `first` is the network of one of them, for its names and kinds."""

    first: Network
    visits: Array  # P x K x C
    service_s: Array  # P x K x C
    rate_per_s: Array  # P x C, from outside
    servers: Array  # P x K
    background: Array  # P x K, of them, busy with other work

    def __len__(self) -> int:
        return len(self.visits)

    @classmethod
    def of(cls, networks: Sequence[Network]) -> PointArrays:
        return cls(networks[0], *(stacked(networks, name) for name in NAMES))

    @classmethod
    def joined(cls, first: Network, parts: Sequence[StretchArrays]) -> PointArrays:
        """Stretches of points end to end."""
        counts = [part.count for part in parts]
        return cls(
            first, *(_end_to_end(arrays, counts) for arrays in zip(*(part.arrays for part in parts), strict=True))
        )


@dataclass(frozen=True)
class StretchArrays:
    """The arrays of `PointArrays`, of `count` points, as they travel: what all points share has a first axis of 1."""

    count: int
    arrays: tuple[Array, ...]

    @classmethod
    def of(cls, networks: Sequence[Network]) -> StretchArrays:
        every = [stacked(networks, name) for name in NAMES]
        return cls(len(networks), tuple(array if array.strides[0] else array[:1] for array in every))


def _end_to_end(arrays: Sequence[Array], counts: Sequence[int]) -> Array:
    first = arrays[0]
    if len(first) == 1 and all(len(array) == 1 and np.array_equal(array, first, equal_nan=True) for array in arrays):
        return np.broadcast_to(first, (sum(counts), *first.shape[1:]))
    whole: list[Any] = [np.broadcast_to(a, (count, *a.shape[1:])) for a, count in zip(arrays, counts, strict=True)]
    return np.concatenate(whole)
