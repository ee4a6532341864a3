"""`sojourn lab`: how the cores of this machine are related; a slow disk; guests; what was left behind."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Annotated

import typer

from sojourn.cli.console import console
from sojourn.cli.json_answer import say_answer
from sojourn.errors import LabError
from sojourn.terminal import say

app = typer.Typer(no_args_is_help=True)


@app.command()
def topology(
    measure: Annotated[bool, typer.Option("--measure-access-times", help="also measure it, core to core and to memory (0.1 s)")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print all of it as JSON")] = False,
) -> None:  # fmt: skip
    """Says how the cores of this machine are related.

    Packages, threads, caches and NUMA nodes, as told and as measured.
    """
    from sojourn.cli.topology_table import tables
    from sojourn.lab.machine_topology import machine_topology

    told = machine_topology()
    probe = None
    if measure:
        from sojourn.lab.topology_probe import probe_topology

        probe = probe_topology([core.number for core in told.cores])
    if as_json:
        say_answer("lab topology", {**told.record, "measured": probe.record if probe else None})
        return
    out = console()
    out.print(str(told), style="bold", markup=False)
    for table in tables(told, probe):
        out.print(table)
    for line in told.missing_information:
        out.print(f"not told: {line}", markup=False)


@app.command(context_settings={"allow_interspersed_args": False})
def disk(
    command: Annotated[list[str] | None, typer.Argument(metavar="[-- COMMAND]", help="command to run; {} is the disk's folder")] = None,
    bps: Annotated[
        str | None, typer.Option("--bytes-per-s", help="bytes per second, read and written together, e.g. 20M (default: no limit)")
    ] = None,
    size: Annotated[str, typer.Option(help="of the disk, in bytes")] = "1G",
    at: Annotated[Path | None, typer.Option("--image-folder", help="folder for its image (default: that for temporary files)")] = None,
) -> None:  # fmt: skip
    """Makes a slow disk whose busy time is true.

    It is removed with all that is on it when COMMAND has ended, or at Ctrl-C. A request takes bytes / rate, one
    after the other. docs/howto/put-a-service-on-a-slow-disk.md
    """
    from sojourn.lab.slow_disk import slow_disk
    from sojourn.units import byte_count

    rate = byte_count(bps, "--bytes-per-s") if bps is not None else None
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
def vm(
    probe: Annotated[
        bool, typer.Option("--boot-guests", help="boot each kind of guest once, and say what it has")
    ] = False,
    kernel: Annotated[
        Path | None,
        typer.Option("--kernel", help="boot this kernel in guests of QEMU: a bzImage, or a vmlinux with a PVH entry"),
    ] = None,
    modules: Annotated[
        Path | None,
        typer.Option(
            "--modules",
            help="folder with the modules of this kernel; by default lib/modules/VERSION beside its folder, or on this machine, if there",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print what was found as JSON")] = False,
) -> None:
    """Says which virtual machines can be had here.

    QEMU with KVM, QEMU that translates (TCG), user-mode-linux: each is booted from installed packages, asked what it
    has, and ended; two minutes at most. docs/howto/guests.md
    """
    from sojourn.cli.guest_table import tell
    from sojourn.errors import InputError
    from sojourn.lab.guest_parts import UML, WAYS, guest_parts, with_kernel
    from sojourn.lab.guest_probe import probe_guests

    if not probe:
        raise InputError("nothing to do", "lab vm", "give --boot-guests")
    parts, ways = guest_parts(), tuple(WAYS)
    if kernel:
        parts, ways = with_kernel(parts, kernel, modules), tuple(way for way in WAYS if way != UML)
    elif modules:
        raise InputError(str(modules), "--modules", "give --kernel, too")
    found = tell(probe_guests(parts, ways=ways), as_json)
    if not any(one.boots for one in found):
        remedies = dict.fromkeys(one.remedy for one in found)
        raise LabError("no guest boots on this machine", "lab vm", "; or ".join(remedies))


@app.command()
def restore() -> None:
    """Puts back what a killed controller had set.

    `sojourn control live --act` puts it back itself, unless it is killed together with the keeper of its lease.
    docs/howto/control-capacity.md
    """
    from sojourn.live_service.restore_plan import put_back_left

    done, failed = put_back_left()
    say("put back " + "; ".join(done) if done else "no settings of a killed controller were found")
    if failed:
        raise LabError(
            "; ".join(failed),
            "settings left",
            "fix what the message says, or remove the file and restore the settings by hand",
        )


@app.command()
def clean() -> None:
    """Removes what labs of dead processes left behind."""
    from sojourn.lab.cleanup_registry import clean_stale
    from sojourn.lab.guest import PREFIX
    from sojourn.lab.owned_folder import remove_stale_folders

    removed = [*clean_stale(), *map(str, remove_stale_folders(PREFIX))]
    say("removed " + ", ".join(removed) if removed else "nothing was left behind")
