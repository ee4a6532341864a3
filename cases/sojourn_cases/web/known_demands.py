"""What a request is known to cost beside its known work: from a run without it, and by the service's own account."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from sojourn.runs import RunFolder, core_groups, run_time


def is_bare(factors: Mapping[str, Any]) -> bool:
    """Whether the requests of such a run have no known work."""
    return not factors.get("interrupt_s") and not factors.get("page_s")


@dataclass(frozen=True)
class RequestOverheads:
    """Of a request without known work, s: interrupts of the network, what the client uses on cores that it shares with them,
    what a page costs its thread beside what the service accounts for."""

    interrupt_s: float = 0.0
    client_s: float = 0.0
    wake_up_s: float = 0.0


def overheads(runs: Sequence[RunFolder]) -> RequestOverheads:
    """The means over those of `runs` without known work; nothing where there is none, or where they were simulated."""
    each = [_overheads(run) for run in runs if is_bare(run.manifest["factors"])]
    if not each:
        return RequestOverheads()
    names = ("interrupt_s", "client_s", "wake_up_s")
    return RequestOverheads(*(sum(getattr(one, name) for one in each) / len(each) for name in names))


@dataclass(frozen=True)
class KnownDemands:
    """The known demands of a request with what comes beside them, s, and these by themselves."""

    interrupt_s: float
    page_s: float
    beside: RequestOverheads


def known_demands(runs: Sequence[RunFolder], beside: RequestOverheads) -> KnownDemands:
    """Of runs with the same known work: what was put in, and what the service accounts for. The fit never sees it."""
    factors = runs[0].manifest["factors"]
    interrupt_s, page_s = float(factors["interrupt_s"]), float(factors["page_s"])
    if runs[0].manifest.get("simulated"):
        return KnownDemands(interrupt_s, page_s, beside)
    return KnownDemands(interrupt_s + beside.interrupt_s, known_page(runs, beside.wake_up_s), beside)


def _overheads(run: RunFolder) -> RequestOverheads:
    """The client counts where it shares the leading cores: the exact run time of its threads less what interrupts took
    of it."""
    generator, factors = run.manifest["generator"], run.manifest["factors"]
    rate = factors.get("rate_per_s")
    interrupt_s = _in_interrupts(run) / rate if rate else 0.0
    shared = 0.0
    if run.manifest["placement"]["client_shares"]:
        used = sum(lane["cpu_s"] for lane in generator["lanes"]) / max(generator["sent"], 1)
        shared = max(used - interrupt_s, 0.0)
    return RequestOverheads(interrupt_s, shared, _wake_up_s(run))


def _in_interrupts(run: RunFolder) -> float:
    """Share of the time of the leading cores; 0 where nobody measured it."""
    frame = run.frame("metrics")
    if frame is None:
        return 0.0
    own = frame.filter(pl.col("station") == "leading", pl.col("metric") == "softirq_utilisation")["value"].drop_nulls()
    return float(own[0]) if len(own) else 0.0


def _wake_up_s(run: RunFolder) -> float:
    """What a page costs its thread beside what the service accounts for, s, on cores without interrupts."""
    host, app, (_, trailing) = run.frame("host"), run.frame("app"), core_groups(run.manifest)
    service = run.manifest["pids"].get("service")
    if host is None or app is None or service is None or not trailing:
        return 0.0
    there = app.filter(pl.col("core").is_in(trailing))
    if there.is_empty():
        return 0.0
    accounted = float(there["fixed_s"].mean() + there["work_s"].mean())  # type: ignore[operator,arg-type]
    return max(run_time(host, service, trailing) / there.height - accounted, 0.0)


def known_page(runs: Sequence[RunFolder], wake_up_s: float) -> float:
    """What a page cost in these runs by the service's own account, s: the work drawn, all else it did for a page
    (where no interrupts hit it; else the median, which they hardly move), and its wake-up."""
    drawn: list[pl.Series] = []
    fixed: list[pl.Series] = []
    alone = any(core_groups(run.manifest)[1] for run in runs)
    for run in runs:
        app = run.frame("app")
        if app is None:
            continue
        _, trailing = core_groups(run.manifest)
        drawn.append(app["drawn_s"])
        fixed.append(app.filter(pl.col("core").is_in(trailing))["fixed_s"] if trailing else app["fixed_s"])
    if not drawn:
        return 0.0
    rest = pl.concat(fixed)
    typical = rest.mean() if alone else rest.median()
    return float(pl.concat(drawn).mean()) + float(typical) + wake_up_s  # type: ignore[arg-type]
