"""M/M/1 per worker count and M/M/m: one station that stands for the whole middleware, at the measured arrival rate.

Source: `sojourn.solve.single.mmm`. The service rate comes from instrumented times: a worker is held `service_s` at the
fewest clients of the fit, so m workers serve m/service_s, and never more than the net thread lets through. Limits: an
open model of a closed system: near saturation it says too much, and at saturation nothing.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from sojourn.solve.single.mmm import MMm
from sojourn.study.kv.models.network import Shape
from sojourn.study.kv.models.times import Times


def station_table(times: Times, shape: Shape, rows: pl.DataFrame) -> list[dict[str, Any]]:
    """One row a client count: measured and predicted response time and time in queue of the middleware, s."""
    workers = max(shape.workers * shape.proxies, 1)
    held = times.light_service_s.value
    capacity = workers / held if held > 0 else float("inf")
    if times.mean("net_s") > 0:
        capacity = min(capacity, max(shape.proxies, 1) / times.mean("net_s"))
    means = (
        rows.group_by("clients").agg(pl.col("mw_throughput_per_s", "mw_response_s", "queue_s").mean()).sort("clients")
    )
    found = []
    for row in means.to_dicts():
        rate = row["mw_throughput_per_s"]
        one, many = MMm(rate, 1 / capacity, 1), MMm(rate, held, workers)
        found.append(row | {
            "mm1_response_s": float(one.response_s[0]), "mm1_queue_s": float(one.waiting_s[0]),
            "mmm_response_s": float(many.response_s[0]), "mmm_queue_s": float(many.waiting_s[0]),
        })  # fmt: skip
    return found
