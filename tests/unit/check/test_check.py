"""`check` on results of wrk and k6: expected values from the laws, worked by hand."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

import sojourn as sj
from sojourn.cli.app import command_line
from sojourn.cli.check import FORMATS
from sojourn.errors import InputError
from sojourn.readers import NAMES

# what the README of wrk printed as an example: 748868.53/s x 635.91 us = 476.2 requests at once, of 400 connections
WRK = """Running 30s test @ http://127.0.0.1:8080/index.html
  12 threads and 400 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   635.91us    0.89ms  12.92ms   93.69%
    Req/Sec    56.20k     8.07k   62.00k    86.54%
  22464657 requests in 30.00s, 17.76GB read
Requests/sec: 748868.53
Transfer/sec:    606.33MB
"""
TRUE = WRK.replace("635.91us", "530.00us")  # 396.9 of 400


@pytest.fixture
def wrk(tmp_path: Path) -> Path:
    (path := tmp_path / "wrk.txt").write_text(WRK)
    return path


def said(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(command_line(["check"]), ["check", *words])
    return done.exit_code, done.output


def test_more_requests_at_once_than_connections_cannot_be(wrk: Path) -> None:
    (finding,) = sj.check([wrk]).findings
    assert (finding.law, finding.severity, finding.certainty) == ("littles_law", "contradiction", "certain")
    assert finding.numbers["present"] == pytest.approx(476.2, abs=0.05) and finding.numbers["users"] == 400
    code, text = said(str(wrk))
    assert code == 9 and "+19 %" in text and "400 users" in text


def test_what_is_possible_is_not_accused(wrk: Path) -> None:
    wrk.write_text(TRUE)
    assert sj.check([wrk]).findings == () and said(str(wrk))[0] == 0


def test_idle_connections_are_the_clients(wrk: Path) -> None:
    wrk.write_text(WRK.replace("635.91us", "200.00us"))  # 149.8 of 400 connections wait
    (finding,) = sj.check([wrk]).findings
    assert (finding.law, finding.severity) == ("client_limit", "misleading") and said(str(wrk))[0] == 10


def test_timeouts_are_in_no_mean_so_idle_says_nothing(wrk: Path) -> None:
    wrk.write_text(
        WRK.replace("635.91us", "200.00us").replace(
            "Requests/sec", "  Socket errors: connect 0, read 0, write 0, timeout 90000\nRequests/sec"
        )
    )
    assert "client_limit" not in [one.law for one in sj.check([wrk]).findings]


@pytest.mark.parametrize(
    ("lines", "law"),
    [
        ("     50%  530.00us\n     99%  500.00us\n", "quantiles"),
        ("     50%  530.00us\n     99%   13.90ms\n", "quantiles"),  # more than the most, 12.92 ms
        ("     50%  900.00us\n     75%    1.20ms\n", "mean_and_quantiles"),  # at least .25 x .9 + .25 x 1.2 = .525 … is possible
        ("     50%    1.10ms\n     75%    1.20ms\n", "mean_and_quantiles"),  # at least .25 x 1.1 + .25 x 1.2 = .575 ms
    ],
)  # fmt: skip
def test_quantiles_bound_each_other_and_the_mean(wrk: Path, lines: str, law: str) -> None:
    wrk.write_text(TRUE.replace("  22464657", f"  Latency Distribution\n{lines}  22464657"))
    found = [one.law for one in sj.check([wrk]).findings]
    assert law in found if "900.00us" not in lines else not found


def test_a_deviation_that_no_values_have(wrk: Path) -> None:
    wrk.write_text(TRUE.replace("0.89ms", "4.10ms"))  # at most sqrt((12.92 - .53) x .53) = 2.56 ms
    (finding,) = sj.check([wrk]).findings
    assert finding.law == "mean_and_quantiles" and "2.56 ms" in finding.found


def test_files_for_a_pull_request_and_a_test_reporter(wrk: Path, tmp_path: Path) -> None:
    code, text = said(str(wrk), "--json", "--markdown", str(tmp_path / "c.md"), "--junit", str(tmp_path / "c.xml"))
    answer = json.loads(text)
    assert code == 9 and answer["schema"] == "sojourn.check/5" and answer["severity"] == "contradiction"
    assert "Little's law" in (tmp_path / "c.md").read_text()
    assert ElementTree.parse(tmp_path / "c.xml").getroot().get("failures") == "1"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", "empty"),
        ("nothing that is known\n", "none of the known formats"),
        (WRK[:300], "cut off"),
        ('{"a": ', "not JSON"),
    ],
)
def test_what_cannot_be_read_is_an_error_with_a_remedy(wrk: Path, text: str, place: str) -> None:
    wrk.write_text(text)
    with pytest.raises(InputError, match=place) as raised:
        sj.check([wrk])
    assert raised.value.exit_code == 2 and raised.value.remedy


def test_help_lists_every_format_as_errors_promise() -> None:
    assert set(FORMATS) == set(NAMES)
    code, text = said("--help")
    words = set(re.findall(r"[a-z0-9-]+", text))
    assert code == 0 and [name for name in NAMES if name not in words] == []
