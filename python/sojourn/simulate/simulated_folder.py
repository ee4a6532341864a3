"""Run folders made by a simulator: the same files as a measured run, and a manifest that says `simulated`.

Simulated time starts at 0 and stands where CLOCK_MONOTONIC does. Everything that reads run folders (`observe`,
`assess`, reports) then works on them as on measured ones; the rows of their Metrics have the source `simulated`.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from sojourn.runs.assess_run import assess
from sojourn.runs.host_samples import EVERYTHING
from sojourn.runs.record_logs import write_parquet
from sojourn.runs.request_rows import FAILURES, request_frame
from sojourn.runs.run_folder import RunFolder, clock_times

HOST = {"t_s": pl.Float64(), "source": pl.String(), "key": pl.String(), "item": pl.String(), "value": pl.Float64()}


def write_run(
    path: Path | str,
    *,
    manifest: Mapping[str, Any],
    requests: Mapping[str, ArrayLike] | pl.DataFrame,
    host: pl.DataFrame | None = None,
    app: pl.DataFrame | None = None,
) -> RunFolder:
    """Writes a finished, judged run folder at `path` and returns it.

    `requests`: arrays of one length, columns of `requests.parquet` (docs/reference/run-folder.md); `intended_s` and
    `done_s` are required, in s of simulated time from 0; a request still under way has `done_s` NaN.
    `host`: rows (t_s, source, key, item, value) of counters as in `host.parquet` (`cpu_rows` makes those of cores).
    `app`: rows as in `app.parquet`.
    `manifest`: what was simulated: name, factors, seed, load (`lanes` as the generator has them), classes (names by
    number) …; what is not given is filled in. `duration_s` (s) is where the load ended, by default the last request.

    Raises:
        RunFolderError: the folder exists, or cannot be written. InputError: a column is missing, unknown, or of
        another length.
    """
    path = Path(path)
    frame = request_frame(requests)
    what = dict(manifest)
    classes = list(what.pop("classes", ["request"]))
    last = float(what.pop("duration_s", 0.0)) or float(frame["intended_s"].max() or 0.0)  # type: ignore[arg-type]
    folder = RunFolder.create(path, _defaults() | what)
    try:
        write_parquet(frame, path / "requests.parquet")
        if host is not None:
            write_parquet(host.select(pl.col(name).cast(kind) for name, kind in HOST.items()), path / "host.parquet")
            cores = sorted(int(key) for key in host.filter(pl.col("source") == "cpu")["key"].unique())
            folder.manifest.setdefault("host", {"cores": cores, "absent": {}})
        if app is not None:
            write_parquet(app, path / "app.parquet")
        folder.manifest.setdefault("generator", _generator(frame, last))
        meta = {"classes": classes, "failures": FAILURES, "sample_every": 1, "no_user": 2**32 - 1}
        folder.manifest["records"] = {"requests": meta} | folder.manifest.get("records", {})
        folder.manifest |= {"end": clock_times(), "status": "complete"}
        assess(folder)
        folder.save()
    except BaseException:
        folder.discard()
        raise
    return folder


def cpu_rows(t_s: ArrayLike, states: Mapping[str, ArrayLike]) -> pl.DataFrame:
    """Counters of cores as rows of `host.parquet`.

    `t_s` (samples,): when they were read, s. `states`: state (`user`, `softirq`, `system`, `idle` …) → time in it since
    the start, s, shape (samples, cores); states that are not given are 0 throughout.
    """
    times = np.asarray(t_s, float)
    given = {name: np.asarray(value, float) for name, value in states.items()}
    cores = next(iter(given.values())).shape[1]
    parts = []
    for item in EVERYTHING:
        values = given.get(item, np.zeros((times.size, cores)))
        for core in range(cores):
            part = pl.DataFrame({"t_s": times, "value": values[:, core]})
            parts.append(part.with_columns(source=pl.lit("cpu"), key=pl.lit(str(core)), item=pl.lit(item)))
    return pl.concat(parts).select(*HOST).sort("t_s", maintain_order=True)


def _defaults() -> dict[str, Any]:
    system = platform.uname()
    return {
        "simulated": True,
        "testbed": "virtual",
        "factors": {},
        "load": {"lanes": [{}]},
        "pids": {},
        "start": clock_times(),
        "machine": {"kernel": "simulated", "architecture": system.machine, "python": platform.python_version()},
        "observer": {"own_share": 0.0},
        "service": None,
    }


def _generator(frame: pl.DataFrame, last_s: float) -> dict[str, Any]:
    """What the generator says of itself; a simulated one is never late."""
    failed = frame.filter(pl.col("failure") > 0)["failure"].value_counts().iter_rows()
    return {
        "start_s": 0.0,
        "end_s": last_s,
        "sent": frame.height,
        "ok": frame.filter(pl.col("failure") == 0).height,
        "failures": {FAILURES[kind]: count for kind, count in failed},
        "own_lateness": {"mean_s": 0.0},
        "lanes": [],
        "sample_every": 1,
    }
