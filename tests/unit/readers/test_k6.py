"""The stream of k6 and its summaries, in the forms that its documentation gives."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from sojourn.errors import InputError
from sojourn.readers import read_observations

METRIC = '{"type":"Metric","data":{"type":"trend","contains":"time","thresholds":[],"submetrics":null},"metric":"http_req_duration"}'


MEMORY = r"""
import re, sys
from sojourn.readers import read_observations
size = read_observations(sys.argv[1])[0].requests.start_s.size
print(size, re.search(r"VmHWM:\s+(\d+)", open("/proc/self/status").read())[1])
"""


def point(metric: str, time: str, value: float, ok: str = "true") -> str:
    tags = f'{{"expected_response":"{ok}","group":"","method":"GET","name":"http://x/","proto":"HTTP/1.1","scenario":"default","status":"200"}}'
    return f'{{"type":"Point","data":{{"time":"{time}","value":{value},"tags":{tags}}},"metric":"{metric}"}}'


LINES = [
    METRIC,
    point("http_req_duration", "2026-11-26T14:34:45.239531499+02:00", 100),
    point("http_req_blocked", "2026-11-26T14:34:45.239531499+02:00", 5),
    point("http_req_duration", "2026-11-26T14:34:45.3+02:00", 50, ok="false"),
    point("vus", "2026-11-26T14:34:45+02:00", 4),
    point("vus", "2026-11-26T14:34:46+02:00", 2),
    point("iteration_duration", "2026-11-26T14:34:46+02:00", 350),
    point("dropped_iterations", "2026-11-26T14:34:46+02:00", 7),
]


def test_a_point_ends_a_request(tmp_path: Path) -> None:
    (path := tmp_path / "k6.json").write_text("\n".join(LINES) + "\n")
    (found,) = read_observations(path)
    requests = found.requests
    assert requests is not None and requests.response_s.tolist() == pytest.approx([0.1, 0.05])
    # 14:34:45.2395 in +02:00 is 12:34:45.2395 UTC, 1795696485; the request began 100 ms before
    assert requests.start_s[0] % 86400 == pytest.approx(12 * 3600 + 34 * 60 + 45.139531, abs=1e-5)
    assert requests.ok.tolist() == [True, False]
    assert (found.users, found.dropped, found.open_loop) == (3.0, 7, True)
    assert found.think_s == pytest.approx((0.350 - 0.150) / 2)


def test_packed_by_gzip(tmp_path: Path) -> None:
    (path := tmp_path / "k6.json.gz").write_bytes(gzip.compress("\n".join(LINES).encode()))
    assert read_observations(path)[0].requests is not None
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match="cannot be unpacked"):
        read_observations(path)


def test_a_file_that_was_cut_off_names_its_line(tmp_path: Path) -> None:
    (path := tmp_path / "k6.json").write_text("\n".join(LINES)[:-20])
    with pytest.raises(InputError, match=r"k6\.json:8.*cut off"):
        read_observations(path)


@pytest.mark.parametrize("below", [True, False])
def test_summaries_of_both_versions(tmp_path: Path, below: bool) -> None:
    values = {
        "http_req_duration": {"avg": 12.5, "min": 1, "med": 10, "max": 90, "p(90)": 30, "p(95)": 40},
        "http_reqs": {"count": 1000, "rate": 100.0},
        "http_req_failed": {"rate": 0.02},
        "iterations": {"count": 500, "rate": 50.0},
        "iteration_duration": {"avg": 45.0},
        "vus_max": {"value": 8, "min": 8, "max": 8},
    }
    data = {"metrics": {name: {"type": "trend", "values": one} if below else one for name, one in values.items()}}
    (path := tmp_path / "summary.json").write_text(json.dumps(data))
    (found,) = read_observations(path)
    assert found.mean_s == 0.0125 and found.quantiles == {0.9: 0.03, 0.95: 0.04, 0.5: 0.01} and found.users == 8
    assert (found.completed, found.failed) == (980, 20)
    assert found.think_s == pytest.approx(0.01)  # 45/2 - 12.5 ms a request


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    """17 bytes are kept of a request, of which k6 writes a dozen lines of 250 bytes: 45 MB need at most 20 MB more than 4.5 MB do."""
    used = []
    for copies in (1_500, 15_000):
        other = "\n".join(
            point(f"http_req_{name}", "2026-11-26T14:34:45.239531499+02:00", 5)
            for name in ("blocked", "sending", "tls") * 4
        )
        (path := tmp_path / "k6.json").write_text((LINES[1] + "\n" + other + "\n") * copies)
        done = subprocess.run([sys.executable, "-c", MEMORY, str(path)], capture_output=True, text=True, check=True)
        size, kib = map(int, done.stdout.split())
        assert size == copies
        used.append(kib * 1024)
    assert path.stat().st_size > 40e6 and used[1] - used[0] < 20e6 and used[1] < 300e6
