"""A service with native histograms in a Prometheus that runs: samples by remote write, in order of time, so that nothing is scraped.

Wire form: prometheus.io/docs/specs/prw/remote_write_spec (1.0: protobuf, snappy), prompb/types.proto (Histogram is field 4 of TimeSeries).
"""

from __future__ import annotations

import struct
import urllib.request
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from prometheus_data import CORES, DEMAND_S, SCRAPE_S

STALE = struct.unpack("<d", struct.pack("<Q", 0x7FF0000000000002))[0]  # the NaN that says that a series has ended
SCHEMA, BUCKET = 0, -4  # one bucket has all of them: (2^-5, 2^-4] s
PIECE = 120  # scrapes of one request
ROUTES = tuple(DEMAND_S)


def varint(value: int) -> bytes:
    found, value = bytearray(), value & (2**64 - 1)
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


def whole(number: int, value: int) -> bytes:
    return varint(number << 3) + varint(value)


def zigzag(value: int) -> int:
    return value << 1 if value >= 0 else -(value << 1) - 1


def real(number: int, value: float) -> bytes:
    return varint(number << 3 | 1) + struct.pack("<d", value)


def part(number: int, text: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(text)) + text


def snappy(text: bytes) -> bytes:
    """Its block form with literals alone, nothing made shorter."""
    pieces = [text[i : i + 65536] for i in range(0, len(text), 65536)]
    return varint(len(text)) + b"".join(b"\xf4" + struct.pack("<H", len(one) - 1) + one for one in pieces)


def histogram(count: int, total: float, time_s: float) -> bytes:
    spans = part(11, whole(1, zigzag(BUCKET)) + whole(2, 1))
    deltas = part(12, varint(zigzag(count)))
    return b"".join(
        [whole(1, count), real(3, total), whole(4, zigzag(SCHEMA)), real(5, 2.0**-128), whole(6, 0), spans, deltas,
         whole(15, round(time_s * 1000))]
    )  # fmt: skip


def series(labels: Mapping[str, str], rows: bytes) -> bytes:
    named = b"".join(part(1, part(1, k.encode()) + part(2, v.encode())) for k, v in sorted(labels.items()))
    return part(1, named + rows)


def sample(value: float, time_s: float) -> bytes:
    return part(2, real(1, value) + whole(2, round(time_s * 1000)))


def used_by(t: NDArray[np.float64]) -> tuple[dict[str, NDArray[np.float64]], NDArray[np.float64]]:
    """Rates of the routes, 1/s, and how busy the cores are."""
    rates = {"/a": 16 + 12 * np.sin(t / 3600), "/b": 10 + 8 * np.cos(t / 2500)}
    return rates, sum(DEMAND_S[route] * rate for route, rate in rates.items()) / CORES


def write(address: str, start_s: float, hours: float, reset_at: int, gap: range) -> None:
    """The service of `prometheus_data`; at sample `reset_at` its counters begin anew, and before `gap` each series has ended."""
    t = np.arange(int(hours * 3600 / SCRAPE_S)) * SCRAPE_S
    rates, used = used_by(t)
    since = np.where(np.arange(len(t)) < reset_at, 0, reset_at)

    def counted(each: NDArray[np.float64]) -> NDArray[np.float64]:
        total = np.concatenate([[0.0], np.cumsum(each * SCRAPE_S)])
        return np.asarray(total[1:] - total[since])

    counts = {route: np.round(counted(rate)) for route, rate in rates.items()}
    sums = {route: counted(rate * DEMAND_S[route] / (1 - used**2)) for route, rate in rates.items()}
    busy = {"user": counted(used * CORES), "idle": counted((1 - used) * CORES)}
    for first in range(0, len(t), PIECE):
        at = [i for i in range(first, min(first + PIECE, len(t))) if i not in gap[1:]]
        body = b""
        for route in ROUTES:
            each = [(0, STALE) if i in gap else (int(counts[route][i]), float(sums[route][i])) for i in at]
            rows = b"".join(
                part(4, histogram(n, total, start_s + t[i])) for i, (n, total) in zip(at, each, strict=True)
            )
            body += series({"__name__": "http_server_request_duration_seconds", "http_route": route}, rows)
        for mode, values in busy.items():
            rows = b"".join(sample(STALE if i in gap else float(values[i]), start_s + t[i]) for i in at)
            body += series({"__name__": "node_cpu_seconds_total", "mode": mode}, rows)
        headers = {"Content-Encoding": "snappy", "Content-Type": "application/x-protobuf",
                   "X-Prometheus-Remote-Write-Version": "0.1.0"}  # fmt: skip
        asked = urllib.request.Request(f"http://{address}/api/v1/write", snappy(body), headers)
        with urllib.request.urlopen(asked, timeout=30) as answer:
            assert answer.status == 204
