"""What every node of a query's tree has: its type, its children, its place in the text; and numbers with their units."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import ClassVar

SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
PER_SECOND = {"/s": 1.0, "/min": 1 / 60, "/h": 1 / 3600}
SCALES = {**SECONDS, **PER_SECOND, "%": 0.01, "": 1.0}


@dataclass(frozen=True)
class Span:
    """Where in the text: `start` and `end` in characters from 0, `line` and `column` from 1."""

    start: int
    end: int
    line: int
    column: int


@dataclass(frozen=True)
class Node:
    """One node. `gives`: its type, "" where that is its child's."""

    gives: ClassVar[str] = ""
    at: Span | None = field(default=None, compare=False, repr=False, kw_only=True)

    def children(self) -> Iterator[tuple[str, Node]]:
        """(role, child), in order."""
        for one in fields(self):
            value = getattr(self, one.name)
            for child in value if isinstance(value, tuple) else (value,):
                if isinstance(child, Node):
                    yield one.name, child


@dataclass(frozen=True)
class Num(Node):
    """A number as written in the query: `value` in `unit`."""

    gives = "num"
    value: float
    unit: str = ""

    @property
    def si(self) -> float:
        """In SI units."""
        return self.value * SCALES[self.unit] if math.isfinite(self.value) else self.value

    @property
    def dimension(self) -> int:
        """Power of the second: 1 a time, -1 a rate, 0 a number."""
        return 1 if self.unit in SECONDS else -1 if self.unit in PER_SECOND else 0
