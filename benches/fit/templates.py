"""Models whose numbers are known, for recovery: what is simulated, what of it is unknown to the fit, and at which levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sojourn.model import Model
from sojourn.model.unknown_parameters import replaced

Point = Mapping[str, Any]


@dataclass(frozen=True)
class Template:
    """`text`: the model that is fitted; `truth`: path → value of each unknown; `levels` fitted, `beyond` predicted.

    `watched`: stations whose use is seen. `real`: the model that is simulated, where it is not the one that is fitted. `measured`: the
    station whose CPU time of a request each run states, as the service demand of `server`.
    """

    text: str
    truth: Mapping[str, float]
    levels: Sequence[Point]
    beyond: Sequence[Point]
    watched: Sequence[str] = ()
    real: str = ""
    measured: str = ""

    @property
    def model(self) -> Model:
        """With unknowns."""
        return Model.parse(self.text)

    @property
    def service(self) -> Model:
        """What is simulated."""
        if self.real:
            return Model.parse(self.real)
        return replaced(self.model, self.truth)


def rates(*values: float) -> list[Point]:
    return [{"rate_per_s": float(v)} for v in values]


def users(*values: int) -> list[Point]:
    return [{"users": v} for v in values]


OPEN = '[classes.user]\nkind = "open"\nrate_per_s = 1.0\n'
CLOSED = '[classes.user]\nkind = "closed"\npopulation = 1\nthink_s = 0.5\n'
NET = '[stations.net]\nkind = "delay"\n'
ANY, ZERO, SCV = "{ free = true }", "{ free = true, low = 0 }", "{ free = true, low = 0.01, high = 20, start = 1 }"
CPU, BOTH = (
    f"[demands_s]\ncpu = {{ user = {ANY} }}\n",
    f"[demands_s]\ncpu = {{ user = {ANY} }}\nnet = {{ user = {ZERO} }}\n",
)
GENERAL = f'[demands_s.cpu]\nuser = {{ kind = "lognormal", mean = {ANY}, scv = {SCV} }}\n'
TWO = f"[demands_s]\ncpu = {{ user = {ANY}, batch = {ANY} }}\n"
DEMAND, DELAY, MEAN, VARIANCE = (
    f"demands_s.{name}" for name in ("cpu.user", "net.user", "cpu.user.mean", "cpu.user.scv")
)
TO_40, TO_70 = rates(10, 15, 20, 25, 30, 35, 40), rates(20, 30, 40, 50, 60, 70, 80)


def _formula(time: str, parameters: str, at: str = "servers = 2") -> str:
    """A queue whose time is a formula of parameters."""
    return f'[parameters]\n{parameters}\n[stations.cpu]\n{at}\n{OPEN}[demands_s.cpu]\nuser = "{time}"\n'


def _points(**each: Sequence[Any]) -> list[Point]:
    return [dict(zip(each, values, strict=True)) for values in zip(*each.values(), strict=True)]


def _general(scv: float) -> Template:
    text = "[stations.cpu]\n" + OPEN + GENERAL
    return Template(text, {MEAN: 0.02, VARIANCE: scv}, TO_40, rates(25, 45), ["cpu"])


TEMPLATES = {
    "M/M/1": Template("[stations.cpu]\n" + OPEN + CPU, {DEMAND: 0.02}, rates(8, 14, 20, 26, 32, 38), rates(23, 44)),
    "M/M/2 and delay": Template("[stations.cpu]\nservers = 2\n" + NET + OPEN + BOTH, {DEMAND: 0.02, DELAY: 0.005}, TO_70,
                                rates(45, 90)),
    "M/M/8 and delay, watched": Template("[stations.cpu]\nservers = 8\n" + NET + OPEN + BOTH, {DEMAND: 0.02, DELAY: 0.01},
                                         rates(100, 150, 200, 250, 300, 340), rates(225, 375), ["cpu"]),
    "M/G/1, c² = 0.3, watched": _general(0.3),
    "M/G/1, c² = 3, watched": _general(3.0),
    "tandem, one watched": Template(f"[stations.cpu]\n[stations.net]\n{OPEN}[demands_s]\ncpu = {{ user = {ANY} }}\n"
                                    f"net = {{ user = {ANY} }}\n", {DEMAND: 0.02, DELAY: 0.01},
                                    rates(8, 14, 20, 26, 32, 38), rates(23, 44), ["cpu"]),
    "closed, think time unknown": Template("[stations.cpu]\n" + CLOSED.replace("0.5", ANY) + CPU,
                                           {"classes.user.think_s": 0.4, DEMAND: 0.02}, users(2, 6, 10, 14, 18, 22),
                                           users(12, 35)),
    "closed, two queues, one watched": Template(
        f"[stations.cpu]\nservers = 2\n[stations.net]\n{CLOSED}[demands_s]\ncpu = {{ user = {ANY} }}\nnet = {{ user = {ANY} }}\n",
        {DEMAND: 0.04, DELAY: 0.015}, users(2, 5, 10, 15, 20, 25, 30, 35), users(17, 45), ["cpu"]),
    "closed, four servers and delay, watched": Template("[stations.cpu]\nservers = 4\n" + NET + CLOSED + BOTH,
                                                        {DEMAND: 0.08, DELAY: 0.02}, users(4, 10, 16, 22, 28, 34, 40),
                                                        users(19, 60), ["cpu"]),
    "two open classes, processor sharing": Template(
        '[stations.cpu]\nservers = 2\ndiscipline = "ps"\n' + OPEN + '[classes.batch]\nkind = "open"\nrate_per_s = 5.0\n'
        '[factors]\nrate_per_s = "classes.user.rate_per_s"\n' + TWO, {DEMAND: 0.02, "demands_s.cpu.batch": 0.08},
        rates(10, 20, 30, 40, 50, 60), rates(35, 70)),
    "mixed: an open and a closed class": Template(
        '[stations.cpu]\ndiscipline = "ps"\n' + OPEN + '[classes.batch]\nkind = "closed"\npopulation = 3\nthink_s = 0.5\n' + TWO,
        {DEMAND: 0.01, "demands_s.cpu.batch": 0.04}, rates(5, 15, 25, 35, 45, 55), rates(30, 65)),
    "pool around two stations": Template(
        "[stations.cpu]\n" + NET + '[stations.workers]\nkind = "pool"\nsize = 4\nheld_over_stations = ["cpu", "net"]\n' + CLOSED + BOTH,
        {DEMAND: 0.02, DELAY: 0.06}, users(2, 6, 10, 14, 18, 22, 26), users(12, 34)),
    "load-dependent station": Template(
        '[stations.cpu]\n[stations.net]\nkind = "load_dependent"\nrates_per_s = [40, 65, 80, 90, 95]\n' + CLOSED +
        f"[visits]\ncpu = {{ user = 1 }}\nnet = {{ user = {ANY} }}\n[service_s]\ncpu = {{ user = {ANY} }}\n",
        {"visits.net.user": 1.6, "service_s.cpu.user": 0.012}, users(2, 6, 10, 14, 18, 24, 30), users(16, 40)),
    "M/G/4 by an approximation, c² = 3, watched": Template(
        "[stations.cpu]\nservers = 4\n" + OPEN + GENERAL, {MEAN: 0.02, VARIANCE: 3.0},
        rates(60, 80, 100, 120, 140, 160, 170), rates(110, 180), ["cpu"]),
    "a sum of parts by keys and size, watched": Template(
        _formula("request_s + key_s*keys + kib_s*value_bytes/1024",
                 f"request_s = {ANY}\nkey_s = {ANY}\nkib_s = {ZERO}\nkeys = 1\nvalue_bytes = 64"),
        {"parameters.request_s": 0.004, "parameters.key_s": 0.002, "parameters.kib_s": 0.0005},
        _points(rate_per_s=[60, 150, 50, 80, 120, 40, 100, 60], keys=[1, 1, 8, 4, 2, 8, 4, 2],
                value_bytes=[64, 4096, 64, 4096, 8192, 8192, 1024, 16384]),
        _points(rate_per_s=[110, 50], keys=[3, 12], value_bytes=[2048, 16384]), ["cpu"]),
    "a part that two stations share": Template(
        f'[parameters]\nparse_s = {ANY}\nrest_s = {ANY}\n[stations.cpu]\n[stations.net]\n{OPEN}[demands_s]\n'
        'cpu = { user = "parse_s + rest_s" }\nnet = { user = "0.5*parse_s" }\n',
        {"parameters.parse_s": 0.012, "parameters.rest_s": 0.006}, rates(6, 14, 22, 30, 38, 44), rates(26, 49), ["cpu"]),
    "a time that falls with the load, watched": Template(
        _formula("work_s * (1 + saved*(1-u)**2)", f"work_s = {ANY}\nsaved = {ZERO}"),
        {"parameters.work_s": 0.01, "parameters.saved": 0.8}, rates(10, 30, 60, 90, 120, 150, 165), rates(75, 180), ["cpu"]),
    "a time that grows with the load, closed, watched": Template(
        _formula("work_s * (1 + grown*u)", f"work_s = {ANY}\ngrown = {ZERO}").replace(OPEN, CLOSED),
        {"parameters.work_s": 0.03, "parameters.grown": 0.5}, users(2, 8, 14, 20, 26, 32, 40), users(17, 55), ["cpu"]),
    "contention and coherency by the number present": Template(
        f'[parameters]\nwork_s = {ANY}\ncontention = {ZERO}\ncoherency = 0.0005\n[stations.cpu]\nkind = "load_dependent"\n'
        f'rates_per_s = "n / (work_s * (1 + contention*(n-1) + coherency*n*(n-1)))"\n{CLOSED}[visits]\ncpu = {{ user = 1 }}\n',
        {"parameters.work_s": 0.02, "parameters.contention": 0.08}, users(2, 8, 16, 24, 32, 40, 48, 56), users(20, 70)),
    "the speed of the core, watched": Template(
        _formula("work_s * slower**exponent", f"work_s = {ANY}\nexponent = {{ free = true, low = 0, high = 2, start = 1 }}\n"
                 "slower = 1"), {"parameters.work_s": 0.01, "parameters.exponent": 0.7},
        _points(rate_per_s=[40, 60, 80, 100, 120, 140, 150, 90], slower=[1.0, 1.3, 0.9, 1.1, 1.2, 0.95, 1.05, 1.4]),
        _points(rate_per_s=[110, 130], slower=[1.15, 1.35]), ["cpu"]),
    "a part by kind of work, threads that get in each other's way": Template(
        _formula("(read_s + store_s*stores) * (1 + crowd*log(workers))",
                 f"read_s = {ANY}\nstore_s = {ZERO}\ncrowd = {ZERO}\nworkers = 2\n"
                 'stores = { factor = "work", value = "get", cases = { set = 1, mixed = 0.5 }, otherwise = 0 }',
                 'servers = "workers"'),
        {"parameters.read_s": 0.01, "parameters.store_s": 0.006, "parameters.crowd": 0.15},
        _points(rate_per_s=[40, 90, 70, 200, 150, 100, 260, 300], work=["get", "get", "set", "get", "set", "mixed", "mixed", "get"],
                workers=[1, 2, 2, 4, 4, 2, 6, 6]),
        _points(rate_per_s=[190, 330], work=["mixed", "get"], workers=[4, 8]), ["cpu"]),
    "a formula of a measured number": Template(
        f'[parameters]\nrequest_s = {ANY}\nkey_s = {ANY}\nkeys = 1\n'
        'cpu_s = { metric = "service_demand", metric_station = "server", model_formula = "request_s + key_s*keys" }\n[stations.cpu]\n'
        f'{NET}{OPEN}[demands_s]\ncpu = {{ user = "cpu_s" }}\nnet = {{ user = {ZERO} }}\n',
        {"parameters.request_s": 0.004, "parameters.key_s": 0.001, DELAY: 0.01},
        _points(rate_per_s=[20, 40, 60, 30, 50, 45], keys=[1, 8, 2, 16, 4, 1]), _points(rate_per_s=[40, 55], keys=[3, 12]),
        measured="cpu"),
    "a share that is asked again": Template(
        f'[parameters]\nwork_s = {ANY}\nown_s = {ANY}\nagain = {ANY}\nretry_s = 0.1\n[stations.cpu]\nservers = 2\n'
        + CLOSED.replace("0.5", '"own_s + again*retry_s"') + '[demands_s.cpu]\nuser = "work_s"\n',
        {"parameters.work_s": 0.02, "parameters.own_s": 0.2, "parameters.again": 0.5},
        _points(users=[2, 6, 10, 14, 20, 26, 32], retry_s=[0.1, 0.4] * 3 + [0.1]), _points(users=[12, 40], retry_s=[0.2, 0.4])),
}  # fmt: skip
