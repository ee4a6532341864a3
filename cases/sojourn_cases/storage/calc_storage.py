"""`sojourn calc storage`: how many cores the I/Os of each storage path need."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from sojourn.cli import console, print_table, say_answer
from sojourn.units import per_second, percent, seconds


def storage(
    required_iops: Annotated[float, typer.Option(help="required I/Os per second, e.g. 70000")],
    source: Annotated[
        Path, typer.Option("--coefficients", help="a run list with cpu_cores, the folder of a storage study, or published coefficients")
    ],
    cores: Annotated[int | None, typer.Option("--core-count", help="that serve; default: as many as the rate needs")] = None,
    read: Annotated[float | None, typer.Option("--read-fraction", help="share of reads, 0 to 1; default: the middle of the runs")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print one JSON object: paths, in SI units")] = False,
) -> None:  # fmt: skip
    """Says how many cores the I/Os of each storage path need.

    CPU per I/O, I/Os per core, cores, and response time (M/M/m).
    """
    from sojourn_cases.storage.costs import size_storage

    found = size_storage(source, required_iops, cores, read)
    if as_json:
        say_answer("calc storage", {"paths": [asdict(one) for one in found]}, version=1)
        return
    table = Table(
        "path",
        "CPU per I/O",
        "I/Os per core",
        "cores busy",
        "cores",
        "on",
        "busy",
        "response",
        box=None,
        header_style="dim",
    )
    for one in found:
        c = one.cost
        table.add_row(
            c.path, _ranged(c.seconds, (c.low, c.high), seconds), _ranged(one.per_core, one.per_core_range, per_second),
            _ranged(one.busy, one.busy_range, "{:.3g}".format), _ranged(one.cores, one.cores_range, "{:d}".format),
            str(one.servers), percent(one.utilisation), _ranged(one.response_s, one.response_range, seconds),
        )  # fmt: skip
    print_table(table)
    if len(found) == 2 and all(one.cost.seconds > 0 for one in found):
        cheap, dear = sorted((one.cost for one in found), key=lambda cost: cost.seconds)
        console().print(
            f"{dear.path} needs {dear.seconds / cheap.seconds:.2f} times the CPU of {cheap.path}", markup=False
        )


def _ranged(value: Any, ends: tuple[Any, Any], told: Any) -> str:
    """A figure with the ends of its range where it has one."""
    if value is None:
        return "saturated"
    if ends == (None, None):
        return str(told(value))
    low, high = ("?" if end is None else str(told(end)) for end in ends)
    return str(told(value)) if low == high else f"{told(value)} ({low} to {high})"
