"""`sojourn load URL`: a load test in the terminal."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from sojourn.cli.live import live
from sojourn.cli.output import console
from sojourn.errors import LoadError, ServiceError
from sojourn.measure.folder import RunFolder
from sojourn.units import duration_s, number, seconds


def load(
    url: Annotated[list[str], typer.Argument(help="http://host:port/path; several take turns at random")],
    rate: Annotated[str | None, typer.Option(help="requests per second, open loop")] = None,
    users: Annotated[int | None, typer.Option(help="closed loop: this many users instead of a rate")] = None,
    think: Annotated[str, typer.Option(help="mean think time of a user, e.g. 100ms (exponential)")] = "0",
    arrivals: Annotated[str, typer.Option(help="poisson or constant")] = "poisson",
    duration: Annotated[str, typer.Option(help="e.g. 10s, 2m")] = "10s",
    connections: Annotated[int, typer.Option(help="connections opened before the start")] = 64,
    seed: Annotated[int, typer.Option(help="the schedule repeats from it")] = 1,
    timeout: Annotated[str, typer.Option(help="after which a request has failed")] = "10s",
    status: Annotated[int, typer.Option(help="the status that an answer must have")] = 200,
    out: Annotated[Path | None, typer.Option(help="keep the run folder here")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print the summary as one JSON object")] = False,
) -> None:
    """Puts a known load on a service and says how long answers took, from when they were due and from when sent."""
    from sojourn.measure.load import http_load
    from sojourn.measure.run import execute

    config = http_load(
        url,
        rate_per_s=None if rate is None else number(rate, "--rate"),
        users=users,
        think_s=0.0 if think == "0" else duration_s(think, "--think"),
        arrivals=arrivals,
        duration_s=duration_s(duration, "--duration"),
        connections=connections,
        seed=seed,
        timeout_s=number(duration_s(timeout, "--timeout"), "--timeout"),
        status=status,
    )
    where = Path(tempfile.mkdtemp(prefix="sojourn-load-")) / "run" if out is None else out
    try:
        with live("load") as view:
            execute(where, config, what={"name": where.name}, progress=view)
    except KeyboardInterrupt:
        if (summary := summary_of(where)) is not None:
            tell(summary, as_json)
        raise
    else:
        summary = summary_of(where)
    finally:
        if out is None:
            shutil.rmtree(where.parent, ignore_errors=True)
    assert summary is not None, "a run that ended without an error has a summary"
    tell(summary, as_json)
    end(summary)


def summary_of(where: Path) -> dict[str, Any] | None:
    """What the generator said at its end, with the verdict of the run; None if it had not begun."""
    if not (where / "manifest.json").exists():
        return None
    manifest = RunFolder.open(where).manifest
    generator = manifest.get("generator")
    return generator and generator | {key: manifest[key] for key in ("valid", "reasons", "status")}


def tell(summary: dict[str, Any], as_json: bool) -> None:
    """Prints the summary as one JSON object or as a table."""
    if as_json:
        typer.echo(json.dumps(summary))
    else:
        show(summary, console())


def end(summary: dict[str, Any]) -> None:
    """Ends with the exit code of an invalid run: 3 if the generator was the bottleneck, 5 if the service failed.

    Raises:
        LoadError, ServiceError: for those two.
    """
    for reason in summary["reasons"]:
        if "generator" in reason:
            raise LoadError(reason, "load", "the figures above are not the service's")
        if "failed" in reason:
            raise ServiceError(reason, "load", "see the failures above")


def show(summary: dict[str, Any], out: Console) -> None:
    """The summary of a load as a table: both latencies, so that neither the queue nor the client can hide."""
    out.print(
        f"{summary['ok']} of {summary['requested']} requests answered, {summary['achieved_per_s']:.1f}/s, "
        f"seed {summary['seed']}" + (", records sampled" if summary["sampled"] else "")
    )
    table = Table("", "mean", "p50", "p90", "p99", "p99.9", "max", box=None, header_style="dim")
    latency = summary["latency"]
    for name, figures in (
        ("from intended to done", latency["from_intended"]["to_done"]),
        ("from sent to done", latency["from_sent"]["to_done"]),
        ("from sent to kernel receive", latency["from_sent"]["to_received"]),
        ("late to send", summary["lateness"]),
    ):
        cells = [figures.get(f"{c}_s") for c in ("mean", "p50", "p90", "p99", "p999", "max")]
        table.add_row(name, *(seconds(cell) for cell in cells))
    out.print(table)
    failed = {kind: count for kind, count in summary["failures"].items() if count}
    if failed:
        out.print("failures: " + ", ".join(f"{kind} {count}" for kind, count in failed.items()), highlight=False)
    verdict = "valid" if summary["valid"] else "NOT VALID: " + "; ".join(summary["reasons"])
    out.print(verdict, style="green" if summary["valid"] else "bold red", highlight=False, markup=False)
