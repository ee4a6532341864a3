"""Run folders that are whole, cut off, empty, damaged, or from another version."""

import json
import os
import stat
import struct
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from sojourn.errors import RunFolderError, StorageFull
from sojourn.files import writing
from sojourn.runs import manifest
from sojourn.runs.core_utilisation import busy_shares
from sojourn.runs.host_samples import core_shares, counter_changes, read_samples
from sojourn.runs.record_logs import read_log, write_parquet
from sojourn.runs.run_folder import RunFolder, run_folders

COLUMNS = [["intended_s", "f8"], ["sent_s", "f8"], ["received_s", "f8"], ["done_s", "f8"], ["failure", "u1"]]


def log(path: Path, rows: int, cut: int = 0, version: int = 1) -> None:
    header = {"format": "sojourn-record", "version": version, "columns": COLUMNS, "meta": {"classes": ["page"]}}
    data = b"".join(struct.pack("<ddddB", k, k, k, k, 0) for k in range(rows))
    path.write_bytes(json.dumps(header).encode() + b"\n" + data[: len(data) - cut])


def cut_off_run(path: Path) -> None:
    """A folder as kill -9 leaves it: a manifest that says running, of a process that is gone."""
    path.mkdir()
    manifest = {"format": "sojourn-run", "version": 1, "status": "running", "pid": 2**22 + 1, "factors": {}}
    (path / "manifest.json").write_text(json.dumps(manifest))


def test_a_run_that_was_killed_is_readable_and_marked(tmp_path: Path) -> None:
    cut_off_run(tmp_path / "run")
    log(tmp_path / "run/requests.rec", rows=5, cut=3)
    folder = RunFolder.open(tmp_path / "run")
    assert folder.manifest["status"] == "cut off"
    assert not folder.manifest["valid"]
    requests = folder.frame("requests")
    assert requests is not None
    assert requests["intended_s"].to_list() == [0, 1, 2, 3]
    assert RunFolder.open(tmp_path / "run").frame("requests") is not None


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in sorted(folder.iterdir())}


def test_reading_a_run_that_was_cut_off_writes_nothing(tmp_path: Path) -> None:
    """Nor through a link that somebody has put where a file was to be written; `complete` makes the same records Parquet."""
    run, precious = tmp_path / "run", tmp_path / "precious"
    cut_off_run(run)
    log(run / "requests.rec", rows=5, cut=3)
    samples(run / "host.ndjson")
    (run / "app.rec").touch()  # killed before its header was written
    precious.write_text("kept")
    for name in ("manifest.tmp", "requests.tmp", "host.tmp"):
        (run / name).symlink_to(precious)
    before = contents(run)
    folder = RunFolder.open(run)
    read = {name: folder.frame(name) for name in ("requests", "host", "app", "metrics")}
    assert (
        folder.manifest["status"] == "cut off" and folder.sample_every == 1 and folder.manifest["host"]["cores"] == [0]
    )
    assert read["app"] is None and read["metrics"] is None and read["host"] is not None and read["requests"] is not None
    assert [folder.has(name) for name in ("requests", "host", "app")] == [True, True, False]
    assert read["requests"]["intended_s"].to_list() == [0, 1, 2, 3] and read["host"]["t_s"].max() == 12
    assert contents(run) == before and precious.read_text() == "kept"
    folder.complete()
    assert {"requests.parquet", "host.parquet"} < contents(run).keys() and not (run / "requests.rec").exists()
    again = RunFolder.open(run)
    assert json.loads((run / "manifest.json").read_text()) == again.manifest == folder.manifest
    for name in ("requests", "host"):
        assert again.frame(name).equals(read[name])  # type: ignore[union-attr, arg-type]
    assert precious.read_text() == "kept"


def test_samples_that_are_added_to_the_file_are_seen(tmp_path: Path) -> None:
    """By the folder that wrote it, which has its own in memory, too."""
    cut_off_run(tmp_path / "run")
    log(tmp_path / "run" / "requests.rec", rows=5)
    samples(tmp_path / "run" / "host.ndjson")
    folder = RunFolder.open(tmp_path / "run")
    folder.complete()
    host = folder.frame("host")
    assert host is not None
    write_parquet(pl.concat([host, host.with_columns(source=pl.lit("another"))]), tmp_path / "run" / "host.parquet")
    found = folder.frame("host")
    assert found is not None and found["source"].to_list().count("another") == host.height


def test_a_run_folder_is_its_user_s_alone(tmp_path: Path) -> None:
    path = RunFolder.create(tmp_path / "new/run", {}).path
    assert stat.S_IMODE(path.stat().st_mode) == 0o700


def test_a_log_whose_rows_got_heavier_becomes_a_systematic_sample(tmp_path: Path) -> None:
    """Requests 0 to 9 have a row each, then every second, then every fourth: left is every fourth from the first on."""
    cut_off_run(tmp_path / "run")
    rows = [(k, 1) for k in range(10)] + [(k, 2) for k in range(10, 20, 2)] + [(k, 4) for k in range(20, 37, 4)]
    columns = [*COLUMNS, ["weight", "u4"]]
    header = {"format": "sojourn-record", "version": 1, "columns": columns, "meta": {}}
    data = b"".join(struct.pack("<ddddBI", *[at] * 4, 0, weight) for at, weight in rows)
    (tmp_path / "run/requests.rec").write_bytes(json.dumps(header).encode() + b"\n" + data)
    folder = RunFolder.open(tmp_path / "run")
    requests = folder.frame("requests")
    assert requests is not None
    assert requests["intended_s"].to_list() == list(range(0, 37, 4))
    assert requests["weight"].unique().to_list() == [4] == [folder.sample_every]


def test_a_log_of_another_version_is_refused(tmp_path: Path) -> None:
    log(tmp_path / "x.rec", rows=1, version=9)
    with pytest.raises(RunFolderError, match="version 9.*reads sojourn-record version 1"):
        read_log(tmp_path / "x.rec")


def test_what_is_no_log_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.rec").write_bytes(b"\x00\x01")
    with pytest.raises(RunFolderError, match="not a record log"):
        read_log(tmp_path / "x.rec")


def test_folders_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match="no such folder"):
        RunFolder.open(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(RunFolderError, match="empty folder"):
        RunFolder.open(tmp_path / "empty")
    (tmp_path / "other").mkdir()
    (tmp_path / "other/manifest.json").write_text('{"format": "sojourn-run", "version": 7}')
    with pytest.raises(RunFolderError, match="version 7"):
        RunFolder.open(tmp_path / "other")
    (tmp_path / "other/manifest.json").write_text("{")
    with pytest.raises(RunFolderError, match="not a manifest"):
        RunFolder.open(tmp_path / "other")
    with pytest.raises(RunFolderError, match="no run folder"):
        run_folders([tmp_path / "empty"])


def test_a_folder_that_exists_is_not_written_over(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match="the folder exists"):
        RunFolder.create(tmp_path, {})


def test_a_full_disk_is_named_and_leaves_no_half_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """/dev/full refuses every write, as a full disk does."""
    folder = RunFolder.create(tmp_path / "run", {})
    monkeypatch.setattr(writing, "NEW", os.O_WRONLY)
    monkeypatch.setattr(writing, "_name", lambda: "full")
    new = tmp_path / "run/.full.new"
    for write in (folder.save, lambda: write_parquet(pl.DataFrame({"a": [1]}), folder.path / "requests.parquet")):
        new.symlink_to("/dev/full")
        with pytest.raises(StorageFull, match="No space left on device.*free space"):
            write()
        assert not new.is_symlink()
    assert json.loads((tmp_path / "run/manifest.json").read_text())["status"] == "running"


def samples(path: Path) -> None:
    """Two seconds: core 0 has 0.5 s softirq, 0.3 s user, 1.2 s spinner; the spinner itself got 1.25 s."""

    def line(t: float, k: float) -> str:
        cpu = {
            "user": 0.3 * k,
            "nice": 1.2 * k,
            "system": 0,
            "idle": 0,
            "iowait": 0,
            "irq": 0,
            "softirq": 0.5 * k,
            "steal": 0,
        }
        threads = {
            "7": {"name": "spin", "run_s": 0.0, "wait_s": 0, "core": 0},
            "8": {"name": "spin-0", "run_s": 1.25 * k, "wait_s": 0, "core": 0},
        }
        return json.dumps(
            {"t_s": t, "cpu": {"0": cpu}, "ctxt": 5, "procs": {"7": {"run_s": 1.25 * k, "threads": threads}}}
        )

    header = json.dumps({"format": "sojourn-host", "version": 1, "cores": [0]})
    path.write_text("\n".join([header, line(10.0, 0), line(11.0, 0.5), line(12.0, 1), '{"t_s": 12.1, "cp']))


def test_shares_of_a_core_worked_by_hand(tmp_path: Path) -> None:
    samples(tmp_path / "host.ndjson")
    host, header = read_samples(tmp_path / "host.ndjson")
    assert header["cores"] == [0]
    share = core_shares(host, 10, 12)[0]
    assert share["softirq"] == pytest.approx(0.25)
    assert share["busy"] == pytest.approx(0.4)
    manifest = {
        "pids": {"spinners": 7},
        "at_rest": {"0": 0.025},
        "placement": {"server": [0], "interrupts": [0], "client": [0], "client_shares": True},
    }
    assert busy_shares(host, manifest, np.array([10.0, 12.0]))[0] == pytest.approx(1 - 1.25 / 2 - 0.025)


def test_a_counter_that_was_reset_makes_no_nonsense() -> None:
    host = pl.DataFrame(
        {"t_s": [0.0, 1.0, 2.0], "source": ["ctxt"] * 3, "key": [""] * 3, "item": [""] * 3, "value": [5.0, 9.0, 1.0]}
    )
    assert counter_changes(host, 0, 2).is_empty()


def test_no_host_samples(tmp_path: Path) -> None:
    (tmp_path / "host.ndjson").write_text("")
    with pytest.raises(RunFolderError, match="no host samples"):
        read_samples(tmp_path / "host.ndjson")


def test_what_falls_between_samples_and_the_ends_of_a_window_counts() -> None:
    """0, 10 and 14 at 0, 1 and 2 s: half of the 10 and half of the 4 in a window from 0.5 to 1.5 s; 4 in what is covered of 1 to 9 s."""
    host = pl.DataFrame(
        {"t_s": [0.0, 1.0, 2.0], "source": ["x"] * 3, "key": [""] * 3, "item": [""] * 3, "value": [0.0, 10.0, 14.0]}
    )
    for window, expected in (((0.5, 1.5), (7.0, 1.0)), ((1.0, 9.0), (4.0, 1.0)), ((0.2, 0.3), (1.0, 0.1))):
        assert counter_changes(host, *window).select("change", "over_s").row(0) == pytest.approx(expected)
    assert counter_changes(host, 3, 4).is_empty()


def test_a_manifest_of_an_older_version_is_made_one_of_this(monkeypatch: pytest.MonkeyPatch) -> None:
    """Step by step; what nobody knows a way from is refused by its version."""

    def renamed(found: dict[str, object]) -> None:
        found["factors"] = found.pop("levels")
        found["version"] = -1

    monkeypatch.setattr(manifest, "MIGRATIONS", {-2: renamed, -1: lambda found: found.update(version=1)})
    old = {"format": "sojourn-run", "version": -2, "levels": {"cores": 2}}
    assert manifest.read_manifest(old, Path("m")) == {
        "format": "sojourn-run", "version": 1, "factors": {"cores": 2}, "status": "complete",
    }  # fmt: skip
    with pytest.raises(RunFolderError, match="sojourn-run version -3; this program reads sojourn-run version 1"):
        manifest.read_manifest({**old, "version": -3}, Path("m"))


def test_the_round_trip_of_a_key_value_run_is_a_table(tmp_path: Path) -> None:
    """What the middleware's study writes; a run of it on hosts of its own could not be opened."""
    cut_off_run(tmp_path / "run")
    told = json.loads((tmp_path / "run/manifest.json").read_text()) | {"ping": {"median_s": 1e-4, "p99_s": 3e-4}}
    (tmp_path / "run/manifest.json").write_text(json.dumps(told))
    assert RunFolder.open(tmp_path / "run").manifest["ping"]["median_s"] == 1e-4


def test_a_full_disk_behind_an_error_of_polars_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Found by benches/faults: where the last bytes of a Parquet file had no room, its text was "Invalid thrift: transport error"."""

    def refused(*_: object, **__: object) -> None:
        raise pl.exceptions.ComputeError("parquet: File out of specification: Invalid thrift: transport error")

    monkeypatch.setattr(pl.DataFrame, "write_parquet", refused)
    with pytest.raises(RunFolderError, match="Invalid thrift") as other:
        write_parquet(pl.DataFrame({"a": [1]}), tmp_path / "a.parquet")
    assert not isinstance(other.value, StorageFull)
    monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result((4096, 4096, 10, 1, 0, 5, 5, 5, 0, 255)))
    with pytest.raises(StorageFull, match="No space left on device"):
        write_parquet(pl.DataFrame({"a": [1]}), tmp_path / "a.parquet")
    assert list(tmp_path.iterdir()) == []
