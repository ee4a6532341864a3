"""The same requests as files of different tools, with the rounding that each has."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from records import Record

LOCAL = "%d/%b/%Y:%H:%M:%S +0000"


def _iso(at_s: float) -> str:
    return datetime.fromtimestamp(at_s, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def figures(record: Record) -> dict[str, float]:
    """Of all answers; `said` of the record over them."""
    r = record.response
    named = {f"p{q:g}": float(np.quantile(r, q / 100)) for q in (50, 75, 90, 95, 99)}
    found = {"mean": float(r.mean()), "deviation": float(r.std()), "least": float(r.min()), "most": float(r.max()), "count": float(r.size),
             "length": record.length, "rate": r.size / record.length, "failed": float((~record.ok).sum()), **named}  # fmt: skip
    return found | (record.said or {})


def k6(record: Record, path: Path) -> Path:
    rows = []
    for end, response, ok in zip(record.end, record.response, record.ok, strict=True):
        tags = {"expected_response": "true" if ok else "false", "method": "GET", "status": "200" if ok else "500"}
        rows.append(
            json.dumps(
                {
                    "metric": "http_req_duration",
                    "type": "Point",
                    "data": {"time": _iso(end), "value": response * 1e3, "tags": tags},
                }
            )
        )
    if record.users:
        rows += [
            json.dumps(
                {
                    "metric": "vus",
                    "type": "Point",
                    "data": {"time": _iso(record.start[0]), "value": record.users, "tags": None},
                }
            )
        ] * 3
    rows += [
        json.dumps(
            {
                "metric": "dropped_iterations",
                "type": "Point",
                "data": {"time": _iso(record.start[0]), "value": 1, "tags": None},
            }
        )
    ] * record.dropped
    return _write(path.with_suffix(".json"), "\n".join(rows))


def k6_summary(record: Record, path: Path) -> Path:
    f = figures(record)
    times = {
        "avg": f["mean"],
        "min": f["least"],
        "med": f["p50"],
        "max": f["most"],
        "p(90)": f["p90"],
        "p(95)": f["p95"],
        "p(99)": f["p99"],
    }
    metrics = {
        "http_req_duration": {"values": {name: value * 1e3 for name, value in times.items()}},
        "http_reqs": {"values": {"count": f["count"], "rate": f["rate"]}},
        "http_req_failed": {"values": {"rate": f["failed"] / f["count"]}},
        "iterations": {"values": {"count": f["count"], "rate": f["rate"]}},
        **({"vus_max": {"values": {"value": record.users}}} if record.users else {}),
        **({"dropped_iterations": {"values": {"count": record.dropped}}} if record.dropped else {}),
    }  # fmt: skip
    return _write(path.with_suffix(".json"), json.dumps({"metrics": metrics}))


def jmeter(record: Record, path: Path) -> Path:
    steps = np.concatenate([np.ones(record.start.size), -np.ones(record.start.size)])
    at = np.argsort(np.concatenate([record.start, record.end + 1e-9]), kind="stable")
    threads = record.users or int(np.cumsum(steps[at]).max())
    rows = [
        f"{int(s * 1e3)},{round(r * 1e3)},page,{200 if ok else 500},OK,group 1-1,text,{'true' if ok else 'false'},,512,128,1,{threads},http://h/,0,0,0"
        for s, r, ok in zip(record.start, record.response, record.ok, strict=True)
    ]
    header = (
        "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,grpThreads,"
        "allThreads,URL,Latency,IdleTime,Connect"
    )
    return _write(path.with_suffix(".jtl"), "\n".join([header, *rows]))


def vegeta(record: Record, path: Path) -> Path:
    rows = [
        json.dumps(
            {
                "attack": "a",
                "seq": k,
                "code": 200 if ok else 500,
                "timestamp": _iso(s),
                "latency": int(r * 1e9),
                "error": "",
            }
        )
        for k, (s, r, ok) in enumerate(zip(record.start, record.response, record.ok, strict=True))
    ]
    return _write(path.with_suffix(".json"), "\n".join(rows))


def access_log(record: Record, path: Path) -> Path:
    order = np.argsort(record.end)
    rows = [
        f'127.0.0.1 - - [{datetime.fromtimestamp(e, UTC):{LOCAL}}] "GET / HTTP/1.1" {200 if ok else 500} 612 "-" "x" {r:.3f} {e:.3f}'
        for e, r, ok in zip(record.end[order], record.response[order], record.ok[order], strict=True)
    ]
    return _write(path.with_suffix(".log"), "\n".join(rows))


def hey_csv(record: Record, path: Path) -> Path:
    rows = [
        f"{r:.4f},0.0000,0.0000,0.0000,{r:.4f},0.0000,{200 if ok else 500},{s - record.start[0]:.4f}"
        for s, r, ok in zip(record.start, record.response, record.ok, strict=True)
    ]
    return _write(
        path.with_suffix(".csv"),
        "\n".join(
            ["response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset", *rows]
        ),
    )


def csv_requests(record: Record, path: Path) -> Path:
    rows = [
        f"{s:.6f},{r * 1e6:.0f},{int(ok)}" for s, r, ok in zip(record.start, record.response, record.ok, strict=True)
    ]
    return _write(path.with_suffix(".csv"), "\n".join(["start_s,response_us,ok", *rows]))


def _printed(value: float) -> str:
    scale, unit = (1e6, "us") if value < 1e-3 else (1e3, "ms") if value < 1 else (1, "s")
    return f"{value * scale:.2f}{unit}"


def wrk(record: Record, path: Path) -> Path:
    f = figures(record)
    lines = [f"Running {f['length']:.0f}s test @ http://127.0.0.1:8080/", f"  2 threads and {record.users} connections",
             "  Thread Stats   Avg      Stdev     Max   +/- Stdev",
             f"    Latency   {_printed(f['mean'])}   {_printed(f['deviation'])}  {_printed(f['most'])}   90.00%",
             "    Req/Sec    1.00k     10.00     2.00k    70.00%", "  Latency Distribution",
             *(f"     {q}%  {_printed(f[f'p{q}'])}" for q in (50, 75, 90, 99)),
             f"  {f['count']:.0f} requests in {f['length']:.2f}s, 1.00MB read"]  # fmt: skip
    if f["failed"]:
        lines.append(f"  Non-2xx or 3xx responses: {f['failed']:.0f}")
    return _write(
        path.with_suffix(".txt"), "\n".join([*lines, f"Requests/sec: {f['rate']:9.2f}", "Transfer/sec:      1.00MB"])
    )


def ab(record: Record, path: Path) -> Path:
    f = figures(record)
    ms = {name: round(value * 1e3) for name, value in f.items()}
    shares = "\n".join(f"  {q}%  {ms[f'p{q}']:6d}" for q in (50, 75, 90, 95, 99))
    text = f"""This is ApacheBench, Version 2.3 <$Revision$>

Concurrency Level:      {record.users}
Time taken for tests:   {f["length"]:.3f} seconds
Complete requests:      {f["count"]:.0f}
Failed requests:        {f["failed"]:.0f}
Requests per second:    {f["rate"]:.2f} [#/sec] (mean)
Time per request:       {f["mean"] * 1e3:.3f} [ms] (mean)

Connection Times (ms)
              min  mean[+/-sd] median   max
Total:      {ms["least"]}   {ms["mean"]} {f["deviation"] * 1e3:.1f}   {ms["p50"]}    {ms["most"]}

Percentage of the requests served within a certain time (ms)
{shares}
 100%  {ms["most"]} (longest request)"""
    return _write(path.with_suffix(".txt"), text)


def oha(record: Record, path: Path) -> Path:
    f = figures(record)
    good = f["count"] - f["failed"]
    data = {"summary": {"successRate": 1.0, "total": f["length"], "slowest": f["most"], "fastest": f["least"], "average": f["mean"],
                        "requestsPerSec": f["rate"]},
            "latencyPercentiles": {name: f[name] for name in ("p50", "p75", "p90", "p95", "p99")},
            "statusCodeDistribution": {"200": good, **({"500": f["failed"]} if f["failed"] else {})}, "errorDistribution": {}}  # fmt: skip
    return _write(path.with_suffix(".json"), json.dumps(data))


def bombardier(record: Record, path: Path) -> Path:
    f = figures(record)
    us = {name: value * 1e6 for name, value in f.items()}
    result = {"timeTakenSeconds": f["length"], "req1xx": 0, "req2xx": f["count"] - f["failed"], "req3xx": 0, "req4xx": 0,
              "req5xx": f["failed"], "others": 0, "latency": {"mean": us["mean"], "stddev": us["deviation"], "max": round(us["most"]),
                                       "percentiles": {str(q): round(us[f"p{q}"]) for q in (50, 75, 90, 95, 99)}},
              "rps": {"mean": f["rate"]}}  # fmt: skip
    return _write(
        path.with_suffix(".json"), json.dumps({"spec": {"numberOfConnections": record.users}, "result": result})
    )


def memtier(record: Record, path: Path) -> Path:
    f = figures(record)
    at = np.floor((record.end - record.start[0]) / (record.length / 10)).astype(int)
    series = {}
    for k in range(10):
        part = record.response[at == k] if (at == k).any() else record.response[:1]
        series[str(k)] = {"Count": int(part.size), "Average Latency": part.mean() * 1e3,
                          "p50.00": np.quantile(part, 0.5) * 1e3, "p99.00": np.quantile(part, 0.99) * 1e3}  # fmt: skip
    p99 = f["p99"]
    if (record.said or {}).get("averaged"):
        p99 = float(np.mean([series[str(k)]["p99.00"] for k in range(9)])) * 1e-3
    totals = {"Count": int(f["count"]), "Ops/sec": f["rate"], "Average Latency": f["mean"] * 1e3,
              "Min Latency": f["least"] * 1e3,
              "Max Latency": f["most"] * 1e3, 
              "Percentile Latencies": {"p50.00": f["p50"] * 1e3, "p99.00": p99 * 1e3}, "Time-Serie": series}  # fmt: skip
    data = {
        "configuration": {"clients": record.users, "threads": 1},
        "ALL STATS": {"Runtime": {"Total duration": f["length"] * 1e3}, "Totals": totals},
    }
    return _write(path.with_suffix(".json"), json.dumps(data))


def _write(path: Path, text: str) -> Path:
    path.write_text(text + "\n")
    return path


FINE = (k6, csv_requests, vegeta, oha, k6_summary, wrk, bombardier, memtier)  # their times have µs
STREAMS = (k6, jmeter, hey_csv, csv_requests)  # of either kind of load
OPEN = (*STREAMS, vegeta, access_log, oha, k6_summary)
CLOSED = (*STREAMS, wrk, ab, bombardier, memtier, k6_summary, oha)
