"""One load on a service, into a run folder: `sojourn load` from Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sojourn.errors import InputError
from sojourn.lab.worker_process import Event
from sojourn.load.protocols import options_of, protocol_of
from sojourn.load.schedule_seed import fresh_seed
from sojourn.measure.execute_run import execute
from sojourn.measure.measure import own_placement
from sojourn.measure.service_processes import service_processes
from sojourn.measure.surroundings import add_demands, surroundings
from sojourn.runs.disturbances import BESIDE
from sojourn.runs.run_folder import RunFolder


def load(
    urls: Sequence[str] | str,
    out: Path | str,
    *,
    seed: int | None = None,
    progress: Callable[[Event], None] | None = None,
    **options: Any,
) -> RunFolder:
    """Puts one load on a service, and returns the finished, judged run folder `out`.

    `urls`: http://, https://, memcached:// or messages://HOST:PORT, or one file:PATH, blk:DEVICE or nbd://HOST:PORT. `options`: those
    of `sojourn.load.HttpOptions`, `MemcachedOptions`, `MessagesOptions` or `BlockOptions`, by the URL: `rate_per_s` (1/s) or `users`,
    `duration_s` (s), … Without `seed` the schedule is drawn anew. `progress` is told four times a second how far it is.

    Raises:
        InputError: no URL, or an option that is wrong or of another protocol. ServiceError: nothing answers there.
    """
    given = [urls] if isinstance(urls, str) else list(urls)
    if not given:
        raise InputError("no URL", "load", "give one, as http://HOST:PORT/PATH")
    options["seed"] = fresh_seed() if seed is None else seed
    config = options_of(protocol_of(given), options).config(given)
    return executed(Path(out), config, {"name": Path(out).name}, progress)


def executed(
    out: Path, config: dict[str, Any], what: dict[str, Any], progress: Callable[[Event], None] | None
) -> RunFolder:
    """The run, with what a request takes of the processes that listen where it goes, if that is this machine."""
    if "block" in config:
        return execute(out, config, what=what, progress=progress)
    service = service_processes(None, config)
    service = replace(service, may_use=tuple(service.cores()))
    around, watched = surroundings(service, own_placement(service.may_use, ()), lanes=len(config["lanes"]))
    folder = execute(out, config, what=what | {BESIDE: True}, around=around, progress=progress)
    add_demands(folder, service, watched)
    return folder
