"""What cores there are and how they are related, from /sys; placement never uses bare core numbers."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from sojourn.errors import InputError, LabError


@dataclass(frozen=True)
class Core:
    """One logical processor: its kernel number, package, physical core (by its number in the package), thread of that core, the
    processors that share its last-level cache (as the kernel lists them), NUMA node, and all processors of its physical core."""

    number: int
    package: int
    physical: int
    thread: int
    cache: str
    node: int = 0
    siblings: tuple[int, ...] = ()


@dataclass(frozen=True)
class CorePlacement:
    """Who runs where. `client[k]` is the core of the client thread that feeds NIC k."""

    server: tuple[int, ...]
    interrupts: tuple[int, ...]
    client: tuple[int, ...]
    client_shares: bool
    observer: int


def cores(sys_root: Path = Path("/sys"), allowed: set[int] | None = None) -> list[Core]:
    """The cores this process may use, one thread of each physical core first, then by package and cache."""
    allowed = os.sched_getaffinity(0) if allowed is None else allowed
    base = sys_root / "devices/system/cpu"
    found = [_core(base / f"cpu{number}", number) for number in sorted(allowed)]
    return sorted(found, key=lambda c: (c.thread, c.package, c.cache, c.physical, c.number))


def _core(path: Path, number: int) -> Core:
    siblings = core_list(_text(path / "topology/thread_siblings_list", str(number)))
    return Core(
        number=number,
        package=int(_text(path / "topology/physical_package_id", "0")),
        physical=int(_text(path / "topology/core_id", str(number))),
        thread=siblings.index(number) if number in siblings else 0,
        cache=_text(path / "cache/index3/shared_cpu_list", ""),
        node=next((int(found.name.removeprefix("node")) for found in path.glob("node[0-9]*")), 0),
        siblings=tuple(siblings),
    )


def _text(path: Path, default: str) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return default


def core_list(text: str, place: str = "cores") -> list[int]:
    """`0-2,5`, as the kernel writes it → [0, 1, 2, 5]; InputError, naming `place`, for anything else."""
    numbers: list[int] = []
    for part in filter(None, text.split(",")):
        low, _, high = part.partition("-")
        try:
            numbers += range(int(low), int(high or low) + 1)
        except ValueError:
            raise InputError(repr(text), place, "give cores like 0-2,5") from None
    return numbers


def place(server_cores: int, nics: int, available: list[Core] | None = None) -> CorePlacement:
    """Places `server_cores` cores of the service, the interrupts of `nics` NICs and the client.

    The interrupts of NIC k go to server core k. The client gets cores of its own where there are any left;
    otherwise the client thread of NIC k shares the core that takes NIC k's interrupts: it is held up by
    them in any case, and there its hold-up is the queueing for that very core (docs/decisions/0003).

    Raises:
        LabError: fewer cores than asked for, or more NICs than server cores.
    """
    available = cores() if available is None else available
    if not 1 <= server_cores <= len(available):
        raise LabError(
            f"cores = {server_cores}",
            "placement",
            f"this machine offers {len(available)}; choose from 1 to that number",
        )
    if not 1 <= nics <= server_cores:
        raise LabError(f"nics = {nics}", "placement", f"give 1 to {server_cores}, the number of server cores")
    server = tuple(core.number for core in available[:server_cores])
    spare = tuple(core.number for core in available[server_cores:])
    interrupts = server[:nics]
    client = tuple(spare[k % len(spare)] for k in range(nics)) if spare else interrupts
    return CorePlacement(server, interrupts, client, not spare, (spare or server)[-1])
