"""Objectives of a run, such as `p99 < 50ms and errors < 1%`, in the language of `sojourn query`: read, judged, told.

Response times run from the moment a request was due. A mean is of successes; of a quantile those that failed count as later
than all (`quantiles.py`), and one that lies among them has no value, and is missed. A whole run is judged by the generator's own
account to the end of reading (`load` prints the same), a measured one by the Metrics of its window (as `measure` prints).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from sojourn.errors import LoadError, ObjectiveMissed
from sojourn.runs.measurement_window import in_window, responses
from sojourn.runs.run_folder import RunFolder
from sojourn.stats.quantiles import KEPT, quantile
from sojourn.stats.share_interval import clustered_share, design_effect, share_interval
from sojourn.units import per_second, percent, quantile_name, seconds

if TYPE_CHECKING:
    from sojourn.query.node import Node

Q_SAME = 1e-9
RELATIONS = ("<", "<=", ">", ">=")
HELP = (
    "an objective of a load is mean, p99, errors or rate against a limit, several joined with and; `sojourn query` "
    "can check more about a run"
)


@dataclass(frozen=True)
class Objective:
    """`figure` (`mean`, `pQ`, `errors`, `rate`) must be in `relation` to `limit` (s, share, 1/s)."""

    text: str
    figure: str
    relation: str
    limit: float

    def met(self, value: float | None) -> bool:
        """Whether the value is as it must be; one that does not exist is not."""
        if value is None or math.isnan(value):
            return False
        return {
            "<": value < self.limit, "<=": value <= self.limit, ">": value > self.limit, ">=": value >= self.limit,
        }[self.relation]  # fmt: skip

    @property
    def q(self) -> float:
        """Of a quantile, in [0, 1]."""
        return round(float(self.figure[1:]) / 100, 9)

    def show(self, value: float | None) -> str:
        """The value in the figure's unit."""
        if self.figure == "errors":
            return percent(value)
        return per_second(value) if self.figure == "rate" else seconds(value)


def read_objectives(texts: Sequence[str], place: str = "--objective") -> list[Objective]:
    """The objectives in texts of the query language, one a comparison.

    Raises:
        QueryError: no query, or one of something else than a run's figures against limits.
    """
    return [one for text in texts for one in _read(text, place)]


def failures_allowed(objectives: Sequence[Objective]) -> float:
    """The share of requests that may fail by what is asked, the least of several objectives for it; 0 where there is none."""
    found = [one.limit for one in objectives if one.figure == "errors" and one.relation in ("<", "<=")]
    return min([*found, 1.0]) if found else 0.0


def _read(text: str, place: str) -> Iterator[Objective]:
    from sojourn.query.build import parse  # with its grammar, which most loads do not need
    from sojourn.query.nodes import ArithComp, Discon, Num
    from sojourn.query.query_error import query_error
    from sojourn.query.type_check import check

    tree = parse(text, place)
    check(tree, text, place)
    stack: list[Node] = [tree.query]
    while stack:
        node = stack.pop()
        if isinstance(node, Discon) and node.operation == "and":
            stack += [node.right, node.left]
            continue
        figure = _figure(node.left) if isinstance(node, ArithComp) and node.relation in RELATIONS else ""
        if not isinstance(node, ArithComp) or not figure:
            raise query_error(text, node.at, "not a figure of a load", HELP, place)
        limit = node.right
        if not isinstance(limit, Num) or not 0 <= limit.si < math.inf:
            raise query_error(
                text,
                limit.at,
                "a limit that this figure cannot have",
                "give a number of 0 or more, such as 50ms",
                place,
            )
        assert node.at is not None, "what is read from a text has its place in it"
        yield Objective(text[node.at.start : node.at.end], figure, node.relation, limit.si)


def _figure(node: Node) -> str:
    """`mean`, `pQ`, `errors` or `rate`; "" for anything else."""
    from sojourn.query.nodes import Actions, FiringRate, Moment, Num, Percentile, RequestTime, Share

    whole = isinstance(node, Percentile | Moment) and node.density == RequestTime("response_time")
    if whole and isinstance(node, Percentile) and isinstance(node.level, Num):
        return quantile_name(node.level.si)
    if whole and isinstance(node, Moment) and node.order == Num(1.0):
        return "mean"
    if node == Share(Actions("failed"), Actions("arrivals")):
        return "errors"
    return "rate" if node == FiringRate(Actions("answered")) else ""


def judge(
    folder: RunFolder, objectives: Sequence[Objective], *, whole: bool, keep: bool = True
) -> list[dict[str, Any]]:
    """What came of each objective: objective, value (s, share, 1/s; null where there is none), shown, met; of errors `low` and `high`, of
    the share in the long run, by the usual level. `least`: of one that is
    missed by what was measured, and that a generator on time might have met. `whole`: the whole run, else its window. `keep`: also in
    the manifest."""
    found = []
    for one in objectives:
        value = _whole(folder, one) if whole else _windowed(folder, one)
        told = {"objective": one.text, "value": value, "shown": one.show(value), "met": one.met(value)}
        if one.figure == "errors" and value is not None:
            least, most = _share_interval(folder, whole)
            told |= {"low": least, "high": most, "shown": f"{told['shown']} ({percent(least, 2)} … {percent(most, 2)})"}
        low = None if told["met"] else _least(folder, one)
        if low is not None and one.met(low):  # what a late generator adds is the difference
            told |= {"least": low, "shown": f"{one.show(low)} to {told['shown']}"}
        found.append(told)
    if objectives and keep:
        folder.manifest["objectives"] = found
        folder.save()
    return found


def _share_interval(folder: RunFolder, whole: bool) -> tuple[float, float]:
    """Of the share that failed. Of a whole run the generator counts all, and its records say how much failures come together."""
    requests = folder.frame("requests")
    if whole or requests is None:
        summary = folder.manifest["generator"]
        failed, done = summary["failed"], summary["ok"] + summary["failed"]
        effect = 1.0
        if requests is not None and failed:
            each = requests.sort("intended_s")["failure"].to_numpy() > 0
            effect = design_effect(each, of_every=folder.sample_every)
        return share_interval(failed, done, effect=min(effect, max(failed, 1.0)))
    start_s, end_s = folder.manifest["window_s"]
    inside = in_window(requests, (start_s, end_s)).sort("intended_s")
    return clustered_share(inside["failure"].to_numpy() > 0)


def _least(folder: RunFolder, one: Objective) -> float | None:
    """The lower bound of a quantile that a late generator leaves open (`runs/schedule_check.py`)."""
    if one.figure not in (folder.manifest.get("not_valid_for") or ()) or not folder.has("metrics"):
        return None
    rows = folder.metrics().frame.filter(
        pl.col("metric") == "response_time_quantile",
        pl.col("station") == "",
        pl.col("class") == "",
        (pl.col("q") - one.q).abs() < Q_SAME,
    )
    return rows["low"][0] if rows.height else None


def surely_missed(folder: RunFolder, one: Objective) -> bool:
    """Whether a light run misses an upper limit by more than chance, at the usual level, of its window's responses; of one user these are
    independent. What states no error is missed where its value is."""
    requests = folder.frame("requests")
    if one.met(_windowed(folder, one)):
        return False
    if requests is None or requests.is_empty() or one.relation not in ("<", "<="):
        return True
    if one.figure == "mean":
        low, _ = folder.metrics().interval("response_time")
        return low is None or not one.met(low)
    if one.figure == "rate":
        return True
    start_s, end_s = folder.manifest["window_s"]
    inside = in_window(responses(requests), (start_s, end_s))
    if one.figure == "errors":
        return not one.met(clustered_share(inside["failure"].to_numpy() > 0)[0])
    above = inside.filter((pl.col("failure") > 0) | (pl.col("response_s") >= one.limit)).height
    return share_interval(above, inside.height)[0] > 1 - one.q


def _whole(folder: RunFolder, one: Objective) -> float | None:
    summary = folder.manifest["generator"]
    times = summary["latency"]["from_intended"]["to_done"]
    if one.figure == "errors":
        ended = summary["ok"] + summary["failed"]
        return float(summary["failed"] / ended) if ended else None
    if one.figure == "rate":
        return float(summary["achieved_per_s"])
    if one.figure == "mean" or one.q in KEPT:
        value = times["mean_s" if one.figure == "mean" else KEPT[one.q]]
        return None if value is None else float(value)
    requests = folder.frame("requests")
    if requests is None:
        return None
    good = requests.filter(pl.col("failure") == 0)
    return quantile(good["done_s"] - good["intended_s"], requests.height - good.height, one.q)


def _windowed(folder: RunFolder, one: Objective) -> float | None:
    requests = folder.frame("requests")
    if requests is None or requests.is_empty():
        return None
    start_s, end_s = folder.manifest["window_s"]
    requests = responses(requests)
    inside = in_window(requests, (start_s, end_s))
    good = inside.filter(pl.col("failure") == 0)
    if one.figure == "errors":
        return 1 - good.height / inside.height if inside.height else None
    if one.figure == "rate":
        answers = requests.filter((pl.col("failure") == 0) & pl.col("end_s").is_between(start_s, end_s)).height
        return answers * folder.sample_every / max(end_s - start_s, 1e-9)
    if one.figure == "mean":
        return float(good["response_s"].mean()) if good.height else None  # type: ignore[arg-type]
    return quantile(good["response_s"], inside.height - good.height, one.q)


def lines(found: Sequence[dict[str, Any]]) -> list[str]:
    """One line an objective, for a person."""
    return [f"{one['objective']}: {one['shown']}, {_came(one)}" for one in found]


def _came(one: dict[str, Any]) -> str:
    if "least" in one:
        return "cannot be determined, the generator was late"
    return "met" if one["met"] else "MISSED"


def demand_met(found: Sequence[dict[str, Any]], verb: str) -> None:
    """
    Raises:
        ObjectiveMissed: at least one was missed. LoadError: one cannot be told, as the generator was late.
    """
    missed = [f"{one['objective']}: {one['shown']}" for one in found if not one["met"] and "least" not in one]
    if missed:
        raise ObjectiveMissed(f"objective missed, {'; '.join(missed)}", verb, "the figures above show by how much")
    for one in found:
        if "least" in one:
            raise LoadError(
                f"{one['objective']}: {one['shown']}", verb, "give the generator a core of its own or a lower rate"
            )
