"""Real-time priority: issue 29, point 1. It was never asked for; where it is refused, the run says what grants it."""

from __future__ import annotations

from typing import Any

from sojourn.lab.real_time import GRANT
from sojourn.load.http_load import http_load
from sojourn.measure.execute_run import _tell_priority


def test_a_load_asks_for_it_where_it_is_told_to() -> None:
    assert http_load(["http://127.0.0.1:1/"], users=1, realtime=True)["realtime"] is True
    assert http_load(["http://127.0.0.1:1/"], users=1)["realtime"] is False


def test_a_refusal_says_what_helps() -> None:
    """The generator's own words: crates/loadgen/src/run/run_summary.rs."""
    refused = "real-time priority was refused: the generator ran at normal priority"
    summary: dict[str, Any] = {"realtime_granted": False, "notes": [refused, "another note"]}
    _tell_priority(summary)
    assert summary["notes"] == [f"{refused}; {GRANT} grants it", "another note"]
    assert "prlimit --pid $$ --rtprio=10" in GRANT
