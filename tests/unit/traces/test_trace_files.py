"""Files of traces: what real tools wrote, Jaeger's form, cut off, damaged, too large, and bytes by chance."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from traces.otlp_spans import CLIENT, SERVER, exported, span, written

from sojourn.errors import InputError
from sojourn.traces import is_trace_file, read_traces, span_table

FOLDER = Path(__file__).resolve().parents[2] / "data/traces"
FILES = ("otel.json", "otel_protobuf.json")


@pytest.mark.parametrize("name", FILES)
def test_what_the_sdk_wrote(name: str) -> None:
    """The times of tests/data/traces/record.py: shop's 16 ms without [4, 12] and [13, 16] are 5; stock has 3 and 5 ms."""
    found = read_traces([FOLDER / name])
    (one,) = found.classes.values()
    assert list(found.classes) == ["GET_cart"] and 4 <= one.counted <= 20
    assert {station: ratio.mean for station, ratio in one.visits.items()} == {
        "site": 1.0, "shop": 1.0, "stock": 2.0, "postgresql": 1.0,
    }  # fmt: skip
    assert {(o.station, o.name): round(o.self_s * 1e3, 9) for o in found.operations} == {
        ("site", "GET /cart"): 2.0, ("shop", "cart"): 5.0, ("stock", "level"): 4.0, ("postgresql", "SELECT"): 3.0,
    }  # fmt: skip
    assert {(c.caller, c.callee): (c.a_request, c.parallel) for c in found.calls} == {
        ("", "site"): (1.0, 0.0), ("site", "shop"): (1.0, 0.0), ("shop", "stock"): (2.0, 1.0),
        ("shop", "postgresql"): (1.0, 0.0),
    }  # fmt: skip
    assert "traces were kept with a probability of 0.5, as they say" in found.notes[0]
    assert one.response_s == pytest.approx(0.020)


def jaeger(**more: Any) -> dict[str, Any]:
    """As Jaeger's query API answers: us, references, processes."""

    def tags(**told: Any) -> list[dict[str, Any]]:
        return [{"key": key.replace("_", "."), "type": "string", "value": value} for key, value in told.items()]

    def one(own: str, parent: str, process: str, start: int, took: int, name: str, **told: Any) -> dict[str, Any]:
        references = [{"refType": "CHILD_OF", "traceID": "0a1", "spanID": parent}] if parent else []
        return {
            "traceID": "0a1", "spanID": own, "operationName": name, "references": references, "startTime": 1_700_000_000_000_000 + start,
            "duration": took, "tags": tags(**told), "logs": [], "processID": process, "warnings": None,
        }  # fmt: skip

    spans = [
        one("01", "", "p1", 0, 10_000, "HTTP GET", span_kind="server", sampler_type="probabilistic", sampler_param=0.1),
        one("02", "01", "p1", 2000, 6000, "GET", span_kind="client"),
        one("03", "02", "p2", 3000, 4000, "list", span_kind="server"),
        one("04", "03", "p2", 4000, 1000, "SELECT", span_kind="client", db_system="mysql"),
    ]
    processes = {"p1": {"serviceName": "shop", "tags": []}, "p2": {"serviceName": "stock", "tags": []}}
    return {
        "data": [{"traceID": "0a1", "spans": spans, "processes": processes, "warnings": None}],
        "errors": None,
    } | more


def test_jaeger(tmp_path: Path) -> None:
    path = tmp_path / "jaeger.json"
    path.write_text(json.dumps(jaeger()))
    found = read_traces([path])
    assert found.formats == ("Jaeger JSON",)
    assert {(o.station, o.name): round(o.self_s * 1e3, 9) for o in found.operations} == {
        ("shop", "HTTP GET"): 4.0, ("stock", "list"): 3.0, ("mysql", "SELECT"): 1.0,
    }  # fmt: skip
    assert [(c.caller, c.callee) for c in found.calls] == [("", "shop"), ("shop", "stock"), ("stock", "mysql")]
    assert "with a probability of 0.1, as they say" in found.notes[0]


def test_one_trace_in_two_files_and_packed(tmp_path: Path) -> None:
    a = written(tmp_path / "a.json", [span("site", 1, 1, 0, (0, 9), SERVER, "page")])
    b = tmp_path / "b.json.gz"
    b.write_bytes(
        gzip.compress(json.dumps(exported([span("shop", 1, 2, 1, (1, 3), SERVER, "cart")]), indent=1).encode())
    )
    assert is_trace_file(b)
    assert read_traces([a, b]).classes["page"].visits["shop"].mean == 1.0


def test_a_last_line_that_is_cut_off_is_said(tmp_path: Path) -> None:
    pages = ([span("site", n, 1, 0, (n, n + 1), SERVER, "page")] for n in (1, 2, 3))
    path = written(tmp_path / "traces.json", *pages)
    path.write_bytes(path.read_bytes()[:-20])
    found = read_traces([path])
    assert found.classes["page"].counted == 2 and "traces.json ends within a line" in " ".join(found.notes)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"resourceSpans": [{"resource": [{}]}]}', "traces.json:1: resource without objects"),
        ('{"resourceSpans": ["x"]}', "traces.json:1: resourceSpans without objects"),
        ('{"resourceSpans": [{"scopeSpans": {"spans": 1}}]}', "traces.json:1: scopeSpans without objects"),
        ('{"resourceSpans": [{"scopeSpans": [{"spans": [{}]}]}]}', "traces.json:1: spans without service.name; set it"),
        ('{"data": [{"spans": [{"operationName": "a", "processID": "p"}]}]}', "span 'a' without a service"),
        ('{"data": [{"spans": [{"process": {"serviceName": "s"}}]}]}', "without traceID or spanID"),
        ("{}", "no resourceSpans; give OTLP/JSON"),
        ('{"resourceSpans": []}', "traces.json: no span"),
        ("{" * 200_000, "not JSON: nested more than 64 levels deep"),
        ('{"resourceSpans": [' + "[" * 60 + "]" * 60 + "]}", "resourceSpans without objects"),
        ('{"resourceSpans": [', "not JSON"),
        (json.dumps(exported([span("a", 1, 2, 1, (0, 1))])), "traces.json: 1 traces, none with its root; export whole traces"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "traces.json"
    path.write_text(text)
    with pytest.raises(InputError, match=said.replace("(", r"\(")):
        read_traces([path])


def test_a_line_that_is_wrong_is_named(tmp_path: Path) -> None:
    path = written(tmp_path / "traces.json", [span("a", 1, 1, 0, (0, 1))])
    path.write_text(path.read_text() + "{oops\n" + path.read_text())
    with pytest.raises(InputError, match=r"traces.json:2: not JSON"):
        read_traces([path])


@pytest.mark.parametrize(
    ("limit", "make", "said"),
    [
        ("MOST_SPANS", lambda n: span("a", n, 1, 0, (0, 1)), "more than 5 spans"),
        ("MOST_SERVICES", lambda n: span(f"s{n}", n, 1, 0, (0, 1)), "more than 5 services"),
    ],
)
def test_limits(
    tmp_path: Path, limit: str, make: Callable[[int], Any], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(span_table, limit, 5)
    path = written(tmp_path / "traces.json", [make(n) for n in range(1, 8)])
    with pytest.raises(InputError, match=said):
        read_traces([path])


def test_names_beyond_a_limit_are_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(span_table, "MOST_NAMES", 3)
    spans = [
        span("a", 1, 1, 0, (0, 9), SERVER, "page"),
        *(span("a", 1, n, 1, (1, 2), name=f"n{n}") for n in range(2, 9)),
    ]
    found = read_traces([written(tmp_path / "traces.json", spans)])
    assert sorted(one.name for one in found.operations) == ["(other)", "n2", "n3", "page"]


@pytest.mark.parametrize("name", FILES)
def test_a_real_file_that_is_cut_off_anywhere(name: str, tmp_path: Path) -> None:
    whole, path = (FOLDER / name).read_bytes(), tmp_path / name
    for size in (*range(1, len(whole), len(whole) // 60), *range(len(whole) - 10, len(whole))):
        path.write_bytes(whole[:size])
        try:
            read_traces([path]).to_toml()
        except InputError as error:
            assert error.remedy


@pytest.mark.parametrize("seed", range(4))
def test_a_file_with_values_by_chance(seed: int, tmp_path: Path) -> None:
    """Any value in place of any other is read, or one error: ids that repeat, parents by chance, times of other types."""
    rng = random.Random(seed)
    odd = [None, True, -1, 0, 1e308, "", "0", "01", "02", "03", "ffffffffffffffff", "9" * 30, [], {}, [{}], "ot=th:ffffffffffffff",
           "ot=p:63", 2**70]  # fmt: skip
    path = tmp_path / "traces.json"
    whole = [exported([span("a", 1, 1, 0, (0, 9), SERVER), span("a", 1, 2, 1, (1, 2), CLIENT, db_system="x", state="ot=th:8"),
                       span("b", 1, 3, 2, (1, 2), SERVER)]), jaeger()]  # fmt: skip
    for number in range(150):
        data = json.loads(json.dumps(whole[number % 2]))
        for _ in range(rng.randint(1, 4)):
            holder, key = rng.choice(list(places(data)))
            holder[key] = rng.choice(odd)
        path.write_text(json.dumps(data))
        try:
            read_traces([path]).to_toml()
        except InputError as error:
            assert error.remedy


def places(data: Any) -> Any:
    """(holder, key) of each value."""
    items = list(data.items()) if isinstance(data, dict) else list(enumerate(data)) if isinstance(data, list) else []
    for key, value in items:
        yield data, key
        yield from places(value)
