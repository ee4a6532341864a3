"""Figures of the message study: the share of the response time that each phase has, and how many requests M/M/m sees at the database."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

from sojourn.report import Block, Figure, Section, Series, Table, Text
from sojourn.solve import MMm
from sojourn.study import factors_text
from sojourn_cases.messages.message_service_metrics import FACTORS

MS = 1e3
MOST = 2000  # of p(n)
TIMES = ("response_s", "mw_response_s", "dispatch_s", "queue_s", "parse_s", "wait_s", "database_s", "respond_s")
# phase → its time; of the live service they add up to the response time of the client
PHASES: dict[str, pl.Expr] = {
    "outside": pl.col("response_s") - pl.col("mw_response_s"),
    **{name.removesuffix("_s"): pl.col(name) for name in TIMES[2:]},
}
SHARE = "share of the response time (%)"
NOTE = (
    "Outside: the network and the client, until it has the answer; wait: for a connection. Means of configurations, with the smallest "
    "and the largest run where there are several."
)


def share_figures(name: str, rows: pl.DataFrame, along: Sequence[str] = ()) -> Iterator[Figure]:
    """The share of each phase: against the first factor of `along` with a figure for each combination of the factors that are not in
    `along`, or as bars where `rows` have one configuration. `rows`: of the section `name`."""
    known = rows.drop_nulls(TIMES).with_columns(
        (100 * time / pl.col("response_s")).alias(p) for p, time in PHASES.items()
    )
    if known.is_empty():
        return
    if along:
        others = [factor for factor in FACTORS if factor not in along]
        varied = tuple(factor for factor in others if known[factor].n_unique() > 1)
        for key, own in known.sort(*FACTORS).partition_by(others, as_dict=True, maintain_order=True).items():
            where = ", ".join([name, *([factors_text(dict(zip(others, key, strict=True)), varied)] if varied else [])])
            series = tuple(_along(phase, own, along[0]) for phase in PHASES)
            label = along[0].removesuffix("_s").replace("_", " ") + (", s" if along[0].endswith("_s") else "")
            yield Figure(f"phases-{where}", f"{where}: share of each phase", label, SHARE, series, NOTE)
    elif known.select(FACTORS).n_unique() == 1:
        yield _bars(name, known)


def _along(phase: str, rows: pl.DataFrame, x: str) -> Series:
    means = rows.group_by(x).agg(*_mean_and_ends(phase)).sort(x)
    at, mean, low, high = (means[one].to_list() for one in (x, "mean", "low", "high"))
    return Series(phase, at, mean, low, high, "points")


def _bars(name: str, rows: pl.DataFrame) -> Figure:
    found = pl.concat(rows.select(*_mean_and_ends(phase)) for phase in PHASES)
    mean, low, high = (found[one].to_list() for one in ("mean", "low", "high"))
    places = list(range(1, len(PHASES) + 1))
    series = (Series("share", places, mean, low, high, "bars"),)
    return Figure(f"phases-{name}", f"{name}: share of each phase", "phase", SHARE, series, NOTE, x_names=tuple(PHASES))


def _mean_and_ends(column: str) -> tuple[pl.Expr, pl.Expr, pl.Expr]:
    of, several = pl.col(column), pl.when(pl.len() > 1)
    low, high = several.then(of.min()), several.then(of.max())
    return of.mean().alias("mean"), low.alias("low"), high.alias("high")


def database_sections(rows: pl.DataFrame) -> tuple[Section, ...]:
    """The measured database as M/M/m, as in the Telesto report's section 2.3: its requests arrive at the measured throughput, each holds
    one of the connections for the measured time. `rows`: of one configuration; nothing where they have no such times."""
    known = rows.drop_nulls(("throughput_per_s", "database_s", "wait_s"))
    if known.is_empty():
        return ()
    numbers = known.select(pl.col("throughput_per_s", "database_s", "wait_s", "in_use").mean()).row(0, named=True)
    servers = int(known["connections"][0] * known["middlewares"][0])
    lead = (
        f"Requests arrive at the measured {numbers['throughput_per_s']:.4g}/s, and each holds one of {servers} connections for the "
        f"measured {MS * numbers['database_s']:.3g} ms. The model has Poisson arrivals and exponential times, and an unlimited number of "
        "clients. Measured are a closed loop, and workers who keep requests from waiting for a connection."
    )
    return (Section("The database as M/M/m", lead, tuple(_database(numbers, servers))),)


def _database(numbers: dict[str, Any], servers: int) -> Iterator[Block]:
    rate, service_s, wait_s = (float(numbers[name]) for name in ("throughput_per_s", "database_s", "wait_s"))
    q = MMm(rate, service_s, servers)
    present = rate * (wait_s + service_s)  # Little's law
    if math.isnan(q.load[0]):
        yield Text(f"All {servers} connections are in use: M/M/{servers} is saturated, and has no p(n).")
        return
    number, deviation = float(q.number[0]), math.sqrt(float(q.number_variance[0]))
    rows = (
        ("connections in use", float(q.offered[0]), numbers["in_use"]),
        ("requests that wait or are in the database", number, present),
        ("time until a connection is free, ms", MS * float(q.waiting_s[0]), MS * wait_s),
        ("time until the database has answered, ms", MS * float(q.response_s[0]), MS * (wait_s + service_s)),
        ("probability that all connections are in use", float(q.waits[0]), None),
    )
    yield Table("M/M/m and what was measured", ("", f"M/M/{servers}", "measured"), rows)
    yield number_figure(rate, service_s, servers, min(math.ceil(number + 4 * deviation), MOST), present)


def number_figure(rate_per_s: float, service_s: float, servers: int, most: int, present: float) -> Figure:
    """p(n) for n = 0 … `most`, with the model's mean and `present`, the mean that was measured."""
    q = MMm(rate_per_s, service_s, servers)
    p = q.probabilities(most)[0]
    series = (Series(f"M/M/{servers}", np.arange(most + 1).tolist(), p.tolist()),)
    marks = ((float(q.number[0]), "mean of the model"), (present, "measured mean"))
    title = "Requests that wait for the database or are in it"
    return Figure("database-number", title, "requests, n", "probability p(n)", series, vlines=marks)
