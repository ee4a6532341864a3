"""`sojourn cpu -- COMMAND`: the CPU time that a command made the whole machine use."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sojourn.cli.json_answer import form

if TYPE_CHECKING:
    from sojourn.measure.cpu_residual import CpuUse

DRIFT = 0.01


def cpu(
    command: Annotated[list[str], typer.Argument(help="what to run, behind --")],
    rest: Annotated[
        str, typer.Option("--idle-duration", help="how long to measure the idle machine before and after")
    ] = "1s",
    out: Annotated[Path | None, typer.Option(help="write all figures as JSON to this file")] = None,
) -> None:
    """Measures all CPU time that a command causes on a machine.

    Kernel and interrupts are included, with the error of the figure.
    Ends with the command's exit code; the figures go to standard error.
    """
    from rich.table import Table

    from sojourn.files.writing import write_output
    from sojourn.measure.cpu_residual import STOLEN, measure_command
    from sojourn.terminal import SafeConsole
    from sojourn.units import duration_s, percent, seconds

    found = measure_command(command, duration_s(rest, "--idle-duration"))
    if out is not None:
        write_output(out, json.dumps({"schema": form("cpu"), **found.record}) + "\n")
    table = Table("meter", "CPU time", "cores", "what it cannot see", box=None, header_style="dim")
    for name, used_s, error_s, blind in _rows(found):
        told = seconds(used_s) + (f" ± {seconds(error_s)}" if error_s is not None else "")
        table.add_row(name, told, f"{used_s / found.wall_s:.3f}", blind)
    console = SafeConsole(stderr=True)
    console.print(table)
    console.print(
        f"{seconds(found.wall_s)} on {found.cores} cores; idle machine: "
        f"{found.background_cores:.4f} ± {found.background_error_cores:.4f} cores are busy, "
        "taken out of the first three"
    )
    if found.memory_scanners_s > 0:
        console.print(
            f"kernel threads that scan memory used {seconds(found.memory_scanners_s)} meanwhile, taken out of the residual"
        )
    if found.other_processes:
        told = ", ".join(f"{name} {seconds(used_s)}" for name, used_s in found.other_processes)
        console.print(
            f"other programs that ran meanwhile (included unless they also run when idle): {told}", markup=False
        )
    if found.background_drift_p_value < DRIFT:
        console.print(
            f"other programs' use changed between before and after (p = {found.background_drift_p_value:.1g}): "
            "run it again on a quiet machine"
        )
    if found.stolen_share > STOLEN:
        console.print(f"the hypervisor took {percent(found.stolen_share)} of the cores' time: run it again")
    raise typer.Exit(found.exit_code)


def _rows(found: CpuUse) -> list[tuple[str, float, float | None, str]]:
    return [
        ("residual", found.cpu_s, found.cpu_error_s, "interrupts that hit an otherwise idle core"),
        (
            "work counter",
            found.cpu_by_lost_work_s,
            found.cpu_by_lost_work_error_s,
            "least; includes effects of slower cores, caches and the hypervisor",
        ),
        ("ticks", found.cpu_by_ticks_s, None, "work that ends between two ticks, or is paced by them; niced work"),
        ("its own account", found.cpu_by_process_times_s, None, "kernel threads, interrupts, and servers that it used"),
    ]
