"""2^k r experiments: the population of every run, means and errors, and effects recomputed.

Laws: X R = N in a closed system without think time (Jain 1991, section 33.5, p. 563), so all runs with as many clients have
one product; effects and shares of variation as in Jain, ch. 17-18. Tolerances: R is known to its rounding only, so X R
is an interval; it is an outlier where that stays further from the median than 3.5 robust standard deviations and than
5 %. A printed effect is wrong where it differs by a unit in its last place, a share where neither convention gives it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from sojourn.design import Effects, factorial_effects
from sojourn.findings.law_violation import LawViolation, relative, text
from sojourn.findings.printed_numbers import PrintedNumber, PublishedTable

RESPONSE = re.compile(r"y1_((throughput|response_time)_?(\w*))")
DEVIATIONS, SHARE = 3.5, 0.05
SAME_SD = 1.4826  # of the median absolute deviation, for a normal law
TO_SECONDS = {"ms": 1e-3, "s": 1.0, "us": 1e-6}


@dataclass(frozen=True)
class FactorialExperiment:
    """One response of an experiment: `kind` throughput or response_time, `stem` what it shares with its pair."""

    sheet: PublishedTable
    kind: str
    column: str
    unit: str
    stem: str

    @classmethod
    def of(cls, sheet: PublishedTable) -> FactorialExperiment | None:
        for name in sheet.columns:
            if match := RESPONSE.fullmatch(name):
                stem = re.sub(r"table_?\d+_?", "", sheet.name).replace(match[1], "").strip("_")
                return cls(sheet, match[2], match[1], match[3], stem)
        return None

    @property
    def repetitions(self) -> list[int]:
        return [int(m[1]) for c in self.sheet.columns if (m := re.fullmatch(rf"y(\d+)_{self.column}", c))]

    @property
    def factors(self) -> list[str]:
        return [c for c in self.sheet.columns if re.fullmatch(r"[A-Z]_\w+", c)]

    def values(self) -> list[list[PrintedNumber]]:
        """Rows x repetitions."""
        cells = [[self.sheet.number(row, f"y{r}_{self.column}") for r in self.repetitions] for row in self.sheet.rows]
        return [[cell for cell in row if cell] for row in cells]

    def effects(self) -> Effects:
        runs = [
            {**{f: float(row[f]) for f in self.factors}, "repetition": r, "y": cell.value}
            for row, cells in zip(self.sheet.rows, self.values(), strict=True)
            for r, cell in enumerate(cells)
        ]
        return factorial_effects(pl.DataFrame(runs), "y", self.factors)


def check(found: Sequence[PublishedTable]) -> Iterator[LawViolation]:
    """Findings of every experiment and of the analysis that follows it."""
    pending: dict[str, FactorialExperiment] = {}
    analyses: list[PublishedTable] = []
    for sheet in found:
        experiment = FactorialExperiment.of(sheet)
        if experiment:
            yield from _arithmetic(experiment)
            if pending and next(iter(pending.values())).stem != experiment.stem:
                pending = {}
            pending[experiment.kind] = experiment
            if len(pending) == 2:
                yield from _population(pending["throughput"], pending["response_time"])
        elif "parameter" in sheet.columns and pending:
            yield from _analysis(sheet, pending, analyses)
            analyses.append(sheet)


def _arithmetic(e: FactorialExperiment) -> Iterator[LawViolation]:
    """Means and errors of the rows, as printed."""
    for row, cells in zip(e.sheet.rows, e.values(), strict=True):
        mean = sum(c.value for c in cells) / len(cells)
        expected = {f"mean_{e.column}": mean} | {
            f"mean_minus_y{r}_{e.column}": mean - c.value for r, c in zip(e.repetitions, cells, strict=True)
        }
        for column, value in expected.items():
            cell = e.sheet.number(row, column)
            if cell and not cell.agrees(value):
                yield LawViolation(
                    "mean and errors of a row", e.sheet.label, _row(row), column, cell.text, text(value),
                    relative(cell.value, value), "it does not follow from the runs in its row",
                )  # fmt: skip


def _row(row: dict[str, object]) -> str:
    return f"experiment {row['experiment']}" if "experiment" in row else ""


def _population(x: FactorialExperiment, r: FactorialExperiment) -> Iterator[LawViolation]:
    """Runs whose X R is not that of the others."""
    xs, rs = x.values(), r.values()
    if [len(row) for row in xs] != [len(row) for row in rs]:
        return
    scale = TO_SECONDS.get(r.unit, 1e-3)
    product = np.array(
        [[a.value * b.value * scale for a, b in zip(*rows, strict=True)] for rows in zip(xs, rs, strict=True)]
    )
    slack = np.array(
        [[a.value * b.unit * scale / 2 for a, b in zip(*rows, strict=True)] for rows in zip(xs, rs, strict=True)]
    )
    usual = float(np.median(product))
    apart = np.abs(product - usual) - slack
    limit = max(DEVIATIONS * SAME_SD * float(np.median(np.abs(product - usual))), SHARE * usual)
    for i, j in np.argwhere(apart > limit):
        before, after = (_error_share(x, leave) for leave in (None, (i, j)))
        yield LawViolation(
            "interactive law X·R = N", f"{x.sheet.label} and {r.sheet.label}", _row(x.sheet.rows[i]),
            f"repetition {x.repetitions[j]}", f"X·R = {product[i, j]:.1f}", f"{usual:.1f}",
            relative(float(product[i, j]), usual),
            f"this run had another number of clients than the others; the errors' share of the variation of throughput is "
            f"{100 * before:.1f} % with it and {100 * after:.1f} % without",
        )  # fmt: skip


def _error_share(e: FactorialExperiment, leave: tuple[int, int] | None) -> float:
    """SSE/SST over the runs, one left out."""
    rows = [[c.value for j, c in enumerate(cells) if (i, j) != leave] for i, cells in enumerate(e.values())]
    everything = np.concatenate(rows)
    sse = sum(float(((np.array(row) - np.mean(row)) ** 2).sum()) for row in rows)
    return sse / float(((everything - everything.mean()) ** 2).sum())


def _analysis(
    sheet: PublishedTable, pair: dict[str, FactorialExperiment], earlier: Sequence[PublishedTable]
) -> Iterator[LawViolation]:
    """Estimates and shares against those recomputed from the runs."""
    for kind, experiment in pair.items():
        effects = experiment.effects()
        letters = {f[0]: f for f in experiment.factors}
        names = [
            "mean" if row["parameter"] == "q_0" else "·".join(letters[c] for c in row["parameter"][2:])
            for row in sheet.rows
        ]
        for column in (c for c in sheet.columns if c.startswith(kind)):
            shares = column.endswith("variation_pct")
            yield from _column(sheet, column, [_expected(effects, n, shares) for n in names], earlier)


def _expected(effects: Effects, name: str, share: bool) -> tuple[float, ...]:
    row = effects.effect(name)
    if not share:
        return (row["estimate"],)
    return () if name == "mean" else (100 * row["share_of_total"], 100 * row["share_of_explained"])


def _column(
    sheet: PublishedTable, column: str, expected: list[tuple[float, ...]], earlier: Sequence[PublishedTable]
) -> Iterator[LawViolation]:
    cells = [sheet.number(row, column) for row in sheet.rows]
    wrong = [
        (row["parameter"], cell, values)
        for row, cell, values in zip(sheet.rows, cells, expected, strict=True)
        if cell and values and not any(cell.agrees(v) for v in values)
    ]
    source = next(
        (s for s in earlier if column in s.columns and [r[column] for r in s.rows] == [r[column] for r in sheet.rows]),
        None,
    )
    if len(wrong) > 1 and source:
        yield LawViolation(
            "effects follow from the runs", sheet.label, ", ".join(p for p, _, _ in wrong), column,
            ", ".join(c.text for _, c, _ in wrong), ", ".join(f"{v[0]:.2f}" for _, _, v in wrong),
            max((relative(c.value, v[0]) or 0.0 for _, c, v in wrong), key=abs),
            f"the whole column is that of {source.label}: copied, not computed",
        )  # fmt: skip
        return
    for parameter, cell, values in wrong:
        yield LawViolation(
            "effects follow from the runs", sheet.label, parameter, column, cell.text, text(values[0]),
            relative(cell.value, values[0]), "it does not follow from the runs of the tables before",
        )  # fmt: skip
