"""YCSB: what it prints at its end, `[READ], AverageLatency(us), 123.4`.

Source: github.com/brianfrankcooper/YCSB, core measurements. `Intended-READ` runs from when a request was due, `READ` from when it was sent.
"""

from __future__ import annotations

import re

from sojourn.errors import InputError
from sojourn.readers.observation import INTENDED, REQUESTS, Observation
from sojourn.readers.text_source import TextSource

NAME = "ycsb"
MS, US = 1e-3, 1e-6
ROW = re.compile(r"^\[([\w -]+)\], *([^,]+), *(-?\d+(?:\.\d+)?(?:E-?\d+)?)", re.MULTILINE)
QUANTILE = re.compile(r"(\d+(?:\.\d+)?)(?:st|nd|rd|th)?PercentileLatency\((us|ms)\)", re.IGNORECASE)
OPTION = re.compile(r"-(threads|target) +(\d+)")
MAINTENANCE = ("OVERALL", "CLEANUP", "TOTAL_GC")


def matches(head: str) -> bool:
    return "[OVERALL], RunTime(ms)" in head or "[OVERALL], Throughput" in head


def read(source: TextSource) -> list[Observation]:
    """All operations together, and each kind of them."""
    text = source.text()
    said: dict[str, dict[str, float]] = {}
    for kind, name, value in ROW.findall(text):
        said.setdefault(kind, {})[name.strip()] = float(value)
    overall = said.get("OVERALL", {})
    options = {name: int(value) for name, value in OPTION.findall(text)}
    threads, target = options.get("threads"), options.get("target")
    kinds = {
        k: v
        for k, v in said.items()
        if k not in MAINTENANCE and not k.startswith("TOTAL") and "AverageLatency(us)" in v and v.get("Operations")
    }
    length = overall.get("RunTime(ms)", 0.0) * MS
    if not kinds or not length:
        raise InputError(
            "no operations with a latency, or no RunTime", source.path, "the output was cut off: run YCSB again"
        )
    plain = {k: v for k, v in kinds.items() if not k.startswith("Intended-") and not k.endswith("-FAILED")}
    bad = sum(int(v["Operations"]) for k, v in kinds.items() if k.endswith("-FAILED") and not k.startswith("Intended-"))
    done = sum(int(v["Operations"]) for v in plain.values())
    mean = sum(v["AverageLatency(us)"] * v["Operations"] for v in plain.values()) / done * US if done else None
    whole = Observation(
        str(source.path), NAME, length_s=length, open_loop=True if target else None if threads is None else False, users=threads,
        think_s=None, asked_per_s=target, completed=done, failed=bad, throughput_per_s=overall.get("Throughput(ops/sec)"), mean_s=mean,
        missing_values=(REQUESTS, *(() if "Intended-READ" in said else (INTENDED,))),
    )  # fmt: skip
    return [whole, *(_one(str(source.path), kind, one, length) for kind, one in kinds.items())]


def _one(path: str, kind: str, said: dict[str, float], length: float) -> Observation:
    quantiles = {
        round(float(q[1]) / 100, 9): value * (US if q[2] == "us" else MS)
        for name, value in said.items()
        if (q := QUANTILE.fullmatch(name))
    }
    return Observation(
        path, NAME, kind, length_s=length, completed=int(said["Operations"]), failed=0, throughput_per_s=said["Operations"] / length,
        mean_s=said["AverageLatency(us)"] * US, least_s=_us(said, "MinLatency(us)"), most_s=_us(said, "MaxLatency(us)"),
        quantiles=quantiles, rounding_s=US, rounding=0.002, missing_values=(REQUESTS,),
    )  # fmt: skip


def _us(said: dict[str, float], name: str) -> float | None:
    return said[name] * US if name in said else None
