"""Access logs of nginx and Apache that have the time of a request: at the end, or as `rt=` or `request_time=`.

Source: nginx.org, ngx_http_log_module: `$request_time` in s to 1 ms, from the first byte read to the last byte sent; `$msec` when the line
was written, which is the end; `$time_local` the same to 1 s.
"""

from __future__ import annotations

import re
from datetime import datetime

from sojourn.errors import InputError
from sojourn.readers.observation import INTENDED, THINK, USERS, Observation
from sojourn.readers.request_rows import RequestRows
from sojourn.readers.text_source import TextSource

NAME = "access-log"
LINE = re.compile(r'^\S+ \S+ .*?\[([^\]]{10,40})\] "[^"]*" (\d{3}) ')
NAMED = re.compile(r"(?<![\w$])(?:rt=|request_time[=:]\s*)\"?(\d{1,6}\.\d{3})(?![\d.])")
TIME = re.compile(r"\s(\d{1,6}\.\d{3})(?=\s|$)")
MSEC = re.compile(r"(?<![\d.])(1\d{9}\.\d{3})(?![\d.])")
QUOTED = re.compile(r'"((?:[^"\\]|\\.)*+)"?')
NUMBER = re.compile(r"\d{1,12}\.\d{3}")
LOCAL = "%d/%b/%Y:%H:%M:%S %z"
REMEDY = (
    "add $request_time to log_format: log_format timed '… \"$request\" $status $body_bytes_sent $request_time $msec'"
)


def matches(head: str) -> bool:
    return LINE.match(head.lstrip().partition("\n")[0]) is not None


def read(source: TextSource) -> list[Observation]:
    """Lines of another form are counted; more than one in ten is an error."""
    rows, other, number, fine = RequestRows(), 0, 0, True
    for number, line in enumerate(source.lines(), 1):
        found = LINE.match(line)
        rest = line[found.end() - 1 :] if found else ""
        plain = QUOTED.sub(_without_texts, rest)  # a named time first: others may stand before it
        time = NAMED.search(plain) or TIME.search(plain)
        if found is None or time is None:
            other += 1
            if number == 1 and found is not None:
                raise InputError("no time of the request in the line", f"{source.path}:1", REMEDY)
            continue
        exact = MSEC.search(plain)
        fine = fine and exact is not None
        end_s = float(exact[1]) if exact else _local_s(found[1], f"{source.path}:{number}")
        rows.add(end_s - float(time[1]), float(time[1]), int(found[2]) < 400)
    requests = rows.requests()
    if requests is None or other > 0.1 * number:
        raise InputError(f"{other} of {number} lines of another form", source.path, REMEDY)
    return [
        Observation(
            str(source.path), NAME, start_s=float(requests.start_s[0]), requests=requests, stamp_s=1e-3 if fine else 1.0, rounding_s=5e-4,
            missing_values=(INTENDED, USERS, THINK),
        )
    ]  # fmt: skip


def _without_texts(quoted: re.Match[str]) -> str:
    """Where a client comes from and what it calls itself may hold any number; `rt="$request_time"` and `"$msec"` are kept."""
    return quoted[0] if NUMBER.fullmatch(quoted[1]) else '""'


def _local_s(text: str, place: str) -> float:
    try:
        return datetime.strptime(text, LOCAL).timestamp()
    except (ValueError, OverflowError):
        raise InputError(text, place, "give times as 26/Nov/2026:16:35:02 +0000") from None
