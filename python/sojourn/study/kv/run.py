"""Runs the key-value study part by part into one folder; a run that is there is not run again."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from sojourn.findings import Finding, findings, read_tables
from sojourn.lab.registry import only_one
from sojourn.lab.topology import cores
from sojourn.study.folder import Say, open_study
from sojourn.study.kv.analysis import marked
from sojourn.study.kv.live import LiveSystem
from sojourn.study.kv.modelled import judged
from sojourn.study.kv.models import Judgement
from sojourn.study.kv.plan import KvPlan, read_kv_plan
from sojourn.study.kv.points import Point
from sojourn.study.kv.seen import Seen, frame
from sojourn.study.points import kept


class System(Protocol):
    """What runs points: this machine, or a simulation."""

    kind: str

    def run(self, point: Point) -> Seen: ...

    def ping(self) -> dict[str, float]: ...


@dataclass
class KvFindings:
    """All that was found: rows of all sections, pings, broken laws of the document, models judged."""

    folder: Path
    cores: int
    server: str = ""
    seen: pl.DataFrame = field(default_factory=lambda: frame([]))
    pings: dict[str, dict[str, float]] = field(default_factory=dict)
    document: list[Finding] | None = None
    tables: int = 0
    models: list[Judgement] = field(default_factory=list)
    seconds: float = 0.0
    lab: dict[str, Any] = field(default_factory=dict)


def document(plan: KvPlan, found: KvFindings) -> None:
    """Reads the published tables against their laws."""
    if "document" in plan.parts and plan.study.document:
        tables = read_tables(plan.where / plan.study.document.tables, plan.study.document.pattern)
        found.document, found.tables = findings(tables), len(tables)


def run_sections(plan: KvPlan, system: System, found: KvFindings, say: Say) -> None:
    """Every point of every section, each kept as soon as it is known."""
    rows: list[Seen] = []
    for section in plan.sections():
        points = plan.points(section)
        say(f"{section.name}: {len(points)} runs")
        if "ping" in plan.parts:
            found.pings[section.name] = system.ping()
        rows += [_once(found.folder, point, system, say) for point in points]
    found.seen = frame(rows)
    if rows:
        marked(found.seen, found.cores).write_csv(found.folder / "seen.csv")


def _once(folder: Path, point: Point, system: System, say: Say) -> Seen:
    row, now = kept(folder / "points" / f"{point.name}.json", Seen, lambda: system.run(point))
    if now:
        say(f"  {point.name}: {row.throughput_per_s:.0f}/s, {1e3 * row.response_s:.3f} ms" + _trouble(row))
    return row


def _trouble(row: Seen) -> str:
    return "".join(f", {count} {what}" for count, what in ((row.misses, "misses"), (row.errors, "errors")) if count)


def measure(plan: KvPlan, folder: Path, say: Say, system: System | None = None) -> KvFindings:
    """All parts of the plan. `system`: instead of this machine."""
    found = KvFindings(folder, len(cores()))
    started = time.monotonic()
    document(plan, found)
    if plan.sections() and system is not None:
        found.server = system.kind
        run_sections(plan, system, found, say)
    elif plan.sections():
        load = plan.study.load
        servers, proxies = plan.hosts()
        with only_one(f"study {plan.study.name}"), LiveSystem(
            folder, servers, load.keys, load.value_bytes, load.warm_up_s, load.seed, plan.study.lab, proxies
        ) as live:  # fmt: skip
            found.server, found.lab = live.kind, live.place.describe()
            run_sections(plan, live, found, say)
    if "models" in plan.parts:
        found.models = judged(found.seen, found.cores)
    found.seconds = time.monotonic() - started
    return found


def run_kv(
    path: Path, *, out: Path | None, quick: bool, only: tuple[str, ...], seed: int | None, say: Say
) -> tuple[KvPlan, KvFindings]:
    """Reads, measures, keeps.

    Raises:
        StudyError, LabError, ServiceError: with the value, the place and the remedy.
    """
    plan = read_kv_plan(path, quick=quick, only=only, seed=seed)
    folder = open_study(out, plan, say)
    return plan, measure(plan, folder, say)
