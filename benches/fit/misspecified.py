"""Services that are not what is fitted to them: service of another law, a lock, pauses, half the workers; and what no run can tell."""

from __future__ import annotations

from templates import (
    ANY,
    BOTH,
    CLOSED,
    CPU,
    DELAY,
    DEMAND,
    GENERAL,
    MEAN,
    NET,
    OPEN,
    TO_40,
    TO_70,
    VARIANCE,
    Template,
    rates,
    users,
)

LOCK = "[stations.cpu]\nservers = 4\n[stations.lock]\n[demands_s]\ncpu = { user = 0.02 }\nlock = { user = 0.007 }\n"


def _law(scv: float) -> str:
    return f'[stations.cpu]\n{OPEN}[demands_s.cpu]\nuser = {{ kind = "lognormal", mean = 0.02, scv = {scv} }}\n'


MISSPECIFIED = {
    "lognormal service, c² = 3, taken for exponential": Template("[stations.cpu]\n" + OPEN + CPU, {}, TO_40, rates(25, 45),
                                                                 ["cpu"], _law(3.0)),
    "lognormal service, c² = 0.3, taken for exponential": Template("[stations.cpu]\n" + OPEN + CPU, {}, TO_40, rates(25, 45),
                                                                   ["cpu"], _law(0.3)),
    "a lock behind four cores, not in the model": Template(
        "[stations.cpu]\nservers = 4\n" + NET + OPEN + BOTH, {}, rates(30, 45, 60, 75, 90, 105, 120), rates(65, 132), ["cpu"],
        LOCK + OPEN),
    "a lock behind four cores, closed, not in the model": Template(
        "[stations.cpu]\nservers = 4\n" + NET + CLOSED + BOTH, {}, users(4, 12, 20, 30, 40, 50, 60), users(25, 90), ["cpu"],
        LOCK + CLOSED),
    "pauses of 0.2 s every 4 s, not in the model": Template(
        "[stations.cpu]\nservers = 2\n" + NET + OPEN + BOTH, {}, TO_70, rates(45, 88), ["cpu"],
        '[stations.cpu]\nservers = 2\nbreakdowns = { up = { kind = "exponential", mean = 4.0 }, '
        'down = { kind = "deterministic", mean = 0.2 } }\n' + NET + OPEN +
        "[demands_s]\ncpu = { user = 0.02 }\nnet = { user = 0.005 }\n"),
    "eight workers taken for four": Template("[stations.cpu]\nservers = 4\n" + OPEN + CPU, {}, rates(100, 150, 180, 190, 195),
                                             rates(170, 198), (), '[stations.cpu]\nservers = 8\n' + OPEN +
                                             "[demands_s]\ncpu = { user = 0.02 }\n"),
}  # fmt: skip
UNTOLD = {
    "two delays, of which only the sum is seen": Template(
        "[stations.cpu]\nservers = 2\n" + NET + '[stations.wire]\nkind = "delay"\n' + OPEN + BOTH + f"wire = {{ user = {ANY} }}\n",
        {DEMAND: 0.02, DELAY: 0.005, "demands_s.wire.user": 0.004}, TO_70, rates(45)),
    "variance of service under processor sharing": Template(
        '[stations.cpu]\ndiscipline = "ps"\n' + OPEN + GENERAL, {MEAN: 0.02, VARIANCE: 2.0}, TO_40, rates(25), ["cpu"]),
    "a queue and a delay at 1 to 6 % of saturation, hardly told": Template(
        "[stations.cpu]\n" + NET + OPEN + BOTH.replace(", low = 0", ""), {DEMAND: 0.01, DELAY: 0.01}, rates(1, 2, 3, 4, 5, 6),
        rates(3)),
}  # fmt: skip
