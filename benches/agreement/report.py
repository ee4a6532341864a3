"""The rows of a bench as a summary, and as Parquet."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from statistics import median

import polars as pl

Row = dict[str, str]
NUMBERS = ("seconds", "judged_s", "worst", "allowed", "ours", "theirs", "rough")


def read(journal: Path) -> list[Row]:
    """Whole rows only: a run may have been cut off in the middle of one."""
    with open(journal, newline="") as file:
        return [row for row in csv.DictReader(file) if None not in row.values()]


def store(journal: Path, folder: Path) -> None:
    """rows.parquet in the order of the models, with the journal's columns."""
    table = pl.DataFrame(read(journal)).with_columns(
        *(pl.col(name).replace("", None).cast(pl.Float64) for name in NUMBERS),
        *(pl.col(name).cast(pl.Int64) for name in ("seed", "index", "numbers")),
    )
    table.sort("index").write_parquet(folder / "rows.parquet")


def summary(rows: list[Row], seed: int) -> str:
    failing = [row for row in rows if row["findings"]]
    lines = [
        f"# {len(rows)} random models, seed {seed}", "",
        f"{len(failing)} models have a finding; {sum(int(r['numbers']) for r in rows)} numbers were compared.", "",
        *_strata(rows), "", *_findings(failing), "", *_rough(rows), "", *_slow(rows),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _strata(rows: list[Row]) -> list[str]:
    head = (
        "| stratum | models | ok | approximate | unstable | refused | another method | simulated | laws alone "
        "| worst of its allowance | findings |"
    )
    lines = ["## Strata", "", head, "|" + "---|" * 11]
    for name in dict.fromkeys(sorted(row["stratum"] for row in rows)):
        own = [row for row in rows if row["stratum"] == name]
        status = Counter(row["status"] for row in own)
        told = [row for row in own if row["status"] in ("ok", "approximate")]
        other = sum(any(x != "simulation" for x in row["referees"].split()) for row in told)
        seen = sum("simulation" in row["referees"] for row in told)
        alone = sum(not row["referees"] for row in told)
        far = max((float(r["worst"]) / float(r["allowed"]) for r in own if r["worst"]), default=0.0)
        counts = (len(own), *(status[s] for s in ("ok", "approximate", "unstable", "refused")), other, seen, alone)
        cells = (*counts, f"{far:.2g}", sum(bool(r["findings"]) for r in own))
        lines.append(f"| {name} | " + " | ".join(map(str, cells)) + " |")
    return lines


def _findings(failing: list[Row]) -> list[str]:
    """Kinds, and of each the first models."""
    lines = ["## Findings", ""]
    kinds: dict[tuple[str, str], list[Row]] = {}
    for row in failing:
        for kind in dict.fromkeys(line.partition(":")[0] for line in row["findings"].splitlines()):
            kinds.setdefault((kind, row["stratum"]), []).append(row)
    for (kind, stratum), own in sorted(kinds.items(), key=lambda item: -len(item[1])):
        example = next(line for line in own[0]["findings"].splitlines() if line.startswith(f"{kind}:"))
        some = ", ".join(row["index"] for row in own[:6])
        lines.append(f"- {kind}, {stratum}: {len(own)} models ({some}{' …' if len(own) > 6 else ''}); {example[:240]}")
    return lines if failing else [*lines, "None."]


def _rough(rows: list[Row]) -> list[str]:
    """How far approximations were from what is exact or simulated."""
    lines = ["## Approximations", "", "Relative error of means; simulated truths have an error of their own.", "",
             "| method | models | median | 90 % below | most |", "|---|---|---|---|---|"]  # fmt: skip
    for method in sorted({row["method"] for row in rows if row["rough"]}):
        found = sorted(float(row["rough"]) for row in rows if row["method"] == method and row["rough"])
        ends = f"{median(found):.2%} | {_quantile(found, 0.9):.2%} | {found[-1]:.2%}"
        lines.append(f"| {method} | {len(found)} | {ends} |")
    return lines


def _slow(rows: list[Row]) -> list[str]:
    """Seconds that `auto` took, by the method that answered."""
    head = "| method | models | median, ms | 99 % below, ms | most, s |"
    lines = ["## Time of auto", "", head, "|---|---|---|---|---|"]
    for method in sorted({row["method"] for row in rows}):
        found = sorted(float(row["seconds"]) for row in rows if row["method"] == method)
        ends = f"{1e3 * median(found):.2f} | {1e3 * _quantile(found, 0.99):.1f} | {found[-1]:.2f}"
        lines.append(f"| {method or '(refused)'} | {len(found)} | {ends} |")
    return lines


def _quantile(values: Iterable[float], q: float) -> float:
    kept = sorted(values)
    return kept[min(int(q * len(kept)), len(kept) - 1)]
