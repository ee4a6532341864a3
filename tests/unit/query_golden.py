"""Queries with known answers: M/M/4, 150 arrivals a second, service exponential with mean 20 ms, FCFS.

Values: computed outside this project from the closed forms of M/M/m and by uniformisation, ten digits (issue 15, section 8 of its
definitions). Times in s.
"""

from __future__ import annotations

import sojourn as sj

MODEL = """
[stations.cpu]
servers = 4
[classes.user]
kind = "open"
rate_per_s = 150
[demands_s]
cpu = { user = 0.02 }
"""
NUMBERS = {
    "utilisation{station=cpu}": 0.75,
    "mean(response)": 0.030188679245,
    "mean(wait)": 0.010188679245,
    "p50(response)": 0.023125672572,
    "p90": 0.065723967232,
    "p95": 0.082561996048,
    "p99(response)": 0.120126163532,
    "p99.9(response)": 0.171793524391,
    "probability(response <= 50ms)": 0.8133727861,
    "probability(response in (20ms, 50ms])": 0.3686625087,
    "moment(2, response)": 1.6150943396e-3,
    "sd(response)": 0.026528060333,
    "probability({n() >= 4})": 0.5094339623,
    "probability({n(cpu) == 0})": 0.0377358491,
    "probability({n() >= 8})": 0.1611880896,
    "mean(n())": 4.5283018868,
    "mean(distribution(n() over {n() >= 4}))": 7.0,
    "rate(departures)": 150.0,
    "p95(wait)": 0.046425544520,
    "mean(passage(from {n() == 0} to {n() >= 8}))": 0.3066849566,
    "probability(passage(from {n() == 0} to {n() >= 8}) <= 0.1s)": 0.2035107263,
    "probability(passage(from {n() == 0} to {n() >= 8}) <= 0.5s)": 0.8205839878,
    "mean(passage(from entering {n() >= 4} to {n() < 4}))": 0.02,
    "probability(passage(from {n() >= 4} to {n() < 4}) <= 20ms)": 0.7968836075,
    "probability(passage(from {n() >= 4} to {n() < 4}) <= 100ms)": 0.9569260434,
    "probability({n() >= 4} at 20ms from {n() == 0})": 0.1269234289,
    "probability({n() >= 4} at 100ms from {n() == 0})": 0.4317730413,
    "p95(convolve(response, response))": 0.131855068243,
    "let slow(x) = 1 - probability(response <= x); slow(50ms)": 0.1866272139,
}
SETS = {
    "states(probability in [0.1, 1])": "{1, 2, 3, 4}",
    "states(probability in [0.1, 1] at 100ms from {n() == 0})": "{1, 2, 3, 4}",
}
YES = (
    "states(probability in [0.1, 1]) subset {n() <= 5}",
    "p95 < 85ms and probability({n() >= 8}) < 0.2",
    "not utilisation{station=cpu} in [0.8, 1]",
)


def model() -> sj.Model:
    return sj.Model.parse(MODEL)
