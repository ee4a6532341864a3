"""A folder for the workbench: models and runs whose numbers are known, made by hand."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from pathlib import Path

from sojourn.table import Metrics

MM1 = """name = "one"

[stations.cpu]

[classes.user]
kind = "open"
rate_per_s = 50.0

[demands_s.cpu]
user = 0.01
"""
BROKEN = MM1.replace("user = 0.01", "user = -0.01")  # line 10


def run_folder(where: Path, rate: float, service_s: float = 0.01, **more: object) -> Path:
    """A complete run of an M/M/1 with `service_s`: R = S / (1 - rate S)."""
    where.mkdir(parents=True)
    manifest = {
        "format": "sojourn-run",
        "version": 1,
        "status": "complete",
        "valid": True,
        "reasons": [],
        "factors": {"rate_per_s": rate},
    }
    (where / "manifest.json").write_text(json.dumps({**manifest, **more}))
    response_s = service_s / (1 - rate * service_s)
    rows = [
        {"station": "", "class": "", "metric": "throughput", "value": rate, "unit": "1/s"},
        {"station": "", "class": "", "metric": "response_time", "value": response_s, "low": 0.9 * response_s,
         "high": 1.1 * response_s, "unit": "s"},
        {"station": "cpu", "class": "", "metric": "utilisation", "value": rate * service_s, "unit": "1"},
    ]  # fmt: skip
    Metrics.of(rows, "measured").frame.write_parquet(where / "metrics.parquet")
    return where


def work_folder(where: Path) -> Path:
    """Two models, a broken one, three runs."""
    where.mkdir(parents=True, exist_ok=True)
    (where / "one.toml").write_text(MM1)
    (where / "broken.toml").write_text(BROKEN)
    for rate in (20.0, 40.0, 60.0):
        run_folder(where / "runs" / f"rate-{rate:g}", rate)
    return where


def running_run(where: Path, rate: float, pid: int, seconds: list[list[int]], **more: object) -> Path:
    """A run that the process `pid` records: response times in ms of each second so far."""
    where.mkdir(parents=True)
    manifest = {
        "format": "sojourn-run",
        "version": 1,
        "status": "running",
        "pid": pid,
        "factors": {"rate_per_s": rate},
    }
    (where / "manifest.json").write_text(json.dumps({**manifest, **more}))
    (where / "latency.hlog").write_text("".join(line(k, times) for k, times in enumerate(seconds)))
    return where


def line(second: float, milliseconds: list[int]) -> str:
    """A histogram of an interval log with three digits: values below 2048 units of 2^16 ns have a bucket each, `bucket * 65536` ns wide."""
    counts: dict[int, int] = {}
    for value in milliseconds:
        bucket = int(value * 1e6 / 65536)
        counts[bucket] = counts.get(bucket, 0) + 1
    payload, at = b"", 0
    for bucket, count in sorted(counts.items()):
        payload += (leb(-(bucket - at)) if bucket > at else b"") + leb(count)
        at = bucket + 1
    plain = struct.pack(">iiiiqqd", 0x1C849303, len(payload), 0, 3, 65536, 1 << 40, 1.0) + payload
    packed = zlib.compress(plain)
    text = base64.b64encode(struct.pack(">ii", 0x1C849304, len(packed)) + packed).decode()
    return f"{second:.3f},1.000,1.000,{text}\n"


def leb(number: int) -> bytes:
    """Zig-zag, then seven bits a byte."""
    value, out = (number << 1) ^ (number >> 63), b""
    value &= (1 << 64) - 1
    while value >= 0x80:
        out, value = out + bytes([value & 0x7F | 0x80]), value >> 7
    return out + bytes([value])


def study(where: Path, **state: object) -> Path:
    """Two of four runs, 10 s and 20 s long and 5 s apart; 40/s and 60/s are predicted, and 40/s is run: M/M/1 with 0.01 s."""
    folder = where / "shop-1"
    for rate, start_s, took_s in ((20.0, 100.0, 10.0), (40.0, 115.0, 20.0)):
        times = {"start": {"monotonic_s": start_s}, "end": {"monotonic_s": start_s + took_s}}
        run_folder(folder / "runs" / f"rate-{rate:g}", rate, section="sweep", **times)
    (folder / "study.json").write_text(json.dumps({"finished": False, "planned": 4, "plan": {"name": "shop"}, **state}))
    told = [
        {"section": "sweep", "factors": {"rate_per_s": rate}, "rows": [
            {"station": "", "class": "", "metric": "response_time", "value": value, "low": 0.9 * value, "high": None},
            {"station": "cpu", "class": "", "metric": "utilisation", "value": 0.4, "low": None, "high": None},
        ]} for rate, value in ((40.0, 0.016), (60.0, 0.024))
    ]  # fmt: skip
    (folder / "predictions.json").write_text(json.dumps({"configurations": told}))
    return folder
