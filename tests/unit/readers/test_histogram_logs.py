"""Interval logs of other programs, written here by hand after the format's description."""

from __future__ import annotations

import base64
import gzip
import struct
import zlib
from pathlib import Path

import pytest

from sojourn.errors import InputError
from sojourn.readers import histogram_log, read_observations

FIRST = "#[Histogram log format version 1.3]\n"


def line(body: bytes, start: int = 0) -> str:
    """An interval of a second, of three digits."""
    plain = struct.pack(">iiiiqqd", 0x1C849313, len(body), 0, 3, 1, 3_600_000_000_000, 1.0) + body
    packed = zlib.compress(plain)
    text = base64.b64encode(struct.pack(">ii", 0x1C849314, len(packed)) + packed).decode()
    return f"{start}.000,1.000,0.0,{text}\n"


def written(folder: Path, text: str) -> Path:
    (path := folder / "latency.hlog").write_text(FIRST + text)
    return path


# zig-zag: -1000 is 1999, two bytes; the bucket at 1000 ns holds 3, zig-zag 6
SKIP_1000, THREE = bytes([0x80 | (1999 & 0x7F), 1999 >> 7]), bytes([6])


def test_packed_by_gzip(tmp_path: Path) -> None:
    (path := tmp_path / "latency.hlog.gz").write_bytes(gzip.compress((FIRST + line(SKIP_1000 + THREE)).encode()))
    (found,) = read_observations(path)
    assert found.completed == 3 and found.mean_s == pytest.approx(1000.5e-9)


def test_a_few_bytes_that_unpack_to_many_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="more than 8 MiB"):
        read_observations(written(tmp_path, line(bytes(9 << 20))))


def test_more_buckets_than_fit_into_memory_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, "".join(line(THREE * 10, k) for k in range(20)))
    assert read_observations(path)[0].completed == 600
    monkeypatch.setattr(histogram_log, "MOST_BUCKETS", 1000)
    with pytest.raises(InputError, match="more than 1000 buckets"):
        read_observations(path)


def test_counts_that_no_log_has_do_not_begin_again_at_zero(tmp_path: Path) -> None:
    """Four times 2^62: as whole numbers of 64 bits their sum is 0. Zig-zag 2^63: eight times 7 bits of 0, then the ninth byte as it is."""
    with pytest.raises(InputError, match="completed is"):
        read_observations(written(tmp_path, line((b"\x80" * 8 + b"\x80") * 4)))
