"""Spans of OTLP/JSON, as the collector's file exporter and Tempo write it.

`resourceSpans[]` (of Tempo `batches[]`), each with `resource.attributes` (`service.name`) and `scopeSpans[].spans[]`: `traceId`,
`spanId`, `parentSpanId`, `name`, `kind`, `startTimeUnixNano`, `endTimeUnixNano` (64 bits, as text), `traceState`, `attributes`.
Ids are hexadecimal; programs that use protobuf's own JSON write base64, which is taken as well. Specification:
opentelemetry.io/docs/specs/otlp, JSON Protobuf Encoding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sojourn.errors import InputError
from sojourn.traces.sampling_probability import of_tracestate
from sojourn.traces.span_table import CLIENT, CONSUMER, INTERNAL, PRODUCER, SERVER, UNKNOWN_NS, RawSpan

NAME = "OTLP/JSON"
KINDS = {
    "SPAN_KIND_INTERNAL": INTERNAL, "SPAN_KIND_SERVER": SERVER, "SPAN_KIND_CLIENT": CLIENT, "SPAN_KIND_PRODUCER": PRODUCER,
    "SPAN_KIND_CONSUMER": CONSUMER,
}  # fmt: skip
# what the client's side of a call may say of the other side, the surest first
CALLED = (
    "peer.service", "db.system.name", "db.system", "messaging.system", "rpc.system", "server.address", "net.peer.name",
)  # fmt: skip
REMEDY = "give OTLP/JSON: one object with resourceSpans per line, as the collector's file exporter writes it; or Jaeger's JSON"


def claims(found: Any) -> bool:
    """Whether an object of a file is one."""
    return isinstance(found, dict) and any(isinstance(found.get(key), list) for key in ("resourceSpans", "batches"))


def spans(exported: Mapping[str, Any], place: str) -> Iterator[RawSpan]:
    """Of one object. InputError for what is not as the specification has it, with its place."""
    key = "resourceSpans" if "resourceSpans" in exported else "batches"
    for resource in tables(exported, key, place):
        service = _attributes(table(resource.get("resource") or {}, "resource", place), place).get("service.name", "")
        scopes = "scopeSpans" if "scopeSpans" in resource else "instrumentationLibrarySpans"
        for scope in tables(resource, scopes, place):
            for span in tables(scope, "spans", place):
                if not service:
                    remedy = "set it in the resource attributes of each service"
                    raise InputError("spans without service.name", place, remedy)
                yield _raw(span, service, place)


def _raw(span: Mapping[str, Any], service: str, place: str) -> RawSpan:
    trace, own = span.get("traceId"), span.get("spanId")
    if not trace or not own:
        raise InputError(f"span {str(span.get('name', ''))[:80]!r} without traceId or spanId", place, REMEDY)
    given = span.get("kind")
    kind = KINDS.get(given, 0) if isinstance(given, str) and not given.isdigit() else _integer(given)
    told = _attributes(span, place) if kind in (CLIENT, PRODUCER) else {}
    called = next((told[key] for key in CALLED if told.get(key)), "")
    parent = str(span.get("parentSpanId") or "")
    return RawSpan(
        str(trace), str(own), parent if parent.strip("0") else "", service, str(span.get("name") or ""),
        kind if 0 <= kind <= CONSUMER else 0, called, _time(span.get("startTimeUnixNano")), _time(span.get("endTimeUnixNano")),
        of_tracestate(span.get("traceState")),
    )  # fmt: skip


def _integer(value: Any) -> int:
    """A whole number, also as text; -1 for anything else."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else -1


def _time(value: Any) -> int:
    found = _integer(value)
    return found if found > 0 else UNKNOWN_NS


def _attributes(holder: Mapping[str, Any], place: str) -> dict[str, str]:
    """Those that are text."""
    pairs = [(one.get("key"), one.get("value")) for one in tables(holder, "attributes", place)]
    texts = {str(key): value.get("stringValue") for key, value in pairs if isinstance(value, dict)}
    return {key: value for key, value in texts.items() if isinstance(value, str) and value}


def tables(holder: Mapping[str, Any], key: str, place: str) -> list[dict[str, Any]]:
    """The objects at a key; none where it is missing."""
    found = holder.get(key) or []
    if not isinstance(found, list):
        raise InputError(f"{key} without objects", place, REMEDY)
    return [table(one, key, place) for one in found]


def table(value: Any, key: str, place: str) -> dict[str, Any]:
    """InputError for what is no object."""
    if not isinstance(value, dict):
        raise InputError(f"{key} without objects", place, REMEDY)
    return value
