"""The report of a key-value study, and its verdict."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

import polars as pl

from sojourn.findings import findings_section
from sojourn.report import Document, Section
from sojourn.study.kv.analysis import disturbed, laws, too_small
from sojourn.study.kv.plan import KvPlan
from sojourn.study.kv.run import KvFindings
from sojourn.study.kv.sections.laws import laws_section
from sojourn.study.kv.sections.limits import limits_section
from sojourn.study.kv.sections.measured import measured_section
from sojourn.study.kv.sections.models import models_section


def verdict_lines(found: KvFindings) -> list[str]:
    """What came out, the most important first."""
    lines = list(_measured(found)) if found.seen.height else []
    for j in found.models:
        middle, low, high = j.median_error()
        if j.points:
            lines.append(
                f"{j.model}: median error of throughput {100 * middle:.1f} % [{100 * low:.1f}, {100 * high:.1f}] at "
                f"{len(j.points)} points not fitted"
            )
    if found.document is not None:
        lines.append(f"{len(found.document)} statements in {found.tables} published tables break a law")
    return lines or ["nothing was asked for"]


def _measured(found: KvFindings) -> Iterator[str]:
    misses, errors = (int(found.seen[c].sum()) for c in ("misses", "errors"))
    held = (laws(found.seen)["interactive"] == "holds").mean()
    yield (
        f"{found.seen.height} runs: {misses} misses, {errors} errors; the interactive law holds within 5 % in "
        f"{100 * float(held or 0.0):.0f} % of them"  # type: ignore[arg-type]
    )
    others = found.seen.filter(disturbed(found.cores))["others_cores"].to_list()
    if others:
        yield (
            f"disturbed: in {len(others)} runs other processes of this machine used {median(others):.2f} cores in the "
            "median; the models leave them out"
        )
    marked = sum(too_small(row, found.cores) for row in found.seen.to_dicts())
    yield f"{marked} of them are limited by this machine ({found.cores} cores): see Limits"


def kv_document(found: KvFindings, plan: KvPlan, verdict: list[str]) -> Document:
    """All sections that have something to say."""
    bad = any(row["misses"] or row["errors"] for row in found.seen.to_dicts())
    foot = {
        "study": plan.study.name,
        "servers": found.server or "none",
        "cores": str(found.cores),
        "folder": found.folder.name,
    }
    sections = tuple(_sections(found, plan))
    return Document(plan.study.title, "quick" if plan.quick else "", verdict, "warn" if bad else "ok", sections, foot)


def _sections(found: KvFindings, plan: KvPlan) -> Iterator[Section]:
    for planned in plan.sections():
        rows = found.seen.filter(pl.col("section") == planned.name)
        if rows.height:
            yield measured_section(planned, rows, found)
    if found.seen.height:
        yield laws_section(found.seen)
        yield limits_section(found.seen, found.cores, found.lab)
    if any(j.points for j in found.models):
        yield models_section(found)
    if found.document is not None:
        yield findings_section(found.document, found.tables)
