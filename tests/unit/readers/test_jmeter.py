"""JMeter's Transaction Controllers write a row of their own behind those of their requests: its time is the sum of theirs."""

from __future__ import annotations

from pathlib import Path

import pytest

from sojourn.check import check, lines
from sojourn.readers import read_observations

HEADER = "timeStamp,elapsed,label,responseCode,responseMessage,success,allThreads\n"
SUM = '"Number of samples in transaction : 2, number of failing samples : 0"'
START = 1790000000000
XML = f"""<?xml version="1.0" encoding="UTF-8"?>
<testResults version="1.2">
<sample t="200" ts="{START}" s="true" lb="buy" rm={SUM} na="1">
  <httpSample t="120" ts="{START}" s="true" lb="page" rm="OK" na="1"/>
  <httpSample t="80" ts="{START + 120}" s="true" lb="cart" rm="OK" na="1">
    <httpSample t="60" ts="{START + 130}" s="true" lb="part" rm="OK"/>
  </httpSample>
</sample>
<httpSample t="40" ts="{START + 300}" s="true" lb="end" rm="OK" na="1"/>
</testResults>
"""


def two_and_their_sum(times: int) -> str:
    """One user: two requests of 100 ms, one behind the other, inside of a Transaction Controller."""
    rows = []
    for k in range(times):
        at = START + 200 * k
        rows += [f"{at},100,page,200,OK,true,1", f"{at + 100},100,cart,200,OK,true,1", f"{at},200,buy,200,{SUM},true,1"]
    return HEADER + "\n".join(rows) + "\n"


def test_a_sum_of_rows_is_no_request(tmp_path: Path) -> None:
    """All rows together would be 15/s x 133 ms = 2 requests at once, of one user."""
    (path := tmp_path / "results.jtl").write_text(two_and_their_sum(200))
    found = check([path])
    (load,) = found.loads
    assert load.facts.answered == 400 and load.facts.mean_s == pytest.approx(0.1)
    assert found.severity in (None, "note")
    assert any("200 rows of Transaction Controllers left out" in line for line in lines(found))


def test_a_request_inside_of_a_transaction_is_one_in_xml(tmp_path: Path) -> None:
    """A part of a request is none."""
    (path := tmp_path / "results.xml").write_text(XML)
    (found,) = read_observations(path)
    assert found.requests is not None and found.requests.response_s.tolist() == pytest.approx([0.12, 0.08, 0.04])
    assert found.left_out == ("1 rows of Transaction Controllers left out: sums of other rows",)


def test_transactions_alone_are_taken(tmp_path: Path) -> None:
    """As a controller writes them that generates a parent sample."""
    rows = (f"{START + 200 * k},200,buy,200,{SUM},true,1" for k in range(3))
    (path := tmp_path / "results.jtl").write_text(HEADER + "\n".join(rows) + "\n")
    (found,) = read_observations(path)
    assert found.requests is not None and found.requests.response_s.tolist() == pytest.approx([0.2] * 3)
    assert found.left_out == ()
