"""A series of runs that is gone on with, and what processes, groups and disks take for a request."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sojourn.errors import InputError, RunFolderError
from sojourn.load.http_load import http_load
from sojourn.runs.run_folder import RunFolder
from sojourn.runs.run_series import SERIES_LOAD, contents, differences, kept
from sojourn.runs.watched_resources import WatchedResources, demands, watched

URL = "http://127.0.0.1:1/x"
LIKE = {"machine": {"kernel": "6.1", "cores": 2, "sojourn": "0.1.0"}, "conditions": {"every_s": 0.1}}


def loads(**options: Any) -> dict[str, dict[str, Any]]:
    return {f"rate-{r}": http_load([URL], rate_per_s=float(r), seed=r, **options) for r in (10, 20, 30)}


def make(path: Path, load: dict[str, Any], status: str = "complete", **changed: Any) -> None:
    path.mkdir(parents=True)
    manifest = {"format": "sojourn-run", "version": 1, "status": status, "load": load, **LIKE, **changed}
    (path / "manifest.json").write_text(json.dumps(manifest))


def test_what_is_there_is_kept_and_what_was_cut_off_measured_again(tmp_path: Path) -> None:
    runs = loads()
    assert kept(tmp_path / "none", runs, LIKE) == {} and kept(tmp_path, runs, LIKE) == {}, "no folder, an empty folder"
    make(tmp_path / "rate-10", runs["rate-10"])
    make(tmp_path / "rate-20", runs["rate-20"], "cut off")
    make(tmp_path / "rate-99", http_load([URL], rate_per_s=99.0))
    assert list(kept(tmp_path, runs, LIKE)) == ["rate-10"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rate-10", "rate-99"]


def test_a_run_that_was_cut_off_may_say_what_of_its_load_must_be_alike(tmp_path: Path) -> None:
    """While it is made, its load is the generator's own: of a system that tells another one, that would be another series."""
    asked = {"lanes": [{}], "path": "nfs"}
    make(tmp_path / "one", loads()["rate-10"], "running", **{SERIES_LOAD: asked})
    make(tmp_path / "two", asked, **{SERIES_LOAD: asked})
    assert list(kept(tmp_path, {"one": asked, "two": asked}, LIKE)) == ["two"] and not (tmp_path / "one").exists()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"load": loads(timeout_s=3.0)["rate-10"]}, "load.timeout_s is 3.0 there and 10.0 here"),
        (
            {"load": loads(method="POST")["rate-10"]},
            'load.lanes[0].targets[0].method is "POST" there and not said here',
        ),
        ({"load": loads(connections=8)["rate-10"]}, "load.lanes[0].connections is 8 there and 64 here"),
        ({"load": http_load([URL], users=3)}, "load.lanes[0].arrivals.kind is not said there"),
        ({"machine": {**LIKE["machine"], "kernel": "5.10"}}, 'machine.kernel is "5.10" there and "6.1" here'),
        ({"machine": {**LIKE["machine"], "cores": 8}}, "machine.cores is 8 there and 2 here"),
        ({"machine": {**LIKE["machine"], "sojourn": "0.0.9"}}, 'machine.sojourn is "0.0.9" there'),
        ({"conditions": {"every_s": 1.0}}, "every_s is 1.0 there and 0.1 here"),
    ],
)
def test_a_mixture_is_refused_and_told(tmp_path: Path, change: dict[str, Any], told: str) -> None:
    make(tmp_path / "rate-20", **{"load": loads()["rate-20"], **change})
    with pytest.raises(RunFolderError) as error:
        kept(tmp_path, loads(), LIKE)
    assert told in str(error.value) and "rate-20" in str(error.value) and "another --out" in str(error.value)


def test_level_and_seed_may_differ() -> None:
    one, other = ({**LIKE, "load": load} for load in list(loads().values())[:2])
    assert differences(one, other) == []


def test_a_folder_of_something_else(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("")
    for where in (tmp_path, tmp_path / "thesis.tex"):
        with pytest.raises(RunFolderError, match="other things than runs"):
            kept(where, loads(), LIKE)
    assert (tmp_path / "thesis.tex").exists()


def test_bodies_are_known_by_their_contents(tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(b"abc")
    load = http_load([URL], rate_per_s=1.0, method="POST", body=f"@{tmp_path}/b")
    # FIPS 180-4: SHA-256 of "abc".
    assert contents(load) == {f"{tmp_path}/b": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}
    assert contents(http_load([URL], rate_per_s=1.0)) == {}


def test_demands_are_utilisation_over_throughput(tmp_path: Path) -> None:
    """100 requests in 10 s; two processes busy 0.2 and 0.3 s a second, a group 0.5, a disk 0.1: X is 10/s, so 20 ms …"""
    intended = [k / 10 for k in range(100)]
    pl.DataFrame({
        "intended_s": intended, "sent_s": intended, "received_s": [float("nan")] * 100,
        "done_s": [t + 0.01 for t in intended], "failure": [0] * 100,
    }).write_parquet(tmp_path / "requests.parquet")  # fmt: skip
    rows = []
    for second in range(11):
        counters = [
            ("procs", "7", "run_s", 5 + 0.2 * second),
            ("procs", "8", "run_s", 0.3 * second),
            ("cgroups", "app", "usage_s", 0.5 * second),
            ("disks", "vda", "io_ms", 100.0 * second),
        ]
        rows += [(float(second), *counter) for counter in counters]
    pl.DataFrame(rows, schema=["t_s", "source", "key", "item", "value"], orient="row").write_parquet(
        tmp_path / "host.parquet"
    )
    folder = RunFolder(tmp_path, {"window_s": [0.0, 10.0]})
    found = demands(folder, WatchedResources((7, 8, 9), ("app",), ("vda",)))
    assert found == pytest.approx(
        {"process 7": 0.02, "process 8": 0.03, "processes": 0.05, "cgroup app": 0.05, "disk vda": 0.01}
    )
    assert demands(folder, WatchedResources()) == {}


def test_what_is_not_there_to_be_watched(tmp_path: Path) -> None:
    proc, groups = tmp_path / "proc", tmp_path / "cgroup"
    (proc / "7").mkdir(parents=True)
    (proc / "diskstats").write_text(" 254 0 vda 1 2 3\n")
    (groups / "cpuacct/app.slice").mkdir(parents=True)
    found = watched("7", ["/app.slice/"], ["vda"], proc, groups)
    assert found == WatchedResources((7,), ("app.slice",), ("vda",)) and found.roles() == {"process 7": 7}
    assert watched(None, [f"{groups}/cpuacct"], None, proc, groups).cgroups == ("cpuacct",)
    for arguments, parts in (
        (("8", None, None), ("--service-pids", "no process 8")),
        (("x", None, None), ("--service-pids", "'x'")),
        (("0", None, None), ("--service-pids", "no process 0")),
        ((None, ["no.slice"], None), ("--service-cgroup", "no control group no.slice")),
        ((None, ["../proc"], None), ("--service-cgroup", "no control group ../proc")),
        ((None, None, ["sda"]), ("--service-disk", "no disk sda", "vda")),
    ):
        with pytest.raises(InputError) as error:
            watched(*arguments, proc, groups)  # type: ignore[misc]
        assert all(part in str(error.value) for part in parts), error.value
