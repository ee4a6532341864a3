"""Visits counted in traces written by hand, of the format of the OpenTelemetry collector's file exporter."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from sojourn.errors import InputError
from sojourn.fit.trace_visits import trace_visits

SERVER, CLIENT, INTERNAL = 2, 3, 1


def span(trace: int, own: int, parent: int | None, name: str, kind: int = SERVER, **attributes: str) -> dict[str, Any]:
    found: dict[str, Any] = {"traceId": f"{trace:032x}", "spanId": f"{own:016x}", "name": name, "kind": kind}
    found |= {"startTimeUnixNano": "1700000000000000000", "endTimeUnixNano": "1700000000000000900"}
    found["attributes"] = [
        {"key": key.replace("_", "."), "value": {"stringValue": text}} for key, text in attributes.items()
    ]
    return found | ({} if parent is None else {"parentSpanId": f"{parent:016X}"})


def exported(service: str, *spans: dict[str, Any]) -> dict[str, Any]:
    attributes = [{"key": "service.name", "value": {"stringValue": service}}]
    return {"resourceSpans": [{"resource": {"attributes": attributes}, "scopeSpans": [{"spans": list(spans)}]}]}


# Two pages "story" (2 and 3 statements), one "home" (1 statement, a cache that has spans of its own), one trace without its root.
LINES = (
    exported("nginx", span(1, 1, None, "story"), span(2, 1, None, "story"), span(3, 1, None, "home")),
    exported(
        "application",
        span(1, 2, 1, "GET /story"), span(1, 3, 2, "render", INTERNAL),
        span(1, 4, 2, "SELECT", CLIENT, db_system="postgresql"), span(1, 5, 3, "SELECT", CLIENT, db_system="postgresql"),
        span(2, 2, 1, "GET /story"), *(span(2, k, 2, "SELECT", CLIENT, db_system="postgresql") for k in (3, 4, 5)),
        span(3, 2, 1, "GET /home"), span(3, 3, 2, "SELECT", CLIENT, db_system="postgresql"),
        span(3, 4, 2, "get", CLIENT, peer_service="cache"),
    ),
    exported("cache", span(3, 6, 4, "get")),
    exported("application", span(1, 4, 2, "SELECT", CLIENT, db_system="postgresql")),  # once more
    exported("application", span(4, 2, 1, "GET /story")),
)  # fmt: skip


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_visits_are_counted_exactly(tmp_path: Path) -> None:
    found = trace_visits(written(tmp_path / "traces.json", "\n".join(map(json.dumps, LINES)) + "\n"))
    assert found.traces == {"story": 2, "home": 1} and found.left_out == 1
    assert found.visits == {
        "nginx": {"story": 1.0, "home": 1.0},
        "application": {"story": 1.0, "home": 1.0},
        "postgresql": {"story": 2.5, "home": 1.0},
        "cache": {"story": 0.0, "home": 1.0},
    }
    assert tomllib.loads(found.toml)["visits"]["postgresql"] == {"story": 2.5, "home": 1.0}


def test_one_object_with_words_for_kinds_is_read_too(tmp_path: Path) -> None:
    root = span(1, 1, None, "home") | {"kind": "SPAN_KIND_SERVER", "parentSpanId": ""}
    call = span(1, 2, 1, "SELECT", CLIENT, db_system="postgresql") | {"kind": "SPAN_KIND_CLIENT"}
    found = trace_visits(written(tmp_path / "one.json", json.dumps(exported("site", root, call), indent=1)))
    assert found.visits == {"site": {"home": 1.0}, "postgresql": {"home": 1.0}}


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file or directory; give OTLP/JSON"):
        trace_visits(tmp_path / "none.json")
