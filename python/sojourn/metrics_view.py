"""Metrics as tables to read: stations down, quantities across; for a sweep, points down. Nothing is computed here.

Not all rows are shown: where a model has one class, the rows over all classes say the same; quantiles and
probabilities have tables of their own. A terminal, plain text and HTML show the same tables.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, Protocol

import polars as pl
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from sojourn.narrow_tables import WidthAwareTable
from sojourn.terminal import SafeConsole, shown
from sojourn.units import quantity

SHORT = {
    "arrival_rate": "arrivals",
    "throughput": "X",
    "utilisation": "U",
    "queue_length": "Q",
    "waiting_time": "W",
    "service_time": "S",
    "residence_time": "all visits",
    "response_time": "R",
    "loss_probability": "lost",
    "saturation_rate": "saturates at",
    "softirq_utilisation": "U softirq",
    "reference_work_time": "work on it",
    "cache_miss_rate": "LLC misses",
}
SYSTEM = ("arrival_rate", "throughput", "response_time", "queue_length", "loss_probability")
MOST = 60  # rows
TEXT_WIDTH = 140
Rows = list[dict[str, Any]]
Cells = dict[tuple[Any, ...], dict[str, dict[str, Any]]]


class ShownTable(Protocol):
    """What is shown: `Metrics`."""

    message: str

    @property
    def frame(self) -> pl.DataFrame: ...
    @property
    def factors(self) -> list[str]: ...
    def rows(self) -> Rows: ...


@dataclass
class TextTable:
    """A table as text: `left` names what a row is of, `right` its quantities; `left_out` rows are not shown."""

    left: tuple[str, ...]
    right: tuple[str, ...]
    strange: bool
    left_out: int
    rows: list[tuple[str, ...]] = field(default_factory=list)

    @property
    def heads(self) -> list[tuple[str, bool]]:
        """Each column, and whether it is a quantity."""
        status = [("status", False)] if self.strange else []
        return [*((name, False) for name in self.left), *((name, True) for name in self.right), *status]

    @property
    def note(self) -> str:
        return f"… {self.left_out} more rows; .frame has all" if self.left_out else ""


def view(table: ShownTable, most: int = MOST) -> RenderableType:
    """The tables for a terminal: as wide as they are, or row by row where it is narrower."""
    parts: list[RenderableType] = []
    for grid in grids(table, most):
        shown = Table(box=None, header_style="dim", pad_edge=False)
        for name, number in grid.heads:
            shown.add_column(name, justify="right" if number else "left", no_wrap=True)
        for row in grid.rows:
            shown.add_row(*map(Text, row))
        parts += [WidthAwareTable(shown), *([Text(grid.note, style="dim")] if grid.note else [])]
    return Group(*parts)


def text(head: str, table: ShownTable, most: int = 30) -> str:
    """`head`, the tables and the message as plain text."""
    console = SafeConsole(width=TEXT_WIDTH, no_color=True)
    with console.capture() as capture:
        console.print(view(table, most))
    lines = (line.rstrip() for line in capture.get().rstrip().split("\n"))
    return "\n".join([shown(head), *lines, *map(shown, table.message.splitlines())])


def html(head: str, table: ShownTable, most: int = 30) -> str:
    """The same for a notebook; everything that comes from a model is escaped."""
    parts = [f"<div>{escape(head)}</div>"]
    for grid in grids(table, most):
        sides = [f' style="text-align: {"right" if number else "left"}"' for _, number in grid.heads]
        cells = [_line("th", (name for name, _ in grid.heads), sides), *(_line("td", row, sides) for row in grid.rows)]
        parts.append(f"<table>{''.join(cells)}</table>" + (f"<div>{escape(grid.note)}</div>" if grid.note else ""))
    return "".join([*parts, *(f"<div>{escape(line)}</div>" for line in table.message.splitlines())])


def _line(tag: str, cells: Iterable[str], sides: Sequence[str]) -> str:
    return f"<tr>{''.join(f'<{tag}{s}>{escape(c)}</{tag}>' for c, s in zip(cells, sides, strict=True))}</tr>"


def grids(table: ShownTable, most: int) -> list[TextTable]:
    """A table of means, then of quantiles and probabilities where there are any."""
    if varied := [name for name in table.factors if table.frame[name].n_unique() > 1]:
        return [_swept(table.frame, varied, most)]
    every = table.rows()
    classes = {row["class"] for row in every}
    parts = [_stations(every, classes, most)]
    for metrics, column in (
        (("response_time_quantile", "waiting_time_quantile"), "q"),
        (("queue_length_probability",), "n"),
    ):
        if rows := [row for row in every if row["metric"] in metrics]:
            parts.append(_further(rows, column, most))
    return parts


def _stations(every: Rows, classes: Collection[str], most: int) -> TextTable:
    cells = _cells([row for row in one_class(every, classes) if row["metric"] in SHORT], ["station", "class"])
    shown = [m for m in SHORT if _worth(m, cells)]
    strange = any(r["status"] != "ok" for row in cells.values() for r in row.values())
    several = len({key[1] for key in cells}) > 1
    grid = _grid(["station", *(["class"] if several else [])], [SHORT[m] for m in shown], strange, len(cells), most)
    for (station, cls), row in _first(cells, most):
        name = station or "(system)"
        last = [_statuses([row])] if strange else []
        grid.rows.append((name, *([cls or "(all)"] if several else []), *_row(row, shown), *last))
    return grid


def _worth(metric: str, cells: Cells) -> bool:
    """Whether a column says something: residence times only where they are not those of one visit."""
    rows = [row for row in cells.values() if metric in row]
    if metric != "residence_time":
        return bool(rows)
    return any(_differ(row[metric]["value"], row.get("response_time", {"value": None})["value"]) for row in rows)


def _differ(a: float | None, b: float | None) -> bool:
    """By more than what a simulation leaves unfinished at its end."""
    return a != b and (a is None or b is None or abs(a - b) > 1e-3 * abs(b))


def _swept(frame: pl.DataFrame, varied: Sequence[str], most: int) -> TextTable:
    """The system at each point, and its busiest station."""
    system = frame.filter((pl.col("station") == "") & pl.col("metric").is_in(SYSTEM))
    cells = _cells(one_class(system.to_dicts(), frame["class"].unique().to_list()), [*varied, "class"])
    shown = [m for m in SYSTEM if any(m in row for row in cells.values())]
    busiest = _busiest(frame, varied)
    strange = any(r["status"] != "ok" for row in cells.values() for r in row.values())
    classes = len({key[-1] for key in cells}) > 1
    heads = [name.rpartition(".")[2] if len(varied) == 1 else name for name in varied]
    columns = [*(SHORT[m] for m in shown), *(["busiest"] if busiest else [])]
    grid = _grid([*heads, *(["class"] if classes else [])], columns, strange, len(cells), most)
    for key, row in _first(cells, most):
        *point, cls = key
        grid.rows.append((
            *map(_plain, point), *([cls or "(all)"] if classes else []), *_row(row, shown),
            *([busiest.get(tuple(point), "")] if busiest else []), *([_statuses([row])] if strange else []),
        ))  # fmt: skip
    return grid


def _further(rows: Rows, column: str, most: int) -> TextTable:
    keys = ["station", "class", column]
    cells = _cells(one_class(rows, {row["class"] for row in rows}), keys)
    names = list(dict.fromkeys(row["metric"] for row in rows))
    grid = _grid(keys, [name.replace("_", " ") for name in names], False, len(cells), most)
    for (station, cls, at), row in _first(cells, most):
        numbers = (_cell(row.get(name)) for name in names)
        grid.rows.append((station or "(system)", cls or "(all)", _plain(at), *numbers))
    return grid


def one_class(rows: Rows, classes: Collection[str]) -> Rows:
    """Without the rows over all classes, where a model has one and they say the same. `classes`: all names, "" among them."""
    named = {(row["station"], row["metric"]) for row in rows if row["class"] != ""}
    if len(classes) > 2 or not named:
        return rows
    single = [row for row in rows if row["class"] != "" and (row["station"], row["metric"]) in named]
    rest = [row | {"class": max(classes)} for row in rows if (row["station"], row["metric"]) not in named]
    return single + rest


def one_class_frame(frame: pl.DataFrame) -> pl.DataFrame:
    """The same of a frame."""
    named = frame.filter(pl.col("class") != "").select("station", "metric").unique()
    if frame["class"].n_unique() > 2 or not named.height:
        return frame
    doubled = frame.join(named, on=["station", "metric"], how="semi")["class"] == ""
    keep = frame.join(named, on=["station", "metric"], how="anti")
    single = frame.join(named, on=["station", "metric"], how="semi").filter(~doubled)
    return pl.concat([single, keep.with_columns(pl.lit(frame["class"].max()).alias("class"))])


def _cells(rows: Rows, keys: Sequence[str]) -> Cells:
    """Stations in the order of the table, the system last."""
    found: Cells = {}
    for row in rows:
        found.setdefault(tuple(row[key] for key in keys), {})[row["metric"]] = row
    if "station" not in keys:
        return found
    return dict(sorted(found.items(), key=lambda item: item[0][0] == ""))


def _busiest(frame: pl.DataFrame, varied: Sequence[str]) -> dict[tuple[Any, ...], str]:
    """Point → the station whose servers are busiest, and how busy."""
    rows = frame.filter((pl.col("metric") == "utilisation") & (pl.col("class") == "") & pl.col("value").is_not_null())
    best: dict[tuple[Any, ...], tuple[float, str]] = {}
    for row in rows.iter_rows(named=True):
        key = tuple(row[name] for name in varied)
        if key not in best or row["value"] > best[key][0]:
            best[key] = (row["value"], f"{row['station']} {100 * row['value']:.1f} %")
    return {key: text for key, (_, text) in best.items()}


def _grid(left: Iterable[str], right: Iterable[str], strange: bool, count: int, most: int) -> TextTable:
    return TextTable(tuple(left), tuple(right), strange, max(0, count - most))


def _first(cells: Cells, most: int) -> list[tuple[tuple[Any, ...], dict[str, dict[str, Any]]]]:
    return list(cells.items())[:most]


def _row(row: dict[str, dict[str, Any]], shown: Sequence[str]) -> list[str]:
    return [_cell(row.get(metric)) for metric in shown]


def _cell(row: dict[str, Any] | None) -> str:
    """Value, and half the width of its interval in per cent of it; both ends where there is no value."""
    if row is None:
        return ""
    value, low, high = (row[name] for name in ("value", "low", "high"))
    if value is None and low is not None and high is not None:
        return f"{_amount(low, row)} … {_amount(high, row)}"
    text = _amount(value, row)
    if None in (value, low, high) or high <= low or value == 0:
        return text
    return f"{text} ±{50 * (high - low) / abs(value):.2g} %"


def _amount(value: float | None, row: dict[str, Any]) -> str:
    if row["metric"].endswith("utilisation") and value is not None:
        return f"{100 * value:.4g} %"
    return quantity(value, row["unit"], 4) if row["unit"] in ("s", "1/s", "1") else f"{value:.4g}"


def _statuses(rows: Iterable[dict[str, dict[str, Any]]]) -> str:
    return ", ".join(dict.fromkeys(r["status"] for row in rows for r in row.values() if r["status"] != "ok"))


def _plain(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
