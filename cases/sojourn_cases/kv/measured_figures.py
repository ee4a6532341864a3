"""Figures of what was measured: the middleware's own times by clients, response times by the keys of a get, busy cores in time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from sojourn.errors import InputError, RunFolderError
from sojourn.report import Figure, Series
from sojourn.runs import RunFolder, busy_series
from sojourn.study import factors_text
from sojourn_cases.kv.client_and_middleware import WAY
from sojourn_cases.kv.middleware import CONFIGURATION, configurations, name_of
from sojourn_cases.kv.middleware.host_counters import SOURCE
from sojourn_cases.kv.middleware.hosts import SENT
from sojourn_cases.kv.table_cells import MS

LEAST = 3  # values of x that make a curve
# column, title, label of its axis, scale
INSIDE = (
    ("queue_length", "queue of a middleware", "requests", 1.0),
    ("queue_s", "time in the queue", "ms", MS),
    ("service_s", "service time", "ms", MS),
)
BY_KEYS = (("throughput_per_s", "throughput", "1/s", 1.0), *INSIDE[1:])
KEYS = "keys in a get"
GETS = {"multi": "", "mixed": ", a set for each get"}  # kind of workload → its part of a title
OF_A_MIX = {"gets": "get_response_s", "sets": "set_response_s"}
RESPONSES = {"mean": "response_s", **{f"p{q}": f"p{q}_s" for q in (25, 50, 75, 90, 99)}}
WINDOW = "seconds of the window"
PROCESSES = ("client", "servers", "middleware")  # resources of a run
SPREAD = "Means of the valid runs, with the smallest and the largest of the repetitions."
QUEUE = {
    "staged": "The queue has the requests that wait for a worker.",
    "direct": "This design has no queue: shown are the requests that are under way in a middleware.",
}


def client_figures(section: str, rows: pl.DataFrame) -> Iterator[Figure]:
    """The queue, the time in it and the service time by the number of clients, from the middlewares' logs: three figures a design and
    workload, with a line for each of what else differs."""
    behind = rows.filter(pl.col("valid"), pl.col("proxies") > 0)
    for (design, workload), own in sorted(behind.partition_by("design", "workload", as_dict=True).items()):
        where = f"{section}, {design}, {workload}"
        note = f"{QUEUE[str(design)]} Service time: from sending a request to a server until its last answer. {SPREAD}"
        for column, title, label, scale in INSIDE:
            lines = [_curve(name, line, "clients", column, scale) for name, line in _lines(own)]
            drawn = tuple(line for line in lines if line is not None)
            if drawn:
                yield Figure(f"{column}-{where}", f"{where}: {title}", "clients", label, drawn, note)


def key_figures(gets: pl.DataFrame) -> Iterator[Figure]:
    """By the number of keys in a get: mean and percentiles of the client's response times, a figure for each design, whole or split; then
    throughput, time in the queue and service time of both. Where at least three numbers of keys were run with all else alike. Of a mix of
    sets and gets also the means of each. `gets`: runs of multi-gets, alone or in a mix."""
    alike = ["kind", *(name for name in (*CONFIGURATION, "clients") if name != "workload")]
    named = pl.col("workload").str.extract_groups(r"^(?<kind>multi|mixed)-(?<keys>\d+)$").struct
    rows = (
        gets.filter(pl.col("valid")).with_columns(named.field("kind"), named.field("keys").cast(pl.Int64)).sort(*alike)
    )
    for values, own in rows.partition_by(alike, as_dict=True, maintain_order=True).items():
        at = dict(zip(alike, values, strict=True))
        times = (
            {name: RESPONSES[name] for name in ("mean", "p50", "p90", "p99")} | OF_A_MIX
            if at["kind"] == "mixed"
            else RESPONSES
        )
        lines = [_curve(name, own, "keys", column, MS) for name, column in times.items()]
        drawn = tuple(line for line in lines if line is not None)
        if drawn:
            title = f"{at['design']}, {WAY[bool(at['sharded'])]}{GETS[at['kind']]}: response time by keys"
            yield Figure(f"keys-{title}", title, KEYS, "ms", drawn, _note(at))
    alike.remove("sharded")
    for values, own in rows.partition_by(alike, as_dict=True, maintain_order=True).items():
        yield from _whole_and_split(dict(zip(alike, values, strict=True)), own)


def _whole_and_split(at: Mapping[str, Any], rows: pl.DataFrame) -> Iterator[Figure]:
    note = _note({**at, "sharded": False})
    for column, name, label, scale in BY_KEYS:
        ways = {way: rows.filter(pl.col("sharded") == split) for split, way in WAY.items()}
        lines = [_curve(way, own, "keys", column, scale) for way, own in ways.items()]
        drawn = tuple(line for line in lines if line is not None)
        if drawn:
            title = f"{at['design']}{GETS[at['kind']]}: {name} by keys"
            yield Figure(f"keys-{title}", title, KEYS, label, drawn, note)


def _note(at: Mapping[str, Any]) -> str:
    return f"{name_of({**at, 'workload': 'multi-gets'})}{GETS[at['kind']]}; {at['clients']} clients. {SPREAD}"


def load_figures(section: str, rows: pl.DataFrame, folders: Mapping[str, RunFolder]) -> Iterator[Figure]:
    """How many cores the processes kept busy in the course of a run, and what its hosts sent where that was counted: a figure each for a
    design, of the valid run with the most throughput. `folders`: by the names of `rows`."""
    known = rows.filter(pl.col("valid"), pl.col("throughput_per_s").is_finite()).sort("throughput_per_s")
    for (design,), own in sorted(known.partition_by("design", as_dict=True).items()):
        best = own.row(-1, named=True)
        where = f"{section}, {design}"
        note = f"{name_of(best)}; {best['clients']} clients: of its valid runs the one with the highest throughput."
        busy, sent = _busy(folders[best["run"]]), _sent(folders[best["run"]])
        if busy:
            yield Figure(f"cpu-{where}", f"{where}: CPU in time", WINDOW, "busy cores", busy, note)
        if sent:
            yield Figure(f"network-{where}", f"{where}: network in time", WINDOW, "Mbit/s sent", sent, note)


def _lines(rows: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """The rows of each configuration, named by what differs between them."""
    varied = tuple(name for name in CONFIGURATION if rows[name].n_unique() > 1)
    for configuration, own in configurations(rows):
        yield factors_text(configuration, varied) if varied else "measured", own


def _curve(name: str, rows: pl.DataFrame, x: str, column: str, scale: float) -> Series | None:
    """None where fewer than `LEAST` values of x are known."""
    y, several = scale * pl.col(column), pl.when(pl.len() > 1)
    means = (
        rows.filter(pl.col(column).is_finite(), pl.col(x).is_not_null())
        .group_by(x)
        .agg(y.mean().alias("mean"), several.then(y.min()).alias("low"), several.then(y.max()).alias("high"))
        .sort(x)
    )
    if means.height < LEAST:
        return None
    at, mean, low, high = (means[one].to_list() for one in (x, "mean", "low", "high"))
    return Series(name, at, mean, low, high, "points", joined=True)


def _busy(run: RunFolder) -> tuple[Series, ...]:
    resources = run.manifest.get("resources") or {}
    names = [name for name in PROCESSES if name in resources]
    if not names or run.frame("host") is None:
        return ()
    try:
        shares, step_s = busy_series(run, names)
    except (InputError, RunFolderError):  # too few samples to draw, which the run's own checks tell
        return ()
    times = [(k + 0.5) * step_s for k in range(shares.shape[1])]
    return tuple(
        Series(name, times, (resources[name]["capacity"] * share).tolist())
        for name, share in zip(names, shares, strict=True)
    )


def _sent(run: RunFolder) -> tuple[Series, ...]:
    """Of each host that has counters of its own, between two samples in the window."""
    host = run.frame("host")
    if host is None:
        return ()
    start_s, end_s = run.manifest["window_s"]
    of = (pl.col("source") == SOURCE) & (pl.col("item") == SENT)
    rows = host.filter(of, pl.col("t_s").is_between(start_s, end_s)).sort("t_s")
    rate = 8e-6 * pl.col("value").diff() / pl.col("t_s").diff()
    middle = pl.col("t_s") - pl.col("t_s").diff() / 2 - start_s
    found = rows.with_columns(rate.over("key").alias("rate"), middle.over("key").alias("at")).drop_nulls("rate")
    return tuple(
        Series(str(name), own["at"].to_list(), own["rate"].to_list())
        for (name,), own in sorted(found.partition_by("key", as_dict=True).items())
    )
