"""The report of a message study, and its verdict."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from sojourn.report import Document, Section
from sojourn.study.messages.analysis import BUSY, QUIET_CORES, busy, laws, shares
from sojourn.study.messages.measured_section import laws_section, limits_section, measured_section
from sojourn.study.messages.model_section import best_section, database_section, models_section
from sojourn.study.messages.models import REFERENCE
from sojourn.study.messages.plan import MessagesPlan
from sojourn.study.messages.run import MessagesFindings

WANTED = {"throughput": 0.10, "response time": 0.15}


def verdict_lines(found: MessagesFindings) -> list[str]:
    """What came out, the most important first."""
    return [
        *_limit(found),
        *_best(found),
        *_errors(found),
        *_runs(found),
    ] or ["nothing was asked for"]


def _limit(found: MessagesFindings) -> Iterator[str]:
    reference = found.seen.filter(pl.col("section") == REFERENCE)
    if not reference.height:
        return
    row = reference.to_dicts()[0]
    x = float(reference["throughput_per_s"].mean())  # type: ignore[arg-type]
    limits = [busy(r, found.cores).limit for r in reference.to_dicts()]
    limit = max(set(limits), key=limits.count)
    pools = f"{row['workers']} workers, {row['connections']} connections, {row['clients']} clients"
    yield f"reference ({pools}): {x:.0f} requests/s, limited by {limit}"


def _best(found: MessagesFindings) -> Iterator[str]:
    for r in found.regrets:
        s, low, high = r.best.shape, r.lost.low, r.lost.high
        yield (
            f"best by {r.best.model}: {s.workers} workers, {s.connections} connections, measured {r.chosen_per_s:.0f}/s "
            f"(predicted {r.best.predicted.throughput_per_s:.0f}/s); regret {100 * r.lost.value:.1f} % "
            f"[{100 * low:.1f}, {100 * high:.1f}] against {r.shape.workers} workers, {r.shape.connections} connections"
        )


def _errors(found: MessagesFindings) -> Iterator[str]:
    for j in found.models:
        if j.points:
            (x, *xs), (r, *rs) = j.median_error(), j.median_error("response_error")
            yield (
                f"model {j.model}: median error of throughput {100 * x:.1f} % [{100 * xs[0]:.1f}, {100 * xs[1]:.1f}], of "
                f"response time {100 * r:.1f} % [{100 * rs[0]:.1f}, {100 * rs[1]:.1f}] at {len(j.points)} configurations not fitted"
            )


def _runs(found: MessagesFindings) -> Iterator[str]:
    if not found.seen.height:
        return
    errors, wrong = (int(found.seen[c].sum()) for c in ("errors", "wrong"))
    held = float((laws(found.seen)["interactive"] == "holds").mean() or 0.0)  # type: ignore[arg-type]
    law = f"the interactive law holds within 5 % in {100 * held:.0f} % of them"
    yield f"{found.seen.height} runs: {errors} errors, {wrong} wrong messages; {law}"
    yield f"on {found.system}"
    rows = found.seen.to_dicts()
    full = sum(busy(row, found.cores).cores >= BUSY for row in rows)
    if full:
        mean = {k: sum(shares(row)[k] for row in rows) / len(rows) for k in ("client", "service", "database")}
        parts = ", ".join(f"{k} {100 * v:.0f} %" for k, v in mean.items())
        yield f"{full} of them used all {found.cores} cores, which client, service and database share ({parts} of the CPU time)"
    others = [row["others_cores"] for row in rows if row["others_cores"] > QUIET_CORES]
    if others:
        yield f"disturbed: in {len(others)} runs other processes of this machine used {min(others):.1f} to {max(others):.1f} cores"


def messages_document(found: MessagesFindings, plan: MessagesPlan, verdict: list[str]) -> Document:
    """All sections that have something to say."""
    bad = any(row["wrong"] or row["errors"] for row in found.seen.to_dicts())
    foot = {"study": plan.study.name, "system": found.system, "cores": str(found.cores), "folder": found.folder.name}
    sections = tuple(_sections(found, plan))
    return Document(plan.study.title, "quick" if plan.quick else "", verdict, "warn" if bad else "ok", sections, foot)


def _sections(found: MessagesFindings, plan: MessagesPlan) -> Iterator[Section]:
    if found.regrets:
        yield best_section(found)
    if found.fitted is not None:
        yield database_section(found)
    for planned in plan.sections():
        rows = found.seen.filter(pl.col("section") == planned.name)
        if rows.height:
            yield measured_section(planned, rows, found)
    if found.models:
        yield models_section(found)
    if found.seen.height:
        yield limits_section(found)
        yield laws_section(found)
