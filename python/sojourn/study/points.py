"""The runs of a study that has points: how often each, in which order, kept as soon as known; for every kind of study.

A point is a frozen dataclass with a `name` (its folder: all that makes it what it is), a `repetition` and `seconds`; what
a run says is a row, a dataclass of text, whole numbers, numbers (NaN: this system has no such part) and truths.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import polars as pl

from sojourn.design.make.order import ordered

KINDS = {"str": pl.String, "int": pl.Int64, "float": pl.Float64, "bool": pl.Boolean}
Point = TypeVar("Point", bound=Any)
Row = TypeVar("Row", bound=Any)


class Factors:
    """What points of every kind can say."""

    @property
    def factors(self) -> dict[str, Any]:
        """All but how long it takes."""
        found = asdict(self)  # type: ignore[call-overload]
        found.pop("seconds")
        return dict(found)


def run_seed(seed: int, name: str) -> int:
    """A seed of its own for each run, the same whenever the study is repeated."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{name}".encode()).digest()[:6], "big")


def shuffled(points: Iterable[Point], repetitions: int, seed: int) -> list[Point]:
    """Each point `repetitions` times, one block a repetition, at random within."""
    found = list(points)
    if not found:
        return []
    order = ordered([{"at": k} for k in range(len(found))], repetitions, seed)
    return [replace(found[row["at"]], repetition=row["repetition"]) for row in order.to_dicts()]


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


def frame(kind: type[Any], rows: Iterable[Any]) -> pl.DataFrame:
    """All rows with every column of `kind`, also where there is no row."""
    schema = {field.name: KINDS[str(field.type)] for field in fields(kind)}
    return pl.DataFrame([asdict(row) for row in rows], schema=schema)


def by_configuration(
    seen: pl.DataFrame, configuration: Sequence[str], then: Sequence[str] = ("repetition",)
) -> list[tuple[dict[str, Any], pl.DataFrame]]:
    """The rows of each configuration (all sections together), ordered, within it by `then`."""
    found = seen.sort(*configuration, *then).partition_by(configuration, as_dict=True, maintain_order=True)
    return [(dict(zip(configuration, key, strict=True)), rows) for key, rows in found.items()]


def kept(path: Path, kind: type[Row], run: Callable[[], Row]) -> tuple[Row, bool]:
    """The row in `path`, or that of a run, then kept there; and whether it was run now."""
    if path.exists():
        known: dict[str, Any] = json.loads(path.read_text())
        return kind(**(known | {name: math.nan for name, value in known.items() if value is None})), False
    row = run()
    path.parent.mkdir(exist_ok=True)
    temporary = path.with_suffix(".tmp")
    clean = {k: None if isinstance(v, float) and v != v else v for k, v in asdict(row).items()}
    temporary.write_text(json.dumps(clean) + "\n")
    temporary.replace(path)
    return row, True
