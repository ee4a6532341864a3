"""What other programs used, over several runs: three foreign programs beside two of three runs."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from capacity.test_capacity_report import result

from sojourn.capacity import capacity_document
from sojourn.measure.run_report import validity_rule
from sojourn.runs.disturbances import beside_text


def run(others: float, used: dict[str, float], **more: Any) -> Any:
    told = (
        [f"other processes used {others:.1%} of a core: the figures are those of the service beside them"]
        if used
        else []
    )
    manifest = {
        "warnings": told,
        "checks": {"others": others},
        "cpu_time": {"others": used},
        "beside_others": True,
        **more,
    }
    return SimpleNamespace(path=Path("run"), manifest=manifest)


RUNS = [
    run(1.302, {"mypy (4711)": 0.9, "cc1 (4712)": 0.4}),
    run(0.6, {"rustc (9)": 0.5, "cc1 (8)": 0.1}),
    run(0.01, {}),
]
SAID = "other programs used 60% to 130% of a core in 2 of 3 runs (mypy, rustc, cc1): the figures are those of the service beside them"


def test_it_is_one_sentence() -> None:
    assert beside_text(RUNS) == SAID
    assert beside_text([RUNS[0]]).startswith("other programs used 130% of a core (mypy, cc1):")
    assert beside_text([RUNS[2]]) == ""


def test_a_report_does_not_say_that_nobody_used_the_machine() -> None:
    alone = run(0.0, {}, beside_others=False)
    assert "no other programs" not in validity_rule(RUNS) and "do not make these runs invalid" in validity_rule(RUNS)
    assert validity_rule([alone]).endswith("no other programs used the machine.")
    assert validity_rule([alone, *RUNS]).endswith("In 3 of 4 runs other programs were allowed.")


def test_an_answer_beside_others_has_the_warning_that_it_is_marked_with() -> None:
    document = capacity_document(result(notes=(SAID,)), "http://x/")
    assert document.status == "warn" and SAID in document.verdict
    assert capacity_document(result(), "http://x/").status == "ok"
