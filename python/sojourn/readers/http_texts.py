"""What ab and hey print, and hey's CSV.

Sources: httpd.apache.org/docs/2.4/programs/ab.html: times in whole ms; github.com/rakyll/hey: times in s to 0.1 ms, in its CSV with the
`offset` at which a request began. hey does not print how many workers it had.
"""

from __future__ import annotations

import re

from sojourn.errors import InputError
from sojourn.readers.observation import INTENDED, REQUESTS, THINK, USERS, Observation
from sojourn.readers.request_rows import RequestRows
from sojourn.readers.text_source import TextSource

AB, HEY, HEY_CSV = "ab", "hey", "hey-csv"
MS = 1e-3
SHARE = re.compile(r"^ +(\d+)% +(\d+)\b", re.MULTILINE)
TOTAL = re.compile(r"^Total: +(\d+) +(\d+) +(\d+(?:\.\d+)?) +(\d+) +(\d+)", re.MULTILINE)
HEY_SHARE = re.compile(r"^ +(\d+)% in (\d+(?:\.\d+)?) secs", re.MULTILINE)
STATUS = re.compile(r"^ +\[(\d+)\]\t(\d+) responses", re.MULTILINE)
ERROR = re.compile(r"^ +\[(\d+)\]\t(?!\d+ responses)", re.MULTILINE)


def is_ab(head: str) -> bool:
    return "This is ApacheBench" in head[:4096] or "Concurrency Level:" in head


def read_ab(source: TextSource) -> list[Observation]:
    """A closed loop without think time."""
    text = source.text()
    of = {
        name: _after(text, name)
        for name in (
            "Concurrency Level",
            "Time taken for tests",
            "Complete requests",
            "Requests per second",
            "Time per request",
        )
    }
    if None in of.values():
        lost = next(name for name, value in of.items() if value is None)
        raise InputError(f"no {lost!r}", source.path, "the output was cut off: run ab again")
    total = TOTAL.search(text)
    failed = int(_after(text, "Failed requests") or 0) + int(_after(text, "Non-2xx responses") or 0)
    done = int(of["Complete requests"] or 0)
    return [
        Observation(
            str(source.path), AB, length_s=of["Time taken for tests"], open_loop=False, users=of["Concurrency Level"], think_s=0.0,
            completed=max(0, done - failed), failed=failed, throughput_per_s=of["Requests per second"],
            mean_s=float(total[2]) * MS if total else (of["Time per request"] or 0.0) * MS, stdev_s=float(total[3]) * MS if total else None,
            least_s=float(total[1]) * MS if total else None, most_s=float(total[5]) * MS if total else None,
            quantiles={round(int(q) / 100, 9): int(v) * MS for q, v in SHARE.findall(text) if int(q) < 100},
            counts_failures=True, rounding_s=MS,
            missing_values=(INTENDED, REQUESTS),
        )
    ]  # fmt: skip


def is_hey(head: str) -> bool:
    return "Summary:" in head[:400] and "Requests/sec:" in head and "Slowest:" in head


def read_hey(source: TextSource) -> list[Observation]:
    """Its number of workers is not in the text."""
    text = source.text()
    of = {name: _after(text, name) for name in ("Total", "Slowest", "Fastest", "Average", "Requests/sec")}
    if None in of.values() or "Status code distribution" not in text:
        raise InputError("no status codes at its end", source.path, "the output was cut off: run hey again")
    codes = {int(code): int(n) for code, n in STATUS.findall(text)}
    good = sum(n for code, n in codes.items() if code < 400)
    lost = sum(map(int, ERROR.findall(text.partition("Error distribution:")[2])))
    return [
        Observation(
            str(source.path), HEY, length_s=of["Total"], open_loop=False, completed=good, failed=sum(codes.values()) - good + lost,
            throughput_per_s=of["Requests/sec"], mean_s=of["Average"], least_s=of["Fastest"], most_s=of["Slowest"],
            quantiles={round(int(q) / 100, 9): float(v) for q, v in HEY_SHARE.findall(text)}, counts_failures=True, rounding_s=5e-5,
            missing_values=(INTENDED, REQUESTS, USERS, THINK),
        )
    ]  # fmt: skip


def is_hey_csv(head: str) -> bool:
    return head.startswith("response-time,") and "offset" in head.partition("\n")[0]


def read_hey_csv(source: TextSource) -> list[Observation]:
    """A row a request: it began at `offset`."""
    rows = RequestRows()
    for number, line in enumerate(source.lines(), 1):
        if number == 1 or not line:
            continue
        parts = line.split(",")
        try:
            rows.add(float(parts[7]), float(parts[0]), 200 <= int(parts[6]) < 400)
        except (ValueError, IndexError):
            raise InputError(line[:60], f"{source.path}:{number}", "the file was cut off: run hey again") from None
    requests = rows.requests()
    if requests is None:
        raise InputError("no requests", source.path, "give the CSV of a run of hey that sent something")
    return [
        Observation(
            str(source.path), HEY, open_loop=False, requests=requests, stamp_s=1e-4, rounding_s=5e-5,
            missing_values=(INTENDED, USERS, THINK),
        )
    ]  # fmt: skip


def _after(text: str, name: str) -> float | None:
    found = re.search(rf"^\s*{re.escape(name)}:\s+(\d+(?:\.\d+)?)\s", text, re.MULTILINE)
    try:
        return float(found[1]) if found else None
    except ValueError:
        return None
