"""Programs that used the CPU beside several runs are told once, and those of a single run as they are."""

from __future__ import annotations

from sojourn.runs.disturbances import ONLY_BESIDE, beside_in_one_line


def manifest(**beside: float) -> dict[str, object]:
    named = {name.replace("_", " ") + f" ({number})": share for number, (name, share) in enumerate(beside.items(), 40)}
    return {"warnings": [f"{ONLY_BESIDE} (cc1 (40) 95%): …"] if beside else [], "cpu_time": {"beside": named}}


def test_of_several_runs_each_program_is_told_by_the_most_that_it_used() -> None:
    runs = [manifest(cc1=0.4, ld=0.2), manifest(cc1=0.95, mypy=0.3), manifest(), manifest(node=0.1)]
    (line,) = beside_in_one_line(runs)
    assert line.startswith(f"{ONLY_BESIDE}, in 3 of 4 runs: cc1 up to 95%, mypy up to 30%, ld up to 20%, 1 more;")
    assert "service-pids" in line


def test_one_run_needs_no_summary() -> None:
    assert beside_in_one_line([manifest(cc1=0.95), manifest()]) == []
