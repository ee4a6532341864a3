"""`sojourn measure URL --rate 50..350:50`: a ramp with host metrics, one run folder a rate."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from sojourn.cli import http_options as http
from sojourn.cli.live import live
from sojourn.cli.load_run import end
from sojourn.cli.output import console
from sojourn.errors import InputError
from sojourn.measure.folder import RunFolder
from sojourn.measure.objectives import demand_met, judge, lines, read_objective
from sojourn.table import Metrics
from sojourn.units import duration_s, interval, levels, percent


def measure(
    rate: Annotated[str, typer.Option(help="requests per second: 50..350:50, 50,100 or one number")],
    url: Annotated[list[str] | None, typer.Argument(help="http://host:port/path; or --requests with URLs")] = None,
    length: Annotated[str, typer.Option("--for", help="length of each run, e.g. 8s")] = "8s",
    arrivals: Annotated[str, typer.Option(help="poisson or constant")] = "poisson",
    connections: Annotated[int, typer.Option(help="connections opened before the start")] = 64,
    seed: Annotated[int, typer.Option(help="the schedules repeat from it")] = 1,
    service_cores: Annotated[str, typer.Option(help="cores the service runs on, e.g. 0,1; default: all")] = "",
    interrupt_cores: Annotated[
        str, typer.Option(help="of these, the ones that take NIC interrupts; default: all")
    ] = "",
    every: Annotated[str, typer.Option(help="between two host samples, 10ms to 10s")] = "100ms",
    timeout: Annotated[str, typer.Option(help="after which a request has failed")] = "10s",
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
    out: Annotated[Path | None, typer.Option(help="folder for the run folders; default runs/measure-TIME")] = None,
) -> None:
    """Measures a service at several rates: requests, host metrics, verdict and Metrics of each in a run folder."""
    from sojourn.lab.registry import only_one
    from sojourn.measure.load import http_load
    from sojourn.measure.run import execute

    objectives = [read_objective(text) for text in objective or ()]
    rates = levels(rate, "--rate")
    length_s, every_s = duration_s(length, "--for"), duration_s(every, "--every")
    where = out or Path("runs") / f"measure-{time.strftime('%Y%m%d-%H%M%S')}"
    place = own_placement(service_cores, interrupt_cores)
    what, count = {"placement": place}, {"cores": len(place["server"]), "nics": len(place["interrupts"])}
    options = http.http_given(method=method, header=header, body=body, template=template, requests=requests,
                              status=status, bearer_env=bearer_env, basic_env=basic_env, ca=ca, insecure=insecure,
                              unix_socket=unix_socket)  # fmt: skip
    configs = [
        http_load(url or [], rate_per_s=r, arrivals=arrivals, duration_s=length_s, connections=connections, seed=seed + k,
                  timeout_s=duration_s(timeout, "--timeout"), **options)
        for k, r in enumerate(rates)
    ]  # fmt: skip
    http.warn_of_hidden(configs[0])
    out_console = console()
    folders: list[RunFolder] = []
    with only_one("measure"):
        for r, config in zip(rates, configs, strict=True):
            name = f"rate-{r:g}"
            with live(f"{r:g}/s") as view:
                folders.append(
                    execute(where / name, config, what={**what, "name": name, "factors": {"rate_per_s": r, **count}},
                            interval_s=every_s, progress=view)
                )  # fmt: skip
    out_console.print(summary(folders))
    costs = [cost for f in folders if (cost := (f.manifest.get("observer") or {}).get("own_share")) is not None]
    if costs:
        out_console.print(f"recording the host took {percent(max(costs), 2)} of a core at most")
    out_console.print(f"run folders in {where}", soft_wrap=True)
    found = [(folder, judge(folder, objectives, whole=False)) for folder in folders]
    for folder, judged in found:
        for line in lines(judged):
            out_console.print(f"{folder.path.name}: {line}", highlight=False, markup=False)
    finish([(folder.path.name, folder.manifest["reasons"], judged) for folder, judged in found])


def finish(runs: list[tuple[str, list[str], list[dict[str, Any]]]]) -> None:
    """The exit code of several runs, each a name, why it is not valid, and what came of the objectives.

    Raises:
        LoadError, ServiceError: one is not valid. ObjectiveMissed: all are, and one missed an objective.
    """
    invalid = [(name, reasons) for name, reasons, _ in runs if reasons]
    if invalid:
        name, reasons = invalid[0]
        count = f"{len(invalid)} of {len(runs)} runs are not valid: " if len(runs) > 1 else ""
        end([f"{count}{name}: {reason}" for reason in reasons], "measure")
    demand_met(
        [{**one, "objective": f"{name}: {one['objective']}"} for name, _, judged in runs for one in judged], "measure"
    )


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


def summary(folders: list[RunFolder]) -> Table:
    """One line a run: rate, throughput, response time with interval, busiest core, verdict."""
    table = Table("run", "throughput", "response time", "p99", "busiest core", "valid", box=None, header_style="dim")
    for folder in folders:
        metrics = Metrics.read(folder.path / "metrics.parquet")
        frame = metrics.frame
        busy = frame.filter(frame["metric"] == "utilisation")["value"].max()
        response = metrics.value("response_time"), *metrics.interval("response_time")
        table.add_row(
            folder.path.name,
            interval(metrics.value("throughput"), None, None, "1/s"),
            interval(*response, "s"),
            interval(metrics.value("response_time_quantile", q=0.99), None, None, "s"),
            percent(busy if isinstance(busy, float) else None),
            "yes" if folder.manifest["valid"] else "no: " + "; ".join(folder.manifest["reasons"]),
        )
    return table
