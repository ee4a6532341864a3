"""The answer as lines, report, Markdown, JUnit and exit code, of results that are written down here."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest

from sojourn.capacity import Capacity, CapacityRun, RateInterval, capacity_document, junit_cases
from sojourn.report import render_html, render_junit, render_markdown

RUN = CapacityRun("rate-500", 500.0, 498.0, 0.012, 0.02, {"p99": 0.04, "errors": 0.0}, True, True)
LATE = CapacityRun("rate-800", 800.0, 790.0, 0.03, 0.02, {"p99": 0.09, "errors": 0.0}, False, False, ("disturbed",))


def result(**more: Any) -> Capacity:
    fields: dict[str, Any] = {
        "objective": "p99 < 50ms and errors < 0.1%", "rate_per_s": RateInterval(720, 690, 750),
        "saturation_per_s": RateInterval(948, 910, 990), "level": 0.9, "no_answer_reason": "", "stop_reason": "known to 10 %",
        "limit": None, "model": "2 servers", "runs": (RUN, LATE), "requests": 41000, "elapsed_s": 112.0,
    }  # fmt: skip
    return Capacity(**(fields | more))


@pytest.mark.parametrize(
    ("more", "outcome"),
    [
        ({}, "met"),
        ({"rate_per_s": RateInterval(720, 690, None)}, "unknown"),
        ({"rate_per_s": RateInterval(2424, 0, 13728)}, "unknown"),
        ({"rate_per_s": None, "no_answer_reason": "no model"}, "unknown"),
        ({"rate_per_s": None, "single_user_misses": True}, "missed"),
        ({"required_rate_per_s": 690.0}, "met"),
        ({"required_rate_per_s": 700.0}, "unknown"),
        ({"required_rate_per_s": 751.0}, "missed"),
        ({"required_rate_per_s": 600.0, "rate_per_s": RateInterval(720, 690, None)}, "met"),
        ({"required_rate_per_s": 600.0, "rate_per_s": None}, "unknown"),
    ],
)
def test_outcome(more: dict[str, Any], outcome: str) -> None:
    found = result(**more)
    assert found.outcome == outcome and found.to_dict()["outcome"] == outcome
    case = ElementTree.fromstring(render_junit("capacity", junit_cases(found))).find("testcase")
    assert case is not None
    assert (case.find("failure") is not None, case.find("error") is not None) == (
        outcome == "missed",
        outcome == "unknown",
    )


def test_lines() -> None:
    what_if = {"workers = 4": RateInterval(1380, 1190, 1520)}
    found = result(
        what_if=what_if, commands={"workers = 4": "sojourn capacity U --factor workers=4"}, required_rate_per_s=500.0
    )
    assert found.lines() == [
        "720 /s (90 %: 690 /s … 750 /s) meet p99 < 50ms and errors < 0.1%; it saturates at 948 /s (90 %: 910 /s … 990 /s)",
        "at least 500 /s: met",
        "with workers = 4: 1380 /s (90 %: 1190 /s … 1520 /s), not yet measured: sojourn capacity U --factor workers=4",
        "2 runs, 112 s, 41000 requests; known to 10 %",
    ]


def test_the_answer_comes_first_in_a_report() -> None:
    document = capacity_document(result(notes=("`*evil*`",)), "http://x/")
    assert document.verdict[0].startswith("720 /s (90 %: 690 /s … 750 /s) meet p99 < 50ms")
    assert document.numbers[0] == ("720 /s", "meet p99 < 50ms and errors < 0.1%")
    text = render_markdown(document)
    assert text.splitlines()[2].startswith("**720 /s") and "| rate-800 | 800 /s | 790 /s | 30.0 ms | 90.0 ms |" in text
    assert "disturbed" in text and "<em>" not in render_html(document).split("</style>")[-1].split("<script")[0]


def test_a_report_without_an_answer() -> None:
    document = capacity_document(
        result(rate_per_s=None, saturation_per_s=None, no_answer_reason="no model", runs=()), "http://x/"
    )
    assert document.verdict[0] == "no model" and document.status == "warn" and document.numbers == ()
    assert "No run was made." in render_html(document)
