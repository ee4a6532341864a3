"""k6: the stream of `--out json`, and the summaries of `--summary-export` and `handleSummary`.

Source: grafana.com/docs/k6, Results output, JSON. A point's `time` is when its request ended; its `value` is in ms. `http_req_duration` is
sending, waiting and receiving: neither waiting for a connection nor connecting is in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sojourn.errors import InputError
from sojourn.readers.json_values import at, count, mapping, number, scaled
from sojourn.readers.observation import INTENDED, REQUESTS, USERS, Observation
from sojourn.readers.request_rows import RequestRows
from sojourn.readers.text_source import TextSource

NAME = "k6"
MS = 1e-3
TAKEN = (b'"http_req_duration"', b'"vus"', b'"iteration_duration"', b'"dropped_iterations"')
QUANTILE = re.compile(r"p\((\d+(?:\.\d+)?)\)")
CUT = "the file was cut off: remove its last line, or run k6 again"


def matches(head: str) -> bool:
    first = head.lstrip().partition("\n")[0]
    return first.startswith("{") and '"metric"' in first and ('"Metric"' in first or '"Point"' in first)


def read(source: TextSource) -> list[Observation]:
    """One load; all scenarios of the script together."""
    rows, users, dropped, spent_s, iterations = RequestRows(), _Mean(), 0.0, 0.0, 0
    line = b"}"
    for at_line, line in source.numbered():
        if not any(name in line for name in TAKEN):
            continue
        try:
            said = json.loads(line)
        except (ValueError, RecursionError):
            raise InputError("not JSON", f"{source.path}:{at_line}", CUT) from None
        value = number(said, "data", "value")
        if at(said, "type") != "Point" or value is None:
            continue
        metric = at(said, "metric")
        if metric == "http_req_duration":
            end_s = _unix_s(at(said, "data", "time"), f"{source.path}:{at_line}")
            tags = mapping(at(said, "data", "tags"))
            rows.add(end_s - value * MS, value * MS, _ok(tags))
        elif metric == "vus":
            users.add(value)
        elif metric == "iteration_duration":
            spent_s, iterations = spent_s + value * MS, iterations + 1
        elif metric == "dropped_iterations":
            dropped += value
    if not line.rstrip().endswith(b"}"):
        raise InputError("the last line does not end", f"{source.path}:{at_line}", CUT)
    requests = rows.requests()
    if requests is None:
        raise InputError(
            "no http_req_duration",
            source.path,
            "give the file of `k6 run --out json=FILE` of a script that sends HTTP",
        )
    think_s = None
    if iterations:
        think_s = max(0.0, (spent_s - float(requests.response_s.sum())) / len(rows))
    return [
        Observation(
            str(source.path), NAME, open_loop=True if dropped else None, users=users.mean, think_s=think_s, dropped=round(dropped),
            requests=requests, start_s=float(requests.start_s[0]), stamp_s=1e-9, missing_values=(INTENDED,),
        )
    ]  # fmt: skip


def claims(data: Any) -> bool:
    metrics = mapping(at(data, "metrics"))
    return "http_req_duration" in metrics and ("iterations" in metrics or "http_reqs" in metrics)


def read_summary(source: TextSource, data: Mapping[str, Any]) -> list[Observation]:
    """Values stand beside a metric's name, or below `values`, by version."""
    metrics = mapping(data["metrics"])

    def of(name: str) -> Mapping[str, Any]:
        one = mapping(metrics.get(name))
        return mapping(one.get("values")) or one

    times, sent, failed = of("http_req_duration"), of("http_reqs"), of("http_req_failed")
    quantiles = {
        round(float(q[1]) / 100, 9): v * MS
        for key in times
        if (q := QUANTILE.fullmatch(key)) and (v := number(times, key)) is not None
    }
    if (median := number(times, "med")) is not None:
        quantiles[0.5] = median * MS
    total, share = count(number(sent, "count")), number(failed, "rate")
    share = number(failed, "value") if share is None else share
    bad = None if total is None or share is None else round(total * share)
    rate = number(sent, "rate")
    dropped = number(of("dropped_iterations"), "count")
    pause = None
    if (spent := number(of("iteration_duration"), "avg")) and (n := number(of("iterations"), "count")) and total:
        pause = max(0.0, (spent * n / total - (number(times, "avg") or 0.0)) * MS)
    most = number(of("vus_max"), "value") or number(of("vus_max"), "max")
    return [
        Observation(
            str(source.path), NAME, length_s=total / rate if total and rate else None, open_loop=True if dropped else None, users=most,
            think_s=pause, completed=None if total is None else total - (bad or 0), failed=bad,
            dropped=count(dropped), throughput_per_s=rate, mean_s=scaled(number(times, "avg"), MS),
            least_s=scaled(number(times, "min"), MS), most_s=scaled(number(times, "max"), MS), quantiles=quantiles, counts_failures=True,
            rounding_s=1e-9, rounding=1e-6, missing_values=(INTENDED, REQUESTS, *(() if most else (USERS,))),
        )
    ]  # fmt: skip


class _Mean:
    def __init__(self) -> None:
        self.total, self.count = 0.0, 0

    def add(self, value: float) -> None:
        self.total, self.count = self.total + value, self.count + 1

    @property
    def mean(self) -> float | None:
        return self.total / self.count if self.count else None


def _ok(tags: Mapping[str, Any]) -> bool:
    if "expected_response" in tags:
        return tags["expected_response"] in ("true", True)
    status = number(tags, "status")
    return status is None or 200 <= status < 400


def _unix_s(text: Any, place: str) -> float:
    try:
        return datetime.fromisoformat(text).timestamp()
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{str(text)[:40]} as a time", place, CUT) from None
