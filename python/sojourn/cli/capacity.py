"""`sojourn capacity URL --objective 'p99 < 50ms'`: how much load a service bears, by few runs that a model chooses."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sojourn.cli import http_options as http
from sojourn.cli.json_answer import say_answer
from sojourn.cli.load_command import HttpCommand
from sojourn.cli.machine_option import Wait, held
from sojourn.cli.measure import HOST, cores, shown
from sojourn.cli.option_classes import with_options
from sojourn.cli.query import CANNOT_TELL
from sojourn.cli.set_option import settings
from sojourn.cli.verdict_files import Junit, Markdown, check_files, print_lines, write_files
from sojourn.errors import InputError, ObjectiveMissed, ServiceError
from sojourn.load.http_load import HttpOptions
from sojourn.load.load_options import values
from sojourn.terminal import say
from sojourn.units import USUAL_LEVEL, duration_s, share

if TYPE_CHECKING:
    from sojourn.capacity import Capacity

OF_RUNS = ("url", "recorded", "objective", "what_if", "level", "required_rate", "out", "as_json", "markdown", "junit")
Command = HttpCommand  # what `app` takes for this verb


@with_options(HttpOptions, only=http.OF_ONE_REQUEST)
def capacity(
    context: typer.Context,
    url: Annotated[str, typer.Argument(help="http://host:port/path; with --from-runs none", show_default=False)] = "",
    recorded: Annotated[
        list[Path] | None,
        typer.Option("--from-runs", help="answers from run folders or observed windows, without any load", show_default=False),
    ] = None,
    objective: http.Objectives = None,
    within: Annotated[str, typer.Option(help="time for all runs")] = "3m",
    max_runs: Annotated[int, typer.Option(help="most runs of the search")] = 8,
    precision: Annotated[str, typer.Option(help="stop when the interval's half-width, relative to the answer, is below this")] = "10%",
    max_rate: Annotated[float | None, typer.Option(help="no run at a higher rate, requests per second", show_default=False)] = None,
    saturate: Annotated[
        bool, typer.Option("--allow-saturation", help="may saturate the service: adds users until throughput no longer grows")
    ] = False,
    required_rate: Annotated[
        float | None, typer.Option(help="requests per second that the service has to take: exit code 7 if it cannot", show_default=False)
    ] = None,
    service_pids: Annotated[str | None, typer.Option(help="processes of the service; default: those that listen there", **HOST)] = None,
    service_cgroup: Annotated[list[str] | None, typer.Option(help="a control group of the service, e.g. app.slice", **HOST)] = None,
    service_disk: Annotated[list[str] | None, typer.Option(help="a disk that the service uses, e.g. vda", **HOST)] = None,
    service_runs_on_cores: Annotated[
        str, typer.Option(help="cores it runs on, e.g. 0,1; default: those its processes may use, else all", **HOST)
    ] = "",
    factor: Annotated[str, typer.Option(help="present settings of the service: workers=2", **HOST)] = "",
    what_if: Annotated[
        list[str] | None, typer.Option(help="another setting, predicted: workers=4; several times", **HOST)
    ] = None,
    connections: Annotated[int, typer.Option(help="connections opened before the start")] = 64,
    seed: Annotated[int | None, typer.Option(help="repeats the schedules of an earlier search; default: a new one")] = None,
    wait: Wait = None,
    timeout: Annotated[str, typer.Option(help="a request fails this long after its scheduled time")] = "10s",
    level: Annotated[float, typer.Option(help="of the intervals")] = USUAL_LEVEL,
    out: Annotated[Path | None, typer.Option(help="folder for the run folders; default: runs/capacity-TIME", show_default=False)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print the answer as one JSON object")] = False,
    markdown: Markdown = None,
    junit: Junit = None,
    **given: Any,
) -> None:  # fmt: skip
    """Finds the highest rate that still meets an objective.

    It begins with a few users, who may keep the service fully busy for some seconds, and with low rates. Then it fits a model, and runs
    next where the model says the answer is, until the interval is as narrow as --precision. No rate is above 90 % of the estimated
    saturation rate, unless --allow-saturation is given. Of two estimates, the lower end of the model's interval and the upper end of what
    the few users showed, the smaller one counts. Exit code 0: answered; 7: a single user misses the objective, or --required-rate is not
    met; 8: cannot tell.
    """
    from sojourn.capacity import SearchLimits, write_report
    from sojourn.capacity import capacity as find
    from sojourn.runs.watched_resources import watched

    if recorded:
        _refuse_load(context, url)
        check_files(markdown, junit)
        return _from_runs(recorded, objective or [], what_if or [], level, required_rate, out, as_json, markdown, junit)
    if not url:
        raise InputError("no URL", "capacity", "give http://HOST:PORT/PATH, or --from-runs with run folders")
    limits = SearchLimits(
        max_runs,
        duration_s(within, "--within"),
        share(precision, "--precision"),
        level,
        max_rate,
        saturate,
        required_rate,
    )
    check_files(markdown, junit)
    parts = (service_pids, service_cgroup, service_disk)
    mine = watched(*parts) if any(parts) else None
    load: dict[str, Any] = {
        "connections": connections,
        "timeout_s": duration_s(timeout, "--timeout"),
        **values(HttpOptions, given),
    }  # fmt: skip
    where = out or Path("runs") / f"capacity-{time.strftime('%Y%m%d-%H%M%S')}"
    with held("capacity", wait, () if given.get("unix_socket") else [url]):
        found = find(
            url, objective or (), out=where, watched=mine, factors=settings(factor, "--factor"),
            what_if=[settings(one, "--what-if") for one in what_if or ()], search_limits=limits,
            service_runs_on_cores=cores(service_runs_on_cores, "--service-runs-on-cores"), seed=seed, run_progress=shown,
            on_text_line=lambda line: say(line, err=True), html_report=False, **load,
        )  # fmt: skip
    if as_json:
        say_answer("capacity", found.to_dict())
    else:
        _tell(found, where)
    write_report(found, url, where)  # after the answer: it takes some seconds
    _finish(found, url, markdown, junit)


def _from_runs(
    recorded: list[Path], objective: list[str], what_if: list[str], level: float, required_rate: float | None, out: Path | None,
    as_json: bool, markdown: Path | None, junit: Path | None,
) -> None:  # fmt: skip
    from sojourn.capacity import capacity_of_runs, write_report

    found = capacity_of_runs(
        recorded, objective, what_if=[settings(one, "--what-if") for one in what_if], level=level, required_rate_per_s=required_rate,
        out=out,
    )  # fmt: skip
    name = ", ".join(map(str, recorded))
    if as_json:
        say_answer("capacity", found.to_dict())
    elif out is not None:
        _tell(found, out)
    else:
        first, *rest = found.lines()
        print_lines([first], bold=True)
        print_lines(rest)
    if out is not None:
        write_report(found, name, out)
    _finish(found, name, markdown, junit)


def _refuse_load(context: typer.Context, url: str) -> None:
    """InputError for what only a load has."""
    if url:
        raise InputError(url, "--from-runs", "leave the URL out: runs that are there are not loaded again")
    for one in context.command.params:
        given = context.get_parameter_source(one.name or "") if one.name not in OF_RUNS else None
        if given is not None and given.name == "COMMANDLINE":
            raise InputError(one.opts[0], "--from-runs", "leave it out: nothing is loaded")


def _finish(found: Capacity, name: str, markdown: Path | None, junit: Path | None) -> None:
    from sojourn.capacity import capacity_document, junit_cases

    write_files("capacity", capacity_document(found, name), junit_cases(found), markdown, junit)
    if found.service_failed:
        remedy = "the answer above is from the runs before; start it again, and the same --out goes on"
        raise ServiceError(found.service_failed, name, remedy)
    if found.outcome != "met":
        raise typer.Exit(ObjectiveMissed.exit_code if found.outcome == "missed" else CANNOT_TELL)


def _tell(found: Capacity, where: Path) -> None:
    first, *rest = found.lines()
    fitted = f"; model: {where / 'fitted.toml'}" if found.fitted is not None else ""
    print_lines([first], bold=True)
    print_lines([*rest, f"report: {where / 'report.html'}{fitted}"])
