"""`sojourn observe traces.json`: visits, self times and calls of services, and a model file of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sojourn.cli.console import check_new, print_table
from sojourn.errors import InputError
from sojourn.terminal import say
from sojourn.units import per_second, seconds

if TYPE_CHECKING:
    from sojourn.traces import ObservedTraces
    from sojourn.traces.visit_ratios import VisitRatio

MODEL_FILE = ".toml"
MOST_ROWS = 20  # of a table
MOST_BESIDE = 4  # stations as columns; more are rows


def observe_traces(
    sources: Sequence[str], out: Path | None, sampled: float | None, alike: bool, given: Sequence[str]
) -> None:
    """Prints what is in them, and writes the model to `out`; `given`: options that are of windows."""
    from sojourn.files.writing import write_output
    from sojourn.traces import read_traces

    if given:
        raise InputError(given[0], sources[0], "leave it out, or name a folder for windows: --out runs/week")
    if out is not None:
        check_new(out, False)
    seen = read_traces(sources, sampled, same_time_per_visit=alike)
    print_traces(seen)
    if out is not None:
        write_output(out, seen.to_toml())
        say(f"written to {out}; next: runs with the CPU of each station, then sojourn fit RUNS --model {out}")


def print_traces(seen: ObservedTraces) -> None:
    """Classes with their visits, operations with their self times, calls, and what is not known."""
    counted = sum(cls.counted for cls in seen.classes.values())
    formats = ", ".join(seen.formats)
    say(f"{counted} requests in {seen.traces} traces, {seen.spans} spans, {len(seen.stations)} stations ({formats})")
    beside = len(seen.stations) <= MOST_BESIDE
    columns = [f"visits of {one}" for one in seen.stations] if beside else []
    _table(
        ("class", "requests", "rate", "response time", *columns),
        [
            (name, str(cls.counted), per_second(cls.rate_per_s), seconds(cls.response_s),
             *(_visits(cls.visits.get(one)) for one in seen.stations if beside))
            for name, cls in seen.classes.items()
        ],
        "classes",
    )  # fmt: skip
    if not beside:
        rows = [
            (name, station, _visits(ratio), seconds(cls.residence_s[station]))
            for name, cls in seen.classes.items()
            for station, ratio in cls.visits.items()
        ]
        _table(("class", "station", "visits", "self time of a request"), rows, "visits")
    operations = [
        (one.station, one.name, str(one.spans), seconds(one.self_s), seconds(one.duration_s)) for one in seen.operations
    ]
    _table(("station", "operation", "spans", "self time", "duration"), operations, "operations, which took less time")
    calls = [
        (one.caller or "outside", one.callee, f"{one.a_request:.4g}", f"{one.asynchronous:.0%}", f"{one.parallel:.0%}")
        for one in seen.calls
    ]
    _table(("calls from", "to", "a request", "not waited for", "beside others"), calls, "calls")
    for note in seen.notes:
        say(f"- {note}")


def _visits(ratio: VisitRatio | None) -> str:
    return f"{ratio.mean:.4g} ({ratio.low:.4g} … {ratio.high:.4g})" if ratio else "0"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], what: str) -> None:
    """The first rows; how many more there are."""
    from rich.table import Table

    table = Table(*head, box=None)
    for row in rows[:MOST_ROWS]:
        table.add_row(*row)
    print_table(table)
    if len(rows) > MOST_ROWS:
        say(f"{len(rows) - MOST_ROWS} more {what}")
