"""The topology of a machine in a terminal: a row a physical core, a row a pair of cores, a row a size of memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.table import Table

from sojourn.lab.cpu_topology import Core
from sojourn.lab.machine_topology import Cache, MachineTopology
from sojourn.lab.topology_probe import BatchTimes, TopologyProbe
from sojourn.units import seconds

KINDS = {"Data": "d", "Instruction": "i"}
SCALES = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


def tables(told: MachineTopology, probe: TopologyProbe | None) -> Iterator[Table]:
    """What /sys tells; what was measured, if anything was."""
    yield _cores(told)
    if probe is not None and probe.transfer:
        rows = ((f"{one} ↔ {other}", _times(times)) for one, other, times in probe.transfer)
        yield _table(("cores", "a cache line, one way", "quartiles"), rows)
    if probe is not None:
        accesses = ((_size(size), _times(times)) for size, times in probe.access)
        yield _table((f"memory, from core {probe.core}", "an access", "quartiles"), accesses)


def _cores(told: MachineTopology) -> Table:
    levels = sorted({(cache.level, cache.kind) for cache in told.caches})
    heads = [f"L{level}{KINDS.get(kind, '')}" for level, kind in levels]
    table = Table("package", "NUMA node", "processors of a core", *heads, box=None, header_style="dim")
    by_number = {core.number: core for core in told.cores}
    for own in told.physical_cores:
        first = by_number[own[0]]
        caches = [_cache(told.caches, first, level, kind) for level, kind in levels]
        table.add_row(str(first.package), str(first.node), ", ".join(map(str, own)), *caches)
    return table


def _cache(caches: Iterable[Cache], core: Core, level: int, kind: str) -> str:
    for cache in caches:
        if (cache.level, cache.kind) == (level, kind) and core.number in cache.cores:
            shared = f" of {len(cache.cores)} processors" if len(cache.cores) > len(core.siblings or (0,)) else ""
            return _size(cache.size_bytes) + shared
    return "–"


def _table(heads: tuple[str, str, str], rows: Iterable[tuple[str, tuple[str, str]]]) -> Table:
    table = Table(*heads, box=None, header_style="dim")
    for name, cells in rows:
        table.add_row(name, *cells)
    return table


def _times(times: BatchTimes | None) -> tuple[str, str]:
    if times is None:
        return "not measured", "another program used one of them"
    return seconds(times.median_s), f"{seconds(times.low_s)} … {seconds(times.high_s)}"


def _size(size_bytes: int) -> str:
    for scale, unit in SCALES:
        if size_bytes >= scale:
            return f"{size_bytes / scale:g} {unit}"
    return f"{size_bytes} bytes" if size_bytes else "?"
