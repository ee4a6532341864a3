"""sysstat: `sadf -j FILE -- -u ALL -d`: how busy processors and disks of a host were.

Source: sadf(1), sar(1). Times are in the zone of the reader's clock unless `utc` is 1; of all processors, what is neither idle nor
waiting for a disk is utilisation.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np

from sojourn.errors import InputError
from sojourn.readers.json_values import at, items, mapping, number
from sojourn.readers.observation import LOCAL, Observation, WindowSeries
from sojourn.readers.text_source import TextSource

NAME = "sadf"
LONGEST_S = 86_400  # the first record may hold garbage
REMEDY = "give the output of `sadf -j FILE -- -u ALL -d`"


def claims(data: Any) -> bool:
    return isinstance(at(data, "sysstat", "hosts"), list)


def read(source: TextSource, data: Mapping[str, Any]) -> list[Observation]:
    """A host each."""
    hosts = [mapping(host) for host in items(at(data, "sysstat", "hosts"))]
    found = [_host(source, host, str(host.get("nodename", "")) if len(hosts) > 1 else "") for host in hosts]
    if not found:
        raise InputError("no hosts", source.path, REMEDY)
    return found


def _host(source: TextSource, host: Mapping[str, Any], name: str) -> Observation:
    rows, zone = [], True
    for one in map(mapping, items(host.get("statistics"))):
        stamp = mapping(at(one, "timestamp"))
        length = number(stamp, "interval")
        busy = _busy(one)
        if not busy or length is None or not 0 < length <= LONGEST_S:
            continue
        zone = zone and bool(stamp.get("utc"))
        rows.append((_unix_s(stamp, source), length, busy))
    if not rows:
        raise InputError("no cpu-load", source.path, REMEDY)
    names = sorted({name for _, _, busy in rows for name in busy})
    end, lengths = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    series = {name: np.array([busy.get(name, np.nan) for _, _, busy in rows]) for name in names}
    return Observation(
        str(source.path), NAME, name, version=None, start_s=float((end - lengths)[0]), length_s=float(lengths.sum()),
        busy={name: float(np.nanmean(values)) for name, values in series.items()}, servers=int(number(host, "number-of-cpus") or 1),
        stamp_s=1.0,
        windows=WindowSeries(end - lengths, lengths, busy=series), missing_values=() if zone else (LOCAL,),
    )  # fmt: skip


def _busy(one: Mapping[str, Any]) -> dict[str, float]:
    found = {}
    for load in (*items(one.get("cpu-load")), *items(one.get("cpu-load-all"))):
        idle, waiting = number(load, "idle"), number(load, "iowait")
        if at(load, "cpu") == "all" and idle is not None:
            found["cpu"] = 1 - (idle + (waiting or 0.0)) / 100
    for disk in items(one.get("disk")):
        device, busy = at(disk, "disk-device"), number(disk, "util-percent")
        if isinstance(device, str) and busy is not None and not device.startswith("loop"):
            found[f"disk:{device}"] = busy / 100
    return found


def _unix_s(stamp: Mapping[str, Any], source: TextSource) -> float:
    try:
        return datetime.fromisoformat(f"{stamp['date']}T{stamp['time']}").replace(tzinfo=UTC).timestamp()
    except (KeyError, ValueError, TypeError):
        raise InputError(str(dict(stamp))[:60], source.path, REMEDY) from None
