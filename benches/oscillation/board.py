"""The bulletin board with PostgreSQL on a slow disk, one run after the other, each on a copy of the same loaded cluster."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import sojourn as sj
from sojourn.diagnosis.oscillation import Oscillation
from sojourn.lab.slow_disk import SlowDisk, slow_disk
from sojourn.load.session_load import session_load
from sojourn.measure.execute_run import execute
from sojourn.runs.busy_series import busy_series
from sojourn_cases.common.postgres import DATABASE, USER, Postgres
from sojourn_cases.common.postgres_activity import Activity, activity
from sojourn_cases.common.postgres_protocol import PostgresSession
from sojourn_cases.ntier.bulletin_database import load_bulletin
from sojourn_cases.ntier.bulletin_server import BulletinOptions, BulletinService

SCALE, DISK_BYTES = 0.2, 2_500_000_000
USERS, THINK_S, RAMP_S, SESSIONS = 1200, 0.1, 2.0, 16
# A checkpoint flushes at its end, in large writes. By PostgreSQL's default it does so every 256 kB, and between these the commits of 16
# sessions together pass: the CPU then goes on at three quarters while the disk is full (r of 15 s: -0.46 to -0.61).
SETTINGS = {"checkpoint_flush_after": "0", "autovacuum": "off"}
LOADING = {"max_wal_size": "256MB"}  # or 1 GB of it would be copied each time


@dataclass(frozen=True)
class Case:
    """`bps`: of the disk, None: no limit; `pause_s`: between two checkpoints that are asked for, None: PostgreSQL's own."""

    name: str
    bps: float | None
    pause_s: float | None
    length_s: float = 15.0


@dataclass(frozen=True)
class Outcome:
    """What a run showed: its folder, the verdict, and what the disk and the database did meanwhile."""

    folder: sj.RunFolder
    found: Oscillation
    throughput_per_s: float
    p99_s: float
    written_bps: float
    beside: Activity

    @property
    def row(self) -> dict[str, object]:
        one = self.found
        return {
            "verdict": one.verdict, "r": round(one.correlation, 3), "p": one.p_value,
            "cpu_full": round(one.share_of_samples_full[0], 3),
            "disk_full": round(one.share_of_samples_full[1], 3), "either_full": round(one.share_of_samples_full[2], 3),
            "means_full": round(one.share_of_seconds_full, 3),
            "cpu_mean": round(one.mean_busy_share[0], 3), "disk_mean": round(one.mean_busy_share[1], 3),
            "throughput_per_s": round(self.throughput_per_s, 1), "p99_s": round(self.p99_s, 4),
            "written_MB_per_s": round(self.written_bps / 1e6, 2), "checkpoints": len(self.beside.checkpoints_s),
            "checkpoint_s": round(fmean(self.beside.checkpoints_s or [0.0]), 3), "valid": self.folder.manifest["valid"],
            "reasons": "; ".join(self.folder.manifest["reasons"]),
        }  # fmt: skip


def session(cluster: Postgres) -> PostgresSession:
    return PostgresSession(cluster.socket, user=USER, database=DATABASE, timeout_s=600.0)


@contextmanager
def loaded_board() -> Iterator[tuple[SlowDisk, Path]]:
    """A disk without a limit, with a loaded cluster on it."""
    with slow_disk(None, DISK_BYTES) as disk:
        cluster = Postgres(disk.folder / "loaded", keep=True, settings=LOADING)
        try:
            with session(cluster) as own:
                load_bulletin(own, SCALE, 1)
                own.run("CHECKPOINT")
        finally:
            cluster.stop()
        yield disk, disk.folder / "loaded"


def run(case: Case, disk: SlowDisk, loaded: Path, out: Path, seed: int) -> Outcome:
    """One run, on a copy of the loaded cluster."""
    place = disk.folder / "run"
    disk.set_rate(None)
    shutil.rmtree(place, ignore_errors=True)
    subprocess.run(["cp", "-a", loaded, place], check=True)
    subprocess.run(["sync", "-f", place], check=True)
    cluster = Postgres(place, keep=True, settings=SETTINGS)
    try:
        return _measured(case, disk, cluster, out, seed)
    finally:
        disk.set_rate(None)
        cluster.stop()


def _measured(case: Case, disk: SlowDisk, cluster: Postgres, out: Path, seed: int) -> Outcome:
    options = BulletinOptions(
        listen="127.0.0.1:0",
        workers=SESSIONS,
        pool=SESSIONS,
        page_work_s=0.0,
        database=cluster.url,
        scale=SCALE,
    )
    service = BulletinService(options)
    load = session_load(
        service.url,
        users=USERS,
        think_s=THINK_S,
        mix="readwrite",
        duration_s=case.length_s,
        ramp_up_s=RAMP_S,
        seed=seed,
    )
    before, began_s = written_bytes(disk.device), time.monotonic()
    disk.set_rate(case.bps)
    try:
        with activity(cluster, pause_s=case.pause_s) as beside:
            folder = execute(out, load, what={"name": case.name}, service=service)
    finally:
        service.close()
    written = (written_bytes(disk.device) - before) / (time.monotonic() - began_s)
    shares, interval_s = busy_series(folder, ["cpu", f"disk:{disk.device}"])
    found = sj.oscillation(shares[0], shares[1], interval_s, ("cpu", "disk"))
    told = folder.manifest["generator"]
    p99_s = told["latency"]["from_intended"]["to_received"]["p99_s"]
    return Outcome(folder, found, told["achieved_per_s"], p99_s, written, beside)


def written_bytes(device: str) -> float:
    """That a disk has written since the machine started: field 10 of /proc/diskstats, in sectors of 512 bytes."""
    rows = (line.split() for line in Path("/proc/diskstats").read_text().splitlines())
    return 512.0 * next(int(row[9]) for row in rows if row[2] == device)
