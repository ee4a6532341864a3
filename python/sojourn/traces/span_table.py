"""Spans as columns, whoever wrote them: what a reader gives for each, and all of them together."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sojourn.errors import InputError

MOST_SPANS = 2_000_000  # some 60 bytes each, and as much again while they are linked
MOST_NAMES = 10_000  # of operations; what comes after them is one, OTHER
MOST_SERVICES = 1000
MOST_TEXT = 200  # characters of a name
OTHER = "(other)"
INTERNAL, SERVER, CLIENT, PRODUCER, CONSUMER = 1, 2, 3, 4, 5  # SpanKind of OTLP
UNKNOWN_NS = -1
LATEST_NS = 2**62  # the year 2116
REMEDY = "give a part of it, such as an hour, or a sample of whole traces (by trace id)"


class RawSpan(NamedTuple):
    """One span of a file. `parent`: "" of a root; `called`: what the client's side of a call names, "" for none; times in ns since
    1970, or UNKNOWN_NS; `probability`: with which its trace was kept, None where the span does not say."""

    trace: str
    span: str
    parent: str
    service: str
    operation: str
    kind: int
    called: str
    start_ns: int
    end_ns: int
    probability: float | None


@dataclass(frozen=True)
class SpanTable:
    """All spans, (spans,) each, in the order of the files. `trace`: number of the trace; `span`, `parent`: 64-bit ids, parent 0 for none;
    `service`, `operation`: indices into the lists; `called`: index into `services`, -1 for none; `probability`: NaN where nobody
    said it."""

    services: tuple[str, ...]
    operations: tuple[str, ...]
    traces: int
    trace: NDArray[np.int64]
    span: NDArray[np.uint64]
    parent: NDArray[np.uint64]
    service: NDArray[np.int64]
    operation: NDArray[np.int64]
    called: NDArray[np.int64]
    kind: NDArray[np.int64]
    start_ns: NDArray[np.int64]
    end_ns: NDArray[np.int64]
    probability: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.trace)


class SpanTableBuilder:
    """Takes spans one by one, and holds numbers of them only."""

    def __init__(self) -> None:
        self.services: dict[str, int] = {}
        self.operations: dict[str, int] = {}
        self.trace_numbers: dict[bytes, int] = {}
        self.columns: dict[str, array[Any]] = {
            name: array(code)
            for name, code in [
                ("trace", "q"), ("span", "Q"), ("parent", "Q"), ("service", "i"), ("operation", "i"), ("called", "i"),
                ("kind", "b"), ("start_ns", "q"), ("end_ns", "q"), ("probability", "d"),
            ]
        }  # fmt: skip

    def add(self, raw: RawSpan, place: str) -> None:
        """Raises InputError where there are too many spans or services."""
        held = self.columns
        if len(held["span"]) >= MOST_SPANS:
            raise InputError(f"more than {MOST_SPANS} spans", place, REMEDY)
        timed = 0 <= raw.start_ns <= raw.end_ns <= LATEST_NS
        held["trace"].append(self.trace_numbers.setdefault(_bytes(raw.trace, 16), len(self.trace_numbers)))
        held["span"].append(_number(raw.span))
        held["parent"].append(_number(raw.parent) if raw.parent else 0)
        held["service"].append(self._service(raw.service, place))
        held["operation"].append(self._operation(raw.operation))
        held["called"].append(self._service(raw.called, place) if raw.called else -1)
        held["kind"].append(raw.kind)
        held["start_ns"].append(raw.start_ns if timed else UNKNOWN_NS)
        held["end_ns"].append(raw.end_ns if timed else UNKNOWN_NS)
        held["probability"].append(np.nan if raw.probability is None else raw.probability)

    def _service(self, name: str, place: str) -> int:
        name = name[:MOST_TEXT]
        if name not in self.services and len(self.services) >= MOST_SERVICES:
            raise InputError(f"more than {MOST_SERVICES} services", place, "give the traces of one application")
        return self.services.setdefault(name, len(self.services))

    def _operation(self, name: str) -> int:
        name = name[:MOST_TEXT] or "(no name)"
        if name not in self.operations and len(self.operations) >= MOST_NAMES:
            name = OTHER
        return self.operations.setdefault(name, len(self.operations))

    def table(self) -> SpanTable:
        """All that was added."""
        wide = {"i": np.int64, "b": np.int64}
        arrays = {
            name: np.asarray(column).astype(wide.get(column.typecode, column.typecode))
            for name, column in self.columns.items()
        }
        return SpanTable(tuple(self.services), tuple(self.operations), len(self.trace_numbers), **arrays)


def _bytes(text: str, size: int) -> bytes:
    """An id in hexadecimal as its bytes, whatever its case; any other text as a digest of so many bytes."""
    if len(text) <= 2 * size:
        try:
            return (
                int(text, 16).to_bytes(size) if "_" not in text else blake2b(text.encode(), digest_size=size).digest()
            )
        except (ValueError, OverflowError):
            pass
    return blake2b(text.encode(errors="replace"), digest_size=size).digest()


def _number(text: str) -> int:
    return int.from_bytes(_bytes(text, 8))
