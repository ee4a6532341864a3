"""`sojourn measure URL --rate 50..350:50`: several loads one after another with host metrics, one run folder a level."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from sojourn.cli import http_options as http
from sojourn.cli.live_view import LiveView, live
from sojourn.cli.load_command import ProtocolCommand
from sojourn.cli.load_of_protocol import CommonOptions, Urls
from sojourn.cli.machine_option import Wait, held
from sojourn.cli.measure_table import finish, finished, say_finished, tell
from sojourn.cli.option_classes import with_options
from sojourn.cli.output_format import Format, output_format
from sojourn.cli.set_option import settings
from sojourn.cli.verbs import VERBS
from sojourn.errors import InputError, ServiceError
from sojourn.load.load_options import LoadOptions, values
from sojourn.query.objectives import failures_allowed, judge, read_objectives
from sojourn.runs.host_samples import check_interval
from sojourn.terminal import SafeConsole
from sojourn.units import duration_s, levels

HOST: dict[str, Any] = {"rich_help_panel": "The service's host", "show_default": False}


def _measure(
    options: type[LoadOptions],
    url: Urls = None,
    rate: Annotated[str | None, typer.Option(help="requests per second: 50..350:50, 50,100 or one number")] = None,
    users: Annotated[
        str | None, typer.Option(help="closed loop: this many users: 1..16:5, 1,2,4 or one number")
    ] = None,
    length: Annotated[str, typer.Option("--for", help="length of each run, e.g. 8s")] = "8s",
    service_pids: Annotated[str | None, typer.Option(help="processes of the service, e.g. 4711,4712", **HOST)] = None,
    service_cgroup: Annotated[
        list[str] | None, typer.Option(help="a control group of the service, e.g. app.slice", **HOST)
    ] = None,
    service_disk: Annotated[
        list[str] | None, typer.Option(help="a disk that the service uses, e.g. vda", **HOST)
    ] = None,
    service_runs_on_cores: Annotated[
        str, typer.Option(help="cores it runs on, e.g. 0,1; default: those its processes may use, else all", **HOST)
    ] = "",
    interrupts_arrive_on_cores: Annotated[
        str, typer.Option(help="those of them that take NIC interrupts; default: all", **HOST)
    ] = "",
    factor: Annotated[str, typer.Option(help="settings of the service, for a fit: workers=4,cache=1", **HOST)] = "",
    every: Annotated[
        str, typer.Option("--sample-interval", help="time between two host samples, 10ms to 10s")
    ] = "100ms",
    objective: http.Objectives = None,
    wait: Wait = None,
    out: Annotated[
        Path | None,
        typer.Option(help="folder for the run folders (default: runs/measure-TIME); a folder with runs is continued"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print Metrics and verdicts as one JSON object")] = False,
    form: Format = "table",
    **given: Any,
) -> None:
    from sojourn.measure import measure as measure_levels
    from sojourn.measure.measure import config_of
    from sojourn.measure.measure import levels as names_of
    from sojourn.runs.watched_resources import watched

    printed = output_format(form, as_json)
    objectives = read_objectives(objective or ())
    urls = list(url or ())[not options.schemes :]  # behind the word of a case
    load = {"duration_s": duration_s(length, "--for"), **values(options, given)}
    series = load.pop("seed", None)
    where = out or Path("runs") / f"measure-{time.strftime('%Y%m%d-%H%M%S')}"
    asked: dict[str, Any] = {
        "rates_per_s": levels(rate, "--rate") if rate is not None else (),
        "users": levels(users, "--users") if users is not None else (),
    }
    http.warn_of_hidden(config_of(urls, options, **next(iter(names_of(**asked).values())), **load))
    try:
        with held("measure", wait, () if given.get("unix_socket") else urls):
            folders = measure_levels(
                urls, where, **asked, protocol=options, watched=watched(service_pids, service_cgroup, service_disk),
                service_runs_on_cores=cores(service_runs_on_cores, "--service-runs-on-cores"),
                interrupts_arrive_on_cores=cores(interrupts_arrive_on_cores, "--interrupts-arrive-on-cores"),
                factors=settings(factor, "--factor"),
                interval_s=check_interval(duration_s(every, "--sample-interval"), "--sample-interval"),
                failures_allowed=failures_allowed(objectives), seed=series, run_progress=shown,
                on_run=lambda folder: say_finished(folder, SafeConsole(stderr=True)), **load,
            )  # fmt: skip
    except ServiceError:  # it is gone: what was finished before is told
        if done := finished(where, names_of(**asked)):
            tell([(folder, judge(folder, objectives, whole=False)) for folder in done], printed, where)
        raise
    judged = [(folder, judge(folder, objectives, whole=False)) for folder in folders]
    tell(judged, printed, where)
    told = not printed.as_json and not printed.as_csv and SafeConsole().is_terminal
    finish([(folder.path.name, folder.manifest["reasons"], found) for folder, found in judged], told)


def measure_of(options: type[LoadOptions]) -> Callable[..., None]:
    """The function behind `sojourn measure` with a URL of this protocol."""
    stand = {"rate_per_s": "rate", "iops": "rate", "users": "users", "duration_s": "length"}
    return with_options(options, instead=stand)(partial(_measure, options))


class Command(ProtocolCommand):
    """`sojourn measure`; what `app` takes for this verb."""

    verb = "measure"
    about = "Each rate, or number of users, becomes a run folder: requests, CPU, disk and network of the host, what is wrong with the run."
    function_of = staticmethod(measure_of)
    examples_of = staticmethod(lambda options: options.measured)

    def refuse(self, flags: Iterable[str], options: type[LoadOptions]) -> None:
        if "--iops" in (found := list(flags)):
            raise InputError("an option of `sojourn load`", "--iops", "give --rate, e.g. --rate 100..400:100")
        super().refuse(found, options)


measure = measure_of(CommonOptions)  # without a URL it has help alone; `Command` refuses the rest before
measure.__doc__ = f"{VERBS['measure'].line}\n\n{Command.about}"


@contextmanager
def shown(name: str, there: int) -> Iterator[LiveView]:
    """A run in the terminal while it is made."""
    with live(name) as view:
        if there:
            view.say(f"{name}: measured; {there} runs already exist")
        yield view


def cores(text: str, place: str) -> list[int]:
    """`0,1`. InputError for what is no number."""
    try:
        return [int(part) for part in text.split(",") if part.strip()]
    except ValueError:
        raise InputError(repr(text), place, "give numbers of cores, as 0,1") from None
