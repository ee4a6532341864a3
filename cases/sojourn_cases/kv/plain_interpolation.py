"""Plain interpolation, the rival that a model must beat: what a spreadsheet draws through the same runs.

1/X is straight in 1/N (one over the throughput is the time of an operation on the core that is full, and a waking is shared by
those that come at once), and straight in the other factors: servers, middlewares, workers, keys, KiB, split or not. Ordinary least
squares for each design, gets and sets each by themselves, half and half their mean. Of eight such interpolations (1/X or its
logarithm, factors or their logarithms, sets by themselves or as a factor) the one with the least error where whole configurations
are left out. All times grow with a power of the recorder's piece of work on the cores of the middlewares (without any, of the servers).
What a client takes to read an answer is straight in N. An interval has the errors of configurations that were left out.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
import tomli_w

from sojourn import Metrics
from sojourn.errors import FitError, InputError
from sojourn.files import parse_json, read_toml, write_output
from sojourn.fit import FittedDefaults, ParameterEstimate
from sojourn.runs import RunFolder
from sojourn.study import FitTemplate, RivalModels
from sojourn.units import USUAL_LEVEL
from sojourn_cases.kv.middleware import configurations, frame, point_frame

NAME = "plain interpolation"
FACTORS = ("1", "1/clients", "servers", "middlewares", "workers", "keys", "KiB", "split")
KINDS = {"get": 0.0, "set": 1.0}  # share of sets
GETS_OF_A_MIX = pl.col("workload").str.replace("^mixed-", "multi-").str.replace("^mixed$", "get")
EXPONENTS = np.linspace(0.0, 3.0, 31)
LEAST_SHARE = 0.05  # of a client's cycle that is response time
FEWEST = 3  # configurations, of which one is left out


@dataclass(frozen=True)
class DesignLines:
    """Of one design, for cores as fast as usual: coefficients of FACTORS, s, by kind (none of a kind that was not run); the `least` 1/X
    that was fitted; `own`: of what a client takes to read, s: a constant and of a client; `usual_s` of the piece of work (0: nobody
    knows), and `exponent`; `errors` of throughput and response time where configurations were left out, absolute logarithms in
    order."""

    lines: Mapping[str, tuple[float, ...]]
    least: float
    own: tuple[float, ...]
    usual_s: float
    exponent: float
    errors: tuple[tuple[float, ...], ...] = ((), ())

    def cycle_s(self, rows: pl.DataFrame) -> np.ndarray:
        """What a client takes for an operation, a value a row; NaN where nothing alike was run."""
        return self.cycle_of(RowArrays.of(rows, self.usual_s))

    def cycle_of(self, rows: RowArrays) -> np.ndarray:
        """The same of rows that are read."""
        none = [np.nan] * len(FACTORS)
        of = {kind: rows.alone[kind] @ np.array(self.lines.get(kind, none)) for kind in KINDS}
        with np.errstate(invalid="ignore"):
            mixed = rows.stores * of["set"] + (1 - rows.stores) * of["get"]
            value = np.where(rows.stores == 0, of["get"], np.where(rows.stores == 1, of["set"], mixed))
        return np.asarray(np.maximum(value, self.least) * rows.slower**self.exponent * rows.clients)

    def response_s(self, rows: pl.DataFrame) -> np.ndarray:
        """A cycle less what the client takes to read."""
        cycle = self.cycle_s(rows)
        return np.maximum(cycle - self.own[0] - self.own[1] * rows["clients"].to_numpy(), LEAST_SHARE * cycle)

    def factor(self, metric: int, level: float) -> float | None:
        """An interval is from the value over this to the value times this."""
        rank = math.ceil((len(self.errors[metric]) + 1) * level)
        return math.exp(self.errors[metric][rank - 1]) if rank <= len(self.errors[metric]) else None


def terms(rows: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Columns of FACTORS, and the share of sets."""
    kind = rows["workload"].str.extract(r"^([a-z]+)")
    stores = kind.replace_strict({"set": 1.0, "mixed": 0.5}, default=0.0).to_numpy().astype(float)
    keys = rows["workload"].str.extract(r"-(\d+)$").cast(pl.Float64).fill_null(1.0).to_numpy()
    kib = rows["value_bytes"].to_numpy() / 1024 * ((1 - stores) * keys + stores)
    split = rows["sharded"].to_numpy().astype(float) * (keys > 1)
    given = [rows[name].to_numpy().astype(float) for name in ("servers", "proxies", "workers")]
    one = np.ones(rows.height)
    return np.stack([one, 1 / rows["clients"].to_numpy(), *given, keys, kib, split], axis=1), stores


def work(rows: pl.DataFrame) -> np.ndarray:
    """Of the piece of work on the cores that the throughput depends on, s; NaN where nobody knows."""
    column = "server_work_s" if rows["design"][0] == "none" else "proxy_work_s"
    return rows[column].cast(pl.Float64).fill_null(np.nan).to_numpy()


def slowness(rows: pl.DataFrame, usual_s: float) -> np.ndarray:
    """The piece of work by what it usually takes; 1 where nobody knows."""
    found = work(rows) / usual_s if usual_s else np.ones(rows.height)
    return np.where(np.isfinite(found), found, 1.0)


@dataclass(frozen=True)
class RowArrays:
    """Rows as arrays, read once for all exponents: columns of FACTORS, of sets and gets by themselves too, share of sets, how slow."""

    columns: np.ndarray
    stores: np.ndarray
    alone: Mapping[str, np.ndarray]  # both kinds of a mix, each by itself
    slower: np.ndarray
    clients: np.ndarray

    @staticmethod
    def of(rows: pl.DataFrame, usual_s: float) -> RowArrays:
        each = {"set": pl.lit("set"), "get": GETS_OF_A_MIX}
        alone = {kind: terms(rows.with_columns(workload=each[kind]))[0] for kind in KINDS}
        return RowArrays(*terms(rows), alone, slowness(rows, usual_s), rows["clients"].to_numpy())


def fitted_lines(rows: pl.DataFrame) -> DesignLines:
    """From the runs of one design (`middleware.frame`)."""
    known = work(rows)[np.isfinite(work(rows))]
    usual_s = float(np.median(known)) if len(known) else 0.0
    own, clients = rows["own_s"].fill_null(0.0).fill_nan(0.0).to_numpy(), rows["clients"].to_numpy().astype(float)
    reads = own > 0
    both = np.stack([np.ones(len(own)), clients], axis=1)[reads] / own[reads, None]
    line = tuple(float(c) for c in np.linalg.lstsq(both, np.ones(len(both)))[0]) if reads.any() else (0.0, 0.0)
    throughput, read = rows["throughput_per_s"].to_numpy(), RowArrays.of(rows, usual_s)
    tried = [_at(read, throughput, usual_s, float(e), line) for e in (EXPONENTS if usual_s else (0.0,))]
    measured = clients / throughput
    return min(tried, key=lambda one: float(np.nansum(np.log(one.cycle_of(read) / measured) ** 2)))


def _at(
    rows: RowArrays, throughput: np.ndarray, usual_s: float, exponent: float, own: tuple[float, ...]
) -> DesignLines:
    inverse = 1 / throughput / rows.slower**exponent
    found = {}
    for name, share in KINDS.items():
        if (here := rows.stores == share).any():
            columns = rows.columns[here]
            scale = np.maximum(np.abs(columns).max(axis=0), 1e-12)
            found[name] = tuple(
                float(c) for c in np.linalg.lstsq(columns / scale, inverse[here], rcond=1e-9)[0] / scale
            )
    return DesignLines(found, float(inverse.min()), own, usual_s, exponent)


def _with_errors(rows: pl.DataFrame) -> DesignLines:
    """Each configuration is left out once, whole, and predicted by a fit of all others."""
    parts = [part for _, part in configurations(rows)]
    off: list[list[float]] = [[], []]
    for k, part in enumerate(parts if len(parts) >= FEWEST else ()):
        one = fitted_lines(pl.concat([*parts[:k], *parts[k + 1 :]]))
        measured = part["clients"].to_numpy() / part["throughput_per_s"].to_numpy()
        off[0] += np.abs(np.log(one.cycle_s(part) / measured)).tolist()
        off[1] += np.abs(np.log(one.response_s(part) / part["response_s"].to_numpy())).tolist()
    errors = tuple(tuple(sorted(e for e in each if math.isfinite(e))) for each in off)
    return DesignLines(**fitted_lines(rows).__dict__ | {"errors": errors})


@dataclass(frozen=True)
class FittedInterpolation(FittedDefaults):
    """By design."""

    designs: Mapping[str, DesignLines]
    level: float = USUAL_LEVEL
    message: str = (
        "Straight lines: 1/X as a linear function of 1/clients and of the other factors; separate ones for each design, "
        "and for gets and sets."
    )
    error_of: ClassVar[str] = "throughput, from held-out configurations"

    @property
    def model_error(self) -> float | None:
        """The root mean square of all."""
        every = [e for one in self.designs.values() for e in one.errors[0]]
        return float(np.sqrt(np.mean(np.square(every)))) if every else None

    @property
    def estimates(self) -> dict[str, ParameterEstimate]:
        """By design, gets or sets and factor, s."""
        return {
            f"{design}, {kind}: {factor}": ParameterEstimate(value, math.nan, math.nan)
            for design, own in self.designs.items()
            for kind, line in own.lines.items()
            for factor, value in zip(FACTORS, line, strict=True)
        }

    def predict(self, vary: Mapping[str, Any], level: float) -> Metrics:
        """Throughput and response time; nothing of a design, or of gets or sets, that were not run."""
        row, one = point_frame(vary), self.designs.get(str(vary["design"]))
        cycle_s = float(one.cycle_s(row)[0]) if one is not None else math.nan
        if one is None or not math.isfinite(cycle_s):
            return Metrics.of([])
        values = (("throughput", int(vary["clients"]) / cycle_s), ("response_time", float(one.response_s(row)[0])))
        rows: list[dict[str, Any]] = []
        for k, (metric, value) in enumerate(values):
            wide = one.factor(k, level)
            ends = (
                {"status": "no_interval"}
                if wide is None
                else {"low": value / wide, "high": value * wide, "level": level}
            )
            rows.append({"metric": metric, "value": value} | ends)
        return Metrics.of(rows, NAME)

    def write(self, path: Path) -> None:
        """`[fit]`, a design a line."""
        designs = {name: json.dumps(asdict(one)) for name, one in self.designs.items()}
        write_output(path, tomli_w.dumps({"fit": {"model": NAME, "designs": designs}}))


class PlainTemplate(FitTemplate):
    """`[fit] against = "kv.plain"`."""

    def fit(self, runs: list[RunFolder], seed: int, options: Mapping[str, Any]) -> RivalModels:
        """Raises FitError where no run is valid."""
        rows = frame(runs).filter("valid")
        if rows.is_empty():
            raise FitError("no valid run", NAME, "measure again")
        designs = rows.sort("design").partition_by("design", as_dict=True, maintain_order=True)
        return RivalModels(
            {NAME: FittedInterpolation({str(d): _with_errors(own) for (d,), own in designs.items()})}, NAME
        )

    def read(self, path: Path) -> FittedInterpolation:
        """Raises InputError for what is none."""
        try:
            table = read_toml(path, "give a fitted model")[0]["fit"]
            found = {name: parse_json(one) for name, one in table["designs"].items()}
            return FittedInterpolation({n: DesignLines(**_tuples(one)) for n, one in found.items()})
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"not a fitted model ({error})", path, "fit again; was it changed by hand?") from None


def _tuples(given: dict[str, Any]) -> dict[str, Any]:
    return given | {
        "lines": {kind: tuple(line) for kind, line in given["lines"].items()}, "own": tuple(given["own"]),
        "errors": tuple(map(tuple, given["errors"])),
    }  # fmt: skip


TEMPLATE = PlainTemplate()
