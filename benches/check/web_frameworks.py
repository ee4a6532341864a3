"""The published table of the-benchmarker/web-frameworks through `check`: `python benches/check/web_frameworks.py DATA.json.gz`.

337 web frameworks by 64, 256 and 512 connections in a closed loop, mean and quantiles in µs, requests and the time that they took. Their
issue 9662 names those at 64 whose throughput x mean exceeds the connections by more than a tenth.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from sojourn.check import check_observations
from sojourn.readers import Observation

US = 1e-6


def observations(path: Path) -> Iterator[Observation]:
    data = json.loads(gzip.decompress(path.read_bytes()))
    names = {one["id"]: f"{one['language']}/{one['label']}" for one in data["frameworks"]}
    rows: dict[tuple[int, int], dict[str, float]] = {}
    for one in data["metrics"]:
        rows.setdefault((one["framework_id"], one["level"]), {})[one["label"]] = one["value"]
    for (framework, level), said in sorted(rows.items()):
        yield _one(path, f"{names.get(framework, framework)} at {level}", level, said)


def _one(path: Path, name: str, level: int, said: Mapping[str, float]) -> Observation:
    failed = sum(
        said[key]
        for key in (
            "http_errors",
            "request_timeouts",
            "socket_connection_errors",
            "socket_read_errors",
            "socket_write_errors",
        )
    )
    length = said["duration_ms"] * US  # µs, whatever its name says: 15 s
    return Observation(
        str(path), "web-frameworks", name, length_s=length, open_loop=False, users=level, think_s=0.0,
        completed=round(said["total_requests"] - failed), failed=round(failed), throughput_per_s=said["total_requests"] / length,
        mean_s=said["average_latency"] * US, stdev_s=said["standard_deviation"] * US, least_s=said["minimum_latency"] * US,
        most_s=said["maximum_latency"] * US, rounding_s=US,
        quantiles={share: said[f"percentile_{name}"] * US for share, name in ((0.5, "50"), (0.75, "75"), (0.9, "90"), (0.99, "99"))},
    )  # fmt: skip


def main() -> None:
    every = list(observations(Path(sys.argv[1])))
    checked = check_observations(every)
    for level in (64, 256, 512):
        loads = [one for one in checked.loads if one.facts.of.users == level]
        over = {
            one.facts.of.name for one in loads if (one.facts.rate_per_s or 0) * (one.facts.mean_s or 0) > 1.1 * level
        }
        named = {one.facts.of.name for one in loads if any(f.law == "littles_law" for f in one.findings)}
        found = Counter(f"{f.severity}: {f.law}" for one in loads for f in one.findings)
        wrong = {one.facts.of.name for one in loads if one.severity == "contradiction"} - over
        print(
            f"{level} connections, {len(loads)} frameworks: {len(over)} exceed by a tenth, {len(named)} named, {len(over & named)} of both"
        )
        print(f"  of the others {len(wrong)} are accused of a contradiction: {sorted(wrong)[:10]}")
        print(*(f"  {count:4d} {what}" for what, count in found.most_common()), sep="\n")
    print("across levels:", Counter(one.law for one in checked.across))


if __name__ == "__main__":
    main()
