"""`read_traces`: files of traces → visits, self times, the call graph, and a model of them with unknown service times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from sojourn.errors import InputError
from sojourn.former_keyword import former_keyword
from sojourn.model import Model
from sojourn.traces.call_graph import Call, call_graph
from sojourn.traces.linked_spans import Index, link
from sojourn.traces.request_classes import RequestClasses, request_classes, unique_names
from sojourn.traces.self_times import self_times
from sojourn.traces.skeleton import skeleton_model, skeleton_text
from sojourn.traces.span_table import SpanTable
from sojourn.traces.trace_files import TraceFiles, read_trace_files
from sojourn.traces.trace_notes import notes
from sojourn.traces.trace_results import Operation, TraceClass, TraceRequests
from sojourn.traces.visit_ratios import Array, visit_ratios, weights
from sojourn.traces.visits import visits


@dataclass(frozen=True)
class ObservedTraces:
    """`classes` by name, the most frequent first; `operations`, those that took the most time first; `calls`: the call graph; `stations`:
    name in the model → service; `spans`, `traces`: counts; `without_root`: traces that are left out; `notes`: what these traces cannot
    tell; `requests`: each, for windows of them; `alike`: in the model a visit of a station takes the same time in all classes."""

    classes: Mapping[str, TraceClass]
    operations: Sequence[Operation]
    calls: Sequence[Call]
    stations: Mapping[str, str]
    spans: int
    traces: int
    notes: Sequence[str]
    formats: Sequence[str]
    without_root: int
    requests: TraceRequests = field(repr=False, compare=False)
    alike: bool = False

    @cached_property
    def model(self) -> Model:
        """Stations, classes and visits as they were counted, every service time unknown: for `sojourn fit --model`."""
        return skeleton_model(self.classes, self.stations, self.alike)

    def to_toml(self) -> str:
        """The model file, with the call graph and what is not known as comments."""
        return skeleton_text(self.model, self.calls, self.notes)


@former_keyword(sampled="trace_share", alike="same_time_per_visit")
def read_traces(
    paths: Sequence[Path | str], trace_share: float | None = None, *, same_time_per_visit: bool = False
) -> ObservedTraces:
    """OTLP/JSON and Jaeger JSON, all files together. `trace_share`: with which probability in (0, 1] a trace was kept, where spans do not
    say it. `same_time_per_visit`: in the model a visit of a station takes the same time in all classes.

    Raises:
        InputError: a file is neither, too large or damaged; no request is in it; `trace_share` is no probability.
    """
    if trace_share is not None and not 0.0 < trace_share <= 1.0:
        raise InputError(f"{trace_share:g}", "--trace-share", "give the share of traces that were kept, such as 0.01")
    files = read_trace_files(paths)
    return replace(
        _observed(files, trace_share, ", ".join(Path(path).name for path in paths)), alike=same_time_per_visit
    )


def _observed(files: TraceFiles, sampled: float | None, source: str) -> ObservedTraces:
    table = files.spans
    linked = link(table)
    if not len(linked.roots):
        raise InputError(f"{table.traces} traces, none with its root", source, "export whole traces")
    kinds, found, times = request_classes(table, linked), visits(table, linked), self_times(table, linked)
    weight = weights(table, linked, sampled)
    ratios = visit_ratios(kinds.of, len(kinds.names), linked, found, weight, len(table.services))
    seen = sorted({one for told in ratios for one in told}, key=lambda one: _first(found.station, one))
    names = dict(zip(seen, unique_names([table.services[one] for one in seen]), strict=True))
    covered_s = _covered_s(table, linked.roots)
    own, request = np.nan_to_num(times.self_s), np.full(len(table), -1)
    request[linked.roots] = kinds.of
    cls_of = np.where(linked.root >= 0, request[np.maximum(linked.root, 0)], -1)
    classes: dict[str, TraceClass] = {}
    for cls, name in enumerate(kinds.names):
        roots = linked.roots[kinds.of == cls]
        w = float(weight[roots].sum())
        mine = (cls_of == cls) & (found.of >= 0)
        spent = np.bincount(found.of[mine], (own * weight)[mine], len(table.services)) / w
        timed = roots[table.start_ns[roots] >= 0]
        took = (table.end_ns[timed] - table.start_ns[timed]) * 1e-9
        classes[name] = TraceClass(
            len(roots),
            w / covered_s if covered_s else None,
            float(np.average(took, weights=weight[timed])) if len(timed) else None,
            {names[one]: ratio for one, ratio in ratios[cls].items()},
            {names[one]: float(spent[one]) for one in ratios[cls]},
        )
    calls = call_graph(table, found, linked, weight, times.parallel, names)
    stations = {names[one]: table.services[one] for one in seen}
    said = notes(files, linked, found, times, weight, kinds, sampled)
    operations = _operations(table, found.of, times.self_s, weight, names)
    requests = _requests(table, linked.roots, kinds, weight)
    return ObservedTraces(
        classes,
        operations,
        calls,
        stations,
        len(table),
        table.traces,
        said,
        files.formats,
        linked.without_root,
        requests,
    )


def _requests(table: SpanTable, roots: Index, kinds: RequestClasses, weight: Array) -> TraceRequests:
    timed = np.flatnonzero(table.start_ns[roots] >= 0)
    order = timed[np.argsort(table.start_ns[roots[timed]], kind="stable")]
    own = roots[order]
    came_s, took_s = (
        np.asarray(ns * 1e-9, np.float64) for ns in (table.start_ns[own], table.end_ns[own] - table.start_ns[own])
    )
    return TraceRequests(
        came_s, took_s, kinds.of[order].astype(np.intp), np.asarray(1.0 / weight[own], np.float64), kinds.names
    )


def _first(stations: Index, one: int) -> int:
    return int(np.argmax(stations == one))


def _covered_s(table: SpanTable, roots: Index) -> float:
    """From the first request to the last, and a mean gap more; 0 where that is unknown."""
    starts = table.start_ns[roots]
    starts = starts[starts >= 0]
    if len(starts) < 2:
        return 0.0
    return float(starts.max() - starts.min()) * 1e-9 * len(starts) / (len(starts) - 1)


def _operations(table: SpanTable, of: Index, self_s: Array, weight: Array, names: Mapping[int, str]) -> list[Operation]:
    known = np.flatnonzero((of >= 0) & ~np.isnan(self_s))
    key = of[known] * len(table.operations) + table.operation[known]
    kinds, where = np.unique(key, return_inverse=True)
    w = np.bincount(where, weight[known], len(kinds))
    own = np.bincount(where, (weight * self_s)[known], len(kinds))
    took = np.bincount(where, (weight * (table.end_ns - table.start_ns) * 1e-9)[known], len(kinds))
    count = np.bincount(where, minlength=len(kinds))
    found = [
        Operation(names[one], table.operations[operation], int(n), float(s / v), float(d / v))
        for (one, operation), n, v, s, d in zip(
            (divmod(int(k), len(table.operations)) for k in kinds), count, w, own, took, strict=True
        )
        if one in names
    ]
    return sorted(found, key=lambda one: -one.self_s * one.spans)
