"""What a method of `solve` knows exactly of figures that a simulation cannot tell: heavy tails do not trouble a formula."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sojourn.errors import SojournError
from sojourn.model.model import as_model
from sojourn.model.network_arrays import Network
from sojourn.units import quantity

BUDGET_S = 0.1
MOST_TOLD = 4
MEANS = ("response_time", "waiting_time", "queue_length")
Row = dict[str, Any]


def exact_values(network: Network, rows: Sequence[Row]) -> str:
    """A line with the exact means of those rows (of all classes, else of each) whose status is heavy_tail; "" where no exact
    method applies in no time."""
    from sojourn.solve.automatic_method import choose
    from sojourn.solve.method import RequestedOutputs  # 0.1 s to import, which few simulations need
    from sojourn.solve.solve import solve

    asked = [row for row in rows if row["status"] == "heavy_tail" and row["metric"] in MEANS]
    if len(network.classes) == 1:
        asked = [row for row in asked if not row["class"]]
    if not asked:
        return ""
    try:
        method, _ = choose(network, budget_s=BUDGET_S)
        if not method.exact_for(network):
            return ""
        exact = solve(as_model(network.model), method.name, requested_outputs=RequestedOutputs(quantiles=()))
    except SojournError:
        return ""
    known = {_key(row): row for row in exact.frame.filter(exact.frame["q"].is_null()).iter_rows(named=True)}
    pairs = [(row, known[_key(row)]) for row in asked if _key(row) in known and known[_key(row)]["status"] == "ok"]
    pairs.sort(key=lambda pair: (pair[0]["station"] != "", MEANS.index(pair[0]["metric"]), pair[0]["class"] != ""))
    told = [_told(row, right) for row, right in pairs[:MOST_TOLD]]
    return f"exact, by method {method.name} of sojourn solve: {', '.join(told)}" if told else ""


def _key(row: Row) -> tuple[str, str, str]:
    return row["station"], row["class"], row["metric"]


def _told(row: Row, right: Row) -> str:
    of = "".join(f" {word} {row[key]}" for word, key in (("of", "class"), ("at", "station")) if row[key])
    return f"{row['metric']}{of} {quantity(right['value'], right['unit'], 4)} (this run: {quantity(row['value'], right['unit'], 4)})"
