"""Tables and figures of a finished `studies/ntier-vm`: python benches/ntier-vm/tables.py STUDY_FOLDER OUT

`guests.csv`: of each run and guest what its own kernel and the host say. `io_waits.csv`, where the database lay on a disk: of each run and
virtual CPU the shares of samples of 0.1 s by their share of I/O wait. `predicted.csv`, where a section was predicted: what was
written before the runs, beside them. Figures as SVG.
"""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from typing import Any

from sojourn.report import Document, Section, write_figures
from sojourn.runs import RunFolder
from sojourn_cases.ntier import io_waits
from sojourn_cases.ntier.guest_predictions import predicted_shares
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


def predicted_rows(study: Path, runs: list[RunFolder]) -> list[dict[str, Any]]:
    """Response times and throughputs by the evaluation of the study, and both accounts of both guests."""
    if not (study / "predictions.json").exists():
        return []
    predicted = json.loads((study / "predictions.json").read_text())
    shares, rows = share_rows(predicted, runs), []
    if not (study / "validation.csv").exists():  # a study that was cut off
        return shares
    with open(study / "validation.csv", newline="") as file:
        users = {run.path.name: run.manifest["factors"]["users"] for run in runs}
        for row in csv.DictReader(file):
            if row["kind"] == "blind" and row["metric"] in ("response_time", "throughput"):
                told = {key: row[key] for key in ("model", "predicted", "low", "high", "measured", "inside")}
                rows.append({"users": users[row["run"]], "guest": "", "what": row["metric"], **told})
    return rows + shares


def share_rows(predicted: dict[str, Any], runs: list[RunFolder]) -> list[dict[str, Any]]:
    rows = []
    for section in dict.fromkeys(one["section"] for one in predicted["configurations"]):
        seen = [one for run in runs if run.manifest["section"] == section and (one := guest_run(run))]
        for s in predicted_shares(predicted, seen, section):
            told = {
                "model": predicted["best"],
                "predicted": s.value,
                "low": s.low,
                "high": s.high,
                "measured": s.measured,
                "inside": s.inside,
            }
            rows.append({"users": s.users, "guest": s.guest, "what": s.what, **told})
    return rows


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
    if rows := predicted_rows(Path(study), runs):
        write(folder / "predicted.csv", rows)
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
