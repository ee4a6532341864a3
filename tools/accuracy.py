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
from coverage_figure import figure

ROOT = Path(__file__).resolve().parent.parent
BENCHES = ROOT / "benches"
PAGE = ROOT / "docs/explain/accuracy.md"
FIGURE = ROOT / "docs/explain/coverage.svg"
README = ROOT / "README.md"
COMMAND = "python tools/accuracy.py"
SINCE = "27 November, 05:20"
LEVEL = 0.9
WEB = ("response_time", "saturation_rate")  # the throughput of an open load is the rate that was asked for
CLOSED = ("response_time", "throughput")
FROM_MODERATE_RATES = tuple(
    f"services/{day}/raw.csv" for day in ("2026-11-26-twice", "2026-11-26-others", "2026-11-27-others")
)
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
    present: bool = False
    """Predicted since the fit was last changed (SINCE)."""
    all_runs: tuple[int, int] | None = None
    """Inside and values with the runs that are not valid, counted when it was recorded; None: the files have them, or nobody counted."""


@dataclass(frozen=True)
class Coverage:
    """Of valid runs: values inside their interval, and how many there are; median relative errors, by metric; median half-width of the
    intervals of response times, over the prediction. `all_runs`: inside and values with the runs that are not valid; None: not recorded."""

    source: PredictionSet
    inside: int
    of: int
    errors: dict[str, float]
    half_width: float
    all_runs: tuple[int, int] | None
    unanswered: int = 0
    """Values for which the fit was refused, so that there is no interval; in no other count."""

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
    PredictionSet("twelve web services drawn earlier, by an earlier version of the fit",
           ("blind/2026-11-22/validation.csv",), "priority", WEB, "12 web services, earlier fit"),
    PredictionSet("twelve new configurations of a memcached middleware, 26 November, by model files",
           ("kv/recorded/2026-11-26-seed-72/blind-levels.csv",), "", CLOSED, "middleware, 12 configurations"),
    PredictionSet("twelve further middleware configurations, 26 November, while other programs ran, by a model in code",
           ("kv/recorded/2026-11-26/network-of-cores.json",), "with cores as placed", CLOSED, "middleware, 12, disturbed",
           all_runs=(57, 72)),
    PredictionSet("twelve further middleware configurations, 22 November, by the same model in code",
           ("blind/kv-2026-11-22-third/seed-20261301/validation.csv",), "with cores as placed", CLOSED, "middleware, 12, earlier"),
    PredictionSet("60 earlier middleware configurations, by earlier versions of the fit",
           (*(f"blind/kv-2026-11-22/seed-{n}/validation.csv" for n in (20261123, 20261124, 20261125)),
            *(f"blind/kv-2026-11-22-second/seed-{n}/validation.csv" for n in (20261130, 20261201))),
           "with cores as placed", CLOSED, "middleware, 60, earlier fits"),
    PredictionSet("six configurations of a message service, 26 November, by model files",
           ("blind/messages-2026-11-26/seed-91/validation.csv",), "batching", CLOSED, "message service, 6, later fit"),
    PredictionSet("eight loads of a three-tier site on two cores, fitted to runs on one core, 26 November",
           ("ntier/recorded/2026-11-26-seed-91/validation.csv",), "averaged", CLOSED, "three-tier site, two cores"),
    PredictionSet("36 new configurations of a message service on PostgreSQL",
           (*(f"blind/messages-2026-11-22/seed-{n}/validation.csv" for n in (20261124, 20261127)),
            "blind/messages-2026-11-22-second/seed-20261202/validation.csv"), "usl", CLOSED, "message service, 36"),
    PredictionSet("a web service in a virtual machine, two NICs from runs with one, three times, 27 November",
           tuple(f"web-vm/2026-11-27/seed-{n}/validation.csv" for n in (11, 12, 13)), "averaged", WEB, "web in a guest, two NICs",
           present=True),
    PredictionSet("sixteen small services from four moderate rates, 26 and 27 November, by `fit --model auto`",
           FROM_MODERATE_RATES, "auto", WEB, "16 services, auto, earlier fits"),
    PredictionSet("the same measured values, by models written for each service before",
           FROM_MODERATE_RATES, "own", WEB, "16 services, own, earlier fits"),
    PredictionSet("nine of these services on new runs, 27 November, by `fit --model auto`",
           ("services/2026-11-27-others-after/raw.csv",), "auto", WEB, "9 services, auto, present fit", present=True),
    PredictionSet("the same measured values, by models written for each service before",
           ("services/2026-11-27-others-after/raw.csv",), "own", WEB, "9 services, own, present fit", present=True),
)  # fmt: skip


def main() -> None:
    for path, text in made().items():
        path.write_text(text)


def made() -> dict[Path, str]:
    """Path → text of the figure, and of the pages that have its counts between two comments."""
    sets, levels = [counted(source) for source in SOURCES], at_levels()
    return {
        FIGURE: figure([(one.source.short, one.inside, one.of) for one in sets], levels, LEVEL),
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
    asked = pl.concat([values(BENCHES / name, source) for name in source.files])
    every = asked.filter("answered")
    rows = every.filter("counts")
    of = {metric: rows.filter(pl.col("metric") == metric) for metric in source.metrics}
    errors = {metric: median(own["error"]) for metric, own in of.items()}
    with_all = None if BENCHES / source.files[0] == LEVELS_OF else (every["inside"].sum(), every.height)
    return Coverage(
        source, rows["inside"].sum(), rows.height, errors, median(of["response_time"]["half_width"]), with_all,
        asked.height - every.height,
    )  # fmt: skip


def values(path: Path, source: PredictionSet) -> pl.DataFrame:
    """Of each value: metric, whether it is `answered` (has an interval), whether its run `counts` (is valid), inside, |predicted / measured
    - 1|, half-width over predicted. Infinite where it was wrongly called saturated, and where an interval has no upper end."""
    rows = pl.read_csv(path, infer_schema_length=None)
    if "level" in rows.columns:  # valid runs alone
        rows = rows.filter(pl.col("level") == LEVEL).with_columns(counts=pl.lit(True))
    else:
        rows = rows.filter((pl.col("model") == source.model) & pl.col("measured").is_not_null())
        rows = rows.with_columns(counts=pl.col("valid") & pl.col("inside").is_not_null())
    if "kind" in rows.columns:
        rows = rows.filter(pl.col("kind") == "blind")
    rows = rows.filter(pl.col("metric").is_in(source.metrics))
    low, high = ends()
    answered = pl.any_horizontal(pl.col(name).is_not_null() for name in ("predicted", "low", "high"))
    return rows.select(
        "metric", "counts", answered=answered, inside=is_inside(),
        error=(pl.col("predicted") / pl.col("measured") - 1).abs().fill_null(inf),
        half_width=((high - low) / 2 / pl.col("predicted")).fill_null(inf),
    )  # fmt: skip


def median(numbers: pl.Series) -> float:
    return float(numbers.median())  # type: ignore[arg-type]


def ends() -> tuple[pl.Expr, pl.Expr]:
    """An end that is missing is no limit: the model cannot exclude saturation."""
    low, high = (pl.col(name).cast(pl.Float64) for name in ("low", "high"))
    return low.fill_null(0.0), high.fill_null(inf)


def is_inside() -> pl.Expr:
    """Whether the measured value lies in the interval."""
    return pl.col("measured").is_between(*ends())


def _of_json(source: PredictionSet) -> Coverage:
    rows = json.loads((BENCHES / source.files[0]).read_text())["rows"]
    rows = [row for row in rows if row["kind"] == "blind" and row["model"] == source.model]
    errors = {row["metric"]: row["median_error"] for row in rows}
    width = next(row["half_width"] for row in rows if row["metric"] == "response_time")
    return Coverage(
        source, sum(row["inside"] for row in rows), sum(row["of"] for row in rows), errors, width, source.all_runs
    )


def at_levels() -> list[tuple[float, int, int]]:
    """Level, values inside, values: of the one record that has several levels."""
    rows = pl.read_csv(LEVELS_OF)
    each = rows.group_by("level").agg(inside=is_inside().sum(), of=pl.len()).sort("level")
    return list(each.iter_rows())


def total(sets: Iterable[Coverage]) -> tuple[int, int]:
    return sum(one.inside for one in sets), sum(one.of for one in sets)


def sentence(sets: Sequence[Coverage]) -> str:
    inside, of = total(sets)
    earlier = sum(one.of for one in sets if not one.source.present)
    now = sum(one.inside for one in sets if one.source.present)
    least = min(sets, key=lambda one: one.share)
    errors = [one.errors["response_time"] for one in sets]
    widths = [one.half_width for one in sets]
    told, all_inside, all_of = with_all_runs(sets)
    return (
        f"Of {of} values that were predicted before they were measured, **{inside} ({share(inside, of)}) lie in their "
        f"90 % intervals**. In the worst of the {len(sets)} sets, {100 * least.share:.0f} % of the values lie in their intervals.\n"
        f"Versions of sojourn from before {SINCE} made {earlier} of these {of} predictions. "
        f"Of the {of - earlier} values that the present version predicted, {now} ({share(now, of - earlier)}) lie in their intervals.\n"
        "Runs that are not valid (disturbed by other programs, or not steady) are left out of the count. If they are counted, "
        f"{all_inside} of {all_of} values ({share(all_inside, all_of)}) lie in their intervals\n"
        f"(this count is known for {told} of the sets). "
        "The median error of a predicted mean response time is "
        f"{100 * min(errors):.0f} to {100 * max(errors):.0f} %, depending on the set.\n"
        f"The half-width of its 90 % interval is {100 * min(widths):.0f} to {100 * max(widths):.0f} % of the prediction. "
        "[How this was counted, and the misses](docs/explain/accuracy.md)."
    )


def with_all_runs(sets: Sequence[Coverage]) -> tuple[int, int, int]:
    """How many sets have a count with the runs that are not valid, too; inside, and values, of these sets."""
    known = [one.all_runs for one in sets if one.all_runs is not None]
    return len(known), sum(inside for inside, _ in known), sum(of for _, of in known)


def share(part: int, of: int) -> str:
    return percent(part / of)


def table(sets: Sequence[Coverage]) -> str:
    lines = [
        "| what was predicted | inside the 90 % interval | inside, counting also runs that are not valid "
        "| median half-width, mean response time | median error, mean response time | median error, rate |",
        "|---|---|---|---|---|---|",
    ]
    for one in sets:
        rate = "saturation_rate" if "saturation_rate" in one.source.metrics else "throughput"
        kind = "saturation" if rate == "saturation_rate" else "throughput"
        links = ", ".join(f"[{n}](../../benches/{name})" for n, name in enumerate(one.source.files, 1))
        lines.append(
            f"| {one.source.what} ({links}) | {one.inside} of {one.of} ({100 * one.share:.0f} %)"
            f"{f', {one.unanswered} more without an answer' if one.unanswered else ''} "
            f"| {'not known' if one.all_runs is None else '{} of {}'.format(*one.all_runs)} | {100 * one.half_width:.0f} % "
            f"| {percent(one.errors['response_time'])} | {kind} {percent(one.errors[rate])} |"
        )
    inside, of = total(sets)
    told, all_inside, all_of = with_all_runs(sets)
    whole = f"{all_inside} of {all_of} ({share(all_inside, all_of)}) in {told} sets"
    return "\n".join([*lines, f"| **all** | **{inside} of {of} ({share(inside, of)})** | {whole} | | | |"])


def levels_table(levels: Sequence[tuple[float, int, int]]) -> str:
    head = ["| stated | inside |", "|---|---|"]
    return "\n".join(
        [*head, *(f"| {100 * level:.0f} % | {n} of {of} ({100 * n / of:.0f} %) |" for level, n, of in levels)]
    )


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


if __name__ == "__main__":
    main()
