"""What the pages of runs show: a row a run, one run as a document, two sides compared. For a worker process, as `model_answers`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sojourn.compare import compare
from sojourn.errors import InputError, SojournError
from sojourn.measure.objective_lines import time_limits
from sojourn.measure.one_run_figures import distribution
from sojourn.measure.run_report import runs_document
from sojourn.report import Code, Document, Figure, Section, Table, Text, cell_text, markup
from sojourn.report.chart import specification
from sojourn.report.figure_channels import PAGE
from sojourn.runs.record_files import read_records
from sojourn.runs.request_times import answered_s
from sojourn.runs.run_folder import RunFolder
from sojourn.terminal import shown
from sojourn.ui.model_answers import error_table

QUANTILES = {0.5: "p50_s", 0.9: "p90_s", 0.99: "p99_s"}
MOST_REASONS, MOST_RUNS = 6, 200


def rows(paths: Mapping[str, str], refused: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A row for each name → path, and those of names that were refused."""
    return {"rows": [*(_row(name, Path(path)) for name, path in paths.items()), *refused]}


def _row(name: str, path: Path) -> dict[str, Any]:
    """What is seen at a glance; of a folder that cannot be read, why."""
    try:
        run = RunFolder.glance(path)
        factors = run.manifest.get("factors", {})
        found: dict[str, Any] = {
            "name": name, "status": run.manifest.get("status", ""), "valid": run.manifest.get("valid"), "live": run.is_being_recorded(),
            "reasons": [shown(one) for one in run.manifest.get("reasons", [])[:MOST_REASONS]], "users": "users" in factors,
            "load": next((float(factors[key]) for key in ("users", "rate_per_s") if factors.get(key) is not None), None),
            "factors": {str(k): v for k, v in list(factors.items())[:20] if k not in ("users", "rate_per_s")},
            "start": str((run.manifest.get("start") or {}).get("wall", "")), "failed": run.manifest.get("checks", {}).get("failed share"),
        }  # fmt: skip
        found["objectives"] = [
            {"text": one.text, "figure": one.figure, "limit_s": one.limit} for one in time_limits([run])
        ]
        if (path / "metrics.parquet").exists():
            found |= _numbers(read_records(path / "metrics.parquet"))
        return found
    except SojournError as error:
        return {"name": name, "error": error_table(error)}
    except (OSError, pl.exceptions.PolarsError, ValueError, TypeError) as error:
        return {"name": name, "error": {"value": str(error)[:200], "place": name, "remedy": "the folder is damaged"}}


def _numbers(frame: pl.DataFrame) -> dict[str, Any]:
    whole = frame.filter((pl.col("station") == "") & (pl.col("class") == ""))
    found: dict[str, Any] = {}
    for row in whole.iter_rows(named=True):
        key = {"response_time": "response_s", "throughput": "throughput_per_s"}.get(row["metric"])
        if key and row["q"] is None:
            found |= {key: row["value"], f"{key}_low": row["low"], f"{key}_high": row["high"]}
        elif row["metric"] == "response_time_quantile" and row["q"] in QUANTILES:
            found[QUANTILES[row["q"]]] = row["value"]
    busy = frame.filter((pl.col("metric") == "utilisation") & (pl.col("station") != ""))["value"].drop_nulls()
    if len(busy):
        found["busiest"] = float(busy.max())  # type: ignore[arg-type]
    return found


def document(paths: Sequence[str], width_px: int) -> dict[str, Any]:
    """The report of runs, as tables that a page makes elements of: no text in it is ever HTML."""
    if len(paths) > MOST_RUNS:
        raise InputError(f"{len(paths)} runs", "report", f"choose at most {MOST_RUNS}; `sojourn report` takes more")
    return as_tables(runs_document([Path(path) for path in paths]), width_px)


def compared(a: Sequence[str], b: Sequence[str], names: tuple[str, str], width_px: int) -> dict[str, Any]:
    """By the code of `sojourn compare`; with the distributions of both sides, also where they cannot be compared."""
    figures = _distributions(dict(zip(names, (a, b), strict=True)), width_px)
    try:
        found = compare(list(a), list(b), names=names)
    except SojournError as error:
        return {"error": error_table(error), "figures": figures}
    return {
        "verdict": found.verdict, "lines": found.lines(), "columns": ["metric", *names, f"{names[1]} against {names[0]}", "verdict"],
        "rows": [list(one.cells) for one in found.metrics],
        "changes": [{"metric": one.metric, "change": one.change, "low": one.low, "high": one.high} for one in found.metrics],
        "margin": found.equivalence_margin, "figures": figures,
    }  # fmt: skip


def _distributions(sides: Mapping[str, Sequence[str]], width_px: int) -> list[dict[str, Any]]:
    """Nothing where a side has no records of requests."""
    times = {}
    for name, paths in sides.items():
        try:
            own = [_counted_s(RunFolder.open(path)) for path in paths]
        except SojournError:
            return []
        known = [one for one in own if one is not None and len(one)]
        if not known:
            return []
        times[name] = np.concatenate(known)
    return [_block(distribution(times), width_px)]


def _counted_s(run: RunFolder) -> NDArray[np.float64] | None:
    """Response times in the window that counts."""
    window = run.manifest.get("window_s")
    return answered_s(run, (window[0], window[1])) if window else None


def as_tables(made: Document, width_px: int) -> dict[str, Any]:
    return {
        "title": made.title, "subtitle": made.subtitle, "status": made.status, "numbers": [list(pair) for pair in made.numbers],
        "verdict": [_spans(line) for line in made.verdict], "sections": [_section(one, width_px) for one in made.sections],
        "footer": made.footer,
    }  # fmt: skip


def _section(section: Section, width_px: int) -> dict[str, Any]:
    return {
        "title": section.title,
        "lead": _paragraphs(section.lead),
        "blocks": [_block(one, width_px) for one in section.blocks],
    }


def _block(block: Any, width_px: int) -> dict[str, Any]:
    if isinstance(block, Figure):
        spec = specification(block, PAGE, width_px, interactive=True)
        return {"kind": "figure", "id": block.id, "title": block.title, "x": block.x_label, "y": block.y_label, "spec": spec,
                "note": _spans(block.note)}  # fmt: skip
    if isinstance(block, Table):
        numeric = [bool(one) for one in cell_text.numeric_columns(block)]
        return {"kind": "table", "title": block.title, "columns": list(block.columns), "numeric": numeric,
                "rows": [list(row) for row in cell_text.text_rows(block)], "note": _spans(block.note)}  # fmt: skip
    if isinstance(block, Text):
        return {"kind": "text", "paragraphs": _paragraphs(block.markdown)}
    assert isinstance(block, Code)
    return {"kind": "code", "text": shown(block.text)}


def _spans(text: str) -> list[list[str]]:
    return [[one.kind, shown(one.text)] for one in markup.spans(text)]


def _paragraphs(text: str) -> list[dict[str, Any]]:
    return [
        {"item": one.item, "spans": [[s.kind, shown(s.text)] for s in one.spans]} for one in markup.paragraphs(text)
    ]
