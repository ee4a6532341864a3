"""What `sojourn measure` prints of its runs, and its exit code."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from sojourn.cli.console import console
from sojourn.cli.json_answer import say_answer
from sojourn.cli.load_run import end, expectation
from sojourn.cli.load_table import by_chance, notes_of, valid_for
from sojourn.cli.output_format import OutputFormat
from sojourn.diagnosis import lines as limit_lines
from sojourn.diagnosis import table
from sojourn.diagnosis.load_levels import diagnose
from sojourn.errors import LoadError, NoSuchRow, ServiceError
from sojourn.narrow_tables import WidthAwareTable
from sojourn.query.objectives import demand_met, lines
from sojourn.runs.assess_run import service_failed
from sojourn.runs.disturbances import ONLY_BESIDE, beside_in_one_line
from sojourn.runs.generator_lateness import SHARE, TOLD
from sojourn.runs.manifest import Manifest
from sojourn.runs.run_folder import RunFolder
from sojourn.table import Metrics
from sojourn.terminal import say
from sojourn.units import interval, percent, seconds

MEANT = (
    "response time: from when a request was due until its answer arrived at this host (load: also until it was read)"
)
Judged = list[tuple[RunFolder, list[dict[str, Any]]]]


def tell(judged: Judged, form: OutputFormat, where: Path) -> None:
    """The runs as a table, or for programs: their Metrics, with `--json` beside the verdict of each."""
    metrics = [folder.metrics() for folder, _ in judged if folder.has("metrics")]
    if form.as_csv:
        say(Metrics.concat(metrics).frame.write_csv(), end="")
    elif form.as_json:
        invalid = [
            f"{folder.path.name}: {'; '.join(reasons)}"
            for folder, _ in judged
            if (reasons := folder.manifest["reasons"])
        ]
        verdict = {"method": "measured", "status": "not_valid" if invalid else "ok", "message": "\n".join(invalid)}
        rows = json.loads(Metrics.concat(metrics).to_json())["rows"]
        limits = table(diagnose([folder for folder, _ in judged]))
        say_answer("measure", {**verdict, "rows": rows, "runs": [run(*one) for one in judged], "limits": limits})
    else:
        show(judged, where)


def run(folder: RunFolder, found: list[dict[str, Any]]) -> dict[str, Any]:
    """One run for a program."""
    manifest = folder.manifest
    kept = {
        key: manifest.get(key)
        for key in (
            "name",
            "factors",
            "valid",
            "reasons",
            "warnings",
            "not_valid_for",
            "series_seed",
            "demands_s",
        )
    }
    processes = manifest.get("found")
    return {**kept, "service_processes": processes, "folder": str(folder.path), "objectives": found}


def show(judged: Judged, where: Path) -> None:
    out = console()
    out.print(WidthAwareTable(summary([folder for folder, _ in judged])))
    out.print(MEANT, style="dim", highlight=False)
    beside = beside_in_one_line([folder.manifest for folder, _ in judged])
    for folder, found in judged:
        name = folder.path.name
        notes = [
            note
            for note in notes_of({**folder.manifest, "found": None})
            if not (beside and note.startswith(ONLY_BESIDE))
        ]
        told = [*lines(found), *notes, *from_sent(folder)]
        chance = by_chance({**(folder.manifest.get("generator") or {}), **expectation(folder.manifest)})
        for line in [*told, *filter(None, [chance])]:
            out.print(f"{name}: {line}", highlight=False, markup=False)
    for line in [*of_all([folder.manifest for folder, _ in judged]), *beside]:
        out.print(line, highlight=False, markup=False)
    for line in limit_lines(diagnose([folder for folder, _ in judged])):
        out.print(line, highlight=False, markup=False)
    costs = [c for f, _ in judged if (c := (f.manifest.get("observer") or {}).get("own_share")) is not None]
    if costs:
        out.print(f"recording the host took {percent(max(costs), 2)} of a core at most")
    out.print(f"run folders in {where}", soft_wrap=True)


def of_all(manifests: Sequence[Manifest]) -> list[str]:
    """What is said once of all runs: whose processes, which core, what priority, and what repeats the arrivals."""
    said = [manifest.get("found") for manifest in manifests]
    for manifest in manifests:
        said += [note for note in (manifest.get("generator") or {}).get("notes") or () if note.startswith("real-time")]
        if client := (manifest.get("placement") or {}).get("client"):
            said.append(f"the generator ran on core {', '.join(map(str, client))}, which the service does not use")
        if (series := manifest.get("series_seed")) is not None:
            said.append(f"--seed {series} repeats the same arrivals")
    return list(dict.fromkeys(filter(None, said)))


def from_sent(folder: RunFolder) -> list[str]:
    """Where a late generator is much of the response time: the time from when requests were sent, as far as that knows no lateness."""
    if ((folder.manifest.get("checks") or {}).get(SHARE) or {}).get("mean", 0.0) < TOLD or not folder.has("metrics"):
        return []
    with suppress(NoSuchRow):
        rows = folder.metrics()
        mean, p99 = rows.value("response_time", "service"), rows.value("response_time_quantile", "service", q=0.99)
        return [
            f"measured from sending (ignores requests that should have been sent meanwhile): "
            f"mean {seconds(mean)}, p99 {seconds(p99)}"
        ]
    return []


def summary(folders: list[RunFolder]) -> Table:
    """One line a run: rate, throughput, response time with interval, busiest core, verdict."""
    table = Table("run", "throughput", "response time", "p99", "busiest core", "valid", box=None, header_style="dim")
    for folder in folders:
        verdict = (
            valid_for(folder.manifest).replace("valid", "yes", 1)
            if folder.manifest["valid"]
            else "no: " + "; ".join(folder.manifest["reasons"])
        )
        table.add_row(folder.path.name, *_figures(folder), verdict)
    return table


def _figures(folder: RunFolder) -> list[str]:
    if not folder.has("metrics"):
        return ["–"] * 4
    metrics = folder.metrics()
    busy = metrics.frame.filter(metrics.frame["metric"] == "utilisation")["value"].max()
    response: tuple[float | None, float | None, float | None] = (None, None, None)
    quantile, bounds = None, (None, None)
    with suppress(NoSuchRow):  # no request succeeded
        response = metrics.value("response_time"), *metrics.interval("response_time")
        row = metrics.where(metric="response_time_quantile", station="", q=0.99, **{"class": ""}).frame.row(
            0, named=True
        )
        quantile, bounds = row["value"], (row["low"], row["high"])
    return [
        interval(metrics.value("throughput"), None, None, "1/s"),
        interval(*response, "s"),
        f"{seconds(bounds[0])} to {seconds(bounds[1])}" if quantile is None and bounds[1] else seconds(quantile),
        percent(busy if isinstance(busy, float) else None),
    ]


def say_finished(folder: RunFolder, out: Console) -> None:
    """A line of a level that is finished, while others are to come; none without a terminal, where the table says it."""
    if out.is_terminal:
        throughput, response, p99, _ = _figures(folder)
        verdict = "" if folder.manifest["valid"] else ", not valid"
        line = f"{folder.path.name}: {throughput}, response time {response}, p99 {p99}{verdict}"
        out.print(line, soft_wrap=True, markup=False, highlight=False)


def finished(where: Path, names: Iterable[str]) -> list[RunFolder]:
    """Those of these runs that are there and were finished."""
    there = [RunFolder.open(where / name) for name in names if (where / name / "manifest.json").exists()]
    return [folder for folder in there if folder.has("metrics")]


def finish(runs: list[tuple[str, list[str], list[dict[str, Any]]]], told: bool = False) -> None:
    """The exit code of several runs, each a name, why it is not valid, and what came of the objectives. `told`: the user sees the table,
    which has the reasons, so that the error names the runs alone.

    Raises:
        LoadError, ServiceError: one is not valid. ObjectiveMissed: all are, and one missed an objective.
    """
    invalid = [(name, reasons) for name, reasons, _ in runs if reasons]
    count = f"{len(invalid)} of {len(runs)} runs are not valid: " if len(runs) > 1 else ""
    if told and invalid:
        failed = any(service_failed(reason) for _, reasons in invalid for reason in reasons)
        error = ServiceError if failed else LoadError
        raise error(
            f"{count or 'not valid: '}{', '.join(name for name, _ in invalid)}", "measure", "the table above says why"
        )
    end([f"{count}{name}: {reason}" for name, reasons in invalid for reason in reasons], "measure")
    named = [{**one, "objective": f"{name}: {one['objective']}"} for name, _, found in runs for one in found]
    demand_met(named, "measure")
