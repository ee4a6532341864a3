"""Loads of block I/O, live: what is held, what is verified, what is refused, and that nothing is left."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from sojourn.errors import InputError, ServiceError, SojournError
from sojourn.load.block_load import block_load
from sojourn.measure.execute_run import execute
from sojourn.runs.run_folder import RunFolder

pytestmark = pytest.mark.live


def load(folder: Path, url: str, **options: Any) -> RunFolder:
    options = {"iops": 500.0, "duration_s": 1.0, "timeout_s": 3.0} | options
    return execute(folder / "run", block_load(url, **options), what={"name": "run"})


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """A file of 8 MiB."""
    path = tmp_path / "img"
    path.write_bytes(os.urandom(1 << 20) * 8)
    return path


@pytest.mark.parametrize("engine", ["auto", "psync"])
def test_a_file_is_read_written_flushed_and_verified(tmp_path: Path, image: Path, engine: str) -> None:
    run = load(
        tmp_path, f"file:{image}", engine=engine, read=0.5, block="4k:1,8k:1", span="2m", verify=True, fsync_every=50, fua_every=20
    )  # fmt: skip
    storage = run.manifest["storage"]
    expected = 500.0  # of a Poisson process
    assert abs(storage["due"] - expected) < 4 * expected**0.5
    assert storage["completed"] == storage["reads"] + storage["writes"] > 0.8 * storage["due"]
    generator = run.manifest["generator"]
    assert (generator["failed"], generator["ok"]) == (0, generator["requested"])
    assert 0 < storage["flushes"] <= generator["ok"] - storage["due"] <= storage["due"] // 50
    assert (storage["wrong"], storage["refused"], storage["errors"]) == (0, 0, {})
    assert storage["verified"] + storage["not_compared"] >= storage["reads"] > storage["not_compared"]
    assert 0 < storage["reaps"] <= storage["due"] + storage["flushes"]
    assert "cached" in storage["status"], "a file that was just written is in the page cache"
    frame = run.frame("requests")
    assert frame is not None
    # within 1 s of the schedule, whatever comes of them
    assert frame["intended_s"].max() - frame["intended_s"].min() < 1.0  # type: ignore[operator]
    assert image.stat().st_size == 8 << 20


def test_a_new_file_is_made_as_long_as_its_span(tmp_path: Path) -> None:
    run = load(tmp_path, f"file:{tmp_path / 'new'}", span="4m", read=0.5, block="8k")
    assert (tmp_path / "new").stat().st_size == 4 << 20
    assert run.manifest["storage"]["span_bytes"] == 4 << 20


@pytest.mark.parametrize(
    ("url", "options", "said"),
    [
        ("file:{folder}/none", {}, "No such file"),
        ("file:{folder}", {}, "regular file"),
        ("file:{image}", {"span": "16m"}, "below the span"),
        ("file:{image}", {"block": "1000"}, "multiple of 512"),
        ("file:{image}", {"block": "32m"}, "512 bytes to 16 MiB"),
        ("file:{image}", {"span": "4k", "block": "8k"}, "hold a block"),
        ("file:{image}", {"depth": 0}, "--queue-depth"),
        ("file:{image}", {"read": 1.5}, "--read-fraction"),
        ("file:{image}", {"iops": 1000.0, "arrivals": "constant"}, "tick"),
        ("blk:{image}", {}, "no block device"),
        ("blk:/dev/null", {"read": 0.5}, "--allow-writes-to"),
        ("nbd://127.0.0.1:1", {}, "nothing listens there"),
        ("nbd://127.0.0.1:1", {"direct": True}, "--direct"),
        ("nbd://127.0.0.1:0", {}, "port"),
    ],
)
def test_bad_input_is_one_error_and_leaves_nothing(
    tmp_path: Path, image: Path, url: str, options: dict[str, Any], said: str
) -> None:
    before = image.read_bytes()
    with pytest.raises((InputError, ServiceError), match=said):
        load(tmp_path, url.format(folder=tmp_path, image=image), **options)
    assert not (tmp_path / "run").exists()
    assert image.read_bytes() == before


def test_direct_io_below_the_devices_block_is_refused(tmp_path: Path, image: Path) -> None:
    try:
        os.close(os.open(image, os.O_RDONLY | os.O_DIRECT))
    except OSError:
        with pytest.raises(SojournError, match="O_DIRECT"):
            load(tmp_path, f"file:{image}", direct=True)
        return
    run = load(tmp_path, f"file:{image}", direct=True, read=0.5, span="2m", verify=True)
    assert run.manifest["storage"]["wrong"] == 0


def test_a_mounted_device_is_refused(tmp_path: Path) -> None:
    mounts = [line.split()[0] for line in Path("/proc/self/mounts").read_text().splitlines()]
    devices = [name for name in mounts if name.startswith("/dev/") and Path(name).is_block_device()]
    if not devices or os.geteuid():
        pytest.skip("no mounted block device, or no root")
    with pytest.raises(InputError, match="is mounted at"):
        load(tmp_path, f"blk:{devices[0]}")
