"""fio: `--output-format=json` and json+.

Source: fio.readthedocs.io, "JSON output". Times in ns; each of `numjobs` processes keeps at most `iodepth` requests in flight, and has an
entry of its own unless `group_reporting` makes one of them. Figures are of `clat` (from the submission on), of `lat` (the whole) where that
is missing; reads and writes are told apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sojourn.readers.json_values import at, count, items, mapping, number, quantile, scaled
from sojourn.readers.observation import INTENDED, REQUESTS, Observation
from sojourn.readers.text_source import TextSource

NAME = "fio"
NS, MS = 1e-9, 1e-3


def claims(data: Any) -> bool:
    return "fio version" in mapping(data) and isinstance(at(data, "jobs"), list)


def read(source: TextSource, data: Mapping[str, Any]) -> list[Observation]:
    """Each job's reads and writes. With both, how many of a job's requests in flight are which is not known, so it has no users."""
    version, shared = str(data["fio version"]).removeprefix("fio-"), mapping(at(data, "global options"))
    found = []
    for job in map(mapping, items(data["jobs"])):
        options = {**shared, **mapping(at(job, "job options"))}
        kinds = [kind for kind in ("read", "write", "trim") if number(job, kind, "total_ios")]
        for kind in kinds:
            name = f"{job.get('jobname', '')}{' ' + kind if len(kinds) > 1 else ''}"
            found.append(_one(str(source.path), version, name, job, mapping(job[kind]), options, len(kinds) == 1))
    return found or [Observation(str(source.path), NAME, version=version, completed=0, missing_values=(REQUESTS,))]


def _one(
    path: str,
    version: str,
    name: str,
    job: Mapping[str, Any],
    said: Mapping[str, Any],
    options: Mapping[str, Any],
    alone: bool,
) -> Observation:
    whole, after = mapping(at(said, "lat_ns")), mapping(at(said, "clat_ns"))
    asked = number(options, "rate_iops")
    depth = number(options, "iodepth") or 1.0
    if str(options.get("ioengine", "")) in ("psync", "sync", "pvsync", "pvsync2", "mmap"):
        depth = 1.0  # these engines wait for each
    together = (
        "group_reporting" in options and str(options["group_reporting"]) != "0"
    )  # else each of `numjobs` has an entry of its own
    jobs = (number(options, "numjobs") or 1.0) if together else 1.0
    users = depth * jobs if alone else None
    user, system = number(job, "usr_cpu"), number(job, "sys_cpu")
    times = after if number(after, "N") else whole
    percentiles = mapping(at(times, "percentile")) or mapping(at(whole, "percentile"))
    quantiles = {
        q: v * NS
        for key in percentiles
        if (q := quantile(key)) is not None and (v := number(percentiles, key)) is not None
    }
    return Observation(
        path, NAME, name, version=version, length_s=scaled(number(said, "runtime"), MS), open_loop=True if asked else None, users=users,
        think_s=None, asked_per_s=asked, completed=count(number(said, "total_ios")), failed=0, throughput_per_s=number(said, "iops"),
        mean_s=scaled(number(times, "mean"), NS), stdev_s=scaled(number(times, "stddev"), NS), least_s=scaled(number(times, "min"), NS),
        most_s=scaled(number(times, "max"), NS), quantiles=quantiles,
        rounding=0.02, client_busy=None if user is None or system is None else (user + system) / 100, missing_values=(INTENDED, REQUESTS),
    )  # fmt: skip
