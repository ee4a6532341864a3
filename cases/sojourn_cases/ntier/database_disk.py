"""What a study can do to the disk of a PostgreSQL database, and to when that writes: factors `disk_bps`, `checkpoint_pause_s`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

from sojourn.lab import MOST_DISK_BPS, SlowDisk, slow_disk
from sojourn.runs import MeasuredResource
from sojourn.study import Factor, Value
from sojourn.units import byte_count
from sojourn_cases.common.postgres import Postgres
from sojourn_cases.common.postgres_activity import Activity, activity

PLACE = "[system] disk"
NAME = "slow_disk"  # among a run's resources
CHECKPOINTS = {"checkpoint_pause_s": Factor(default=0.0, low=0.0, high=3600.0)}
RATE = {"disk_bps": Factor(default=0.0, low=0.0, high=MOST_DISK_BPS)}


def disk_factors(size: str | None) -> dict[str, Factor]:
    """Of a database: 0 is no checkpoint but PostgreSQL's own, and a disk without a limit."""
    return CHECKPOINTS | (RATE if size else {})


def check(size: str | None) -> None:
    """InputError for a size that is none."""
    if size:
        byte_count(size, PLACE)


def opened(size: str | None, at: Path | None) -> AbstractContextManager[SlowDisk | None]:
    """A slow disk of `size` bytes, such as `2G`, in the folder `at`, for its data; none where nothing is said."""
    return slow_disk(None, int(byte_count(size, PLACE)), at) if size else nullcontext()


@contextmanager
def written_so(disk: SlowDisk | None, server: Postgres | None, factors: Mapping[str, Value]) -> Iterator[Activity]:
    """While a run lasts: the disk has its rate, and the database is asked for checkpoints; what it did beside its statements."""
    if server is None:
        yield Activity()
        return
    if disk:
        disk.set_rate(float(factors["disk_bps"]) or None)
    try:
        with activity(server, pause_s=float(factors["checkpoint_pause_s"]) or None) as told:
            yield told
    finally:
        if disk:
            disk.set_rate(None)


def resources(disk: SlowDisk | None) -> dict[str, MeasuredResource]:
    """Among those of a run."""
    return {NAME: MeasuredResource(1.0, disk=disk.device)} if disk else {}
