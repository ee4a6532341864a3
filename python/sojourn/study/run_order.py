"""In which order the runs of a study come, and with which seeds.

A point is a frozen dataclass with a `repetition`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

Point = TypeVar("Point", bound=Any)


def run_seed(seed: int, name: str) -> int:
    """A seed of its own for each run, the same whenever the study is repeated."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{name}".encode()).digest()[:6], "big")


def spread(points: Iterable[Point], seed: int) -> list[Point]:
    """All points in one order, at random, with the repetitions of each spread over the whole time: of n, the k-th falls
    into the k-th n-th of it. What drifts meanwhile then falls on all alike, whatever they are there for."""
    found, random = list(points), np.random.default_rng(seed)
    same = [replace(point, repetition=0) for point in found]
    of_each = {own: sorted(p.repetition for p, s in zip(found, same, strict=True) if s == own) for own in set(same)}

    def place(k: int) -> float:
        own = of_each[same[k]]
        return (own.index(found[k].repetition) + float(random.random())) / len(own)

    places = [place(k) for k in range(len(found))]
    return [found[k] for k in sorted(range(len(found)), key=places.__getitem__)]
