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

MOST_ROWS = 20  # of a table


MODEL_FILE = ".toml"


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
    seen = read_traces(sources, sampled, alike=alike)
    print_traces(seen)
    if out is not None:
        write_output(out, seen.to_toml())
        say(f"written to {out}; next: runs with the CPU of each station, then sojourn fit RUNS --model {out}")


def print_traces(seen: ObservedTraces) -> None:
    """Classes with their visits, operations with their self times, calls, and what is not known."""
    from rich.table import Table

    counted = sum(cls.counted for cls in seen.classes.values())
    say(
        f"{counted} requests in {seen.traces} traces, {seen.spans} spans, {len(seen.stations)} stations ({', '.join(seen.formats)})"
    )
    table = Table(
        "class", "requests", "rate", "response time", *(f"visits of {one}" for one in seen.stations), box=None
    )
    for name, cls in seen.classes.items():
        visits = [cls.visits.get(one) for one in seen.stations]
        table.add_row(
            name, str(cls.counted), per_second(cls.rate_per_s), seconds(cls.response_s),
            *(f"{v.mean:.4g} ({v.low:.4g} … {v.high:.4g})" if v else "0" for v in visits),
        )  # fmt: skip
    print_table(table)
    table = Table("station", "operation", "spans", "self time", "duration", box=None)
    for one in seen.operations[:MOST_ROWS]:
        table.add_row(one.station, one.name, str(one.spans), seconds(one.self_s), seconds(one.duration_s))
    print_table(table)
    if len(seen.operations) > MOST_ROWS:
        say(f"{len(seen.operations) - MOST_ROWS} more operations, which took less time")
    table = Table("calls from", "to", "a request", "not waited for", "beside others", box=None)
    for call in seen.calls:
        table.add_row(
            call.caller or "outside",
            call.callee,
            f"{call.a_request:.4g}",
            f"{call.asynchronous:.0%}",
            f"{call.parallel:.0%}",
        )
    print_table(table)
    for note in seen.notes:
        say(f"- {note}")
