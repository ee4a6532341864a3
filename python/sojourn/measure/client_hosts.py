"""One load from several client hosts: a generator on each, in a network, on cores and in a control group of its own; one run folder.

Lane k of the load is host k's: its users stay there for the whole run, so the hosts exchange nothing while it lasts. All start at one
moment of CLOCK_MONOTONIC, which they share. Hosts on other machines: `agents`.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from sojourn import _native
from sojourn.errors import InputError, SojournError
from sojourn.lab.worker_process import Event, WorkerProcess
from sojourn.load.load_options import RECORD_LIMIT
from sojourn.measure.agents.joined_run import HISTOGRAMS, added_counts, thinned_to
from sojourn.measure.execute_run import GRACE_S
from sojourn.runs.record_logs import read_thinned, write_parquet
from sojourn.runs.run_folder import RunFolder

# To the common start, from when all processes have loaded their program: to enter a namespace and read the load; for each connection.
LEAD_S, CONNECT_S = 1.0, 2e-3
CLIENT = "client"  # the number of a host, from 1: a column of the records, a key of `lanes`
KV_COUNTS = ("populated", "keys_asked", "hits", "misses", "wrong", "bytes_read", "bytes_written")
InFlight = list[tuple[float, int]]


@dataclass(frozen=True)
class ClientHost:
    """Where a generator runs: the path of a network namespace, the cores that it may use, the path of a control group. What is not
    given is that of this process."""

    network: str | None = None
    cores: tuple[int, ...] = ()
    cgroup: str | None = None


class ClientHosts:
    """A generator on each host, started and waiting. `generate` is what `execute` takes; `pids` belong into its environment."""

    def __init__(self, hosts: Sequence[ClientHost]) -> None:
        """
        Raises:
            InputError: no host.
        """
        if not hosts:
            raise InputError("no client host", "client hosts", "give at least one")
        self._hosts = tuple(hosts)
        self._workers: list[WorkerProcess] = []
        try:
            for host in self._hosts:
                self._workers.append(WorkerProcess("load", cgroup=host.cgroup))
                if host.cores:
                    os.sched_setaffinity(self._workers[-1].process.pid, host.cores)  # its threads inherit it
        except BaseException:
            self.close()
            raise

    @property
    def pids(self) -> dict[str, int]:
        """By role: `generator`, `generator 2` …"""
        return {f"generator {k}" if k > 1 else "generator": one.process.pid for k, one in enumerate(self._workers, 1)}

    def generate(self, folder: RunFolder) -> dict[str, Any]:
        """Runs the load of the folder's manifest, writes its records, and returns what all generators say of themselves, added.

        Raises:
            InputError: other than a lane a host. SojournError, KeyboardInterrupt: a generator failed, or the run was cut off; what was
            recorded until then is kept.
        """
        load, count = folder.manifest["load"], len(self._hosts)
        loads = [share(load, k, count) for k in range(count)]
        places = [folder.path / f".{CLIENT}-{k}" for k in range(1, count + 1)]
        for worker in self._workers:
            worker.started()
        lead_s = LEAD_S + CONNECT_S * sum(lane.get("connections") or 0 for lane in load["lanes"])
        start_s = time.monotonic() + lead_s
        in_flight: list[InFlight] = [[] for _ in self._hosts]
        for host, worker, own, place in zip(self._hosts, self._workers, loads, places, strict=True):
            worker.begin({"network": host.network, "load": own | {"start_at_s": start_s}, "out": str(place)})
        longest_s = lead_s + load["duration_s"] + load.get("timeout_s", 10.0) + GRACE_S
        try:
            each = zip(self._workers, in_flight, strict=True)
            summaries = [worker.finish(longest_s, _counting(counted))["summary"] for worker, counted in each]
            _keep(folder, places, start_s)
        except BaseException:
            for worker in self._workers:
                worker.stop()
            with suppress(SojournError, OSError, pl.exceptions.PolarsError):
                _keep(folder, places, start_s)
            raise
        finally:
            for place in places:
                shutil.rmtree(place, ignore_errors=True)
        return added(summaries, in_flight, start_s)

    def close(self) -> None:
        """Makes sure that they are gone."""
        for worker in self._workers:
            worker.close()


def share(load: dict[str, Any], number: int, count: int) -> dict[str, Any]:
    """What generator `number` (from 0) of `count` does of a load: its lane, with a seed of its own.

    Raises:
        InputError: other than a lane a host.
    """
    lanes = load["lanes"]
    if len(lanes) != count:
        raise InputError(f"{len(lanes)} lanes of users", f"{count} client hosts", "give a lane for each host")
    limit = max(1, load.get("record_limit", RECORD_LIMIT) // count)
    return {**load, "lanes": [lanes[number]], "seed": load["seed"] + number, "record_limit": limit}


def added(summaries: Sequence[dict[str, Any]], in_flight: Sequence[InFlight], start_s: float) -> dict[str, Any]:
    """One summary of those of all hosts. The requests in flight are the sums of the samples that all took at about the same time."""
    told = added_counts(summaries, start_s, CLIENT)
    kv = [one["kv"] for one in summaries if one.get("kv")]
    if kv:
        told["kv"] = {name: sum(one[name] for one in kv) for name in KV_COUNTS}
        told["kv"]["verified"] = all(one["verified"] for one in kv)
    samples = [(at[0][0], sum(count for _, count in at)) for at in zip(*in_flight, strict=False)]
    return told | {"in_flight": samples}


def _counting(counted: InFlight) -> Callable[[Event], None]:
    return lambda event: counted.append((event["elapsed_s"], event["in_flight"] + event["waiting"]))


def _keep(folder: RunFolder, places: Sequence[Path], start_s: float) -> None:
    """The records and histograms of all hosts in one file each."""
    logs = [place / "requests.rec" for place in places]
    read = [(number, *read_thinned(log)) for number, log in enumerate(logs, 1) if log.exists()]
    kept = [(number, frame, meta) for number, frame, meta in read if not frame.is_empty()]
    if not kept:
        return
    every = max(int(frame["weight"][0]) for _, frame, _ in kept)
    rows = [
        thinned_to(frame, every).with_columns(pl.lit(number, dtype=pl.UInt16).alias(CLIENT))
        for number, frame, _ in kept
    ]
    write_parquet(pl.concat(rows), folder.path / "requests.parquet")
    ends_s = [meta["end_s"] for _, _, meta in kept if "end_s" in meta]
    header = {**kept[0][2], "sample_every": every, "start_s": start_s, **({"end_s": max(ends_s)} if ends_s else {})}
    folder.manifest.setdefault("records", {})["requests"] = header
    histograms = [str(place / HISTOGRAMS) for place in places if (place / HISTOGRAMS).exists()]
    if len(histograms) == len(places):
        _native.merge_interval_logs(histograms, str(folder.path / HISTOGRAMS))
