"""How often measured values lie in the intervals that were predicted for them: docs/explain/accuracy.md, its figure, and README's sentence.

`python tools/accuracy.py` counts the records of benches/ and writes all three.
Coverage are predictions that were on disk before their runs, at the stated level of 90 %, of runs that are valid.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path

import polars as pl

from sojourn.stats.share_interval import share_interval

ROOT = Path(__file__).resolve().parent.parent
BENCHES = ROOT / "benches"
PAGE = ROOT / "docs/explain/accuracy.md"
FIGURE = ROOT / "docs/explain/coverage.svg"
README = ROOT / "README.md"
COMMAND = "python tools/accuracy.py"
LEVEL = 0.9
WEB = ("response_time", "saturation_rate")  # the throughput of an open load is the rate that was asked for
CLOSED = ("response_time", "throughput")
LEVELS_OF = BENCHES / "kv/recorded/2026-11-26-seed-72/blind-levels.csv"  # the only record with more than one level


@dataclass(frozen=True)
class PredictionSet:
    """Predictions of one kind: `files` below benches/ (a CSV file has a row a value, JSON counts), `model` the one that was quoted."""

    what: str
    files: tuple[str, ...]
    model: str
    metrics: tuple[str, ...]
    short: str
    """The name in the figure."""


@dataclass(frozen=True)
class Coverage:
    """Of valid runs: values inside their interval, and how many there are; median relative errors, by metric."""

    source: PredictionSet
    inside: int
    of: int
    errors: dict[str, float]

    @property
    def share(self) -> float:
        return self.inside / self.of


SOURCES = (
    PredictionSet("ten small services (two of them twice), at more load and with twice the workers, 22 November",
           ("services/2026-11-22/raw.csv",), "hand", WEB, "10 small services"),
    PredictionSet("eleven small services, the same questions, 26 November",
           ("services/2026-11-26/raw.csv",), "hand", WEB, "11 small services, later fit"),
    PredictionSet("22 web services drawn at random, their service times unknown to the fit",
           tuple(f"blind/2026-11-22-{n}/validation.csv" for n in ("second", "third", "fourth")), "priority", WEB, "22 web services"),
    PredictionSet("twelve web services drawn before these, an earlier version of the fit",
           ("blind/2026-11-22/validation.csv",), "priority", WEB, "12 web services, earlier fit"),
    PredictionSet("twelve new configurations of a memcached middleware, 26 November, by model files",
           ("kv/recorded/2026-11-26-seed-72/blind-levels.csv",), "", CLOSED, "middleware, 12 configurations"),
    PredictionSet("twelve others, 26 November, beside other programs, by a model in code",
           ("kv/recorded/2026-11-26/network-of-cores.json",), "with cores as placed", CLOSED, "middleware, 12, disturbed"),
    PredictionSet("twelve others, 22 November, by the same model in code",
           ("blind/kv-2026-11-22-third/seed-20261301/validation.csv",), "with cores as placed", CLOSED, "middleware, 12, earlier"),
    PredictionSet("60 configurations before these, earlier versions of the fit",
           (*(f"blind/kv-2026-11-22/seed-{n}/validation.csv" for n in (20261123, 20261124, 20261125)),
            *(f"blind/kv-2026-11-22-second/seed-{n}/validation.csv" for n in (20261130, 20261201))),
           "with cores as placed", CLOSED, "middleware, 60, earlier fits"),
    PredictionSet("six others of a message service, 26 November, by model files",
           ("blind/messages-2026-11-26/seed-91/validation.csv",), "batching", CLOSED, "message service, 6, later fit"),
    PredictionSet("eight loads of a three-tier site on two cores, measured on one, 26 November",
           ("ntier/recorded/2026-11-26-seed-91/validation.csv",), "averaged", CLOSED, "three-tier site, two cores"),
    PredictionSet("36 new configurations of a message service on PostgreSQL",
           (*(f"blind/messages-2026-11-22/seed-{n}/validation.csv" for n in (20261124, 20261127)),
            "blind/messages-2026-11-22-second/seed-20261202/validation.csv"), "usl", CLOSED, "message service, 36"),
)  # fmt: skip


def main() -> None:
    for path, text in made().items():
        path.write_text(text)


def made() -> dict[Path, str]:
    """Path → text of the figure, and of the pages that have its counts between two comments."""
    sets, levels = [counted(source) for source in SOURCES], at_levels()
    return {
        FIGURE: figure(sets, levels),
        PAGE: replaced(PAGE, {"table": table(sets), "levels": levels_table(levels)}),
        README: replaced(README, {"coverage": sentence(sets)}),
    }


def replaced(path: Path, parts: dict[str, str]) -> str:
    text = path.read_text()
    for name, part in parts.items():
        marks = f"<!-- {name}: {COMMAND} -->\n", f"<!-- {name} ends -->"
        before, found, rest = text.partition(marks[0])
        _, end, after = rest.partition(marks[1])
        if not found or not end:
            raise SystemExit(f"{path.relative_to(ROOT)}: no comments {marks[0].strip()} … {marks[1]}")
        text = f"{before}{marks[0]}{part}\n{marks[1]}{after}"
    return text


def counted(source: PredictionSet) -> Coverage:
    """What the records say of one kind of predictions."""
    if source.files[0].endswith(".json"):
        return _of_json(source)
    rows = pl.concat([values(BENCHES / name, source) for name in source.files])
    errors = {metric: rows.filter(pl.col("metric") == metric)["error"].median() for metric in source.metrics}
    return Coverage(source, rows["inside"].sum(), rows.height, errors)  # type: ignore[arg-type]


def values(path: Path, source: PredictionSet) -> pl.DataFrame:
    """Metric, inside and |predicted / measured - 1| of each value that counts; infinite where it was wrongly called saturated."""
    rows = pl.read_csv(path, infer_schema_length=None)
    if "level" in rows.columns:
        rows = rows.filter(pl.col("level") == LEVEL)
    else:
        rows = rows.filter(pl.col("valid") & (pl.col("model") == source.model) & pl.col("inside").is_not_null())
    if "kind" in rows.columns:
        rows = rows.filter(pl.col("kind") == "blind")
    rows = rows.filter(pl.col("metric").is_in(source.metrics))
    return rows.select(
        "metric", inside=is_inside(), error=(pl.col("predicted") / pl.col("measured") - 1).abs().fill_null(inf)
    )


def is_inside() -> pl.Expr:
    """An end that is missing is no limit: the model cannot exclude saturation."""
    low, high = (pl.col(name).cast(pl.Float64) for name in ("low", "high"))
    return pl.col("measured").is_between(low.fill_null(0.0), high.fill_null(inf))


def _of_json(source: PredictionSet) -> Coverage:
    rows = json.loads((BENCHES / source.files[0]).read_text())["rows"]
    rows = [row for row in rows if row["kind"] == "blind" and row["model"] == source.model]
    errors = {row["metric"]: row["median_error"] for row in rows}
    return Coverage(source, sum(row["inside"] for row in rows), sum(row["of"] for row in rows), errors)


def at_levels() -> list[tuple[float, int, int]]:
    """Level, values inside, values: of the one record that has several levels."""
    rows = pl.read_csv(LEVELS_OF)
    each = rows.group_by("level").agg(inside=is_inside().sum(), of=pl.len()).sort("level")
    return list(each.iter_rows())


def total(sets: Iterable[Coverage]) -> tuple[int, int]:
    return sum(one.inside for one in sets), sum(one.of for one in sets)


def sentence(sets: Sequence[Coverage]) -> str:
    inside, of = total(sets)
    least = min(sets, key=lambda one: one.share)
    errors = [one.errors["response_time"] for one in sets]
    return (
        f"Of {of} values that were predicted before they were measured, **{inside} ({100 * inside / of:.1f} %) lie in their "
        f"90 % intervals**;\nin the worst of {len(sets)} sets {100 * least.share:.0f} %. The median error of mean response times is "
        f"{100 * min(errors):.0f} to {100 * max(errors):.0f} %, by set.\n"
        "[How this was counted, and the misses](docs/explain/accuracy.md)."
    )


def table(sets: Sequence[Coverage]) -> str:
    lines = [
        "| predicted before it was run | inside the 90 % interval | median error: rate | mean response time |",
        "|---|---|---|---|",
    ]
    for one in sets:
        rate = "saturation_rate" if "saturation_rate" in one.source.metrics else "throughput"
        kind = "saturation" if rate == "saturation_rate" else "throughput"
        links = ", ".join(f"[{n}](../../benches/{name})" for n, name in enumerate(one.source.files, 1))
        lines.append(
            f"| {one.source.what} ({links}) | {one.inside} of {one.of} ({100 * one.share:.0f} %) "
            f"| {kind} {percent(one.errors[rate])} | {percent(one.errors['response_time'])} |"
        )
    inside, of = total(sets)
    return "\n".join([*lines, f"| **all** | **{inside} of {of} ({100 * inside / of:.1f} %)** | | |"])


def levels_table(levels: Sequence[tuple[float, int, int]]) -> str:
    head = ["| stated | inside |", "|---|---|"]
    return "\n".join(
        [*head, *(f"| {100 * level:.0f} % | {n} of {of} ({100 * n / of:.0f} %) |" for level, n, of in levels)]
    )


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


STYLE = """
.paper { fill: #ffffff } text { fill: #1f2328; font: 13px system-ui, sans-serif } .quiet { fill: #59636e } .head { font-weight: 600 }
.grid { stroke: #d1d9e0 } .range { stroke: #0969da; stroke-width: 2 } .seen { fill: #0969da } .stated { stroke: #bc4c00; stroke-width: 2 }
@media (prefers-color-scheme: dark) {
  .paper { fill: #0d1117 } text { fill: #f0f6fc } .quiet { fill: #9198a1 } .grid { stroke: #3d444d }
  .range { stroke: #4493f8 } .seen { fill: #4493f8 } .stated { stroke: #f0883e }
}
"""
WIDTH, ROW, LEFT, RIGHT = 760, 22, 250, 130
SHOWN = (0.3, 1.0)  # shares on the axis


def place(share: float) -> float:
    """Where a share is on the axis, in pixels from the left."""
    low, high = SHOWN
    return LEFT + (max(share, low) - low) / (high - low) * (WIDTH - LEFT - RIGHT)


def figure(sets: Sequence[Coverage], levels: Sequence[tuple[float, int, int]]) -> str:
    """Stated beside observed shares: a row a set at 90 %, and the set that has other levels."""
    inside, of = total(sets)
    at_90 = [(one.source.short, LEVEL, one.inside, one.of) for one in sets]
    rows: list[tuple[str, float, int, int] | str] = ["Stated: 90 %", *at_90, ("all together", LEVEL, inside, of)]
    rows += ["Other levels: middleware, 12 configurations"]
    rows += [(f"stated {100 * level:.0f} %", level, n, m) for level, n, m in levels]
    height = ROW * (len(rows) + 3)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img">',
        f"<title>Share of measured values inside the interval that was predicted for them: {inside} of {of} at a stated 90 %</title>",
        f"<style>{STYLE}</style>",
        f'<rect class="paper" width="{WIDTH}" height="{height}"/>',
    ]
    for tick in (0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0):
        x, bottom = place(tick), height - 1.6 * ROW
        lines.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{0.5 * ROW}" y2="{bottom:.1f}"/>')
        lines.append(
            f'<text class="quiet" x="{x:.1f}" y="{bottom + 16:.1f}" text-anchor="middle">{100 * tick:.0f} %</text>'
        )
    for n, row in enumerate(rows, 1):
        lines += _row(row, n * ROW)
    legend = "dot: measured values inside; bar: 95 % interval of that share; upright mark: the stated level"
    lines.append(f'<text class="quiet" x="{WIDTH / 2}" y="{height - 6}" text-anchor="middle">{legend}</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"


def _row(row: tuple[str, float, int, int] | str, y: float) -> list[str]:
    if isinstance(row, str):
        return [f'<text class="head" x="12" y="{y + 4}">{row}</text>']
    name, level, n, of = row
    low, high = share_interval(n, of, 0.95)  # as if the values were independent
    stated, seen = place(level), place(n / of)
    return [
        f'<text x="{LEFT - 14}" y="{y + 4}" text-anchor="end">{name}</text>',
        f'<line class="range" x1="{place(low):.1f}" x2="{place(high):.1f}" y1="{y}" y2="{y}"/>',
        f'<line class="stated" x1="{stated:.1f}" x2="{stated:.1f}" y1="{y - 8}" y2="{y + 8}"/>',
        f'<circle class="seen" cx="{seen:.1f}" cy="{y}" r="4.5"/>',
        f'<text class="quiet" x="{WIDTH - RIGHT + 14}" y="{y + 4}">{n} of {of}, {100 * n / of:.0f} %</text>',
    ]


if __name__ == "__main__":
    main()
