"""The storage study in guests, as short as can be: a disk, NFS and iSCSI, each under a load, and nothing left."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from machine import made_by_labs

from sojourn.lab.guest import PREFIX as GUEST
from sojourn.lab.guest_parts import guest_parts
from sojourn.study.system import Point
from sojourn_cases.storage.iscsi_guests import ISCSI, login_program
from sojourn_cases.storage.storage_guest_pair import PATHS, PREFIX, lacking
from sojourn_cases.storage.storage_guests import StorageGuests, StorageGuestsLoad, StorageGuestsOptions
from sojourn_cases.storage.storage_system import DISTURBED

pytestmark = [pytest.mark.live, pytest.mark.alone, pytest.mark.lab]
MISSING = lacking(guest_parts(), "tcg")


@pytest.mark.skipif(bool(MISSING), reason=MISSING)
def test_a_disk_nfs_and_iscsi_in_guests(tmp_path: Path) -> None:
    """iSCSI only where open-iscsi is installed."""
    before = set(made_by_labs())
    paths = [*PATHS, *([ISCSI] if login_program() else [])]
    system = StorageGuests(
        StorageGuestsOptions(guest="tcg", size="8Mi", folder=str(tmp_path), paths=paths),
        StorageGuestsLoad(duration_s=1.0),
        tmp_path,
    )
    found = {}
    with system.place() as place, system.open(place) as session:
        for path, iops in (*((one, 40) for one in paths), ("local", 0)):
            point = Point("x", system.settled({"path": path, "iops": iops, "read": 0.5}, "x"))
            found[path if iops else "rest"] = session.run(point, tmp_path / f"{path}{iops}", 1)
    for path in paths:
        told = found[path].manifest["storage"]
        assert told["verdict"] in ("", DISTURBED), found[path].manifest["reasons"]
        assert told["reads"] > 0 and told["writes"] > 0 and told["errors"] == {} and told["cache_share"] == 0.0
        assert 0 < told["guest_cores"] < 1 and told["hypervisor_cores"] > 0
        requests = found[path].frame("requests")
        start_s, end_s = (found[path].manifest[name]["monotonic_s"] for name in ("start", "end"))
        assert requests is not None and requests["intended_s"].is_between(start_s, end_s).all(), "on the host's clock"
    local, nfs, rest = (found[name].manifest["storage"] for name in ("local", "nfs", "rest"))
    # the server does nothing for a disk of the client
    assert nfs["server_guest_cores"] > 2 * local["server_guest_cores"] and rest["guest_cores"] < local["guest_cores"]
    if ISCSI in found:
        assert found[ISCSI].manifest["storage"]["server_guest_cores"] > 2 * local["server_guest_cores"]
    assert found["local"].manifest["lab"]["kernel"][0].isdigit()
    assert set(made_by_labs()) <= before
    assert not [*tmp_path.glob(f"{PREFIX}*"), *Path(tempfile.gettempdir()).glob(f"{GUEST}*")]
