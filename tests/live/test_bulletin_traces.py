"""Traces of the bulletin board, read by `sojourn observe`, beside what the service counted."""

# ruff: noqa: F811  (a fixture is an argument)
from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from board_database import database  # noqa: F401  (a fixture)
from message_cluster import needs_postgres

from sojourn.load.session_load import session_load
from sojourn.measure.execute_run import execute
from sojourn.traces import ObservedTraces, read_traces
from sojourn_cases.ntier.bulletin_server import BulletinOptions, BulletinService

pytestmark = pytest.mark.live
# How often these pages ask the tables, whatever is in them: cases/crates/bulletin/src/pages.rs
ASKED = {"StoriesOfTheDay": 1, "Register": 0, "Browse": 0, "BrowseCategories": 1, "OlderStories": 1, "PostComment": 0, "SubmitStory": 0,
         "Search": 0, "SearchInStories": 1, "SearchInComments": 1, "SearchInUsers": 1, "AuthorLogin": 0, "ReviewStories": 1}  # fmt: skip


def traced(folder: Path, mix: str, **given: Any) -> tuple[Path, dict[str, Any]]:
    """The file of traces of some thousand pages, and what the service counted."""
    path = folder / "traces.json"
    options = BulletinOptions(listen="127.0.0.1:0", page_work_s=0.0, traces=str(path), **given)
    service = BulletinService(options)
    try:
        sent = session_load(
            service.url, users=100, mix=mix, think_s=0.04, ramp_up_s=0.2, duration_s=3.0, ramp_down_s=0.1
        )
        execute(folder / "run", sent, what={"name": "users"})
        summary = service.stop()
    finally:
        service.close()
    assert summary["completions"] > 1000
    return path, summary


def edges(found: ObservedTraces) -> set[tuple[str, str]]:
    return {(call.caller, call.callee) for call in found.calls}


def test_visits_are_those_that_the_pages_make(tmp_path: Path) -> None:
    path, summary = traced(tmp_path, "readwrite", scale=0.002, workers=2)
    found = read_traces([path])
    assert summary["traces"] == {
        "traces": summary["completions"], "spans": found.spans, "not_sampled": 0, "dropped": 0,
    }  # fmt: skip
    counted = {page: count for page, count in summary["by_kind"].items() if count}
    # of more kinds than a model has classes, the rarest are one
    assert sum(one.counted for one in found.classes.values()) == sum(counted.values())
    assert {page: one.counted for page, one in found.classes.items() if page != "other"}.items() <= counted.items()
    for page, times in ASKED.items():
        if page in found.classes:
            visits = found.classes[page].visits
            assert visits["bulletin"].mean == 1.0
            assert (visits["tables"].mean if times else "tables" not in visits) == (times or True)
    assert edges(found) == {("", "bulletin"), ("bulletin", "tables")}
    # a page waits for a worker and then is made: its self time is less than it took
    assert all(0 < one.residence_s["bulletin"] <= (one.response_s or 0) * (1 + 1e-9) for one in found.classes.values())


@needs_postgres
def test_a_hundredth_of_the_traces_holds_what_the_database_was_asked(tmp_path: Path, database: str) -> None:
    path, summary = traced(tmp_path, "ViewStory", database=database, workers=8, pool=4)
    found = read_traces([path])
    pages = {page: count for page, count in summary["by_kind"].items() if count}
    asked = sum(one.counted * one.visits["postgresql"].mean for one in found.classes.values())
    assert asked == pytest.approx(summary["transactions"], rel=0.01)
    assert {page: one.counted for page, one in found.classes.items()} == pages
    assert edges(found) == {("", "bulletin"), ("bulletin", "postgresql")}
    truth = found.classes["ViewStory"].visits["postgresql"].mean
    # a hundred disjoint samples, by what is random in a trace's id
    lines: dict[int, list[dict[str, Any]]] = {}
    for line in path.read_text().splitlines():
        for span in json.loads(line)["resourceSpans"][0]["scopeSpans"][0]["spans"]:
            lines.setdefault(int(span["traceId"][-8:], 16) % 100, []).append(span)
    inside = 0
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "bulletin"}}]}
    for spans in lines.values():
        sample = tmp_path / "sample.json"
        sample.write_text(json.dumps({"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": spans}]}]}))
        one = read_traces([sample], 0.01).classes["ViewStory"].visits["postgresql"]
        inside += one.low <= truth <= one.high
    assert inside >= 80, "of a hundred; 90 are meant, and 80 or more are with a probability of 0.999"


@needs_postgres
def test_a_share_of_the_traces_says_so(tmp_path: Path, database: str) -> None:
    path, summary = traced(tmp_path, "ViewStory", database=database, workers=8, pool=4, trace_share=0.1)
    kept = summary["traces"]
    assert kept["traces"] + kept["not_sampled"] == summary["completions"] and kept["dropped"] == 0
    expected = 0.1 * summary["completions"]
    assert abs(kept["traces"] - expected) < 5 * expected**0.5
    found = read_traces([path])
    assert "traces were kept with a probability of 0.1, as they say" in found.notes[0]
    weighted = sum(one.counted / 0.1 for one in found.classes.values())
    assert weighted == pytest.approx(summary["completions"], rel=5 / expected**0.5)
