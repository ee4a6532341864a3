"""vegeta: `vegeta encode` to JSON and CSV, and `vegeta report -type json`.

Source: github.com/tsenart/vegeta. `timestamp` is when a request was sent, `latency` in ns. A result of `vegeta attack` itself is Go's gob.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sojourn.errors import InputError
from sojourn.readers.json_values import at, count, mapping, number, scaled
from sojourn.readers.observation import INTENDED, REQUESTS, Observation
from sojourn.readers.request_rows import RequestRows
from sojourn.readers.text_source import TextSource

NAME = "vegeta"
NS = 1e-9
CUT = "the file was cut off: encode the result again"
QUANTILES = {"50th": 0.5, "90th": 0.9, "95th": 0.95, "99th": 0.99}


def matches(head: str) -> bool:
    first = head.lstrip().partition("\n")[0]
    if first.startswith("{"):
        return '"attack"' in first and '"latency"' in first and '"seq"' in first
    row = first.split(",")
    return len(row) == 12 and row[0].isdigit() and len(row[0]) == 19 and row[1].isdigit() and row[2].isdigit()


def read(source: TextSource) -> list[Observation]:
    """One attack."""
    rows, packed = RequestRows(), source.head.lstrip().startswith("{")
    for number_, line in source.numbered():
        try:
            if packed:
                said = json.loads(line)
                start, ns, code = (
                    datetime.fromisoformat(said["timestamp"]).timestamp(),
                    int(said["latency"]),
                    int(said["code"]),
                )
            else:
                parts = line.split(b",", 3)
                start, code, ns = int(parts[0]) * NS, int(parts[1]), int(parts[2])
        except (ValueError, KeyError, IndexError, TypeError, RecursionError):
            raise InputError(line[:60].decode(errors="replace"), f"{source.path}:{number_}", CUT) from None
        rows.add(start, ns * NS, 200 <= code < 400)
    requests = rows.requests()
    if requests is None:
        raise InputError("no requests", source.path, CUT)
    return [
        Observation(
            str(source.path), NAME, open_loop=True, start_s=float(requests.start_s[0]), requests=requests, stamp_s=NS, think_s=None,
            missing_values=(INTENDED,),
        )
    ]  # fmt: skip


def claims(data: Any) -> bool:
    return "50th" in mapping(at(data, "latencies")) and "status_codes" in mapping(data)


def read_report(source: TextSource, data: Mapping[str, Any]) -> list[Observation]:
    """`vegeta report -type json`. `rate` is what was sent a second, `throughput` successes until the last answer."""
    times = mapping(data["latencies"])
    total, success = count(number(data, "requests")), number(data, "success")
    good = None if total is None or success is None else round(total * success)
    sent, waited = number(data, "duration"), number(data, "wait")
    length = None if sent is None else (sent + (waited or 0.0)) * NS
    return [
        Observation(
            str(source.path), NAME, open_loop=True, length_s=length, completed=good, failed=None if good is None else (total or 0) - good,
            throughput_per_s=total / length if total and length else None, mean_s=scaled(number(times, "mean"), NS),
            least_s=scaled(number(times, "min"), NS), most_s=scaled(number(times, "max"), NS), rounding=0.01,
            quantiles={q: v * NS for name, q in QUANTILES.items() if (v := number(times, name))}, counts_failures=True,
            missing_values=(INTENDED, REQUESTS),
        )
    ]  # fmt: skip
