"""Runs of M/M/m beside a delay, by Erlang's formula, and the model with unknowns that is fitted to them."""

from __future__ import annotations

from typing import Any

from sojourn.fit.fit_runs import FitRun, FitRuns

OPEN = """
[stations.cpu]
servers = 2
[stations.net]
kind = "delay"
[classes.user]
kind = "open"
rate_per_s = 1.0
[demands_s]
cpu = { user = %s }
net = { user = %s }
"""
ONE = """
[stations.cpu]
[classes.user]
kind = "open"
rate_per_s = 1.0
[demands_s]
cpu = { user = { free = true } }
"""
FREE = ("{ free = true }", "{ free = true, low = 0 }")
RATES = (20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0)


def erlang_c(servers: int, offered: float) -> float:
    lost = 1.0
    for k in range(1, servers + 1):
        lost = offered * lost / (k + offered * lost)
    return lost / (1 - offered / servers * (1 - lost))


def mmm_run(rate: float, service_s: float = 0.02, delay_s: float = 0.005, servers: int = 2, **more: Any) -> FitRun:
    """What M/M/m and a delay have, by Erlang's formula, with an error of 2 % that alternates from rate to rate."""
    offered = rate * service_s
    wait = erlang_c(servers, offered) * service_s / (servers - offered)
    noise = 1 + 0.02 * (-1) ** int(rate / 10)
    means = {("", "response_time"): ((wait + service_s + delay_s) * noise, 0.02), ("", "throughput"): (rate, 0.01)}
    return FitRun(f"rate-{rate:g}", {"rate_per_s": rate, **more}, means, {"processes": offered})


RUNS = FitRuns([mmm_run(rate) for rate in RATES])
