"""Spans written by hand, as the collector's file exporter has them: times in ms after a fixed second."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

INTERNAL, SERVER, CLIENT, PRODUCER, CONSUMER = 1, 2, 3, 4, 5
BEGIN_NS = 1_700_000_000_000_000_000
Spans = tuple[str, dict[str, Any]]


def span(
    service: str,
    trace: int,
    own: int,
    parent: int,
    ms: tuple[float, float],
    kind: int = INTERNAL,
    name: str = "",
    **more: Any,
) -> Spans:
    """`parent` 0: none. `more`: attributes (`db_system`), or `state` for traceState."""
    start, end = (str(BEGIN_NS + round(t * 1e6)) for t in ms)
    found: dict[str, Any] = {"traceId": f"{trace:032x}", "spanId": f"{own:016x}", "name": name or service, "kind": kind}
    found |= {"startTimeUnixNano": start, "endTimeUnixNano": end}
    found |= {"parentSpanId": f"{parent:016x}"} if parent else {}
    found |= {"traceState": more.pop("state")} if "state" in more else {}
    found["attributes"] = [{"key": key.replace("_", "."), "value": {"stringValue": text}} for key, text in more.items()]
    return service, found


def exported(spans: Iterable[Spans]) -> dict[str, Any]:
    """One object, as one line of the exporter."""
    by_service: dict[str, list[dict[str, Any]]] = {}
    for service, one in spans:
        by_service.setdefault(service, []).append(one)
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": service}}]},
                "scopeSpans": [{"scope": {"name": "test"}, "spans": own}],
            }
            for service, own in by_service.items()
        ]
    }


def written(path: Path, *lines: Iterable[Spans]) -> Path:
    """A file of JSON lines."""
    path.write_text("".join(json.dumps(exported(line)) + "\n" for line in lines))
    return path
