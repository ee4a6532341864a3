"""Cores chosen in terms of the machine's topology, never by number: the same words give the right cores wherever they are numbered.

same_package   cores of one package, behind one last-level cache if one is shared by enough of them
spread         shared out over the packages in turn; of a machine with one package, over its last-level caches
own_core       each a physical core of its own: one thread of it, its siblings left idle
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sojourn.errors import InputError, LabError
from sojourn.lab.cpu_topology import Core
from sojourn.lab.cpu_topology import cores as all_cores

FIRST_CORES = "first"  # of the cores in the order of the topology: whole cores before second threads
Chosen = tuple[int, ...]


def choose_cores(placement: str, count: int, available: Sequence[Core]) -> Chosen:
    """The numbers of `count` of the processors `available` (in the order of `cpu_topology.cores`: one thread of each physical core first),
    as `placement` says.

    Raises:
        InputError: no such placement, or no positive count. LabError: this machine does not have it; the message says what it has.
    """
    if placement not in PLACEMENTS:
        raise InputError(repr(placement), "placement", f"use one of {', '.join(PLACEMENTS)}")
    if count < 1:
        raise InputError(str(count), "count of cores", "give 1 or more")
    return PLACEMENTS[placement](count, available)


def split_cores(
    number: int, placement: str = FIRST_CORES, available: Sequence[Core] | None = None
) -> tuple[list[int], list[int]]:
    """The cores of a service, `number` of them, as `placement` says or the first, and those of its client: the others, or all where there
    are none.

    Raises:
        LabError: this machine does not have them so.
    """
    there = all_cores() if available is None else available
    numbers = [core.number for core in there]
    chosen = numbers[:number] if placement == FIRST_CORES else list(choose_cores(placement, number, there))
    return chosen, [one for one in numbers if one not in chosen] or numbers


def _same_package(count: int, available: Sequence[Core]) -> Chosen:
    for groups in (_by(available, lambda c: (c.package, c.cache)), _by(available, lambda c: c.package)):
        for own in groups:
            if len(own) >= count:
                return _numbers(own[:count])
    sizes = [len(own) for own in _by(available, lambda c: c.package)]
    raise _lacking(
        "same_package", count, f"its packages have {_listed(sizes)} processors", f"1 to {max(sizes, default=0)}"
    )


def _spread(count: int, available: Sequence[Core]) -> Chosen:
    groups = _by(available, lambda c: c.package)
    if len(groups) < 2:
        groups = _by(available, lambda c: (c.package, c.cache))
    if len(groups) < 2 or not 2 <= count <= len(available):
        found = f"it has {_listed([len(own) for own in groups])} processors in {len(groups)} packages or caches"
        most = f"2 to {len(available)}" if len(groups) > 1 else "a machine with two packages"
        raise _lacking("spread", count, found, most)
    rounds = range(max(map(len, groups)))
    return _numbers([own[k] for k in rounds for own in groups if k < len(own)][:count])


def _own_core(count: int, available: Sequence[Core]) -> Chosen:
    groups = _by(available, lambda c: c.siblings or (c.number,))
    if len(groups) < count:
        raise _lacking("own_core", count, f"it has {len(groups)} physical cores", f"1 to {len(groups)}")
    return _numbers([own[0] for own in groups[:count]])


PLACEMENTS: dict[str, Callable[[int, Sequence[Core]], Chosen]] = {
    "same_package": _same_package,
    "spread": _spread,
    "own_core": _own_core,
}


def _by(available: Sequence[Core], key: Callable[[Core], Any]) -> list[list[Core]]:
    """Groups in the order in which they are met."""
    groups: dict[Any, list[Core]] = {}
    for core in available:
        groups.setdefault(key(core), []).append(core)
    return list(groups.values())


def _numbers(chosen: Sequence[Core]) -> Chosen:
    return tuple(core.number for core in chosen)


def _listed(sizes: Sequence[int]) -> str:
    return " and ".join(map(str, sizes)) or "no"


def _lacking(placement: str, count: int, found: str, most: str) -> LabError:
    return LabError(f"{placement} with {count} cores is not on this machine: {found}", "placement", f"use {most}")
