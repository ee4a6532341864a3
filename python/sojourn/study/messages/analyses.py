"""Analyses of the message study, for `[[analysis]]`: the database's curve, where the time goes, what limits, laws."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import fmean
from typing import TYPE_CHECKING, Any

import polars as pl

from sojourn.report import Figure, Section, Series, Table
from sojourn.report.document import Cell
from sojourn.study.engine.analyses import Analysis
from sojourn.study.engine.verdict import told
from sojourn.study.messages.fit import REFERENCE, Fitted, where_valid
from sojourn.study.messages.operational import BUSY, CPU, busy, laws, shares
from sojourn.study.messages.parallelism import DocumentRule
from sojourn.system.messages_reading import FACTORS, frame

if TYPE_CHECKING:
    from sojourn.study.engine.findings import Findings
    from sojourn.study.engine.plan import Plan

MS = 1e3
PHASES = ("response_s", "mw_response_s", "dispatch_s", "queue_s", "parse_s", "wait_s", "database_s", "respond_s")


def database(found: Findings, plan: Plan, options: Mapping[str, Any]) -> Analysis:
    """The service curve of the database, and what the models suppose, against the reference run."""
    if found.rivals is None:
        return Analysis()
    lead = (
        "The calibration keeps a number of connections always busy, so that its throughput is what the database completes "
        "with that many requests in it. The Telesto report's rule has the time in the database at the reference run."
    )
    fitted: Fitted = found.rivals.first.fitted  # type: ignore[attr-defined]
    return Analysis((), (Section("Database", lead, (_curve(fitted), _checked(fitted))),))


def _curve(fitted: Fitted) -> Figure:
    points = sorted(fitted.curve, key=lambda p: p.size.value)
    x, y = [p.size.value for p in points], [p.rate_per_s.value for p in points]
    ends = [(p.low, p.high) if p.low < p.high else (None, None) for p in (point.rate_per_s for point in points)]
    low, high = [low for low, _ in ends], [high for _, high in ends]  # no ends where a size was run once
    series = [Series("calibration", x, y, low, high, "points")]
    sizes = range(1, max(2, round(1.5 * max(x))) + 1)
    for name, model in fitted.parallelisms.items():
        style = "dashed" if name == DocumentRule.name else "line"
        series.append(Series(name, list(sizes), [model.rates(c)[-1] for c in sizes], style=style))  # type: ignore[arg-type]
    note = "95 % intervals (Student's t over repetitions). The model `measured` runs through the points."
    title, label = "Completions of the database", "completions/s"
    return Figure("database-curve", title, "busy connections", label, tuple(series), note)


def _checked(fitted: Fitted) -> Table:
    seen_s = fitted.response_s.value
    more = {name: fitted.unexplained_s(name) for name in fitted.parallelisms if name != DocumentRule.name}
    cells = tuple((name, MS * seen_s, MS * (seen_s - s), MS * s, s / seen_s) for name, s in more.items())
    columns = ("model", "client saw, ms", "of it explained", "left", "share")
    note = (
        "The models suppose that the database's rate depends on the number in it alone, and that sleeping threads wake at "
        "once. What the reference run needs beyond that is taken as a delay beside the network."
    )
    return Table("Response time of the reference run", columns, cells, note, ("", ".3f", ".3f", "+.3f", "+.0%"))


def times(found: Findings, plan: Plan, options: Mapping[str, Any]) -> Analysis:
    """Where the time goes, a table a section."""
    seen = where_valid(frame(found.runs))
    tables = tuple(_times(name, seen.filter(pl.col("section") == name)) for name in seen["section"].unique().sort())
    return Analysis((), (Section("Where the time goes", "", tables),))


def _times(name: str, rows: pl.DataFrame) -> Table:
    cells = [
        (label, mean["throughput_per_s"], mean["empty_share"], *(_ms(mean[phase]) for phase in (*PHASES, "p99_s")))
        for label, mean in configurations(rows)
    ]
    columns = ("configuration", "1/s", "empty takes", "client", "service", "dispatch", "queue", "parse", "wait",
               "database", "respond", "p99")  # fmt: skip
    note = "Times in ms, means of a request; wait: for a connection. Empty takes: of all requests."
    return Table(name, columns, tuple(cells), note, ("", ".0f", ".1%", *[".3f"] * 9))


def _ms(value: float | None) -> float | None:
    return None if value is None else MS * value


def limits(found: Findings, plan: Plan, options: Mapping[str, Any]) -> Analysis:
    """The bottleneck by utilisation, who used the machine's cores, and what limits by the model."""
    cores = int(found.runs[0].manifest.get("machine", {}).get("cores") or 1)
    seen = where_valid(frame(found.runs))
    cells: list[tuple[Cell, ...]] = []
    for label, mean in configurations(seen):
        b, s = busy(mean, cores), shares(mean)
        parts = (b.dispatcher, b.workers, b.connections, b.client, b.cores)
        cells.append((label, *parts, b.limit, *(s[name] for name in CPU), _predicted(found, mean)))
    lead = (
        "How busy each part was: threads by their CPU time, workers and connections by how many were held, cores by all "
        "processes of this machine. What limits is the first of client, dispatcher, cores, connections, workers that is busy "
        "for 90 %; else the round trip. The shares of the CPU time used: where client and service take much of it, the "
        "database's curve is that of a database that shares its cores. Last what limits by the model that the verdict "
        "quotes, which knows no cores."
    )
    columns = ("configuration", "dispatcher", "workers", "connections", "client", "cores", "limited by", "of CPU: client",
               "service", "database", "by the model")  # fmt: skip
    table = Table("Utilisation", columns, tuple(cells), formats=("", *[".0%"] * 5, "", *[".0%"] * 3, ""))
    return Analysis(tuple(_limited(seen, cores)), (Section("Limits", lead, (table,)),))


def _predicted(found: Findings, mean: dict[str, Any]) -> str | None:
    if found.rivals is None:
        return None
    factors = {name: mean[name] if name == "retry_s" else round(mean[name]) for name in FACTORS}
    return str(found.rivals.first.solve(factors).bottleneck)  # type: ignore[attr-defined]


def _limited(seen: pl.DataFrame, cores: int) -> Iterator[str]:
    reference = seen.filter(pl.col("section") == REFERENCE).to_dicts()
    if reference:
        row, limit = reference[0], [busy(one, cores).limit for one in reference]
        pools = f"{row['workers']} workers, {row['connections']} connections, {row['clients']} clients"
        x = fmean(one["throughput_per_s"] for one in reference)
        yield f"reference ({pools}): {x:.0f} requests/s, limited by {max(set(limit), key=limit.count)}"
    rows = seen.to_dicts()
    full = sum(busy(row, cores).cores >= BUSY for row in rows)
    if full:
        parts = ", ".join(f"{name} {100 * fmean(shares(row)[name] for row in rows):.0f} %" for name in CPU)
        yield f"{full} of {len(rows)} runs used all {cores} cores, which client, service and database share ({parts} of the CPU time)"


def checked_laws(found: Findings, plan: Plan, options: Mapping[str, Any]) -> Analysis:
    """The interactive law and Little's law on the pool, a row a section; errors and wrong messages of all runs."""
    seen = laws(frame(found.runs))
    cells: list[tuple[Cell, ...]] = []
    for (name,), own in seen.partition_by("section", as_dict=True, maintain_order=True).items():
        sampled = own.filter(pl.col("little").is_not_null())
        cells.append((str(name), *_held(own, "interactive"), *_held(sampled, "little")))
    lead = (
        "Interactive law: throughput × (response time + share of empty takes × retry delay + the client's own time) should be "
        "the clients. Little's law on the pool: throughput × time in the database should be the connections in use, of which "
        "samples are taken; judged where one is in use at least, within 5 % and the interval of the samples."
    )
    columns = ("section", "interactive law holds", "worst", "Little's law holds", "worst ")
    table = Table("Laws, within 5 %", columns, tuple(cells), formats=("", "", ".1%", "", ".1%"))
    errors, wrong = (int(seen[name].sum()) for name in ("errors", "wrong"))
    held = float((seen["interactive"] == "holds").mean() or 0.0)  # type: ignore[arg-type]
    line = (
        f"{seen.height} runs: {errors} errors, {wrong} wrong messages; the interactive law holds within 5 % in "
        f"{100 * held:.0f} % of them"
    )
    return Analysis((line, *_system(found)), (Section("Laws", lead, (table,)),), warn=bool(errors or wrong))


def _held(rows: pl.DataFrame, law: str) -> tuple[Cell, Cell]:
    worst = rows[f"{law}_error"].fill_nan(None).abs().max()
    said = f"{(rows[law] == 'holds').sum()} of {rows.height}" if rows.height else None
    return said, float(worst) if isinstance(worst, float) else None


def _system(found: Findings) -> Iterator[str]:
    lab = found.runs[0].manifest.get("lab", {})
    if "flush_s" in lab:
        yield f"on {lab['database']}, a flush to disk takes {MS * lab['flush_s']:.2f} ms"


def configurations(seen: pl.DataFrame) -> Iterator[tuple[str, dict[str, Any]]]:
    """The means of each configuration, all its runs together, named by the factors that vary among them."""
    varied = tuple(name for name in FACTORS if seen[name].n_unique() > 1)
    for key, rows in seen.sort(*FACTORS).partition_by(*FACTORS, as_dict=True, maintain_order=True).items():
        numbers = [name for name, kind in rows.schema.items() if kind.is_numeric()]
        mean = rows.select(pl.col(numbers).cast(pl.Float64).fill_nan(None).mean()).to_dicts()[0]
        yield told(dict(zip(FACTORS, key, strict=True)), varied), mean
