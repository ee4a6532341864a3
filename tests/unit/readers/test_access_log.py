"""Which number of a line of an access log is the time of the request."""

from __future__ import annotations

from pathlib import Path

import pytest

from sojourn.readers import read_observations

BEGIN = '10.0.0.1 - - [26/Nov/2026:16:00:00 +0000] "GET / HTTP/1.1" 200 612 '


@pytest.mark.parametrize(
    "end",
    [
        '"-" "curl" 0.250 1795708800.120',
        '"-" "curl" 0.111 rt=0.250 1795708800.120',  # of the upstream, in front of it
        '"-" "curl" "0.111" rt="0.250" 1795708800.120',
        '"-" "curl" 0.111 request_time=0.250 1795708800.120',
        '"-" "a browser 1.234 of somebody" 0.250 1795708800.120',
        '"-" "one that says rt=9.999 here" rt=0.250 1795708800.120',
        '"-" "with \\" 1.234 \\" in it" 0.250 1795708800.120',
        '"http://x/?t=1700000000.000" "curl" 0.250 1795708800.120',
        '"-" "curl" 0.250 "1795708800.120"',
        '"-" "curl" 0.250 0.111 1795708800.120',  # the first one where none is named
    ],
)
def test_the_time_of_a_request(end: str, tmp_path: Path) -> None:
    (path := tmp_path / "access.log").write_text(f"{BEGIN}{end}\n" * 3)
    (found,) = read_observations(path)
    assert found.requests is not None and found.requests.response_s.tolist() == [0.25] * 3
    assert found.start_s == pytest.approx(1795708799.870, abs=1e-3) and found.stamp_s == 1e-3
