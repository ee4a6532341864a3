"""`sojourn observe requests.csv cpu.csv --out runs/week` or `prometheus://…`: hours of a service as runs, without a load test."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sojourn.cli.observe_traces import MODEL_FILE, observe_traces, print_traces
from sojourn.cli.set_option import settings
from sojourn.errors import InputError
from sojourn.terminal import say
from sojourn.units import duration_s, number

if TYPE_CHECKING:
    from sojourn.observe import ObservedService

FILES_WINDOW, PROMETHEUS_WINDOW = "60s", "5m"


def observe(
    sources: Annotated[
        list[str],
        typer.Argument(
            help="prometheus://HOST:9090 with --metric-map; or CSV files: request logs (arrival_s,response_s,class) and utilisation series "
            "(end_s,cpu); which is which their columns say; or traces: OTLP JSON, Jaeger JSON"
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            help="the folder to write the windows to, as run folders, and a first model; of traces the model file"
        ),
    ] = None,
    window: Annotated[str, typer.Option(help="how long a window is; usually 60s, of Prometheus 5m")] = "",
    begin: Annotated[
        str,
        typer.Option(
            "--from", help="where to begin: 10m after the first request; -7d before the last, of Prometheus before now"
        ),
    ] = "",
    end: Annotated[str, typer.Option("--to", help="where to end, in the same way; usually at the end")] = "",
    series: Annotated[
        Path | None, typer.Option("--metric-map", help="of Prometheus: which series is which class and resource")
    ] = None,
    suggest: Annotated[
        bool, typer.Option("--suggest-metric-map", help="of Prometheus: print a first map, made from names")
    ] = False,
    fitted: Annotated[
        Path | None,
        typer.Option(
            "--check-fitted", help="a fitted.toml of earlier hours: is it stale, since the service changed after them?"
        ),
    ] = None,
    cores: Annotated[
        str,
        typer.Option(
            "--resource-servers", help="of files: cores or servers of a resource, where there are several: cpu=4,db=2"
        ),
    ] = "",
    sampled: Annotated[
        float | None,
        typer.Option(
            "--trace-share", help="of traces: the share of them that was kept, where they do not say it: 0.01"
        ),
    ] = None,
    alike: Annotated[
        bool,
        typer.Option(
            "--same-time-per-visit",
            help="of traces: in the model a visit of a station takes the same time in all classes, one unknown a station",
        ),
    ] = False,
) -> None:
    """Turns logs and metrics you already have into runs.

    Each window becomes a run folder with its rates, response times and utilisations; model.toml is a first model of them. Of traces: visits
    and self times by service, the call graph, and a model file with unknown service times.
    """
    from sojourn.observe import observe_files
    from sojourn.traces import is_trace_file

    if "://" in sources[0]:
        if sampled is not None or alike:
            raise InputError(
                "--same-time-per-visit" if alike else "--trace-share", sources[0], "leave it out: it is of traces"
            )
        return _prometheus(sources, out, window, (begin, end), series, suggest, cores, fitted)
    for option, wanted in (("--metric-map", series is not None), ("--suggest-metric-map", suggest)):
        if wanted:
            raise InputError(option, sources[0], "leave it out: it is of prometheus://HOST:9090")
    traces = [one for one in sources if is_trace_file(one)]
    if traces and len(traces) == len(sources) and (out is None or out.suffix == MODEL_FILE):
        others = {"--window": window, "--from": begin, "--to": end, "--resource-servers": cores}
        return observe_traces(sources, out, sampled, alike, [option for option, value in others.items() if value])
    if not traces and (sampled is not None or alike):
        raise InputError(
            "--same-time-per-visit" if alike else "--trace-share", sources[0], "leave it out: it is of traces"
        )
    if traces and out is not None and out.suffix == MODEL_FILE:
        raise InputError(f"{out} with CSV files", "--out", "name a folder for their windows, such as --out runs/week")
    where = _checked_out(out)
    given: dict[str, Any] = {
        "window_s": duration_s(window or FILES_WINDOW, "--window"),
        "start_s": _instant(begin, "--from"),
        "end_s": _instant(end, "--to"),
        "capacity": {
            name: number(value, "--resource-servers") for name, value in settings(cores, "--resource-servers").items()
        },
    }
    if traces:
        from sojourn.observe.observe_traces import observe_traces as windows_of_traces

        found, service = windows_of_traces(sources, sampled=sampled, alike=alike, **given)
        print_traces(found)
        return _write(service, where, fitted)
    _write(observe_files([Path(one) for one in sources], **given), where, fitted)


def _prometheus(
    sources: list[str],
    out: Path | None,
    window: str,
    between: tuple[str, str],
    series: Path | None,
    suggest: bool,
    cores: str,
    fitted: Path | None,
) -> None:
    from sojourn.observe.prometheus_http import PrometheusServer
    from sojourn.observe.suggested_map import suggested_map

    if len(sources) > 1:
        raise InputError(", ".join(sources), "sources", "give one server")
    if suggest:
        return say(suggested_map(PrometheusServer.of(sources[0])), end="")
    if cores:
        raise InputError(f"--resource-servers {cores}", sources[0], "write cores = … below [resources.NAME] of the map")
    where = _checked_out(out) if series is not None else Path()
    _write(prometheus_windows(sources[0], series, between, window), where, fitted)


def prometheus_windows(
    source: str,
    series: Path | None,
    between: tuple[str, str],
    window: str,
    options: tuple[str, str, str] = ("--from", "--to", "--window"),
) -> ObservedService:
    """Of a Prometheus server, as --metric-map and `options` say, as they are called. Raises InputError, ServiceError."""
    from sojourn.observe.observe_prometheus import observe_prometheus
    from sojourn.observe.prometheus_http import PrometheusServer
    from sojourn.observe.series_map import read_map

    server, now_s = PrometheusServer.of(source), time.time()
    if series is None:
        raise InputError(
            "no --metric-map",
            server.name,
            "give --metric-map FILE; --suggest-metric-map of `sojourn observe` prints a first one",
        )
    start, end = (_before(text, place) for text, place in zip(between, options[:2], strict=True))
    if start is None:
        raise InputError(f"no {options[0]}", server.name, f"say since when, such as {options[0]} -7d")
    window_s = duration_s(window or PROMETHEUS_WINDOW, options[2])
    return observe_prometheus(server, read_map(series), now_s - start, now_s - (end or 0.0), window_s)


def _before(text: str, place: str) -> float | None:
    """How long before now, s."""
    if text and not text.startswith("-"):
        raise InputError(repr(text), place, "write a time before now, such as -7d")
    return duration_s(text[1:], place) if text else None


def _checked_out(out: Path | None) -> Path:
    if out is None:
        raise InputError("no --out", "--out", "name the folder for the windows, such as --out runs/week")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"{out} already exists and is not an empty folder", "--out", "give another --out")
    return out


def _instant(text: str, place: str) -> float | None:
    """Seconds from the beginning, or, negative, before the end; None where nothing was said."""
    if not text:
        return None
    return -duration_s(text[1:], place) if text.startswith("-") else duration_s(text, place)


def _write(seen: ObservedService, out: Path, fitted: Path | None) -> None:
    from sojourn.observe.observe_files import MODEL

    earlier = _staleness(seen, fitted) if fitted else ""
    folders = seen.write(out)
    first, last = folders[0].name, folders[-1].name
    say(f"{len(folders)} windows of {seen.windows[0].length_s:g} s, {first} to {last}, in {out}")
    for note in seen.notes:
        say(f"- {note}")
    if earlier:
        say(f"- {earlier}")
    say(f"next: sojourn fit {out} --model {out / MODEL}" if seen.model else f"next: sojourn fit {out}")


def _staleness(seen: ObservedService, path: Path) -> str:
    """Whether the service changed after the hours that a fit has seen."""
    from sojourn.fit import FittedModel
    from sojourn.observe.record_parts import moment

    until_s = FittedModel.read(path).observed_until_unix_s
    if not until_s:
        return f"{path} is a fit of load tests: nothing says which hours it is of"
    later = [one for one in (seen.parts.changes if seen.parts else ()) if one.at_s >= until_s]
    if later:
        return f"{path} is stale: it has seen the service until {moment(until_s)}, which changed at {moment(later[0].at_s)}: fit again"
    return f"no change of the service is seen after {moment(until_s)}, until when {path} was fitted"
