"""How far off `shared-cores` is where `overhead` is above 0: 24 random models beside a simulation of its own.

The method takes the hypervisor's part as a share of the guests' time, in the mean. Here it is work in each state: after each service of
a guest, a job of `overhead` times the demand in the mean, exponential, for one thread of the hypervisor on the same cores (weight 1). No
customer waits for it. The last column is of another hypervisor: in each state it takes its part of the cores at the same moment as the
guests, so that these share cores / (1 + overhead). Written without the code of the package: states, rates, fair shares, one event after
the other (D. T. Gillespie, Journal of Computational Physics 22, 1976, pp. 403-434). Prints CSV:
python benches/shared-cores/hypervisor.py SEED > benches/shared-cores/DATE-SEED.csv
"""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass

import sojourn as sj

EVENTS, MODELS = 200_000, 24


@dataclass(frozen=True)
class Case:
    users: int
    think_s: float
    demands_s: tuple[float, ...]
    servers: tuple[int, ...]
    weights: tuple[float, ...]
    cores: float
    overhead: float


def drawn(source: random.Random) -> Case:
    guests = source.choice((1, 2, 2, 2, 3))
    demands = tuple(round(source.uniform(0.001, 0.02), 4) for _ in range(guests))
    cores, overhead = source.choice((0.5, 1.0, 1.0, 1.5, 2.0)), source.choice((0.05, 0.1, 0.2, 0.3, 0.5))
    load = source.uniform(0.2, 1.1)  # of the cores, if nobody waited
    users = source.randint(2, 10 if guests == 3 else 25)
    think = max(users * (1 + overhead) * sum(demands) / (load * cores) - sum(demands), 0.005)
    servers = tuple(source.choice((1, 1, 2)) for _ in range(guests))
    weights = tuple(source.choice((1.0, 1.0, 2.0, 0.5)) for _ in range(guests))
    return Case(users, round(think, 4), demands, servers, weights, cores, overhead)


def fair(busy: tuple[int, ...], weights: tuple[float, ...], cores: float) -> list[float]:
    got, left, open_ = [0.0] * len(busy), cores, [i for i, k in enumerate(busy) if k]
    while open_:
        total = sum(weights[i] * busy[i] for i in open_)
        full = [i for i in open_ if weights[i] * left / total >= 1]
        for i in full or open_:
            got[i] = float(busy[i]) if full else weights[i] * busy[i] * left / total
        if not full:
            break
        left -= sum(busy[i] for i in full)
        open_ = [i for i in open_ if i not in full]
    return got


def simulated(case: Case, source: random.Random, at_once: bool = False) -> tuple[float, float]:
    """Throughput and mean response time; `at_once`: the other hypervisor."""
    cores = case.cores / (1 + case.overhead) if at_once else case.cores
    guests = len(case.demands_s)
    present, jobs, clock_s, passes, area = [0] * guests, [], 0.0, 0, 0.0
    shares: dict[tuple[int, ...], list[float]] = {}
    for event in range(EVENTS):
        if event == EVENTS // 10:
            clock_s, passes, area = 0.0, 0, 0.0
        busy = (*map(min, present, case.servers), int(bool(jobs)))
        if busy not in shares:
            shares[busy] = fair(busy, (*case.weights, 1.0), cores)
        got, inside = shares[busy], sum(present)
        rates = [got[i] / case.demands_s[i] for i in range(guests)]
        rates += [got[guests] / jobs[0] if jobs else 0.0, (case.users - inside) / case.think_s]
        step_s = source.expovariate(sum(rates))
        clock_s, area = clock_s + step_s, area + inside * step_s
        which = source.choices(range(guests + 2), rates)[0]
        if which == guests:
            jobs.pop(0)
        elif which == guests + 1:
            present[0] += 1
        else:
            present[which] -= 1
            if not at_once:
                jobs.append(case.overhead * case.demands_s[which])
            if which + 1 < guests:
                present[which + 1] += 1
            else:
                passes += 1
    return passes / clock_s, area / passes


def model(case: Case) -> sj.Model:
    names = [f"guest{i}" for i in range(len(case.demands_s))]
    stations = [sj.Queue(name, servers=k, discipline="ps") for name, k in zip(names, case.servers, strict=True)]
    group = sj.SharedCores("host", tuple(names), case.cores, case.weights, case.overhead)
    demands = {name: {"user": d} for name, d in zip(names, case.demands_s, strict=True)}
    return sj.Model(stations, [sj.Closed("user", case.users, case.think_s)], demands, shared_cores=[group])


def main(seed: int) -> None:
    source = random.Random(seed)
    print(
        "users,think_s,guests,cores,overhead,host_busy,throughput_error,response_time_error,response_time_error_at_once"
    )
    cases = [drawn(source) for _ in range(MODELS)]
    for case in cases:
        found = sj.solve(model(case), method="shared-cores")
        rate, response_s = simulated(case, source)
        told_s = found.value("response_time")
        errors = (
            found.value("throughput") / rate,
            told_s / response_s,
            told_s / simulated(case, source, at_once=True)[1],
        )
        busy = f"{found.value('utilisation', station='host'):.3f}"
        numbers = (case.users, case.think_s, len(case.servers), case.cores, case.overhead, busy)
        print(*numbers, *(f"{x - 1:+.4f}" for x in errors), sep=",")
        sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]))
