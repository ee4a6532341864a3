"""What a table of benchmark results cannot show, whatever its numbers are: the critique of the storage post as checks of any run list.

Source: the fifth source document, "Limitations of the NetApp paper" and its design: the load is held by threads and so falls where the
system is slow; results are scaled by one of the systems; a cache answers; what the machine uses at rest is not taken out; nothing is
repeated; runs were made in the order of the table. A check looks at columns by their names (`RATE`, `THREADS`, …) and at the rows in
their order. Runs at rest (a rate of 0) are judged as a background and nothing else: their factors are not at work. A rate was not held
where a run, or the runs at a level of a factor, did less than 0.98 of what was asked, and less than chance explains: the Poisson scatter of
the count where a column tells how long runs were, else the scatter seen above the asked rate, which no fault makes. The order is fixed
where a factor changes its level far more or less often than 999 random orders do. Each test has a size of 0.001 a table (Bonferroni).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy.special import bdtr, ndtri, stdtrit

from sojourn.errors import DesignError

RATE = re.compile(r"(asked_?|target_?|offered_?)?(iops|rate|rate_per_s|load)")
ACHIEVED = re.compile(r"(achieved|measured|actual)_?(iops|rate|rate_per_s)|throughput\w*|completed_per_s")
THREADS = re.compile(
    r"(num)?(threads|jobs|users|clients|connections|workers)|(io|queue_?)depth|qd|concurrency|outstanding"
)
USED = re.compile(r"(\w+_)?(cpu|util|utili[sz]ation|busy)(_\w+)?")
SCALED = re.compile(r"\w*(relative|scaled|normali[sz]ed|speedup|_vs_)\w*")
CACHE = re.compile(r"(page_?)?cache(_?hit)?(_share|_rate|_ratio|d)?|hit_rate")
DIRECT = re.compile(r"o_?direct|direct(_?io)?")
ORDER = ("run", "order", "sequence")
NO_FACTORS = (*ORDER, "block", "repetition", "repeat", "replication", "source", "verdict", "seed")
WINDOW = re.compile(r"(window|duration|runtime|length|elapsed)(_s|_sec|_seconds)?|seconds")
HELD, CACHED, SIZE, ORDERS, FEWEST = 0.02, 0.01, 0.001, 999, 8
MOST_LEVELS = 12


@dataclass(frozen=True)
class BenchmarkFlaw:
    """`name`: what is wrong, or that it cannot be seen in the table; what was seen there; what to do."""

    name: str
    cannot_be_seen: bool
    evidence: str
    remedy: str


def criticise(runs: pl.DataFrame) -> list[BenchmarkFlaw]:
    """All that can be said against a table of runs, a row each in the order they were made (or with a column `run`).

    Raises:
        DesignError: no row.
    """
    if runs.is_empty():
        raise DesignError("no row", "table", "give one row per run")
    order = next((name for name in ORDER if name in runs.columns), None)
    runs = runs.sort(order) if order else runs
    return [found for check in CHECKS if (found := check(runs)) is not None]


def _named(runs: pl.DataFrame, pattern: re.Pattern[str]) -> list[str]:
    return [name for name in runs.columns if pattern.fullmatch(name.strip().lower())]


def factor_columns(runs: pl.DataFrame) -> list[str]:
    """Columns that were set: from 2 to 12 levels, fewer than half of the rows, and no name of a result."""
    results = {name for pattern in (ACHIEVED, USED, SCALED, CACHE) for name in _named(runs, pattern)}
    most = min(MOST_LEVELS, max(runs.height // 2, 2))
    return [
        c for c in runs.columns if c.lower() not in NO_FACTORS and c not in results and 2 <= runs[c].n_unique() <= most
    ]


def _rate_not_held(runs: pl.DataFrame) -> BenchmarkFlaw | None:
    remedy = "request a fixed rate (`sojourn load --rate`): with a number of threads, a slower system gets less work"
    rates, threads, achieved = (_named(runs, p) for p in (RATE, THREADS, ACHIEVED))
    set_ = [name for name in rates if name in factor_columns(runs) or runs[name].n_unique() == 1]
    if not set_:
        if threads:
            return BenchmarkFlaw(
                "IOPS not fixed",
                False,
                f"the load is set by {threads[0]}, and no column has the requested rate",
                remedy,
            )
        return BenchmarkFlaw("IOPS not fixed", True, "no column has the requested rate", remedy)
    if not achieved:
        return BenchmarkFlaw(
            "IOPS not fixed", True, f"{set_[0]} was asked for; no column has the achieved rate", "add achieved_iops"
        )
    if told := _short(_at_work(runs), set_[0], achieved[0]):
        return BenchmarkFlaw("IOPS not fixed", False, told, remedy)
    return None


def _at_work(runs: pl.DataFrame) -> pl.DataFrame:
    """Without the runs at rest."""
    for name in _named(runs, RATE):
        if runs[name].dtype.is_numeric():
            runs = runs.filter(pl.col(name).is_null() | (pl.col(name) != 0))
    return runs


def _short(runs: pl.DataFrame, asked: str, achieved: str) -> str:
    """What did less than was asked, in words; empty where nothing did."""
    runs = runs.drop_nulls([asked, achieved]).with_columns(_share=pl.col(achieved) / pl.col(asked))
    if runs.is_empty():
        return ""
    error, degrees = _scatter(runs, asked)
    groups = [(f"{name} = {level}", (runs[name] == level).to_numpy())
              for name in factor_columns(runs.drop("_share")) for level in runs[name].unique().drop_nulls().sort()]  # fmt: skip
    one_by_one = [("", row) for row in np.eye(runs.height, dtype=bool)]
    share, limit = runs["_share"].to_numpy(), float(stdtrit(degrees, 1 - SIZE / (len(groups) + runs.height)))
    chance = lambda rows: limit * math.sqrt(float((error[rows] ** 2).sum())) / rows.sum()  # noqa: E731
    low = lambda rows: float(share[rows].mean()) < 1 - max(HELD, chance(rows))  # noqa: E731
    short = [name for name, rows in groups if low(rows)]
    single = sum(low(rows) for _, rows in one_by_one)
    if not short and not single:
        return ""
    where = f"runs with {short[0]}" if short else f"{single} of {runs.height} runs"
    rows = next((rows for name, rows in groups if short and name == short[0]), share < 1 - HELD)
    return f"{where} did less than 0.98 of {asked}: {float(share[rows].mean()):.2f} on average, the least {float(share[rows].min()):.2f}"


def _scatter(runs: pl.DataFrame, asked: str) -> tuple[np.ndarray, float]:
    """Standard deviation of each run's share of the requested I/Os where nothing is wrong, and the degrees of freedom of that."""
    if windows := [name for name in _named(runs, WINDOW) if runs[name].dtype.is_numeric()]:
        due = (runs[asked] * runs[windows[0]]).cast(pl.Float64).fill_null(0.0).to_numpy()
        return 1 / np.sqrt(np.maximum(due, 1.0)), math.inf
    # a count scatters as the root of its rate
    rate = runs[asked].cast(pl.Float64).to_numpy()
    above = ((runs["_share"].to_numpy() - 1) * np.sqrt(rate))[runs["_share"].to_numpy() > 1]
    if not len(above) or bdtr(len(above), len(rate), 0.5) < SIZE:  # what chance does is as often above as below
        return np.zeros(len(rate)), math.inf
    return math.sqrt(float((above**2).mean())) / np.sqrt(rate), float(len(above))


def _scaled(runs: pl.DataFrame) -> BenchmarkFlaw | None:
    remedy = "give results in their units: a ratio hides the absolute value, and cannot be compared between tables"
    if named := _named(runs, SCALED):
        return BenchmarkFlaw("scaled", False, f"column {named[0]} is relative to something else", remedy)
    runs = _at_work(runs)
    factors = factor_columns(runs)
    results = [c for c in runs.columns if runs[c].dtype.is_float() and c not in factors and c.lower() not in NO_FACTORS]
    for result in results:
        for factor in factors:
            for (level,), part in runs.drop_nulls(result).group_by(factor):
                one = part[result].unique().to_list()
                if part.height > 1 and one in ([1.0], [100.0]) and runs[result].n_unique() > 2:
                    return BenchmarkFlaw(
                        "scaled", False, f"{result} is {one[0]:g} wherever {factor} is {level}", remedy
                    )
    return None


def _cached(runs: pl.DataFrame) -> BenchmarkFlaw | None:
    remedy = "use O_DIRECT on every host of the path, and report the share answered by a cache"
    for name in _named(runs, CACHE):
        if runs[name].dtype.is_numeric() and (share := float(runs[name].mean() or 0.0)) > CACHED:  # type: ignore[arg-type]
            return BenchmarkFlaw("cached", False, f"{name} is {share:.2g} on average", remedy)
    for name in _named(runs, DIRECT):
        if set(map(str, runs[name].unique())) & {"0", "0.0", "False", "false", "no"}:
            return BenchmarkFlaw("cached", False, f"{name} is off in some runs", remedy)
    if _named(runs, CACHE) or _named(runs, DIRECT):
        return None
    return BenchmarkFlaw(
        "cached", True, "no column has the share answered by a cache, or says that caches were bypassed", remedy
    )


def _no_background(runs: pl.DataFrame) -> BenchmarkFlaw | None:
    rates, used = _named(runs, RATE), _named(runs, USED)
    if not used or any(runs[name].dtype.is_numeric() and (runs[name] == 0).any() for name in rates):
        return None
    return BenchmarkFlaw(
        "no background",
        False,
        f"{used[0]} includes the idle machine's use, and no run has a rate of 0",
        "add runs without load between the others, and subtract their mean",
    )


def _no_repeats(runs: pl.DataFrame) -> BenchmarkFlaw | None:
    factors = factor_columns(runs)
    if not factors:
        return BenchmarkFlaw(
            "no repeats", True, "no column looks like a factor", "give factors as columns of 2 to 12 levels"
        )
    once = runs.group_by(factors).len().filter(pl.col("len") == 1).height
    if once == runs.group_by(factors).len().height:
        return BenchmarkFlaw(
            "no repeats",
            False,
            f"each of {once} combinations was run once",
            "run each at least three times: otherwise an effect cannot be distinguished from random variation",
        )
    return None


def _fixed_order(runs: pl.DataFrame) -> BenchmarkFlaw | None:
    remedy = "run in a random order (`sojourn design make`): otherwise a change over time looks like an effect"
    runs = _at_work(runs)
    if runs.height < FEWEST:
        return BenchmarkFlaw("fixed order", True, f"{runs.height} runs are too few to decide", remedy)
    factors = factor_columns(runs)
    for name in factors:
        codes = runs[name].cast(pl.String).fill_null("").rank("dense").to_numpy()
        z = _changes_z(codes)
        if abs(z) > -float(ndtri(SIZE / 2 / len(factors))):
            how = "stays at one level for long stretches" if z < 0 else "alternates from run to run"
            return BenchmarkFlaw("fixed order", False, f"{name} {how} (z = {z:.1f} against random orders)", remedy)
    return None


def _changes_z(codes: np.ndarray) -> float:
    """How often neighbours differ, against random orders of the same."""
    random = np.random.default_rng(1)
    changes = lambda c: int((c[1:] != c[:-1]).sum())  # noqa: E731
    others = np.array([changes(random.permutation(codes)) for _ in range(ORDERS)])
    return float((changes(codes) - others.mean()) / others.std()) if others.std() > 0 else 0.0


CHECKS: Sequence[Callable[[pl.DataFrame], BenchmarkFlaw | None]] = (
    _rate_not_held, _scaled, _cached, _no_background, _no_repeats, _fixed_order,
)  # fmt: skip
