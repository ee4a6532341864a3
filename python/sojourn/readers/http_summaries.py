"""Summaries of one load as JSON: oha and bombardier.

Sources: github.com/hatoo/oha (`--output-format json`), times in s; github.com/codesenberg/bombardier (`-o json`), times in µs. bombardier's
`rps.mean` is the mean of rates of intervals, not requests per time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sojourn.readers.json_values import at, count, mapping, number, quantile, scaled
from sojourn.readers.observation import INTENDED, REQUESTS, THINK, USERS, Observation
from sojourn.readers.text_source import TextSource

OHA, BOMBARDIER = "oha", "bombardier"
US = 1e-6
QUANTILE = re.compile(r"p(\d+(?:\.\d+)?)")


def claims_oha(data: Any) -> bool:
    return "requestsPerSec" in mapping(at(data, "summary")) and "latencyPercentiles" in mapping(data)


def read_oha(source: TextSource, data: Mapping[str, Any]) -> list[Observation]:
    """Its number of connections is not in the file, nor whether times run from when a request was due (`--latency-correction`)."""
    said, status, errors = (
        mapping(data["summary"]),
        mapping(at(data, "statusCodeDistribution")),
        mapping(at(data, "errorDistribution")),
    )
    good = sum(int(number(status, code) or 0) for code in status if code[:1] in "123")
    bad = sum(int(number(status, code) or 0) for code in status if code[:1] not in "123")
    lost = sum(int(number(errors, name) or 0) for name in errors)
    quantiles = {
        round(float(q[1]) / 100, 9): v
        for name in mapping(data["latencyPercentiles"])
        if (q := QUANTILE.fullmatch(name)) and (v := number(data, "latencyPercentiles", name)) is not None
    }
    return [
        Observation(
            str(source.path), OHA, length_s=number(said, "total"), completed=good, failed=bad + lost,
            throughput_per_s=number(said, "requestsPerSec"), mean_s=number(said, "average"), least_s=number(said, "fastest"),
            most_s=number(said, "slowest"), quantiles=quantiles,
            counts_failures=None, missing_values=(INTENDED, REQUESTS, USERS, THINK),
        )
    ]  # fmt: skip


def claims_bombardier(data: Any) -> bool:
    return "numberOfConnections" in mapping(at(data, "spec")) and "latency" in mapping(at(data, "result"))


def read_bombardier(source: TextSource, data: Mapping[str, Any]) -> list[Observation]:
    """A closed loop, unless `rate` is in its specification."""
    spec, said = mapping(data["spec"]), mapping(data["result"])
    times, asked = mapping(said["latency"]), number(spec, "rate")
    sent = {
        name: count(number(said, name)) or 0 for name in ("req1xx", "req2xx", "req3xx", "req4xx", "req5xx", "others")
    }
    good = sent["req1xx"] + sent["req2xx"] + sent["req3xx"]
    quantiles = {
        q: v * US
        for name in mapping(at(times, "percentiles"))
        if (q := quantile(name)) is not None and (v := number(times, "percentiles", name)) is not None
    }
    return [
        Observation(
            str(source.path), BOMBARDIER, length_s=number(said, "timeTakenSeconds"), open_loop=asked is not None, asked_per_s=asked,
            users=number(spec, "numberOfConnections"), think_s=None if asked else 0.0, completed=good,
            failed=sum(sent.values()) - good, throughput_per_s=number(said, "rps", "mean"), mean_s=scaled(number(times, "mean"), US),
            stdev_s=scaled(number(times, "stddev"), US), most_s=scaled(number(times, "max"), US), quantiles=quantiles, counts_failures=True,
            rounding_s=US / 2,
            missing_values=(INTENDED, REQUESTS),
        )
    ]  # fmt: skip
