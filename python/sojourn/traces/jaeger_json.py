"""Spans of Jaeger's JSON, as its query API and its UI's download give it.

`data[]` are traces with `spans[]` (`traceID`, `spanID`, `operationName`, `references[]` with `refType`, `startTime` and `duration`
in us, `tags[]`, `processID`) and `processes`: id → `serviceName`. Source: Jaeger, model/json/model.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sojourn.errors import InputError
from sojourn.traces.otlp_json import CALLED, REMEDY, table, tables
from sojourn.traces.sampling_probability import of_sampler, of_tracestate
from sojourn.traces.span_table import CLIENT, CONSUMER, INTERNAL, PRODUCER, SERVER, UNKNOWN_NS, RawSpan

NAME = "Jaeger JSON"
KINDS = {"internal": INTERNAL, "server": SERVER, "client": CLIENT, "producer": PRODUCER, "consumer": CONSUMER}
MOST_US = 2**53  # what a float holds exactly


def claims(found: Any) -> bool:
    """Whether the object of a file is one: `data` with spans in it, or one trace of it."""
    if not isinstance(found, dict):
        return False
    if isinstance(found.get("data"), list):
        return all(isinstance(one, dict) and "spans" in one for one in found["data"])
    return "spans" in found and "processes" in found


def spans(exported: Mapping[str, Any], place: str) -> Iterator[RawSpan]:
    """Of the whole answer. InputError for what is not as Jaeger writes it."""
    for trace in tables(exported, "data", place) if "data" in exported else [dict(exported)]:
        processes = table(trace.get("processes") or {}, "processes", place)
        for span in tables(trace, "spans", place):
            own = span.get("process") or processes.get(str(span.get("processID")))
            service = own.get("serviceName") if isinstance(own, dict) else None
            if not isinstance(service, str) or not service:
                remedy = "give the whole answer of the query API, with its processes"
                raise InputError(f"span {str(span.get('operationName', ''))[:80]!r} without a service", place, remedy)
            yield _raw(span, service, place)


def _raw(span: Mapping[str, Any], service: str, place: str) -> RawSpan:
    trace, own = span.get("traceID"), span.get("spanID")
    if not trace or not own:
        raise InputError(f"span {str(span.get('operationName', ''))[:80]!r} without traceID or spanID", place, REMEDY)
    tags = {str(one.get("key")): one.get("value") for one in tables(span, "tags", place)}
    kind = KINDS.get(str(tags.get("span.kind", "")).lower(), 0)
    named = (tags.get(key) for key in CALLED) if kind in (CLIENT, PRODUCER) else ()
    start, took = _us(span.get("startTime")), _us(span.get("duration"))
    start_ns, end_ns = (UNKNOWN_NS, UNKNOWN_NS) if start is None or took is None else (start, start + took)
    told = of_sampler(tags.get("sampler.type"), tags.get("sampler.param"))
    probability = told if told is not None else of_tracestate(tags.get("w3c.tracestate"))
    return RawSpan(
        str(trace), str(own), _parent(span, str(trace), place), service, str(span.get("operationName") or ""), kind,
        next((one for one in named if isinstance(one, str) and one), ""), start_ns, end_ns, probability,
    )  # fmt: skip


def _parent(span: Mapping[str, Any], trace: str, place: str) -> str:
    """That of the first reference CHILD_OF, else of the first of the same trace; former versions have `parentSpanID`."""
    own = [one for one in tables(span, "references", place) if str(one.get("traceID") or trace) == trace]
    first = next((one for one in own if one.get("refType") == "CHILD_OF"), own[0] if own else {})
    found = str(first.get("spanID") or span.get("parentSpanID") or "")
    return found if found.strip("0") else ""


def _us(value: Any) -> int | None:
    """Microseconds as ns."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST_US:
        return None
    return round(value * 1000)
