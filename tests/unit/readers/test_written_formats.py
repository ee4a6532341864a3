"""Formats whose tools are not at hand: a few lines in the form that their documentation gives."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sojourn.errors import InputError
from sojourn.readers import Observation, read_observations

JTL = (
    "timeStamp,elapsed,label,responseCode,success,grpThreads,allThreads\n1790000000000,120,page,200,true,3,3\n"
    "1790000000050,80,page,500,false,3,4\n"
)
XML = """<?xml version="1.0" encoding="UTF-8"?>
<testResults version="1.2">
<httpSample t="120" lt="20" ts="1790000000000" s="true" lb="page" rc="200" na="4">
  <httpSample t="60" ts="1790000000010" s="true" lb="part"/>
</httpSample>
<httpSample t="80" ts="1790000000050" s="false" lb="page" rc="500" na="4"/>
</testResults>
"""
GATLING = (
    "RUN\tShop\tshop\t1790000000000\t \t3.9.5\nUSER\tbuy\tSTART\t1790000000000\nUSER\tbuy\tSTART\t1790000000001\n"
    "REQUEST\t\tpage\t1790000000000\t1790000000120\tOK\t \nREQUEST\t\tpage\t1790000000050\t1790000000130\tKO\tstatus 500\n"
)
LOG = (
    '10.0.0.1 - - [26/Nov/2026:16:00:00 +0000] "GET / HTTP/1.1" 200 612 "-" "curl" 0.120 1795708800.120\n'
    '10.0.0.1 - - [26/Nov/2026:16:00:00 +0000] "GET / HTTP/1.1" 500 612 "-" "curl" 0.080 1795708800.130\n'
)
COLUMNS = "start_ms,latency_ms,status\n1000,120,200\n1050,80,500\n"


def written(folder: Path, text: str) -> list[Observation]:
    (path := folder / "results").write_text(text)
    return read_observations(path)


@pytest.mark.parametrize("text", [JTL, XML, GATLING, LOG, COLUMNS], ids=["jtl", "xml", "gatling", "log", "csv"])
def test_two_requests_of_which_one_failed(text: str, tmp_path: Path) -> None:
    """120 ms from 0 on, 80 ms from 50 ms on; the second one failed; a part of a sample is no sample."""
    (found,) = written(tmp_path, text)
    requests = found.requests
    assert requests is not None and requests.response_s.tolist() == pytest.approx([0.12, 0.08])
    assert requests.ok.tolist() == [True, False]
    assert requests.start_s[1] - requests.start_s[0] == pytest.approx(0.05, abs=1e-6)


def test_users_are_the_most_threads(tmp_path: Path) -> None:
    assert [written(tmp_path, text)[0].users for text in (JTL, XML, GATLING)] == [4, 4, 2]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\x00\x00\x00\x00\x063.13.1\x00", "a binary simulation.log"),
        (JTL + "17900000001", "cut off"),
        (XML[:-20], "cut off"),
        (LOG.replace(" 0.120 1795708800.120", "").replace(" 0.080 1795708800.130", ""), "request_time"),
        ("a,b\n1,2\n", "none of the known formats"),
        ("[" * 500 + "]" * 500, "nested more than"),
        ("start_s,response_s," + ",".join("x" * 1 for _ in range(2000)) + "\n", "none of the known"),
    ],
)
def test_refused_with_a_remedy(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=said):
        written(tmp_path, text)


def test_a_line_without_an_end(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a line of more than 1 MiB"):
        written(tmp_path, COLUMNS + "1" * (2 << 20))


def test_ycsb(tmp_path: Path) -> None:
    text = (
        "[OVERALL], RunTime(ms), 10000\n[OVERALL], Throughput(ops/sec), 100.0\n[READ], Operations, 900\n"
        "[READ], AverageLatency(us), 2000.0\n"
        "[READ], MinLatency(us), 500\n[READ], MaxLatency(us), 90000\n[READ], 95thPercentileLatency(us), 5000\n[READ], Return=OK, 900\n"
        "[UPDATE], Operations, 100\n[UPDATE], AverageLatency(us), 12000.0\n"
    )
    whole, reads, _ = written(tmp_path, "Command line: -db x -threads 8 -t\n" + text)
    assert (whole.completed, whole.users, whole.mean_s) == (1000, 8, pytest.approx(0.003))  # .9 x 2 + .1 x 12 ms
    assert (reads.name, reads.quantiles, reads.most_s) == ("READ", {0.95: pytest.approx(0.005)}, pytest.approx(0.09))


def test_memtier_with_numbers_that_are_none(tmp_path: Path) -> None:
    said = {
        "Count": 500,
        "Ops/sec": 50.0,
        "Average Latency": 4.0,
        "Percentile Latencies": {"p50.00": 3.0, "p99.00": 20.0},
    }
    data = {
        "configuration": {"clients": 5, "threads": 2},
        "ALL STATS": {"Runtime": {"Total duration": 10000}, "Totals": said},
    }
    text = json.dumps(data).replace('"Count": 500', '"Count": 500, "Misses/sec": -nan')
    (found,) = written(tmp_path, text)
    assert (found.users, found.mean_s, found.quantiles[0.99], found.length_s) == (10, 0.004, 0.02, 10)


def test_locust(tmp_path: Path) -> None:
    text = (
        "Type,Name,Request Count,Failure Count,Median Response Time,Average Response Time,Min Response Time,Max Response Time,"
        "Average Content Size,Requests/s,Failures/s,50%,66%,99%,100%\nGET,/,90,0,10,12.5,3,80,1,9.0,0,10,14,60,80\n"
        ",Aggregated,100,5,10,14.5,3,90,1,10.0,0.5,10,15,70,90\n"
    )
    whole, one = written(tmp_path, text)
    assert (whole.name, whole.completed, whole.failed, whole.mean_s) == ("", 95, 5, 0.0145) and one.name == "GET /"
    assert whole.quantiles == {0.5: 0.01, 0.66: 0.015, 0.99: 0.07}


def test_a_table_of_loads(tmp_path: Path) -> None:
    first, second = written(
        tmp_path, "users,throughput_per_s,mean_ms,p99_ms,utilisation\n1,10,5,9,0.5\n4,30,9,30,0.9\n"
    )
    assert (first.users, first.mean_s, first.quantiles, first.busy) == (
        1,
        0.005,
        {0.99: pytest.approx(0.009)},
        {"busy": 0.5},
    )
    assert second.busy == {"busy": 0.9} and second.name == "line 3"


@pytest.mark.parametrize(
    ("name", "said", "shares"),
    [
        ("utilisation", (1.2, 40, 80), (0.012, 0.4, 0.8)),  # an idle one among others: the column is in percent
        ("utilisation", (0.2, 0.9, 1.3), (0.2, 0.9, 1.3)),
        ("cpu_percent", (0.5, 1.0, 1.2), (0.005, 0.01, 0.012)),
        ("cpu %", (0.5, 1.0, 1.2), (0.005, 0.01, 0.012)),
    ],
)
def test_a_utilisation_is_in_percent_as_a_column(
    name: str, said: tuple[float, ...], shares: tuple[float, ...], tmp_path: Path
) -> None:
    rows = "".join(f"{k},10,5,{value}\n" for k, value in enumerate(said, 1))
    found = written(tmp_path, f"users,throughput_per_s,mean_ms,{name}\n{rows}")
    assert [one.busy["busy"] for one in found] == pytest.approx(shares)


@pytest.mark.parametrize("text", [JTL, XML, GATLING, LOG, COLUMNS], ids=["jtl", "xml", "gatling", "log", "csv"])
def test_cut_off_anywhere(text: str, tmp_path: Path) -> None:
    for size in range(1, len(text)):
        try:
            written(tmp_path, text[:size])
        except InputError as error:
            assert error.remedy


def test_oha(tmp_path: Path) -> None:
    data = {
        "summary": {
            "successRate": 1.0,
            "total": 2.0,
            "slowest": 0.05,
            "fastest": 0.001,
            "average": 0.01,
            "requestsPerSec": 100.0,
        },
        "latencyPercentiles": {"p50": 0.009, "p99.9": 0.05},
        "statusCodeDistribution": {"200": 190, "500": 8},
        "errorDistribution": {"timeout": 2},
    }
    (found,) = written(tmp_path, json.dumps(data))
    assert (found.completed, found.failed, found.throughput_per_s) == (190, 10, 100.0) and 0.999 in found.quantiles
