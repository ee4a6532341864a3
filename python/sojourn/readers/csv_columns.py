"""CSV with a header, whoever wrote it: a row a request, or a row a load. What a column is, its name says; a time needs its unit.

a request   start_s response_s [ok]; also end_s, timestamp_ms, latency_us, elapsed_ms, status …
a load      throughput_per_s mean_s [users think_s asked_per_s p50_s p99_s utilisation service_s servers queue_length …]
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from sojourn.errors import InputError
from sojourn.readers.observation import INTENDED, REQUESTS, Observation
from sojourn.readers.request_rows import RequestRows
from sojourn.readers.text_source import TextSource
from sojourn.units import UNITS_S

NAME = "csv"
MOST_COLUMNS, MOST_LOADS = 1000, 10_000
SCALES = {name: UNITS_S[name] for name in ("s", "sec", "secs", "seconds", "ms", "us", "ns")}
PERCENT = {"percent", "pct", "percentage"}
MOST_SHARE = 1.5  # of a column that does not say its unit: one that goes higher is in percent
WORDS = {
    "start": "start timestamp start_timestamp start_time sent intended begin",
    "end": "end end_timestamp end_time done finish",
    "response": "response response_time latency elapsed duration request_time sojourn_time",
    "ok": "ok success status code status_code response_code",
    "users": "users clients connections concurrency vus threads population",
    "rate": "throughput throughput_per_s rate_per_s requests_per_s ops_per_s rps qps",
    "asked": "asked_per_s offered_per_s target_per_s asked_rate offered_rate",
    "mean": "mean mean_response mean_response_time mean_latency avg average avg_latency average_latency latency_mean",
    "least": "min least minimum",
    "most": "max most maximum",
    "deviation": "stdev stddev deviation",
    "think": "think think_time",
    "utilisation": "utilisation utilization busy cpu",
    "service": "service service_time demand",
    "servers": "servers cores workers",
    "length": "queue_length in_system present",
    "completed": "completed requests count",
    "failed": "failed errors failures",
    "for": "duration_of_run runtime run",
}
KIND = {word: kind for kind, words in WORDS.items() for word in words.split()}
QUANTILE = re.compile(r"p(\d{1,2}(?:[._]\d+)?)")
TIMES = {"start", "end", "response", "mean", "least", "most", "deviation", "think", "service", "for"}
Columns = dict[str, tuple[int, float]]
HELP = "name the columns start_s and response_s (a row a request), or throughput_per_s, mean_s and users (a row a load); also _ms, _us"


def matches(head: str) -> bool:
    first = head.lstrip().partition("\n")[0]
    if "," not in first or first[:1] in "{[<":
        return False
    try:
        found, _ = columns(next(csv.reader([first])))
    except (InputError, csv.Error, StopIteration):
        return False
    return _of_requests(found) or _of_loads(found)


def without_unit(head: str) -> list[str]:
    """Names in the header of times that do not say their unit, where the file could be read if they did."""
    try:
        names = next(csv.reader([head.lstrip().partition("\n")[0]]), [])[:MOST_COLUMNS]
    except csv.Error:
        return []
    plain = [re.sub(r"[^a-z0-9]+", "_", name.strip().lower()).strip("_") for name in names]
    bare = [KIND.get(name) in TIMES for name in plain]
    found, _ = columns([f"{name}_s" if missing else name for name, missing in zip(plain, bare, strict=True)])
    told = _of_requests(found) or _of_loads(found)
    return [name.strip() for name, missing in zip(names, bare, strict=True) if missing] if told else []


def columns(header: list[str]) -> tuple[Columns, dict[float, tuple[int, float]]]:
    """(what is known → place and unit, in s or as a share; quantile → the same). Raises InputError for too many columns."""
    if len(header) > MOST_COLUMNS:
        raise InputError(
            f"{len(header)} columns", "header", f"at most {MOST_COLUMNS}: remove those that are not needed"
        )
    found: Columns = {}
    quantiles = {}
    for place, name in enumerate(header):
        plain = re.sub(r"[^a-z0-9]+", "_", name.strip().lower()).strip("_")
        stem, _, unit = plain.rpartition("_")
        scale = SCALES.get(unit)
        percent = unit in PERCENT or name.rstrip(" )]").endswith("%")
        word = stem if (scale is not None or unit in PERCENT) and plain not in KIND else plain
        if q := QUANTILE.fullmatch(word):
            if scale is not None:
                quantiles[round(float(q[1].replace("_", ".")) / 100, 9)] = (place, scale)
        elif (kind := KIND.get(word)) and (not percent or kind == "utilisation"):
            if kind not in TIMES:
                found.setdefault(kind, (place, 0.01 if percent else 1.0))
            elif scale is not None or (kind in ("start", "end") and word.endswith(("timestamp",))):
                found.setdefault(kind, (place, scale if scale is not None else 1e-3))
    return found, quantiles


def _of_requests(found: Columns) -> bool:
    return ("start" in found and ("response" in found or "end" in found)) or ("end" in found and "response" in found)


def _of_loads(found: Columns) -> bool:
    return "rate" in found and bool({"mean", "utilisation", "length"} & found.keys())


def read(source: TextSource) -> list[Observation]:
    """Requests, or loads, by what the header has."""
    lines = source.lines()
    header = next(csv.reader([next(lines)]), [])
    found, quantiles = columns(header)
    if not _of_requests(found) and not _of_loads(found):
        raise InputError(", ".join(header)[:80], f"{source.path}:1", HELP)
    rows = enumerate(csv.reader(lines), 2)
    return _requests(source, found, rows) if _of_requests(found) else _loads(source, found, quantiles, rows)


def _requests(source: TextSource, found: Columns, rows: Iterator[tuple[int, list[str]]]) -> list[Observation]:
    kept, unit = RequestRows(), max(found[name][1] for name in ("start", "end", "response") if name in found)
    for number, row in rows:
        if not row:
            continue
        of = {
            name: value
            for name in ("start", "end", "response")
            if name in found and (value := _value(row, found[name])) is not None
        }
        if "start" not in of and {"end", "response"} <= of.keys():
            of["start"] = of["end"] - of["response"]
        if "response" not in of and {"end", "start"} <= of.keys():
            of["response"] = of["end"] - of["start"]
        if not {"start", "response"} <= of.keys():
            raise InputError(
                ",".join(row)[:60],
                f"{source.path}:{number}",
                "the file was cut off, or the row is damaged: give numbers",
            )
        kept.add(of["start"], of["response"], _ok(row, found))
    requests = kept.requests()
    if requests is None:
        raise InputError("no requests", source.path, HELP)
    whole = (
        0.5 * unit if unit < 1 and float(requests.response_s.max()) > 0 and _whole(requests.response_s / unit) else 0.0
    )
    return [
        Observation(
            str(source.path), NAME, requests=requests, start_s=float(requests.start_s[0]), rounding_s=whole, missing_values=(INTENDED,),
        )
    ]  # fmt: skip


def _whole(values: object) -> bool:
    import numpy as np

    array = np.asarray(values)[:1000]
    return bool(np.all(np.abs(array - np.round(array)) < 1e-6))


def _loads(
    source: TextSource,
    found: Columns,
    quantiles: Mapping[float, tuple[int, float]],
    rows: Iterator[tuple[int, list[str]]],
) -> list[Observation]:
    loads: list[Observation] = []
    for number, row in rows:
        if not row:
            continue
        of = {name: _value(row, place) for name, place in found.items() if name != "ok"}
        if of.get("rate") is None:
            raise InputError(
                ",".join(row)[:60],
                f"{source.path}:{number}",
                "the file was cut off, or the row is damaged: give a throughput",
            )
        if len(loads) >= MOST_LOADS:
            raise InputError(f"more than {MOST_LOADS} loads", source.path, "give fewer rows")
        busy, done, failed, servers = of.get("utilisation"), of.get("completed"), of.get("failed"), of.get("servers")
        loads.append(
            Observation(
                str(source.path), NAME, f"line {number}", length_s=of.get("for"), users=of.get("users"), think_s=of.get("think"),
                asked_per_s=of.get("asked"), completed=None if done is None else max(0, round(done - (failed or 0))),
                failed=None if failed is None else round(failed), throughput_per_s=of["rate"], mean_s=of.get("mean"),
                stdev_s=of.get("deviation"), least_s=of.get("least"), most_s=of.get("most"),
                quantiles={q: v for q, place in quantiles.items() if (v := _value(row, place)) is not None},
                busy={} if busy is None else {"busy": busy}, service_s=of.get("service"),
                servers=max(1, round(servers or 1)), queue_length=of.get("length"), rounding=0.005, missing_values=(REQUESTS, INTENDED),
            )
        )  # fmt: skip
    if not loads:
        raise InputError("no rows", source.path, HELP)
    return _in_shares(loads) if found.get("utilisation", (0, 0.01))[1] == 1.0 else loads


def _in_shares(loads: list[Observation]) -> list[Observation]:
    """Of a column that does not say its unit, by the most in it: an idle row alone could be either."""
    most = max((share for one in loads for share in one.busy.values()), default=0.0)
    if most <= MOST_SHARE:
        return loads
    return [replace(one, busy={name: share / 100 for name, share in one.busy.items()}) for one in loads]


def _value(row: list[str], place: tuple[int, float]) -> float | None:
    try:
        value = float(row[place[0]]) * place[1]
    except (ValueError, IndexError):
        return None
    return value if abs(value) < 1e300 else None


def _ok(row: list[str], found: Columns) -> bool:
    if "ok" not in found or found["ok"][0] >= len(row):
        return True
    word = row[found["ok"][0]].strip().lower()
    return (
        100 <= int(word) < 400
        if word.isdigit() and len(word) == 3
        else word not in ("false", "0", "ko", "no", "failed", "error")
    )
