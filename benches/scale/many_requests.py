"""Requests of M/M/1 by Lindley's recursion, as run folders, as what a load generator leaves when its time is over, and as CSV."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sojourn.simulate.simulated_folder import write_run

Array = NDArray[np.float64]
SERVICE_S = 0.01
START_S, UNIX_S = 1000.0, 1.7e9
ROW = [["intended_s", "f8"], ["sent_s", "f8"], ["received_s", "f8"], ["done_s", "f8"], ["class", "u2"], ["status", "u2"],
       ["bytes", "u4"], ["failure", "u1"], ["lane", "u1"], ["connection", "u4"], ["user", "u4"], ["weight", "u4"]]  # fmt: skip


def requests(count: int, rate_per_s: float, service_s: float = SERVICE_S) -> tuple[Array, Array]:
    """When each came and was answered, s (D. V. Lindley, Math. Proc. Camb. Phil. Soc. 48 (1952), 277-289)."""
    random = np.random.default_rng(7)
    due = np.cumsum(random.exponential(1 / rate_per_s, count))
    work = np.cumsum(random.exponential(service_s, count))
    return due, work + np.maximum.accumulate(due - np.concatenate([[0.0], work[:-1]]))


def run(path: Path, count: int, rate_per_s: float) -> None:
    """A run folder, complete."""
    due, done = requests(count, rate_per_s)
    factors = {"name": path.name, "factors": {"rate_per_s": rate_per_s}}
    write_run(path, manifest=factors, requests={"intended_s": due, "done_s": done})


def lines(path: Path, count: int, rate_per_s: float) -> None:
    """A request log, and the utilisation of its server in a thousand intervals."""
    due, done = requests(count, rate_per_s)
    pl.DataFrame({"arrival_s": UNIX_S + due, "response_ms": (done - due) * 1e3}).write_csv(path)
    busy = pl.DataFrame({"end_s": UNIX_S + np.arange(1, 1001) * due[-1] / 1000, "cpu": np.full(1000, 0.8)})
    busy.write_csv(path.with_suffix(".busy.csv"))


def log(path: Path, count: int, _: float) -> None:
    """What is there when 20 000 requests a second have been sent: the log of records in the order of answers, samples of the host each
    100 ms, a manifest that says `running`."""
    due, done = requests(count, 20_000.0, 0.8 / 20_000)
    due, done = due + START_S, done + START_S
    path.mkdir(parents=True)
    rows = np.zeros(count, np.dtype([(name, "<" + kind) for name, kind in ROW]))
    for name, values in {"intended_s": due, "sent_s": due, "received_s": done, "done_s": done + 1e-5}.items():
        rows[name] = values
    rows["status"], rows["weight"], rows["user"] = 200, 1, 2**32 - 1
    failures = ["ok", "refused", "connect_timeout", "reset", "timeout", "status", "length", "protocol", "unsent"]
    meta = {"classes": ["request"], "failures": failures, "no_user": 2**32 - 1}
    with (path / "requests.rec").open("wb") as file:
        file.write(
            json.dumps({"columns": ROW, "format": "sojourn-record", "meta": meta, "version": 1}).encode() + b"\n"
        )
        rows[np.argsort(done, kind="stable")].tofile(file)
    length_s = float(done[-1] - START_S)
    with (path / "host.ndjson").open("w") as file:
        file.write('{"format":"sojourn-host","version":1,"cores":[0,1],"absent":{}}\n')
        for number in range(int(length_s * 10) + 1):
            at = number * 0.1
            cpu = {str(core): {"user": 0.4 * at, "system": 0.1 * at, "idle": 0.5 * at} for core in (0, 1)}
            told = {"t_s": START_S + at, "cpu": cpu, "procs": {"4711": {"run_s": 0.2 * at}}}
            file.write(json.dumps(told) + "\n")
    generator = {"start_s": START_S, "end_s": float(due[-1]), "sent": count, "ok": count, "failures": {},
                 "own_lateness": {"mean_s": 2e-5, "p99_s": 1e-4}}  # fmt: skip
    manifest = {
        "format": "sojourn-run", "version": 1, "status": "running", "name": path.name, "pid": 1, "generator": generator,
        "load": {"duration_s": length_s, "lanes": [{"arrivals": {"kind": "poisson", "rate_per_s": 20_000.0}}]},
        "start": {"monotonic_s": START_S - 1}, "end": {"monotonic_s": START_S + length_s + 1},
    }  # fmt: skip
    (path / "manifest.json").write_text(json.dumps(manifest))


if __name__ == "__main__":
    kind, path, count, rate_per_s = sys.argv[1:]
    {"run": run, "lines": lines, "log": log}[kind](Path(path), int(count), float(rate_per_s))
