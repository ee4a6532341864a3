"""Visits from traces: how often a request of each kind calls each service, from an OpenTelemetry export.

The file has one JSON object a line, as the collector's file exporter writes it, or is one such object (ExportTraceServiceRequest):
`resourceSpans[]`, each with `resource.attributes` (`service.name`) and `scopeSpans[].spans[]` (`traceId`, `spanId`, `parentSpanId`,
`name`, `kind`, `attributes`). Specification: opentelemetry.io/docs/specs/otlp, JSON Protobuf Encoding.

A trace's kind is the name of its root span. A service is visited by each span of it whose parent is of another service, or none: what
happens within a service, and the client's side of a call, is no visit. A call to what has no spans of its own, as databases have none,
is told by the client's span alone: one of kind CLIENT without children counts for its `peer.service`, else its `db.system`. Spans that
were exported twice count once. A trace without its root, or with a parent that is not in the file, is left out: its visits would be
too few. Visits per trace are right where whole traces are sampled alike; rates are not in a sample at all.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomli_w

from sojourn.errors import InputError
from sojourn.files.reading import MOST_TABLE_BYTES, parse_json, read_text

CLIENT = ("3", "SPAN_KIND_CLIENT")
CALLED = ("peer.service", "db.system.name", "db.system")
REMEDY = "give OTLP/JSON: one object with resourceSpans per line, as the collector's file exporter writes it"


@dataclass(frozen=True)
class Span:
    """`parent`: its id, "" of a root; `calls`: the service that the client's side of a call names."""

    service: str
    name: str
    parent: str
    calls: str


@dataclass(frozen=True)
class TraceVisits:
    """`traces`: by kind how many were counted; `visits`: service → kind → mean number of visits a trace; `left_out`: traces that are not
    whole."""

    traces: Mapping[str, int]
    visits: Mapping[str, Mapping[str, float]]
    left_out: int

    @property
    def toml(self) -> str:
        """`[visits.STATION]` of a model file, with stations named as services and classes as kinds."""
        return tomli_w.dumps({"visits": self.visits})


def trace_visits(path: Path | str) -> TraceVisits:
    """Of all whole traces in the file.

    Raises:
        InputError: no such file, no OTLP/JSON in it, a span without its ids or its service, no whole trace; with file and line.
    """
    traces: dict[str, dict[str, Span]] = defaultdict(dict)
    for trace, span_id, span in _spans(Path(path)):
        traces[trace].setdefault(span_id, span)
    counts: Counter[str] = Counter()
    calls: dict[str, Counter[str]] = defaultdict(Counter)
    for spans in traces.values():
        roots = [span for span in spans.values() if not span.parent]
        if len(roots) != 1 or any(span.parent and span.parent not in spans for span in spans.values()):
            continue
        counts[roots[0].name] += 1
        for service in _visited(spans):
            calls[service][roots[0].name] += 1
    if not counts:
        raise InputError(f"{len(traces)} traces, none with its root and all parents", str(path), "export whole traces")
    visits = {service: {kind: own[kind] / counts[kind] for kind in counts} for service, own in calls.items()}
    return TraceVisits(dict(counts), visits, len(traces) - counts.total())


def _visited(spans: Mapping[str, Span]) -> Iterator[str]:
    parents = {span.parent for span in spans.values()}
    for span_id, span in spans.items():
        if not span.parent or spans[span.parent].service != span.service:
            yield span.service
        if span.calls and span_id not in parents:
            yield span.calls


def _spans(path: Path) -> Iterator[tuple[str, str, Span]]:
    """Trace, id and span of each."""
    for place, exported in _objects(path):
        if not isinstance(exported, dict) or not isinstance(exported.get("resourceSpans"), list):
            raise InputError("no resourceSpans", place, REMEDY)
        for resource in _tables(exported, "resourceSpans", place):
            service = _attributes(_table(resource.get("resource") or {}, "resource", place), place).get(
                "service.name", ""
            )
            for span in (s for scope in _tables(resource, "scopeSpans", place) for s in _tables(scope, "spans", place)):
                if not service:
                    raise InputError(
                        "spans without service.name", place, "set it in the resource attributes of each service"
                    )
                trace, span_id = span.get("traceId"), span.get("spanId")
                if not trace or not span_id:
                    raise InputError(f"span {span.get('name', '')!r} without traceId or spanId", place, REMEDY)
                told = _attributes(span, place) if str(span.get("kind")) in CLIENT else {}
                called = next((told[key] for key in CALLED if told.get(key)), "")
                parent = str(span.get("parentSpanId") or "").strip("0") and str(span["parentSpanId"]).lower()
                yield str(trace).lower(), str(span_id).lower(), Span(service, str(span.get("name", "")), parent, called)


def _objects(path: Path) -> Iterator[tuple[str, Any]]:
    """Each JSON object with its place: one for the whole file, or one a line."""
    text = read_text(path, REMEDY, most_bytes=MOST_TABLE_BYTES, pipes=True)
    try:
        yield f"{path}:1", parse_json(text)
        return
    except ValueError:
        pass
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                found = parse_json(line)
            except ValueError as error:
                raise InputError(str(error), f"{path}:{number}", REMEDY) from None
            yield f"{path}:{number}", found


def _attributes(holder: Mapping[str, Any], place: str) -> dict[str, str]:
    """Those that are text."""
    pairs = [(one.get("key"), one.get("value")) for one in _tables(holder, "attributes", place)]
    texts = {str(key): value.get("stringValue") for key, value in pairs if isinstance(value, dict)}
    return {key: value for key, value in texts.items() if isinstance(value, str) and value}


def _tables(holder: Mapping[str, Any], key: str, place: str) -> list[dict[str, Any]]:
    """The objects at a key; none where it is missing."""
    found = holder.get(key) or []
    if not isinstance(found, list):
        raise InputError(f"{key} without objects", place, REMEDY)
    return [_table(one, key, place) for one in found]


def _table(value: Any, key: str, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{key} without objects", place, REMEDY)
    return value
