"""`sojourn oscillation RUN --resource-a cpu --resource-b disk:vda`: does the bottleneck oscillate between two resources?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sojourn.cli.console import check_writable, console
from sojourn.cli.json_answer import say_answer
from sojourn.terminal import say

if TYPE_CHECKING:
    from sojourn.stats.circular_shift import Array


def oscillation(
    source: Annotated[Path, typer.Argument(help="a run folder, or a CSV file of busy shares sampled about every 0.1 s")],
    a: Annotated[str, typer.Option("--resource-a", help="cpu, cpu:0-1, disk:NAME, cgroup:NAME, a resource of the study; CSV: a column")],
    b: Annotated[str, typer.Option("--resource-b", help="the other one")],
    interval: Annotated[str, typer.Option("--sample-interval", help="CSV file: between two samples, e.g. 100ms; else it needs times")] = "",
    time: Annotated[str, typer.Option("--time-column", help="CSV file: column of times, seconds or dates (default: t_s, time …)")] = "",
    shares_in_percent: Annotated[bool, typer.Option("--shares-in-percent", help="CSV file: shares from 0 to 100, not 0 to 1")] = False,
    out: Annotated[Path | None, typer.Option(help="also write an HTML file with figures")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print one JSON object: verdict, reason, test, shares")] = False,
) -> None:  # fmt: skip
    """Finds a bottleneck that alternates between two resources.

    It also says whether means over a second would show it.
    Each is full at times, one when the other is not. The verdict is none, hidden (in means over a second neither is full), visible
    or too_short.
    """
    from sojourn.diagnosis.oscillation import oscillation as judge
    from sojourn.diagnosis.oscillation_figures import document
    from sojourn.report import write_html
    from sojourn.report.terminal_output import print_terminal

    if out is not None:
        check_writable(out)
    shares, interval_s = _series(source, (a, b), interval, time, shares_in_percent)
    found = judge(shares[0], shares[1], interval_s, (a, b))
    if as_json:
        say_answer("oscillation", found.record)
    else:
        print_terminal(document(found, str(source), with_figures=False), console())
    if out is not None:
        write_html(document(found, str(source)), out)
        say(f"written to {out}", err=as_json)


def _series(
    source: Path, names: tuple[str, str], interval: str, time: str, shares_in_percent: bool
) -> tuple[Array, float]:
    """Of a run folder or of a CSV file."""
    from sojourn.errors import InputError
    from sojourn.units import duration_s

    if source.is_file():
        from sojourn.diagnosis.share_columns import share_columns

        interval_s = duration_s(interval, "--sample-interval") if interval else None
        return share_columns(source, names, time, interval_s, shares_in_percent)
    if interval or time or shares_in_percent:
        raise InputError(
            "a run folder with --sample-interval, --time-column or --shares-in-percent",
            source,
            "these options are for CSV files",
        )
    from sojourn.runs.busy_series import busy_series
    from sojourn.runs.run_folder import RunFolder

    return busy_series(RunFolder.open(source), names)
