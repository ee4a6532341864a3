"""The proxy's histograms as files: response times in bins by period, and a standard HdrHistogram log at the end."""

from __future__ import annotations

import base64
import struct
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from kv_cluster import Memcached, Proxy, needs_memcached

from sojourn.errors import SojournError
from sojourn.runs.record_logs import read_log

pytestmark = [pytest.mark.live, needs_memcached]
COUNT = 300


@pytest.fixture(scope="module")
def servers() -> Iterator[list[Memcached]]:
    started = [Memcached() for _ in range(2)]
    yield started
    for server in started:
        server.stop()


def counts_of(encoded: str) -> tuple[int, int]:
    """Values in a V2 histogram, and its unit of magnitude, by the format's own description (HdrHistogram, V2 encoding):
    16-byte-headed zlib; zigzag LEB128 counts, negative ones are runs of empty places."""
    cookie, length = struct.unpack(">II", base64.b64decode(encoded)[:8])
    assert cookie & ~0xF0 == 0x1C849304
    data = zlib.decompress(base64.b64decode(encoded)[8 : 8 + length])
    _, payload, _, digits = struct.unpack(">IIII", data[:16])
    total, at, end = 0, 40, 40 + payload
    while at < end:
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            if shift == 56:  # the ninth byte has all its bits
                value |= byte << shift
                break
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        number = (value >> 1) ^ -(value & 1)
        total += max(number, 0)
    return total, digits


def tagged(path: Path) -> dict[str, tuple[float, str]]:
    """By tag: the maximum in ms, and the encoded histogram."""
    found = {}
    for line in path.read_text().splitlines():
        if line.startswith(("#", '"')):
            continue
        tag = line.split(",", 1)[0] if line.startswith("Tag=") else ""
        *_, most, encoded = line.split(",")
        found[tag] = (float(most), encoded)
    return found


@pytest.mark.parametrize("design", ["direct", "staged"])
def test_bins_and_histograms_have_every_response(design: str, servers: list[Memcached], tmp_path: Path) -> None:
    bins, log = tmp_path / "bins.rec", tmp_path / "proxy.hlog"
    proxy = Proxy(servers, design=design, workers=4, bins=str(bins), histogram=str(log), period_s=0.05)
    with proxy.talk() as talk:
        for k in range(COUNT):
            assert talk.ask(b"set n%d 0 0 1\r\nx\r\n" % k) == b"STORED\r\n"
            if k == COUNT // 2:
                time.sleep(0.2)  # more than a period
    summary = proxy.stop()
    rows, meta = read_log(bins)
    assert meta["config"]["design"] == design
    assert rows["count"].sum() == sum(summary["bins"]) + summary["overflow"] == COUNT
    assert rows["t_s"].n_unique() >= 2
    assert ((rows["high_s"] - rows["low_s"]) > 0).all()
    middle = (rows["low_s"] + rows["high_s"]) / 2
    mean = float((middle * rows["count"]).sum()) / COUNT
    assert mean == pytest.approx(summary["response"]["mean_s"], abs=5e-5)
    steps = rows.group_by((pl.col("low_s") / 1e-4 + 1e-6).cast(pl.Int64).alias("step")).agg(pl.col("count").sum())
    assert dict(steps.iter_rows()) == {k: n for k, n in enumerate(summary["bins"]) if n}

    found = tagged(log)
    assert set(found) == {"", "Tag=queue", "Tag=service"}
    for tag, name in (("", "response"), ("Tag=queue", "queue"), ("Tag=service", "service")):
        most, encoded = found[tag]
        assert counts_of(encoded) == (COUNT, 3)
        # the log prints milliseconds with three digits
        assert most == pytest.approx(1e3 * summary[name]["max_s"], rel=2e-3, abs=6e-4)


def test_a_histogram_that_cannot_be_written_is_an_error_at_the_start(servers: list[Memcached], tmp_path: Path) -> None:
    with pytest.raises(SojournError, match="nowhere/proxy.hlog"):
        Proxy(servers, histogram=str(tmp_path / "nowhere/proxy.hlog"))
