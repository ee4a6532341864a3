"""`sojourn lab`: what this machine can do, what not, and what to install; how its cores are related; a slow disk; what was left behind."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from sojourn.cli.console import console
from sojourn.errors import LabError
from sojourn.terminal import say

if TYPE_CHECKING:
    from sojourn.lab.doctor import AbilityCheck

app = typer.Typer(help="The lab: hosts, NICs, interrupt steering on this machine.", no_args_is_help=True)


@app.callback()
def _lab() -> None:
    """The lab: hosts, NICs, interrupt steering on this machine."""


@app.command()
def doctor(as_json: Annotated[bool, typer.Option("--json", help="print the checks as JSON")] = False) -> None:
    """Says what this machine can do for a measurement, what it cannot, and what to install."""
    from sojourn.lab.doctor import all_checks

    checks = [*all_checks(), _leases()]
    if as_json:
        say(json.dumps([vars(check) for check in checks]))
        return
    table = Table("", "what", "found", "needed for", "if lacking", box=None, header_style="dim")
    for check in checks:
        mark = Text("yes", "green") if check.good else Text("no", "red")
        table.add_row(mark, check.name, check.finding, check.needed_for, "" if check.good else check.remedy)
    console().print(table)


def _leases() -> AbilityCheck:
    from sojourn.lab.doctor import AbilityCheck
    from sojourn.live_service.restore_plan import left
    from sojourn.live_service.systemd_unit import systemd_run

    if found := left():
        names = "; ".join(map(str, found))
        return AbilityCheck(
            "settings left", False, f"a killed controller left {names}", "services as they were", "sojourn lab restore"
        )
    holds = "systemd holds leases" if systemd_run() else "none; no systemd runs that could hold leases of control --act"
    return AbilityCheck("settings left", True, holds, "services as they were")


@app.command()
def topology(
    measure: Annotated[bool, typer.Option("--measure", help="also measure between cores, and memory from a core (0.1 s)")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print all of it as JSON")] = False,
) -> None:  # fmt: skip
    """Says how the cores of this machine are related: packages, threads, caches and NUMA nodes, as told and as measured."""
    from sojourn.cli.topology_table import tables
    from sojourn.lab.machine_topology import machine_topology

    told = machine_topology()
    probe = None
    if measure:
        from sojourn.lab.topology_probe import probe_topology

        probe = probe_topology([core.number for core in told.cores])
    if as_json:
        say(json.dumps({**told.record, "measured": probe.record if probe else None}))
        return
    out = console()
    out.print(str(told), style="bold", markup=False)
    for table in tables(told, probe):
        out.print(table)
    for line in told.absent:
        out.print(f"not told: {line}", markup=False)


@app.command(context_settings={"allow_interspersed_args": False})
def disk(
    command: Annotated[list[str] | None, typer.Argument(metavar="[-- COMMAND]", help="what runs on it; {} is its folder")] = None,
    bps: Annotated[str | None, typer.Option(help="bytes per second, read and written together, e.g. 20M (default: no limit)")] = None,
    size: Annotated[str, typer.Option(help="of the disk, in bytes")] = "1G",
    at: Annotated[Path | None, typer.Option(help="folder for its image (default: that of temporary files)")] = None,
) -> None:  # fmt: skip
    """Makes a slow disk with a true busy time, and removes it with all that is on it when COMMAND has ended, or at Ctrl-C.

    A request takes bytes / rate, one after the other. docs/howto/put-a-service-on-a-slow-disk.md
    """
    from sojourn.lab.slow_disk import slow_disk
    from sojourn.units import byte_count

    rate = byte_count(bps, "--bps") if bps is not None else None
    with slow_disk(rate, int(byte_count(size, "--size")), at) as made:
        speed = "no limit" if rate is None else f"{rate / 1e6:g} MB/s"
        say(f"{made.folder}: {speed}; its busy time is disk:{made.device} of a run; Ctrl-C removes it", err=True)
        if command:
            raise typer.Exit(made.run(command))
        say(made.folder)
        try:
            while True:
                signal.pause()
        except KeyboardInterrupt:
            return


@app.command()
def restore() -> None:
    """Puts back what `sojourn control --act` had set and was killed, together with the keeper of its lease, before it put it back.

    docs/howto/control-capacity.md
    """
    from sojourn.live_service.restore_plan import put_back_left

    done, failed = put_back_left()
    say("put back " + "; ".join(done) if done else "nothing was left as a controller had set it")
    if failed:
        raise LabError("; ".join(failed), "settings left", "mend what it says, or remove the file and set it by hand")


@app.command()
def clean() -> None:
    """Removes what labs of dead processes left behind, and nothing else."""
    from sojourn.lab.cleanup_registry import clean_stale

    removed = clean_stale()
    say("removed " + ", ".join(removed) if removed else "nothing was left behind")
