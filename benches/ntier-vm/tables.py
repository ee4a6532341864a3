"""Tables and figures of a finished `studies/ntier-vm`: python benches/ntier-vm/tables.py STUDY_FOLDER OUT

`guests.csv`: of each run and guest what its own kernel and the host say. `io_waits.csv`, where the database lay on a disk: of each run and
virtual CPU the shares of samples of 0.1 s by their share of I/O wait. Figures as SVG.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import Any

from sojourn.report import Document, Section, write_figures
from sojourn.runs import RunFolder
from sojourn_cases.ntier import io_waits
from sojourn_cases.ntier.guest_views import configurations, guest_run, of_configurations


def runs_of(study: Path) -> list[RunFolder]:
    return [RunFolder.open(path) for path in sorted((study / "runs").iterdir()) if (path / "manifest.json").exists()]


def guest_rows(run: RunFolder) -> list[dict[str, Any]]:
    one = guest_run(run)
    factors = {name: run.manifest["factors"].get(name) for name in ("cpus", "placement", "strategy", "users")}
    valid, reasons = run.manifest["valid"], "; ".join(run.manifest["reasons"])
    return [
        {
            **factors, "valid": valid, "per_s": one.per_s, "response_s": one.response_s, "guest": own.guest, "busy": own.busy,
            "ran": own.ran, "difference": own.difference, "waited": own.waited, "told_steal": own.told_steal,
            "io_wait": own.io_wait, "others_cores": own.others_cores, "demand_by_guest_s": one.demand_s(own.guest, False),
            "demand_by_host_s": one.demand_s(own.guest, True), "reasons": reasons,
        }
        for own in (one.accounts if one else ())
    ]  # fmt: skip


def wait_rows(run: RunFolder) -> list[dict[str, Any]]:
    names = io_waits._core_names(run)
    limits = io_waits._limits()
    return [
        {
            "strategy": run.manifest["factors"]["strategy"], "valid": run.manifest["valid"], "virtual_cpu": names[core],
            "mean": float(share.mean()), **dict(zip(limits, io_waits.histogram(share), strict=True)),
        }
        for core, share in io_waits._of_cores([run]).items()
    ]  # fmt: skip


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    with open(path, "w", newline="") as file:
        out = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        out.writeheader()
        out.writerows(
            {name: f"{value:.5g}" if isinstance(value, float) else value for name, value in row.items()} for row in rows
        )


def main(study: str, out: str) -> None:
    folder, runs = Path(out), runs_of(Path(study))
    folder.mkdir(parents=True, exist_ok=True)
    write(folder / "guests.csv", [row for run in runs for row in guest_rows(run)])
    by = io_waits.points([run for run in runs if run.manifest["factors"]["strategy"] != "memory"], ["strategy"])
    if by:
        write(folder / "io_waits.csv", [row for own in by.values() for run in own for row in wait_rows(run)])
        figures: Any = tuple(io_waits.core_figures(by, ["strategy"]))
    else:
        blocks = of_configurations(configurations(runs)).sections[0].blocks
        figures = tuple(block for block in blocks if hasattr(block, "series"))
    document = Document("figures", "", ["figures"], "ok", (Section("figures", "", figures),))
    write_figures(document, folder, ("svg",))


if __name__ == "__main__":
    main(*sys.argv[1:])
