"""The runs of agents as one: records on one time axis, counts and histograms added, each agent's verdict by its name.

Latencies are differences within an agent; joining shifts all times of an agent by one number, which changes none of them. Quantiles
are of added counts or of joined records, never of quantiles.
"""

from __future__ import annotations

import io
import json
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from sojourn import _native
from sojourn.files.writing import write_whole
from sojourn.measure.agents.agent_run import AgentResult
from sojourn.measure.agents.clock_offsets import ClockOffset
from sojourn.runs.record_logs import write_parquet
from sojourn.runs.run_folder import RunFolder

TIMES = ("intended_s", "sent_s", "received_s", "done_s")
SUMS = ("requested", "sent", "ok", "failed", "offered_per_s", "achieved_per_s", "recorded", "steal_s")
NOT_KEPT = ("counts", "in_flight")  # of an agent's summary: added up, and too long
HISTOGRAMS = "latency.hlog"


def join(
    folder: RunFolder,
    found: Sequence[AgentResult],
    start_s: float,
    before: Sequence[ClockOffset],
    after: Sequence[ClockOffset],
) -> None:
    """Writes records, histograms and the manifest's account of all agents into `folder`; `start_s`: the common start by our clock,
    `before` and `after` the run: how far each agent's clock was from ours."""
    summaries = [one.manifest["generator"] for one in found]
    frames = [_shifted(one, number, start_s) for number, one in enumerate(found, 1)]
    kept = [(frame, one) for frame, one in zip(frames, found, strict=True) if frame is not None]
    if kept:
        every = max(int(frame["weight"][0]) for frame, _ in kept)
        write_parquet(pl.concat([thinned_to(frame, every) for frame, _ in kept]), folder.path / "requests.parquet")
        folder.manifest["records"] = {"requests": {**kept[0][1].manifest["records"]["requests"], "sample_every": every,
                                                   "start_s": start_s, "end_s": start_s + _length_s(summaries)}}  # fmt: skip
    _histograms(folder.path / HISTOGRAMS, found)
    for number, one in enumerate(found, 1):
        for name in ("host.parquet", "log.txt"):
            if one.files.get(name):
                write_whole(folder.path / f"agent-{number}-{name}", one.files[name])
    folder.manifest["generator"] = added(summaries, start_s)
    folder.manifest["agents"] = [
        _told(number, *one) for number, one in enumerate(zip(found, before, after, strict=True), 1)
    ]


def added(summaries: Sequence[dict[str, Any]], start_s: float) -> dict[str, Any]:
    """One summary of those of all agents."""
    merged = json.loads(_native.merged_latency(json.dumps([one["counts"] for one in summaries])))
    return {**added_counts(summaries, start_s, "agent"), **merged}


def added_counts(summaries: Sequence[dict[str, Any]], start_s: float, who: str) -> dict[str, Any]:
    """Of several generators, each a `who` with a number from 1: one summary without latencies, which need more than these."""
    ok = sum(one["ok"] for one in summaries)
    whole: Counter[str] = Counter()
    for one in summaries:
        whole.update(one["failures"])
    reasons = [f"{who} {k}: {one['schedule_reason']}" for k, one in enumerate(summaries, 1) if one["schedule_reason"]]
    return {
        **{key: sum(one[key] for one in summaries) for key in SUMS},
        "seed": summaries[0]["seed"],
        "start_s": start_s,
        "end_s": start_s + _length_s(summaries),
        "interrupted": any(one["interrupted"] for one in summaries),
        "failures": dict(whole),
        "schedule_kept": not reasons,
        "schedule_reason": "; ".join(reasons) or None,
        "sampled": any(one["sampled"] for one in summaries),
        "sample_every": max(one["sample_every"] for one in summaries),
        "stamped": sum(one["stamped"] * one["ok"] for one in summaries) / max(ok, 1),
        "lanes": [lane | {who: k} for k, one in enumerate(summaries, 1) for lane in one["lanes"]],
        "realtime_granted": all(one["realtime_granted"] for one in summaries),
        "notes": [f"{who} {k}: {note}" for k, one in enumerate(summaries, 1) for note in one["notes"]],
    }  # fmt: skip


def reasons_of_agents(found: Sequence[AgentResult]) -> list[str]:
    """Why the run is not valid by the account of each agent, with its name."""
    return [
        f"agent {number} of {len(found)} ({one.manifest['machine']['host']}): {reason}"
        for number, one in enumerate(found, 1)
        for reason in one.manifest["reasons"]
    ]


def _length_s(summaries: Sequence[dict[str, Any]]) -> float:
    return max(float(one["end_s"] - one["start_s"]) for one in summaries)


def _shifted(one: AgentResult, number: int, start_s: float) -> pl.DataFrame | None:
    """The records on our clock's axis: the agent's start is the common start."""
    content = one.files.get("requests.parquet")
    if content is None:
        return None
    frame = pl.read_parquet(io.BytesIO(content))
    if frame.is_empty():
        return None
    shift_s = start_s - float(one.manifest["generator"]["start_s"])
    columns = [(pl.col(name) + shift_s).alias(name) for name in TIMES]
    return frame.with_columns(*columns, agent=pl.lit(number, dtype=pl.UInt16))


def thinned_to(frame: pl.DataFrame, every: int) -> pl.DataFrame:
    """One request in `every`, a multiple of the weight that the rows have: both are powers of two."""
    return frame.gather_every(every // int(frame["weight"][0])).with_columns(
        weight=pl.lit(every, dtype=frame["weight"].dtype)
    )


def _histograms(out: Path, found: Sequence[AgentResult]) -> None:
    with tempfile.TemporaryDirectory(prefix="merge-", dir=out.parent) as place:
        logs = []
        for number, one in enumerate(found, 1):
            (log := Path(place, f"{number}.hlog")).write_bytes(one.files[HISTOGRAMS])
            logs.append(str(log))
        _native.merge_interval_logs(logs, str(out))


def _told(number: int, one: AgentResult, before: ClockOffset, after: ClockOffset) -> dict[str, Any]:
    """An agent in the manifest."""
    manifest: Mapping[str, Any] = one.manifest
    generator = {key: value for key, value in manifest["generator"].items() if key not in NOT_KEPT}
    clock = {
        "offset_s": before.offset_s, "bound_s": before.bound_s, "after_s": after.offset_s, "after_bound_s": after.bound_s,
        "drift_s": after.offset_s - before.offset_s, "wall_offset_s": before.wall_s, "wall_after_s": after.wall_s,
    }  # fmt: skip
    kept = ("valid", "reasons", "checks", "warnings", "machine", "window_s", "start", "end", "host", "cpu_time", "pids")
    return {
        "agent": number, "clock": clock, "generator": generator,
        "checks": {},  # of one that was cut off
        **{key: manifest[key] for key in kept if key in manifest},
    }  # fmt: skip
