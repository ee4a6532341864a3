"""HdrHistogram logs, written here by hand after the format's description; and run folders that have nothing else."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest

from sojourn.errors import RunFolderError
from sojourn.query import query
from sojourn.runs.interval_log import read_interval_log


def word(number: int) -> bytes:
    """LEB128 of a zig-zag number, as the format has it."""
    left, out = (number << 1) ^ (number >> 63), b""
    while True:
        left, part = left >> 7, left & 0x7F
        out += bytes([part | (0x80 if left else 0)])
        if not left:
            return out


def line(counts: dict[int, int], start: int, tag: str = "") -> str:
    """An interval of a second; `counts` by index."""
    body, at = b"", 0
    for index, count in sorted(counts.items()):
        body += (word(at - index) if index > at else b"") + word(count)
        at = index + 1
    plain = struct.pack(">iiiiqqd", 0x1C849313, len(body), 0, 3, 1, 3_600_000_000_000, 1.0) + body
    packed = zlib.compress(plain)
    text = base64.b64encode(struct.pack(">ii", 0x1C849314, len(packed)) + packed).decode()
    return (f"Tag={tag}," if tag else "") + f"{start}.000,1.000,0.0,{text}"


def index_of(time_ns: int) -> int:
    """Three digits: 2048 buckets of 1, then 1024 each of 2, 4, 8 …"""
    shift = max(0, time_ns.bit_length() - 11)
    return (shift << 10) + (time_ns >> shift)


def test_buckets_are_where_the_format_has_them(tmp_path: Path) -> None:
    file = tmp_path / "latency.hlog"
    times = [0, 1, 2047, 2048, 2049, 5_000, 1_000_000, 123_456_789]
    file.write_text("#[Histogram log format version 1.3]\n" + line({index_of(t): 1 for t in times}, 0, "sent") + "\n")
    (found,) = read_interval_log(file)
    assert (found.tag, found.start_s, found.length_s) == ("sent", 0.0, 1.0)
    # 2048 and 2049 share the first bucket of width 2
    wanted = [
        (0, 1),
        (1, 2),
        (2047, 2048),
        (2048, 2050),
        (5000, 5004),
        (999_936, 1_000_448),
        (123_404_288, 123_469_824),
    ]
    assert [(round(a * 1e9), round(b * 1e9)) for a, b in zip(found.low_s, found.high_s, strict=True)] == wanted


@pytest.mark.parametrize("text", ["0.0,1.0,2.0", "0.0,1.0,2.0,!!!", "a,b,c,HISTFAAA", "0.0,1.0,2.0,AAAAAAAAAAA="])
def test_a_damaged_line_is_named(tmp_path: Path, text: str) -> None:
    file = tmp_path / "latency.hlog"
    file.write_text(f"#\n{text}\n")
    with pytest.raises(RunFolderError, match="latency.hlog:2"):
        read_interval_log(file)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """40 s of 100 answers each, exponential with a mean of 20 ms, and a failure a second at the time-out of 1 s."""
    draws = np.random.default_rng(3).exponential(0.02, size=(40, 100))
    lines = []
    for second, times in enumerate(draws):
        counts = {index_of(10**9): 1}
        for time in times:
            counts[index_of(int(time * 1e9))] = counts.get(index_of(int(time * 1e9)), 0) + 1
        lines += [line(counts, second), line(counts, second, "sent")]
    (tmp_path / "latency.hlog").write_text("\n".join(lines) + "\n")
    manifest = {
        "format": "sojourn-run", "version": 1, "status": "complete", "window_s": [5.0, 45.0], "load": {"timeout_s": 1.0},
        "generator": {"start_s": 5.0, "sample_every": 1},
    }  # fmt: skip
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    return tmp_path


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("p50(response)", 0.02 * np.log(1 / (1 - 0.505))),  # of 101 requests, one fails and is later than all
        ("probability(response <= 20ms)", (1 - np.exp(-1)) * 100 / 101),
        ("mean(response)", 0.02),  # of those that were answered
        ("mean(convolve(response{station=service}, response))", None),
    ],
)
def test_histograms_answer(folder: Path, text: str, truth: float | None) -> None:
    found = query(text, folder)
    if truth is None:  # one that never ends has no sum
        assert found.verdict == "cannot tell" and "happens only with a probability" in found.reason
        return
    assert found.low is not None and found.high is not None and found.low <= truth <= found.high
    assert found.high - found.low < 0.2 * truth


@pytest.mark.parametrize(
    "text", ["probability({n() > 3})", "p99(wait)", "p99{class=user}", "rate(departures)", "errors"]
)
def test_what_histograms_do_not_know_is_refused_by_name(folder: Path, text: str) -> None:
    found = query(text, folder)
    assert found.verdict == "cannot tell" and "histogram source" in found.reason and "requests" in found.reason
