"""Topology as /sys tells it and placements resolved on it, with the numberings that machines have; the probe; the command."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sojourn.cli.app import command_line
from sojourn.errors import InputError, LabError
from sojourn.lab import topology_probe
from sojourn.lab.core_placement import choose_cores
from sojourn.lab.cpu_topology import cores
from sojourn.lab.machine_topology import MachineTopology, machine_topology
from sojourn.lab.topology_probe import probe_topology


@dataclass(frozen=True)
class Processor:
    """What /sys says of one: `siblings` of its core, `shared`: its last-level cache, as lists of the kernel."""

    package: int
    core_id: int
    siblings: str
    shared: str
    node: int = 0


def write(root: Path, machine: dict[int, Processor]) -> Path:
    for number, one in machine.items():
        base = root / f"devices/system/cpu/cpu{number}"
        put(base / "topology/physical_package_id", one.package)
        put(base / "topology/core_id", one.core_id)
        put(base / "topology/thread_siblings_list", one.siblings)
        for index, (level, kind, size, shared) in enumerate(
            [(1, "Data", "32K", one.siblings), (2, "Unified", "1024K", one.siblings), (3, "Unified", "8M", one.shared)],
            start=1,
        ):
            folder = base / f"cache/index{index}"
            put(folder / "level", level), put(folder / "type", kind)
            put(folder / "size", size), put(folder / "shared_cpu_list", shared)
        (base / f"node{one.node}").mkdir()
    return root


def put(path: Path, text: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{text}\n")


def halves() -> dict[int, Processor]:
    """Two packages of four, one after the other: 0-3 and 4-7."""
    return {n: Processor(n // 4, n % 4, str(n), "0-3" if n < 4 else "4-7", n // 4) for n in range(8)}


def even_odd() -> dict[int, Processor]:
    """Two packages of four in turn: even and odd numbers."""
    return {n: Processor(n % 2, n // 2, str(n), "0,2,4,6" if n % 2 == 0 else "1,3,5,7", n % 2) for n in range(8)}


def threads() -> dict[int, Processor]:
    """One package of two cores with two threads each; siblings are two apart."""
    return {n: Processor(0, n % 2, f"{n % 2},{n % 2 + 2}", "0-3") for n in range(4)}


def two_caches() -> dict[int, Processor]:
    """One package with two last-level caches, of two cores each."""
    return {n: Processor(0, n, str(n), "0-1" if n < 2 else "2-3") for n in range(4)}


def told(root: Path, machine: dict[int, Processor], allowed: set[int] | None = None) -> MachineTopology:
    return machine_topology(write(root, machine), set(machine) if allowed is None else allowed)


def test_packages_cores_threads_caches_and_nodes(tmp_path: Path) -> None:
    found = told(tmp_path / "a", even_odd())
    assert found.cpu_packages == found.numa_nodes == {0: (0, 2, 4, 6), 1: (1, 3, 5, 7)}
    assert str(found) == "2 packages, 8 physical cores, 2 NUMA nodes" and found.missing_information == ()
    shared = [cache for cache in found.caches if cache.level == 3]
    assert [(cache.size_bytes, cache.cores) for cache in shared] == [(8 << 20, (0, 2, 4, 6)), (8 << 20, (1, 3, 5, 7))]
    assert len(found.caches) == 8 + 8 + 2
    smt = told(tmp_path / "b", threads())
    assert smt.physical_cores == ((0, 2), (1, 3)) and "up to 2 threads each, 1 NUMA node" in str(smt)
    assert told(tmp_path / "c", threads(), {0, 1, 2}).physical_cores == ((0, 2), (1,)), "only what may be used"


def test_a_machine_that_tells_nothing(tmp_path: Path) -> None:
    found = machine_topology(tmp_path, {0, 3})
    assert found.cpu_packages == {0: (0, 3)} and found.physical_cores == ((0,), (3,)) and found.caches == ()
    assert len(found.missing_information) == 2 and "caches: nothing below" in found.missing_information[1]
    with pytest.raises(LabError, match="no processor"):
        machine_topology(tmp_path, set())


@pytest.mark.parametrize(
    ("machine", "placement", "count", "chosen"),
    [
        (halves(), "same_package", 4, (0, 1, 2, 3)),
        (even_odd(), "same_package", 4, (0, 2, 4, 6)),
        (halves(), "spread", 4, (0, 4, 1, 5)),
        (even_odd(), "spread", 4, (0, 1, 2, 3)),
        (halves(), "spread", 3, (0, 4, 1)),
        (halves(), "own_core", 8, tuple(range(8))),
        (threads(), "own_core", 2, (0, 1)),
        (threads(), "same_package", 3, (0, 1, 2)),
        (two_caches(), "same_package", 2, (0, 1)),
        (two_caches(), "same_package", 3, (0, 1, 2)),
        (two_caches(), "spread", 2, (0, 2)),
        ({0: Processor(0, 0, "0", "0")}, "same_package", 1, (0,)),
    ],
)
def test_placements(
    tmp_path: Path, machine: dict[int, Processor], placement: str, count: int, chosen: tuple[int, ...]
) -> None:
    assert choose_cores(placement, count, cores(write(tmp_path, machine), set(machine))) == chosen


@pytest.mark.parametrize(
    ("machine", "placement", "count", "said"),
    [
        (halves(), "same_package", 5, "same_package with 5 cores .* packages have 4 and 4 processors; use 1 to 4"),
        (threads(), "spread", 2, "spread with 2 cores .* 4 processors in 1 packages or caches; use a machine with two"),
        (halves(), "spread", 1, "spread with 1 cores .*; use 2 to 8"),
        (halves(), "spread", 9, "spread with 9 cores"),
        (threads(), "own_core", 3, "own_core with 3 cores .* it has 2 physical cores; use 1 to 2"),
    ],
)
def test_what_the_machine_does_not_have(
    tmp_path: Path, machine: dict[int, Processor], placement: str, count: int, said: str
) -> None:
    with pytest.raises(LabError, match=f"placement: {said}"):
        choose_cores(placement, count, cores(write(tmp_path, machine), set(machine)))


@pytest.mark.parametrize(("placement", "count"), [("near", 1), ("spread", 0)])
def test_what_is_no_placement(placement: str, count: int) -> None:
    with pytest.raises(InputError, match="use one of same_package, spread, own_core|give 1 or more"):
        choose_cores(placement, count, [])


SMALL = (16 << 10, 64 << 10)


def test_the_probe_measures_what_there_is() -> None:
    """With one core as with all; a pair is measured, or said to be held by another program."""
    own = [core.number for core in cores()]
    found = probe_topology(own[:2], SMALL)
    assert [pair[:2] for pair in found.transfer] == ([(own[0], own[1])] if len(own) > 1 else [])
    assert [size for size, _ in found.access] == list(SMALL) and found.core == own[0]
    for times in (*(t for _, _, t in found.transfer if t), *(t for _, t in found.access)):
        assert 0 < times.low_s <= times.median_s <= times.high_s and times.batches > 0
    alone = probe_topology(own[:1], SMALL)
    assert alone.transfer == () and alone.transfer_s is None
    assert json.loads(json.dumps(alone.record))["access"][0]["size_bytes"] == 16 << 10


def test_of_many_cores_an_even_choice_of_pairs() -> None:
    pairs = topology_probe._pairs(range(40))
    assert len(set(pairs)) == topology_probe.MOST_PAIRS and (pairs[0], pairs[-1]) == ((0, 1), (38, 39))


@pytest.mark.parametrize(("own", "sizes"), [([1000], SMALL), ([0, 1000], SMALL), ([0], [3000]), ([], SMALL)])
def test_what_cannot_be_probed(own: list[int], sizes: list[int]) -> None:
    with pytest.raises(LabError, match="topology probe"):
        probe_topology(own, sizes)


def test_the_command() -> None:
    own = [core.number for core in cores()]
    out = CliRunner().invoke(command_line(["lab"]), ["lab", "topology", "--measure-access-times"]).output
    assert "physical core" in out and "128 MiB" in out and f"from core {own[0]}" in out
    found = json.loads(CliRunner().invoke(command_line(["lab"]), ["lab", "topology", "--json"]).output)
    assert found["measured"] is None and sorted(n for p in found["cpu_packages"].values() for n in p) == sorted(own)
