"""Kinds of requests: the name of a request's first span, with the service's where two services have such a name."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

import numpy as np

from sojourn.traces.linked_spans import Index, LinkedSpans
from sojourn.traces.span_table import SpanTable

MOST_CLASSES = 20
REST = "other"


@dataclass(frozen=True)
class RequestClasses:
    """`names`: as a model file has them; `of` (requests,): index of each of `linked.roots`; `grouped`: kinds that are together in
    `other`."""

    names: tuple[str, ...]
    of: Index
    grouped: int


def request_classes(table: SpanTable, linked: LinkedSpans) -> RequestClasses:
    """The most frequent kinds, at most MOST_CLASSES; from there on the rest is one."""
    pairs = np.column_stack([table.service[linked.roots], table.operation[linked.roots]])
    kinds, of, counts = np.unique(pairs, axis=0, return_inverse=True, return_counts=True)
    rank = np.argsort(-counts, kind="stable")
    kept = rank if len(rank) <= MOST_CLASSES else rank[: MOST_CLASSES - 1]
    number = np.full(len(kinds), len(kept))
    number[kept] = np.arange(len(kept))
    told = [(table.services[kinds[k, 0]], table.operations[kinds[k, 1]]) for k in kept.tolist()]
    many = Counter(operation for _, operation in told)
    names = [operation if many[operation] == 1 else f"{service} {operation}" for service, operation in told]
    grouped = len(kinds) - len(kept)
    names += [REST] if grouped else []
    return RequestClasses(unique_names(names), number[of.ravel()], grouped)


def unique_names(names: list[str]) -> tuple[str, ...]:
    """Names that a model file can have as keys, no two alike."""
    found: list[str] = []
    for name in names:
        plain = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")[:60]
        plain = plain if plain and not plain[0].isdigit() else f"class_{plain}".rstrip("_")
        wanted, number = plain, 2
        while plain in found or plain in ("source", "exit", "think"):
            plain, number = f"{wanted}_{number}", number + 1
        found.append(plain)
    return tuple(found)
