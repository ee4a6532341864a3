"""Placement by topology, against fake /sys trees."""

from pathlib import Path

import pytest

from sojourn.errors import LabError
from sojourn.lab.cpu_topology import Core, cores, place
from sojourn.lab.emulated_hosts import core_mask


def fake_cpu(root: Path, number: int, package: int, physical: int, siblings: str, cache: str) -> None:
    base = root / f"devices/system/cpu/cpu{number}"
    (base / "topology").mkdir(parents=True)
    (base / "cache/index3").mkdir(parents=True)
    (base / "topology/physical_package_id").write_text(f"{package}\n")
    (base / "topology/core_id").write_text(f"{physical}\n")
    (base / "topology/thread_siblings_list").write_text(f"{siblings}\n")
    (base / "cache/index3/shared_cpu_list").write_text(f"{cache}\n")


def test_one_thread_of_each_physical_core_comes_first(tmp_path: Path) -> None:
    """Numbering that pairs siblings 0-1 and 2-3: cores 0 and 2 come before their siblings."""
    for number in range(4):
        fake_cpu(tmp_path, number, 0, number // 2, f"{number // 2 * 2}-{number // 2 * 2 + 1}", "0-3")
    assert [core.number for core in cores(tmp_path, {0, 1, 2, 3})] == [0, 2, 1, 3]


def test_packages_are_filled_one_after_the_other(tmp_path: Path) -> None:
    """Numbering that alternates packages: 0 and 2 share package 0."""
    for number in range(4):
        fake_cpu(tmp_path, number, number % 2, number // 2, str(number), "0,2" if number % 2 == 0 else "1,3")
    assert [core.number for core in cores(tmp_path, {0, 1, 2, 3})] == [0, 2, 1, 3]


def machine(count: int) -> list[Core]:
    return [Core(number, 0, number, 0, "all") for number in range(count)]


def test_the_client_shares_only_where_no_core_is_left() -> None:
    tight = place(2, 2, machine(2))
    assert (tight.server, tight.interrupts, tight.client, tight.client_shares) == ((0, 1), (0, 1), (0, 1), True)
    roomy = place(2, 2, machine(4))
    assert (roomy.interrupts, roomy.client, roomy.client_shares) == ((0, 1), (2, 3), False)


@pytest.mark.parametrize(("server", "nics"), [(3, 1), (0, 1), (2, 3), (2, 0)])
def test_what_the_machine_has_not_is_refused(server: int, nics: int) -> None:
    with pytest.raises(LabError, match="placement: (cores|nics) = "):
        place(server, nics, machine(2))


@pytest.mark.parametrize(
    ("core", "mask"), [(0, "1"), (1, "2"), (31, "80000000"), (32, "1,00000000"), (65, "2,00000000,00000000")]
)
def test_core_masks_as_the_kernel_writes_them(core: int, mask: str) -> None:
    """Format of lib/bitmap: groups of eight hexadecimal digits, most significant first."""
    assert core_mask(core) == mask
