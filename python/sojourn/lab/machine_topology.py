"""Packages, physical cores, threads, caches and NUMA nodes, as /sys tells them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sojourn.errors import LabError
from sojourn.lab.cpu_topology import Core, core_list, cores

_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


@dataclass(frozen=True)
class Cache:
    """A cache: level from 1, `Data`, `Instruction` or `Unified`, its size (0 where it is not told), the processors that share it."""

    level: int
    kind: str
    size_bytes: int
    cores: tuple[int, ...]


@dataclass(frozen=True)
class MachineTopology:
    """The processors that this process may use, in the order of `cpu_topology.cores`, and their caches, each once.
    `missing_information`: what /sys does not tell, in words."""

    cores: tuple[Core, ...]
    caches: tuple[Cache, ...]
    missing_information: tuple[str, ...] = ()

    @property
    def cpu_packages(self) -> dict[int, tuple[int, ...]]:
        """Package → its processors, in order of number."""
        return _groups((core.package, core.number) for core in self.cores)

    @property
    def numa_nodes(self) -> dict[int, tuple[int, ...]]:
        """NUMA node → its processors."""
        return _groups((core.node, core.number) for core in self.cores)

    @property
    def physical_cores(self) -> tuple[tuple[int, ...], ...]:
        """The processors of each physical core that may be used; more than one where it has several threads."""
        firsts = ((core.siblings or (core.number,), core.number) for core in self.cores)
        return tuple(sorted(_groups(firsts).values()))

    @property
    def record(self) -> dict[str, Any]:
        """All of it as plain values for JSON."""
        return {
            "cpu_packages": {str(name): list(own) for name, own in self.cpu_packages.items()},
            "physical_cores": [list(own) for own in self.physical_cores],
            "numa_nodes": {str(name): list(own) for name, own in self.numa_nodes.items()},
            "cores": [asdict(core) for core in self.cores],
            "caches": [asdict(cache) for cache in self.caches],
            "missing_information": list(self.missing_information),
        }

    def __str__(self) -> str:
        threads = max(map(len, self.physical_cores))
        parts = [_count(len(self.cpu_packages), "package"), _count(len(self.physical_cores), "physical core")]
        parts += [f"up to {threads} threads each"] if threads > 1 else []
        parts += [_count(len(self.numa_nodes), "NUMA node")]
        return ", ".join(parts)


def machine_topology(sys_root: Path = Path("/sys"), allowed: set[int] | None = None) -> MachineTopology:
    """What /sys tells of the processors `allowed`; None: those that this process may use.

    Raises:
        LabError: none is allowed.
    """
    found = cores(sys_root, allowed)
    if not found:
        raise LabError("no processor", "topology", "give at least one")
    base = sys_root / "devices/system/cpu"
    caches = {cache for core in found for cache in _caches(base / f"cpu{core.number}/cache")}
    absent = [] if (base / f"cpu{found[0].number}/topology").is_dir() else [f"packages and cores: nothing below {base}"]
    absent += [] if caches else [f"caches: nothing below {base}"]
    ordered = sorted(caches, key=lambda cache: (cache.level, cache.kind, cache.cores))
    return MachineTopology(tuple(found), tuple(ordered), tuple(absent))


def _caches(folder: Path) -> Iterator[Cache]:
    for index in sorted(folder.glob("index[0-9]*")):
        level = _read(index / "level")
        if level.isdigit():
            shared = tuple(core_list(_read(index / "shared_cpu_list"), str(index)))
            yield Cache(int(level), _read(index / "type"), _bytes(_read(index / "size")), shared)


def _bytes(text: str) -> int:
    """`1024K` as the kernel writes it."""
    number, unit = (text[:-1], _UNITS[text[-1]]) if text[-1:] in _UNITS else (text, 1)
    return int(number) * unit if number.isdigit() else 0


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def _groups(pairs: Iterable[tuple[Any, int]]) -> dict[Any, tuple[int, ...]]:
    found: dict[Any, list[int]] = {}
    for name, number in pairs:
        found.setdefault(name, []).append(number)
    return {name: tuple(sorted(found[name])) for name in sorted(found)}


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
