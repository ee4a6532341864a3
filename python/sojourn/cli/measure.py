"""`sojourn measure URL --rate 50..350:50`: a ramp with host metrics, one run folder a level."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from sojourn.cli import http_options as http
from sojourn.cli.console import one_form
from sojourn.cli.live_view import live
from sojourn.cli.load_run import OutputFormat
from sojourn.cli.measure_table import finish, tell
from sojourn.cli.set_option import settings
from sojourn.errors import InputError
from sojourn.measure.host_samples import check_interval
from sojourn.measure.objectives import judge, read_objectives
from sojourn.measure.run_folder import RunFolder
from sojourn.units import duration_s, levels

HOST: dict[str, Any] = {"rich_help_panel": "The service's host", "show_default": False}
Level = tuple[str, dict[str, Any], dict[str, Any]]


def measure(
    url: Annotated[list[str] | None, typer.Argument(help="http://host:port/path; or --requests with URLs")] = None,
    rate: Annotated[str | None, typer.Option(help="requests per second: 50..350:50, 50,100 or one number")] = None,
    users: Annotated[
        str | None, typer.Option(help="closed loop: this many users: 1..16:5, 1,2,4 or one number")
    ] = None,
    think: Annotated[str, typer.Option(help="mean think time of a user, e.g. 100ms (exponential)")] = "0",
    length: Annotated[str, typer.Option("--for", help="length of each run, e.g. 8s")] = "8s",
    arrivals: Annotated[str, typer.Option(help="poisson or constant")] = "poisson",
    connections: Annotated[int, typer.Option(help="connections opened before the start")] = 64,
    seed: Annotated[int, typer.Option(help="the schedules repeat from it")] = 1,
    pids: Annotated[str | None, typer.Option(help="processes of the service, e.g. 4711,4712", **HOST)] = None,
    cgroup: Annotated[
        list[str] | None, typer.Option(help="a control group of the service, e.g. app.slice", **HOST)
    ] = None,
    disk: Annotated[list[str] | None, typer.Option(help="a disk of the service, e.g. vda", **HOST)] = None,
    service_cores: Annotated[str, typer.Option(help="cores it runs on, e.g. 0,1; default: all", **HOST)] = "",
    interrupt_cores: Annotated[
        str, typer.Option(help="of these, the ones that take NIC interrupts; default: all", **HOST)
    ] = "",
    factor: Annotated[
        str, typer.Option(help="what else is true of the service, for a fit: workers=4,cache=1", **HOST)
    ] = "",
    every: Annotated[str, typer.Option(help="between two host samples, 10ms to 10s")] = "100ms",
    timeout: Annotated[str, typer.Option(help="after which a request has failed, from when it was due")] = "10s",
    method: http.Method = None,
    header: http.Header = None,
    body: http.Body = None,
    template: http.Template = None,
    requests: http.Requests = None,
    status: http.Status = None,
    bearer_env: http.BearerEnv = None,
    basic_env: http.BasicEnv = None,
    ca: http.Ca = None,
    insecure: http.Insecure = None,
    unix_socket: http.UnixSocket = None,
    objective: http.Objectives = None,
    out: Annotated[
        Path | None, typer.Option(help="folder for the run folders [runs/measure-TIME]; one with runs: goes on")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print Metrics and verdicts as one JSON object")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="print the Metrics as CSV")] = False,
) -> None:
    """Measures a service at several rates, or with several numbers of users: requests, host metrics, verdict and Metrics
    of each in a run folder."""
    from sojourn.lab.cleanup_registry import only_one
    from sojourn.measure.http_load import http_load
    from sojourn.measure.watched_resources import watched

    one_form(as_json, as_csv, "measure")
    objectives = read_objectives(objective or ())
    common: dict[str, Any] = {
        "arrivals": arrivals,
        "think_s": 0.0 if think == "0" else duration_s(think, "--think"),
        "duration_s": duration_s(length, "--for"),
        "connections": connections,
        "timeout_s": duration_s(timeout, "--timeout"),
        **http.http_given(
            method=method, header=header, body=body, template=template, requests=requests, status=status,
            bearer_env=bearer_env, basic_env=basic_env, ca=ca, insecure=insecure, unix_socket=unix_socket,
        ),
    }  # fmt: skip
    every_s = check_interval(duration_s(every, "--every"), "--every")
    of, place = watched(pids, cgroup, disk), own_placement(service_cores, interrupt_cores)
    count = {"cores": len(place["server"]), **({"nics": len(place["interrupts"])} if interrupt_cores else {})}
    runs: dict[str, Level] = {}
    for number, (name, level) in enumerate(named_levels(rate, users).items()):
        config = http_load(url or [], seed=seed + number, **level, **common)
        runs[name] = (name, config, {"name": name, "factors": {**settings(factor, "--factor"), **level, **count}})
    http.warn_of_hidden(next(iter(runs.values()))[1])
    where = out or Path("runs") / f"measure-{time.strftime('%Y%m%d-%H%M%S')}"
    with only_one("measure"):
        folders = measured(where, runs, of, place, every_s)
    judged = [(folder, judge(folder, objectives, whole=False)) for folder in folders]
    tell(judged, OutputFormat(as_json, as_csv), where)
    finish([(folder.path.name, folder.manifest["reasons"], found) for folder, found in judged])


def named_levels(rate: str | None, users: str | None) -> dict[str, dict[str, Any]]:
    """The levels by the name of their run.

    Raises:
        InputError: both or neither, or a number of users that is not whole.
    """
    if (rate is None) == (users is None):
        raise InputError(f"rate = {rate}, users = {users}", "measure", "give either --rate or --users")
    if rate is not None:
        return {f"rate-{r:.15g}": {"rate_per_s": r} for r in levels(rate, "--rate")}
    counts = levels(users or "", "--users")
    if any(count != int(count) for count in counts):
        raise InputError(repr(users), "--users", "give whole numbers")
    return {f"users-{int(count)}": {"users": int(count)} for count in counts}


def measured(where: Path, runs: dict[str, Level], of: Any, place: dict[str, Any], every_s: float) -> list[RunFolder]:
    """Each run, measured now or kept from before, with the demands of what was watched.

    Raises:
        RunFolderError: `where` has runs under other conditions, or something else.
    """
    from sojourn.measure.execute_run import RunEnvironment, execute, machine
    from sojourn.measure.run_series import contents, kept
    from sojourn.measure.watched_resources import demands

    first = next(iter(runs.values()))[1]
    conditions = {
        "placement": place,
        "every_s": every_s,
        "cgroups": of.cgroups,
        "disks": of.disks,
        "bodies": contents(first),
    }
    like = {"conditions": conditions, "machine": machine()}
    there = kept(where, {name: config for name, config, _ in runs.values()}, like)
    folders = []
    for name, config, what in runs.values():
        if name in there:
            folders.append(there[name])
            continue
        around = RunEnvironment(
            pids=of.roles(), cgroups=of.cgroups, manifest={"placement": place, "conditions": conditions}
        )
        with live(name) as view:
            if there:
                view.say(f"{name}: measured; {len(there)} runs are there already")
            folder = execute(where / name, config, what=what, around=around, interval_s=every_s, progress=view)
        if found := demands(folder, of):
            folder.manifest["demands_s"] = found
            folder.save()
        folders.append(folder)
    return folders


def own_placement(service: str, interrupts: str) -> dict[str, Any]:
    """Where somebody's own service runs, as they say: cores of the service, and those of them that take interrupts.

    Raises:
        InputError: a core that this machine has not, or an interrupt core that the service does not run on.
    """
    available = sorted(os.sched_getaffinity(0))
    server = _cores(service, available, "--service-cores") or available
    leading = _cores(interrupts, server, "--interrupt-cores") or server
    return {"server": server, "interrupts": leading, "client": [], "client_shares": False}


def _cores(text: str, available: list[int], place: str) -> list[int]:
    try:
        chosen = sorted({int(part) for part in text.split(",") if part.strip()})
    except ValueError:
        chosen = [-1]
    if not set(chosen) <= set(available):
        raise InputError(repr(text), place, f"give some of {','.join(map(str, available))}")
    return chosen
