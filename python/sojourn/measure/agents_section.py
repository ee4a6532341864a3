"""The agents of runs in a report: what each was given and sent, whether it was on time, its clock, and its verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sojourn.report import Section, Table, Text
from sojourn.runs.run_folder import RunFolder
from sojourn.units import per_second, seconds

COLUMNS = ("run", "agent", "on", "rate", "sent", "late p99", "clock before", "drift", "valid")
NOTE = (
    "Before and after the run an agent's clock is compared with that of the command; the error is half of the round trip; "
    "the offset does not affect latencies, since each is measured within one agent. The rate is the offered rate; late: time "
    "from when a request was due until the agent sent it."
)


def agents_section(runs: Sequence[RunFolder]) -> Section | None:
    """One row for each agent of each run; None where no run was made by agents."""
    rows = tuple(_row(run, one) for run in runs for one in run.manifest.get("agents") or ())
    return Section("Agents", "", (Table("Agents", COLUMNS, rows), Text(NOTE))) if rows else None


def _row(run: RunFolder, one: dict[str, Any]) -> tuple[str, ...]:
    generator, clock = one["generator"], one["clock"]
    return (
        run.path.name, str(one["agent"]), one["machine"]["host"], per_second(generator["offered_per_s"]), str(generator["sent"]),
        seconds(generator["own_lateness"]["p99_s"]), f"{seconds(clock['offset_s'])} ± {seconds(clock['bound_s'])}",
        seconds(clock["drift_s"]), "yes" if one["valid"] else "; ".join(one["reasons"]),
    )  # fmt: skip
