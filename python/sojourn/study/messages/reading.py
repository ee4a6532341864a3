"""From the records of a live run to one row of numbers: only what lies in the window after the warm-up counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from sojourn.study.messages.points import Point
from sojourn.study.messages.seen import NAN, Seen

CLASSES = ("put", "take", "empty", "acknowledge")
PHASES = ("dispatch_s", "parse_s", "wait_s", "database_s", "respond_s")


@dataclass(frozen=True)
class Window:
    """Start and end on CLOCK_MONOTONIC; the client's records and summary; each service's rows of requests and of periods,
    and its summary; CPU seconds used between start and end by `client`, `service`, `database`, `machine`."""

    start_s: float
    end_s: float
    records: pl.DataFrame
    summary: dict[str, Any]
    requests: list[pl.DataFrame]
    levels: list[pl.DataFrame]
    ends: list[dict[str, Any]]
    cpu_s: dict[str, float]

    @property
    def seconds(self) -> float:
        return self.end_s - self.start_s


def seen(point: Point, w: Window) -> Seen:
    """The row of this run."""
    done = w.records.filter((pl.col("done_s") >= w.start_s) & (pl.col("done_s") < w.end_s) & (pl.col("failure") == 0))
    done = done.with_columns(time=pl.col("done_s") - pl.col("sent_s"))
    each = int(w.summary.get("sample_every") or 1)
    rates = {name: done.filter(pl.col("class") == k).height * each / w.seconds for k, name in enumerate(CLASSES)}
    x = sum(rates.values())
    per = (lambda cpu: cpu / (x * w.seconds)) if x else (lambda cpu: NAN)
    counts = w.summary["messages"]
    return Seen(
        **point.factors, seconds=w.seconds, throughput_per_s=x, response_s=_mean(done, "time"),
        empty_share=rates["empty"] / x if x else NAN, messages_per_s=rates["take"],
        put_s=_mean(done.filter(pl.col("class") == 0), "time"), take_s=_mean(done.filter(pl.col("class") == 1), "time"),
        p50_s=_quantile(done, 0.5), p90_s=_quantile(done, 0.9), p99_s=_quantile(done, 0.99),
        errors=int(w.summary["failed"]) - int(counts["wrong"]), wrong=int(counts["wrong"]) + int(counts["twice"]),
        client_cpu_s=per(w.cpu_s["client"]), service_cpu_s=per(w.cpu_s["service"]), database_cpu_s=per(w.cpu_s["database"]),
        client_share=max(lane["cpu_s"] / max(lane["wall_s"], 1e-9) for lane in w.summary["lanes"]),
        others_cores=max(w.cpu_s["machine"] - sum(w.cpu_s[k] for k in ("client", "service", "database")), 0.0) / w.seconds,
        **_inside(w),
    )  # fmt: skip


def _inside(w: Window) -> dict[str, Any]:
    """What the services say of the same window; a row stands for `weight` requests."""
    whole = pl.sum_horizontal("received_s", *PHASES)
    rows = pl.concat(w.requests).filter((whole >= w.start_s) & (whole < w.end_s))
    if not rows.height:
        return {}
    weight = rows["weight"].cast(pl.Float64).to_numpy()
    phases = {name: float(np.average(rows[name].to_numpy(), weights=weight)) for name in PHASES}
    phases["queue_s"] = phases.pop("dispatch_s")  # theirs is read to taken up by a worker
    completions = sum(end["completions"] for end in w.ends)
    used = [next((s for name, s in end["cpu_by_thread_s"].items() if "dispatch" in name), 0.0) for end in w.ends]
    dispatch_s = sum(used) / max(completions, 1)
    busy = max(cpu / max(end["seconds"], 1e-9) for cpu, end in zip(used, w.ends, strict=True))
    return {
        **phases, "dispatch_s": dispatch_s, "dispatch_share": busy, "mw_response_s": sum(phases.values()) + dispatch_s,
        **_in_use(w),
    }  # fmt: skip


def _in_use(w: Window) -> dict[str, float]:
    """Connections in use of all services; the error of the mean by batches of a fifth, because samples follow each other."""
    means, variances = [], []
    for levels in w.levels:
        here = levels.filter((pl.col("t_s") >= w.start_s) & (pl.col("t_s") <= w.end_s))
        values = here["connections_in_use"].cast(pl.Float64).to_numpy()
        if len(values) < 10:
            return {}
        batches = [batch.mean() for batch in np.array_split(values, 5)]
        means.append(float(values.mean()))
        variances.append(float(np.var(batches, ddof=1)) / len(batches))
    return {"in_use": sum(means), "in_use_error": sum(variances) ** 0.5}


def _mean(rows: pl.DataFrame, column: str) -> float:
    return float(rows[column].to_numpy().mean()) if rows.height else NAN


def _quantile(rows: pl.DataFrame, q: float) -> float:
    return float(np.quantile(rows["time"].to_numpy(), q)) if rows.height else NAN
