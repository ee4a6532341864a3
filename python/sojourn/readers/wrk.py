"""wrk and wrk2: what they print.

Source: github.com/wg/wrk (wrk.c), github.com/giltene/wrk2. wrk up to 4.1 adds made-up values to its response times for each that is longer
than twice the usual (`stats_correct`), as its mean is then of more values than there were requests.
"""

from __future__ import annotations

import re

from sojourn.errors import InputError
from sojourn.readers.observation import INTENDED, REQUESTS, Observation
from sojourn.readers.printed_time import printed_time_s
from sojourn.readers.text_source import TextSource

NAME = "wrk"
FIRST = re.compile(r"Running \S+ test @ ")
LOAD = re.compile(r"(\d+) threads? and (\d+) connections?")
LATENCY = re.compile(r"^ +Latency +(\S+) +(\S+) +(\S+)", re.MULTILINE)
DONE = re.compile(r"(\d+) requests in (\S+),")
RATE = re.compile(r"Requests/sec: +(\d+(?:\.\d+)?)\s")
QUANTILE = re.compile(r"^ +(\d+(?:\.\d+)?)% +(\d\S*)", re.MULTILINE)
ERRORS = re.compile(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)")
BAD_STATUS = re.compile(r"Non-2xx or 3xx responses: (\d+)")
ROUNDING = 0.005  # two decimals in the unit that fits: half a hundredth of at least one


def matches(head: str) -> bool:
    return FIRST.search(head[:4096]) is not None


def read(source: TextSource) -> list[Observation]:
    """One load for each `Running …` in the text, as a script that calls wrk several times leaves them."""
    text = source.text()
    starts = [found.start() for found in FIRST.finditer(text)]
    parts = [text[a:b] for a, b in zip(starts, [*starts[1:], len(text)], strict=True)]
    return [_one(str(source.path), part, str(k) if len(parts) > 1 else "") for k, part in enumerate(parts, 1)]


def _one(path: str, text: str, name: str) -> Observation:
    load, latency, done, rate = (pattern.search(text) for pattern in (LOAD, LATENCY, DONE, RATE))
    if not (load and latency and done and rate):
        raise InputError(
            "no `Requests/sec`, `Latency` or number of connections", path, "the output was cut off: run wrk again"
        )
    corrected = "HdrHistogram - Recorded Latency" in text  # wrk2
    times = [printed_time_s(part) for part in latency.groups()]
    length = printed_time_s(done[2])
    quantiles = {}
    for share, value in QUANTILE.findall(text):
        if printed := printed_time_s(value):
            quantiles[round(float(share) / 100, 9)] = printed[0]
    socket, status = ERRORS.search(text), BAD_STATUS.search(text)
    bad = sum(map(int, socket.groups())) if socket else 0
    rejected = int(status[1]) if status else 0
    mean, deviation, most = (t[0] if t else None for t in times)
    return Observation(
        path, "wrk2" if corrected else NAME, name, length_s=length[0] if length else None, open_loop=corrected, users=float(load[2]),
        think_s=None if corrected else 0.0, completed=max(0, int(done[1]) - rejected), failed=bad + rejected,
        throughput_per_s=float(rate[1]), mean_s=mean, stdev_s=deviation, most_s=most, quantiles=quantiles, counts_failures=bad == 0,
        rounding=ROUNDING, missing_values=(REQUESTS, *(() if corrected else (INTENDED,))),
    )  # fmt: skip
