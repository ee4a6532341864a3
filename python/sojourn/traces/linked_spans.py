"""Spans linked to trees: whose parent is where, which request a span belongs to, and what cannot be linked.

A request is a span without a parent. A root of kind CLIENT with one child of another service is the caller's side of it: the request is
that child, and the caller is no part of the service. What is below a parent that is not in the files belongs to the request of its
trace where there is only one. No step goes deeper than a loop: a file may say that spans are each other's parents.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sojourn.traces.span_table import CLIENT, CONSUMER, PRODUCER, SERVER, SpanTable

Index = NDArray[np.int64]
NOBODY, MISSING = -1, -2  # in place of the index of a parent


@dataclass(frozen=True)
class LinkedSpans:
    """(spans,) each: `parent`: index of the parent, NOBODY, or MISSING; `root`: index of the request's span, -1 where it belongs to none;
    `roots`: indices of the requests; `order`: those that belong to one, parents before children
    (what is below a missing parent as it comes).

    `duplicates`: spans exported twice; `same_id`: others that have the id of another in their trace; `circular`: spans without a way up;
    `without_root`: traces without a root; `unplaced`: spans below a missing parent of a trace with several requests.
    `referenced`, `absent`: parents other than roots that spans of placed requests name, and those of them that are not there."""

    parent: Index
    root: Index
    roots: Index
    order: Index
    callers: int
    duplicates: int
    same_id: int
    circular: int
    without_root: int
    unplaced: int
    referenced: int
    absent: int

    def children(self) -> tuple[Index, Index]:
        """(spans sorted by parent, edges): the children of span i are `sorted[edges[i]:edges[i + 1]]`."""
        own = np.flatnonzero((self.root >= 0) & (self.parent >= 0) & (self.root != np.arange(len(self.parent))))
        by = own[np.argsort(self.parent[own], kind="stable")]
        return by, np.searchsorted(self.parent[by], np.arange(len(self.parent) + 1))


def link(table: SpanTable) -> LinkedSpans:
    """Of all traces together."""
    size = len(table)
    parent, root = np.full(size, NOBODY), np.full(size, -1)
    by_trace = np.argsort(table.trace, kind="stable")
    edges = np.searchsorted(table.trace[by_trace], np.arange(table.traces + 1))
    said: Counter[str] = Counter()
    order: list[int] = []
    roots: list[int] = []
    for number in range(table.traces):
        own = by_trace[edges[number] : edges[number + 1]].tolist()
        _link_trace(table, own, (parent, root), order, roots, said)
    names = ("callers", "duplicates", "same_id", "circular", "without_root", "unplaced", "referenced", "absent")
    counts = {name: said[name] for name in names}
    return LinkedSpans(parent, root, np.array(roots, np.int64), np.array(order, np.int64), **counts)


def _link_trace(
    table: SpanTable,
    own: list[int],
    columns: tuple[Index, Index],
    order: list[int],
    roots: list[int],
    said: Counter[str],
) -> None:
    parent, root = columns
    by_id: dict[int, int] = {}
    for i in own:
        first = by_id.setdefault(int(table.span[i]), i)
        if first != i:
            said["duplicates" if _same(table, first, i) else "same_id"] += 1
    children: dict[int, list[int]] = {}
    tops: list[int] = []
    orphans: list[int] = []
    for i in by_id.values():
        above = int(table.parent[i])
        parent[i] = NOBODY if not above else by_id.get(above, MISSING)
        if parent[i] >= 0:
            children.setdefault(int(parent[i]), []).append(i)
        else:
            (orphans if above else tops).append(i)
    requests = [_request(table, i, children, said) for i in tops]
    reached = 0
    for top, request in zip(tops, requests, strict=True):
        reached += _descend(request, request, children, root, order) + (top != request)
    roots.extend(requests)
    if len(requests) == 1:
        for orphan in orphans:
            reached += _descend(orphan, requests[0], children, root, order)
        _count_parents(table, by_id, requests[0], root, said)
    else:
        below = sum(_size(orphan, children) for orphan in orphans)
        reached += below
        said["unplaced" if requests else "rootless"] += below
    said["without_root"] += not requests
    said["circular"] += len(by_id) - reached


def _same(table: SpanTable, a: int, b: int) -> bool:
    columns = (table.parent, table.service, table.operation, table.kind, table.start_ns, table.end_ns)
    return all(column[a] == column[b] for column in columns)


def _request(table: SpanTable, top: int, children: dict[int, list[int]], said: Counter[str]) -> int:
    """The root itself, or what a caller's root asked for."""
    below = children.get(top, [])
    if table.kind[top] != CLIENT or len(below) != 1 or table.service[below[0]] == table.service[top]:
        return top
    said["callers"] += 1
    return below[0]


def _descend(start: int, request: int, children: dict[int, list[int]], root: Index, order: list[int]) -> int:
    """Puts a span and all below it to a request; how many they are."""
    left, count = [start], 0
    while left:
        i = left.pop()
        root[i] = request
        order.append(i)
        count += 1
        left.extend(children.get(i, ()))
    return count


def _size(start: int, children: dict[int, list[int]]) -> int:
    left, count = [start], 0
    while left:
        count += 1
        left.extend(children.get(left.pop(), ()))
    return count


def _count_parents(table: SpanTable, by_id: dict[int, int], request: int, root: Index, said: Counter[str]) -> None:
    """Which spans are named as parents, other than the root that must be there for the trace to count at all."""
    named = {int(table.parent[i]) for i in by_id.values() if table.parent[i] and root[i] >= 0 and i != request}
    named.discard(int(table.span[request]))
    said["referenced"] += len(named)
    said["absent"] += sum(int(one not in by_id) for one in named)


def is_asynchronous(table: SpanTable, parent: int, child: int) -> bool:
    """Whether the caller does not wait for this child: one takes a message that the other sent."""
    return bool(table.kind[child] == CONSUMER or table.kind[parent] == PRODUCER)


def serves(kind: int) -> bool:
    """Whether a span of this kind is the beginning of a visit, whatever is above it."""
    return kind in (SERVER, CONSUMER)
