"""How well four runs at 14 to 40 % of saturation foretell 60 and 80 % and saturation, by simulation of services whose law is known.

    python benches/services/what_rates_tell.py [--draws 40]

One server of constant or uneven time, or two of exponential time; the demand is the CPU time of a request over the runs (the
utilisation law), and a response time follows from it by the formula of that law, so that no rival and no search is in these numbers.
Each line adds something of docs/decisions/0047: slow seconds of the machine (a fifth of the time, 2 s each, 1.5 times as long), a
demand that is 40 % longer at rest, longer runs, higher rates, and a run of a few users, which has the demand at saturation.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from math import factorial

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
SLOW_S, FAST_S, SLOWER, FALL = 2.0, 8.0, 1.5, 0.4
SHARES, LATER, LATER_S, USERS_S = (0.14, 0.22, 0.31, 0.40), (0.6, 0.8), 10.0, 4.0
FULL = 9.0  # the logarithm in place of one where the prediction is past saturation
LAWS: dict[str, tuple[int, float]] = {"constant": (1, 0.0), "uneven": (1, 1.0), "exponential": (2, 1.0)}  # servers, c²


@dataclass(frozen=True)
class MeasurementPlan:
    name: str
    slow: bool = False
    falls: bool = False
    seconds: float = 6.0
    shares: tuple[float, ...] = SHARES
    users: bool = False


PLANS = (
    MeasurementPlan("nothing else"),
    MeasurementPlan("a demand that falls", falls=True),
    MeasurementPlan("slow seconds", slow=True),
    MeasurementPlan("both", slow=True, falls=True),
    MeasurementPlan("both, 20 s a run", slow=True, falls=True, seconds=20.0),
    MeasurementPlan("both, 20 s a run, up to 60 %", slow=True, falls=True, seconds=20.0, shares=(0.2, 0.35, 0.5, 0.6)),
    MeasurementPlan("a demand that falls, and a run of a few users", falls=True, users=True),
    MeasurementPlan("both, and a run of a few users", slow=True, falls=True, users=True),
)


def speeds(length_s: float, random: np.random.Generator) -> Callable[[Array], Array]:
    """By how many times longer a request takes, by when it comes: seconds that are slow alternate with those that are not."""
    ends, slow = [0.0], [bool(random.random() < SLOW_S / (SLOW_S + FAST_S))]
    while ends[-1] < length_s:
        ends.append(ends[-1] + float(random.exponential(SLOW_S if slow[-1] else FAST_S)))
        slow.append(not slow[-1])
    longer = np.where(slow, SLOWER, 1.0)
    return lambda at: longer[np.searchsorted(ends, at, side="right") - 1]


def run(
    plan: MeasurementPlan, law: str, share: float, length_s: float, random: np.random.Generator
) -> tuple[float, float, int]:
    """Mean response time and mean demand, s, and the number of requests of one run; at saturation a server does 1000/s."""
    servers, _ = LAWS[law]
    demand_s = servers * 1e-3 * (1 + (FALL * (1 - share**2) if plan.falls else 0.0))
    came = np.sort(random.uniform(0, length_s, max(random.poisson(share * 1000 * length_s), 5)))
    each = {"constant": np.ones(len(came)), "exponential": random.exponential(size=len(came)),
            "uneven": np.where(random.random(len(came)) < 0.1, 6, 1) / 1.5}[law]  # fmt: skip
    each = demand_s * each * (speeds(length_s, random)(came) if plan.slow else 1.0)
    free, left = np.zeros(servers), np.empty(len(came))
    for i, (at, work_s) in enumerate(zip(came, each, strict=True)):
        one = int(free.argmin())
        left[i] = free[one] = max(at, free[one]) + work_s
    return float((left - came).mean()), float(each.mean()), len(came)


def response_s(demand_s: float, rate: float, servers: int, scv: float) -> float:
    """M/M/m with the wait times (1 + c²)/2 (Pollaczek and Khinchine; Lee and Longton for several servers)."""
    offered = rate * demand_s
    if offered >= servers:
        return np.inf
    below = sum(offered**k / factorial(k) for k in range(servers))
    full = offered**servers / factorial(servers) * servers / (servers - offered)
    return demand_s * (1 + full / (below + full) / (servers - offered) * (1 + scv) / 2)


def errors(plan: MeasurementPlan, law: str, random: np.random.Generator) -> tuple[list[float], float]:
    """Logarithms that response times at `LATER` and the saturation rate are off by, without sign."""
    servers, scv = LAWS[law]
    seen = np.array([run(plan, law, share, plan.seconds, random)[1:] for share in plan.shares])
    demand_s = float(np.average(seen[:, 0], weights=seen[:, 1]))
    least_s, fall = demand_s, 0.0
    if plan.users:  # nobody waits long there, and the service is always busy
        least_s = (
            servers * 1e-3 * float(speeds(USERS_S, random)(np.linspace(0, USERS_S, 400)).mean() if plan.slow else 1.0)
        )
        fall = (demand_s / least_s - 1) / (1 - float(np.mean(np.square(plan.shares))))
    off = []
    for share in LATER:
        told = response_s(least_s * (1 + fall * (1 - share**2)), share * 1000, servers, scv)
        came = run(plan, law, share, LATER_S, random)[0]
        off.append(abs(float(np.log(told / came))) if np.isfinite(told) else FULL)
    then = float(speeds(USERS_S, random)(np.linspace(0, USERS_S, 400)).mean()) if plan.slow else 1.0
    return off, abs(float(np.log(servers * 1e-3 * then / least_s)))


def main(draws: int) -> None:
    print("| | response time at 60 % | at 80 % | saturation |\n|---|---|---|---|")
    for plan in PLANS:
        random = np.random.default_rng(27)
        found = [errors(plan, law, random) for _ in range(draws) for law in LAWS]
        at = np.median([off for off, _ in found], axis=0)
        said = [
            f"{np.expm1(one):.0%}" if one < 1.5 else "past it" for one in (*at, float(np.median([s for _, s in found])))
        ]
        print(f"| {plan.name} | {' | '.join(said)} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=40)
    main(parser.parse_args().draws)
