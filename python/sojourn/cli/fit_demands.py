"""`sojourn fit RUNS --model demands`: what a request of each class demands of each resource, from runs with different mixes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import tomli_w
from rich.table import Table

from sojourn.cli.console import console, print_table
from sojourn.cli.run_folders import run_paths
from sojourn.units import interval, percent

if TYPE_CHECKING:
    from sojourn.fit.mix_demands import MixDemands


def fit_demands(runs: list[Path], out: Path, level: float) -> None:
    """Prints the demands with their intervals, how well each run is predicted from the others, and writes them to `out`.

    Raises:
        FitError: the runs do not tell the classes apart. InputError: `level`.
    """
    from sojourn.files.writing import write_output
    from sojourn.fit.mix_demands import mix_demands
    from sojourn.runs.run_folder import RunFolder

    found = mix_demands([RunFolder.open(path) for path in run_paths(runs)])
    estimates = {name: one.estimates(level) for name, one in found.items()}
    shown = Table("demand a request", *found, box=None, header_style="dim")
    for cls in next(iter(found.values())).classes:
        shown.add_row(cls, *(interval(*told[cls], "s") for told in estimates.values()))
    shown.add_row("runs differ by", *(percent(one.scatter) for one in found.values()))
    shown.add_row("error of a held-out run, median and largest", *map(_left_out, found.values()))
    print_table(shown)
    told = {name: {cls: list(one) for cls, one in by.items()} for name, by in estimates.items()}
    write_output(out, tomli_w.dumps({"model": "demands", "level": level, "demands_s": told}))
    console().print(f"written to {out}")


def _left_out(one: MixDemands) -> str:
    errors = sorted(abs(error) for error in one.left_out() if error == error)
    return (
        f"{percent(errors[len(errors) // 2])}, {percent(errors[-1])}" if errors else "not known: more runs are needed"
    )
