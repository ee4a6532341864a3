"""Which spans are visits of which station, and which calls say so.

A station is a service, or what a client's span without spans below it names (`peer.service`, `db.system`, …): a database has no
spans of its own. A visit is a span whose parent is of another service, or which has none. What happens within a service, and the
client's side of a call, is no visit. Two things may be visits: a span of which the parent is missing and that does not serve a
call, and a call without spans below it whose like elsewhere leads to a service that has spans.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sojourn.traces.linked_spans import MISSING, Index, LinkedSpans, is_asynchronous, serves
from sojourn.traces.span_table import CLIENT, PRODUCER, SpanTable


@dataclass(frozen=True)
class Visits:
    """(visits,) each: `span`, `station` (index into the services), `sure`: False of what may be a visit. `caller`: the station that
    it is called from, -1 from outside; `asynchronous`: the caller does not wait. (spans,): `of`: the station whose time a span's own is,
    -1 of what passes between two; `unnamed`: calls that name nobody."""

    span: Index
    station: Index
    sure: NDArray[np.bool_]
    caller: Index
    asynchronous: NDArray[np.bool_]
    of: Index
    unnamed: int


def visits(table: SpanTable, linked: LinkedSpans) -> Visits:
    """Of all spans that belong to a request."""
    by_parent, edges = linked.children()
    found: list[tuple[int, int, bool, int, bool]] = []
    of = np.where(linked.root >= 0, table.service, -1)
    targets = _targets(table, linked, by_parent, edges)
    seen: set[tuple[int, int, int]] = set()
    unnamed = 0
    for i in linked.order.tolist():
        service, kind = int(table.service[i]), int(table.kind[i])
        up = int(linked.parent[i]) if linked.root[i] != i else -1
        if up == MISSING:
            key = (int(linked.root[i]), int(table.parent[i]), service)
            if serves(kind) or key not in seen:
                found.append((i, service, serves(kind), -1, False))
            seen.add(key)
        elif up < 0 or table.service[up] != service:
            caller = int(table.service[up]) if up >= 0 else -1
            found.append((i, service, True, caller, up >= 0 and is_asynchronous(table, up, i)))
        if kind not in (CLIENT, PRODUCER):
            continue
        below = by_parent[edges[i] : edges[i + 1]].tolist()
        if any(table.service[child] != service for child in below):
            of[i] = -1
        elif not any(table.kind[child] in (CLIENT, PRODUCER) for child in below):
            if (like := targets.get(_like(table, i))) is not None:
                found.append((i, like, False, service, kind == PRODUCER))
                of[i] = -1
            elif table.called[i] >= 0:
                of[i] = table.called[i]
                found.append((i, int(table.called[i]), True, service, kind == PRODUCER))
            else:
                unnamed += 1
    columns = np.array(found, np.int64).reshape(-1, 5).T
    return Visits(columns[0], columns[1], columns[2] > 0, columns[3], columns[4] > 0, of, unnamed)


def _like(table: SpanTable, i: int) -> tuple[int, int, int]:
    return int(table.service[i]), int(table.operation[i]), int(table.called[i])


def _targets(table: SpanTable, linked: LinkedSpans, by_parent: Index, edges: Index) -> dict[tuple[int, int, int], int]:
    """Calls by service, name and whom they name → the service that most of them lead to, of those that lead to one."""
    found: dict[tuple[int, int, int], Counter[int]] = defaultdict(Counter)
    for i in linked.order[np.isin(table.kind[linked.order], (CLIENT, PRODUCER))].tolist():
        for child in by_parent[edges[i] : edges[i + 1]].tolist():
            if table.service[child] != table.service[i]:
                found[_like(table, i)][int(table.service[child])] += 1
    return {like: counts.most_common(1)[0][0] for like, counts in found.items()}
