"""Which of two numbers of workers is better, by the number of clients: ratios of throughput and response time of neighbouring
numbers, and where they cross 1.

Repetitions are blocks: ratios are of pairs (`ratio_of_pairs`), with an interval where there are several repetitions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

import polars as pl

from sojourn.design import TestedEstimate, ratio_of_pairs
from sojourn.report import Cell, Figure, Series, Table
from sojourn.units import USUAL_LEVEL, percent
from sojourn_cases.kv.middleware import CONFIGURATION, name_of
from sojourn_cases.kv.table_cells import number, three

LEAST = 3  # numbers of clients that make a curve
TIMES = {"throughput": "throughput_per_s", "response time": "response_s"}


@dataclass(frozen=True)
class WorkerRatios:
    """`more` workers over `fewer` of one configuration, `where`: ratios of each of TIMES by the number of clients."""

    where: str
    fewer: int
    more: int
    ratios: dict[str, dict[int, TestedEstimate]]

    @property
    def crossings(self) -> list[tuple[int, int]]:
        """Neighbouring numbers of clients between which the ratio of throughputs goes from one side of 1 to the other."""
        by_clients = {n: one.value for n, one in self.ratios["throughput"].items()}
        return [(a, b) for a, b in pairwise(by_clients) if (by_clients[a] - 1) * (by_clients[b] - 1) < 0]


def worker_ratios(rows: pl.DataFrame) -> list[WorkerRatios]:
    """Of neighbouring numbers of workers of each configuration, where both were run with three numbers of clients at least."""
    alike = [name for name in CONFIGURATION if name != "workers"]
    staged = rows.filter(pl.col("valid"), pl.col("design") == "staged").sort(*alike)
    found = []
    for values, own in staged.partition_by(alike, as_dict=True, maintain_order=True).items():
        where = name_of(dict(zip(alike, values, strict=True)) | {"workers": 0}).replace("0 workers, ", "")
        for fewer, more in pairwise(sorted(own["workers"].unique().to_list())):
            few, many = (own.filter(pl.col("workers") == size) for size in (fewer, more))
            ratios = {name: _by_clients(few, many, column) for name, column in TIMES.items()}
            if len(ratios["throughput"]) >= LEAST:
                found.append(WorkerRatios(where, fewer, more, ratios))
    return found


def crossover_blocks(section: str, rows: pl.DataFrame) -> Iterator[Table | Figure]:
    """A table and a figure for each configuration, with the neighbouring numbers of workers of `worker_ratios`."""
    for where, own in groupby(worker_ratios(rows), lambda one: one.where):
        pairs = list(own)
        title = f"{section}, {where}: more workers over fewer"
        note = " ".join(f"{one.more} over {one.fewer}: {_crossed(one)}." for one in pairs)
        yield _table(title, pairs, note)
        clients = sorted({n for one in pairs for n in one.ratios["throughput"]})
        equal = Series("equal", [clients[0], clients[-1]], [1.0, 1.0], style="dashed")
        lines = [_line(f"{one.more} over {one.fewer}", one.ratios["throughput"]) for one in pairs]
        least = 0.9 * min(value for line in lines for value in (*line.y, *(line.low or ())) if value is not None)
        series = (*lines, equal)
        yield Figure(
            f"crossover-{title}", title, "clients", "ratio of throughputs", series, note, y_limits=(least, None)
        )


def _line(name: str, of: Mapping[int, TestedEstimate]) -> Series:
    found = list(of.values())
    ends = ([number(one.low) for one in found], [number(one.high) for one in found])
    return Series(name, list(of), [one.value for one in found], *ends, "points", joined=True)


def _table(title: str, pairs: Sequence[WorkerRatios], crossed: str) -> Table:
    cells: list[tuple[Cell, ...]] = []
    for one in pairs:
        for clients in one.ratios["throughput"]:
            values = [three(of[clients]) if clients in of else (None, None, None) for of in one.ratios.values()]
            cells.append((f"{one.more} over {one.fewer}", str(clients), *(value for each in values for value in each)))
    note = f"{crossed} {percent(USUAL_LEVEL, 0)} intervals over repetitions, in pairs; none of one repetition."
    columns = ("workers", "clients", "throughput", "low", "high", "response time", "low ", "high ")
    return Table(title, columns, tuple(cells), note, ("", "", *[".3f"] * 6))


def _crossed(one: WorkerRatios) -> str:
    """In words; where an interval contains 1 the two may be equal."""
    throughput = one.ratios["throughput"]
    crossings = ", and ".join(f"between {low} and {high}" for low, high in one.crossings)
    words = f"throughputs cross {crossings} clients" if crossings else "throughputs do not cross"
    alike = [str(n) for n, r in throughput.items() if r.low <= 1 <= r.high]
    return f"{words}, and may be equal with {', '.join(alike)}" if alike else words


def _by_clients(few: pl.DataFrame, many: pl.DataFrame, column: str) -> dict[int, TestedEstimate]:
    both = few.join(many, on=("clients", "repetition"), suffix="_many").select(
        "clients", few=pl.col(column), many=pl.col(f"{column}_many")
    )
    known = both.filter(pl.col("few").is_finite(), pl.col("many").is_finite(), pl.col("few") > 0).sort("clients")
    return {
        int(clients): ratio_of_pairs(own["few"].to_list(), own["many"].to_list())
        for (clients,), own in known.partition_by("clients", as_dict=True, maintain_order=True).items()
    }
