"""`Metrics`: the one table that a solved, a simulated and a measured result are.

One row is (station, class, metric[, q | n][, factors]) → value, interval, unit, source, status. `""` as station or
class means the whole system or all classes. Columns beyond the fixed ones are factors (`rate_per_s`, `cores`,
`nics`, `variant`, `run`, …). Missing numbers are null, never NaN, and carry a status that is not `ok`.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
from rich.console import RenderableType

from sojourn.errors import InputError, NoSuchRow, RunFolderError
from sojourn.file_errors import meant
from sojourn.files.reading import parse_json
from sojourn.files.tables import NUMBER, TEXT, WHOLE, for_polars, read_parquet
from sojourn.files.writing import write_output
from sojourn.metric_names import UNITS

if TYPE_CHECKING:
    from altair import LayerChart

SOURCES = ("measured", "analytic", "simulated", "published")
COLUMNS = {
    "station": TEXT, "class": TEXT, "metric": TEXT, "q": NUMBER, "n": WHOLE, "value": NUMBER, "low": NUMBER, "high": NUMBER,
    "level": NUMBER, "unit": TEXT, "source": TEXT, "status": TEXT,
}  # fmt: skip
_DEFAULTS: dict[str, Any] = {"station": "", "class": "", "source": "analytic", "status": "ok"}
KINDS = {name: TEXT if kind == TEXT else NUMBER for name, kind in COLUMNS.items()}
_PARQUET_KEY = "sojourn.metrics"


def column_types() -> dict[str, pl.DataType]:
    """`COLUMNS` as polars has them; a function, so that a command that makes no table need not import polars."""
    types = {TEXT: pl.String(), NUMBER: pl.Float64(), WHOLE: pl.Int64()}
    return {name: types[kind] for name, kind in COLUMNS.items()}


class Metrics:
    """Rows in a polars frame (`COLUMNS`, then factors), and how they were made: `method`, `status` (`ok` or a name), `message`."""

    def __init__(self, frame: pl.DataFrame, method: str = "", status: str = "ok", message: str = "") -> None:
        self._make: Callable[[], pl.DataFrame] = lambda: _checked(frame)
        self._frame: pl.DataFrame | None = self._make()
        self._plain: Callable[[], list[dict[str, Any]]] | None = None
        self.method = method
        self.status = status
        self.message = message

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]], method: str = "", status: str = "ok", message: str = "") -> Metrics:
        """From dicts; station, class, unit, source and status have defaults; other keys become factor columns.

        Raises InputError for an unknown metric name or a unit that is not the metric's.
        """
        full = [{**_DEFAULTS, "unit": UNITS.get(str(row.get("metric"))), **row} for row in rows]
        frame = pl.DataFrame(full, infer_schema_length=None) if full else pl.DataFrame(schema=column_types())
        return cls(frame, method, status, message)

    @classmethod
    def later(
        cls, make: Callable[[], pl.DataFrame], method: str = "", status: str = "ok", message: str = "",
        trusted: bool = False, rows: Callable[[], list[dict[str, Any]]] | None = None,
    ) -> Metrics:  # fmt: skip
        """A table whose rows `make` builds when they are first asked for; for solvers that answer in microseconds.

        `trusted`: `make` gives all columns in order, with their types, known names, and null for what is missing. `rows`: makes the
        same rows without polars."""
        made = cls.__new__(cls)
        made._make, made._frame, made._plain = make if trusted else lambda: _checked(make()), None, rows
        made.method, made.status, made.message = method, status, message
        return made

    @property
    def frame(self) -> pl.DataFrame:
        """The rows, as polars has them."""
        if self._frame is None:
            self._frame = self._make()
        return self._frame

    def rows(self) -> list[dict[str, Any]]:
        """A dict a row, with all columns."""
        return self._plain() if self._plain and self._frame is None else self.frame.to_dicts()

    @property
    def factors(self) -> list[str]:
        """Names of the factor columns, in order."""
        plain = self._plain and self._frame is None
        return [] if plain else [name for name in self.frame.columns if name not in COLUMNS]

    def value(
        self, metric: str, station: str = "", cls: str = "", q: float | None = None, n: int | None = None, **factors: Any,
    ) -> float:  # fmt: skip
        """The one value of that row (SI unit, NaN where its status says why there is none).

        Raises NoSuchRow (a KeyError) naming what there is, also where more than one row fits.
        """
        value = self._row(metric, station, cls, q, n, factors)["value"]
        return math.nan if value is None else float(value)

    def interval(
        self, metric: str, station: str = "", cls: str = "", q: float | None = None, n: int | None = None, **factors: Any,
    ) -> tuple[float | None, float | None]:  # fmt: skip
        """(low, high) of that row; (None, None) where it is exact or unknown. Errors as `value`."""
        row = self._row(metric, station, cls, q, n, factors)
        return row["low"], row["high"]

    def where(self, **equal: Any) -> Metrics:
        """The rows in which each named column equals the value given (floats within 1e-12 relative)."""
        return self._with(_filtered(self.frame, equal))

    def with_factors(self, **factors: Any) -> Metrics:
        """The same rows with constant factor columns added or replaced."""
        fixed = set(factors) & set(COLUMNS)
        if fixed:
            raise InputError(sorted(fixed), "factor", "choose names that are not columns of Metrics")
        return self._with(self.frame.with_columns(**{name: pl.lit(value) for name, value in factors.items()}))

    @staticmethod
    def concat(parts: Iterable[Metrics]) -> Metrics:
        """All rows of the parts; factor columns that a part lacks are null. Status: the first that is not `ok`."""
        parts = list(parts)
        if not parts:
            return Metrics.of([])
        status = next((part.status for part in parts if part.status != "ok"), "ok")
        return Metrics(
            pl.concat([part.frame for part in parts], how="diagonal_relaxed"),
            "; ".join(dict.fromkeys(part.method for part in parts if part.method)),
            status,
            "\n".join(dict.fromkeys(part.message for part in parts if part.message)),
        )

    def plot(self, metric: str = "response_time", station: str = "") -> LayerChart:
        """A sweep as an altair chart: `metric` of `station` ("": the whole system) over the first factor that varies, a
        number; a line a class and a combination of the others, shaded where there are intervals. SI units.
        Raises InputError where no factor varies, or there is no such metric."""
        from sojourn.report.chart import plot
        from sojourn.report.result_figures import sweep  # altair takes longer to import than most verbs need

        return plot(sweep(self, metric, station))

    def to_dict(self) -> dict[str, Any]:
        """Method, status, message, rows (a dict per line with all columns)."""
        return {"method": self.method, "status": self.status, "message": self.message, "rows": self.rows()}

    def to_json(self, indent: int | None = None) -> str:
        """`to_dict` as one object."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str, place: str = "JSON") -> Metrics:
        """The inverse of `to_json`; InputError naming `place` for text that is not such an object."""
        try:
            data = parse_json(text)
            return cls.of(data["rows"], data["method"], data["status"], data["message"])
        except (json.JSONDecodeError, KeyError, TypeError) as error:
            raise InputError(f"not a Metrics object ({error})", place, "give what `--json` printed") from None

    def write(self, path: Path | str) -> None:
        """One Parquet file; method, status and message are in its key-value metadata."""
        head = {"method": self.method, "status": self.status, "message": self.message}
        content = io.BytesIO()
        self.frame.write_parquet(content, metadata={_PARQUET_KEY: json.dumps(head)})
        write_output(path, content.getvalue())

    @classmethod
    def read(cls, path: Path | str) -> Metrics:
        """What `write` wrote. Raises RunFolderError where the file is missing, cut off, or something else."""
        remedy = "give a file that Metrics.write made"
        try:
            frame = read_parquet(Path(path), KINDS, remedy, needed=len(KINDS), error=RunFolderError)
            head = parse_json(pl.read_parquet_metadata(for_polars(path)).get(_PARQUET_KEY, "{}"))
            return cls(frame, **{name: str(head[name]) for name in ("method", "status", "message") if name in head})
        except RunFolderError:
            raise
        except (pl.exceptions.PolarsError, OSError, ValueError, TypeError) as error:
            raise RunFolderError(f"cannot be read ({error})", path, remedy) from None

    def __len__(self) -> int:
        return self.frame.height

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Metrics):
            return NotImplemented
        same = (self.method, self.status, self.message) == (other.method, other.status, other.message)
        return same and self.frame.equals(other.frame)

    __hash__ = None  # type: ignore[assignment]

    def wide(self) -> pl.DataFrame:
        """Stations by quantities: a row for each combination of factors, station and class ("": the system, all classes);
        a column for each metric, in its SI unit, for a quantile with its level (`response_time_quantile_0.99`), for p(n)
        with its n. Null where there is no such value. Of one class alone, what all classes do is not said again."""
        from sojourn.metrics_view import one_class_frame

        parts = ("metric", pl.col("q").cast(pl.String), pl.col("n").cast(pl.String))
        rows = self.frame.with_columns(name=pl.concat_str(*parts, separator="_", ignore_nulls=True))
        index, order = [*self.factors, "station", "class"], rows["name"].unique(maintain_order=True)
        return (
            one_class_frame(rows)
            .pivot("name", index=index, values="value", aggregate_function="first")
            .select(*index, *order)
        )

    def __getstate__(self) -> dict[str, Any]:
        return {"frame": self.frame, "method": self.method, "status": self.status, "message": self.message}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._frame, self._plain = state["frame"], None
        self.method, self.status, self.message = state["method"], state["status"], state["message"]

    def __repr__(self) -> str:
        from sojourn.metrics_view import text

        return text(self._head(), self)

    def _repr_html_(self) -> str:
        from sojourn.metrics_view import html
        from sojourn.report.notebook_html import sweep_html

        return html(self._head(), self) + sweep_html(self)

    def __rich__(self) -> RenderableType:
        """The tables alone, for a console that knows colours and its width."""
        from sojourn.metrics_view import view

        return view(self)

    def _head(self) -> str:
        return f"Metrics({self.frame.height} rows, method={self.method!r}, status={self.status!r})"

    def _with(self, frame: pl.DataFrame) -> Metrics:
        return Metrics(frame, self.method, self.status, self.message)

    def _row(
        self, metric: str, station: str, cls: str, q: float | None, n: int | None, factors: Mapping[str, Any]
    ) -> dict[str, Any]:
        wanted = {"metric": metric, "station": station, "class": cls, **factors}
        found = _filtered(self.frame, wanted | ({} if q is None else {"q": q}) | ({} if n is None else {"n": n}))
        if found.height == 1:
            return found.row(0, named=True)
        there = self.frame
        for name in ("metric", "station", "class"):
            among = there if wanted[name] else self.frame  # what was not said is told with all that there is, below
            if wanted[name] not in (known := among[name].unique(maintain_order=True).to_list()):
                raise NoSuchRow(f"no {name} {wanted[name]!r}", "Metrics", meant(wanted[name], known))
            there = there.filter(pl.col(name) == wanted[name])
        keys = ["metric", "station", "class", "q", "n", *self.factors]
        there = (found if found.height else self.frame).select(keys).unique(maintain_order=True)
        told = [", ".join(f"{k}={v!r}" for k, v in row.items() if v is not None) for row in there.head(12).to_dicts()]
        more = f" … {there.height} in all" if there.height > 12 else ""
        count = "no row" if found.height == 0 else f"{found.height} rows"
        raise NoSuchRow(f"{count} with {wanted}", "Metrics", f"use one of: {'; '.join(told)}{more}")


def _filtered(frame: pl.DataFrame, equal: Mapping[str, Any]) -> pl.DataFrame:
    unknown = [name for name in equal if name not in frame.columns]
    if unknown:
        raise NoSuchRow(repr(unknown[0]), "Metrics column", meant(unknown[0], frame.columns))
    return frame.filter(*(_equals(pl.col(name), value) for name, value in equal.items())) if equal else frame


def _equals(column: pl.Expr, value: Any) -> pl.Expr:
    if isinstance(value, float):
        return (column - value).abs() <= 1e-12 * abs(value)
    return column.is_null() if value is None else column == value


def _checked(frame: pl.DataFrame) -> pl.DataFrame:
    """Fixed columns first, in order and with their types; names and units known; NaN and infinity turned to null."""
    given, types = frame.columns, column_types()
    added = [pl.lit(_DEFAULTS.get(name), dtype=kind).alias(name) for name, kind in types.items() if name not in given]
    frame = frame.with_columns(added).with_columns(pl.col(name).cast(kind) for name, kind in types.items())
    numbers = [pl.col(c) for c in ("value", "low", "high")]
    frame = frame.with_columns(
        pl.when(c.is_finite()).then(c).otherwise(None).alias(c.meta.output_name()) for c in numbers
    )
    for metric, unit in frame.select("metric", "unit").unique().iter_rows():
        if metric not in UNITS:
            raise InputError(repr(metric), "metric", meant(metric, UNITS))
        if unit != UNITS[metric]:
            raise InputError(repr(unit), f"unit of {metric}", f"give it in {UNITS[metric]!r}")
    if strange := set(frame["source"].unique()) - set(SOURCES):
        raise InputError(sorted(map(str, strange)), "source", f"use one of {', '.join(SOURCES)}")
    return frame.select(*COLUMNS, *(name for name in frame.columns if name not in COLUMNS))
