"""Models with one mistake each, as a file and, where it can be said there too, as an object.

A row: what is replaced in BASE, by what, the line that must be named, the place, a part of the value, a part of the
remedy, and the arguments of `Model` that say the same.
"""

# ruff: noqa: E501  (one mistake a line)

from __future__ import annotations

import math
from typing import Any, NamedTuple

import sojourn as sj

BASE = """\
name = "shop"
[stations.cpu]
servers = 2
[stations.disk]
[classes.user]
kind = "closed"
population = 50
think_s = 1.0
[demands_s.cpu]
user = 0.02
[demands_s.disk]
user = 0.03
"""
OPEN = BASE.replace('kind = "closed"\npopulation = 50\nthink_s = 1.0', 'kind = "open"\nrate_per_s = 3.0\npriority = 0')
ROUTED = BASE.replace("demands_s", "service_s") + "[routing.user.cpu]\ndisk = 1\n[routing.user.disk]\nthink = 1\n"


class Mistake(NamedTuple):
    what: str
    old: str
    new: str
    line: int
    place: str
    value: str
    remedy: str
    said: dict[str, Any] | None = None
    base: str = BASE

    @property
    def text(self) -> str:
        assert self.old in self.base, self.what
        return self.base.replace(self.old, self.new, 1)


def cpu(**keys: Any) -> dict[str, Any]:
    return {"stations": [sj.Queue("cpu", **keys), sj.Queue("disk")]}


def user(**keys: Any) -> dict[str, Any]:
    return {"classes": [sj.Closed("user", **{"population": 50, "think_s": 1.0, **keys})]}


def api(**keys: Any) -> dict[str, Any]:
    return {"classes": [sj.Open("user", **keys)]}


def demand(value: Any) -> dict[str, Any]:
    return {"demands_s": {"cpu": {"user": value}, "disk": {"user": 0.03}}}


def routed(rows: Any, **more: Any) -> dict[str, Any]:
    times = {"cpu": {"user": 0.02}, "disk": {"user": 0.03}}
    return {"demands_s": {}, "service_s": times, "routing": {"user": rows}, **more}


def with_station(station: Any) -> dict[str, Any]:
    return {"stations": [sj.Queue("cpu"), sj.Queue("disk"), station]}


SERVERS, POPULATION, TIME = "servers = 2", "population = 50", "user = 0.02"
DISK = "[stations.disk]\n"
STATIONS = [
    Mistake("zero servers", SERVERS, "servers = 0", 3, "stations.cpu.servers", "0", "at least 1", cpu(servers=0)),
    Mistake("negative servers", SERVERS, "servers = -1", 3, "stations.cpu.servers", "-1", "at least 1", cpu(servers=-1)),
    Mistake("fractional servers", SERVERS, "servers = 1.5", 3, "stations.cpu.servers", "1.5", "whole", cpu(servers=1.5)),
    Mistake("servers true", SERVERS, "servers = true", 3, "stations.cpu.servers", "True", "whole", cpu(servers=True)),
    Mistake("servers text", SERVERS, 'servers = "2"', 3, "stations.cpu.servers", "'2'", "whole", cpu(servers="2")),
    Mistake("servers inf", SERVERS, "servers = inf", 3, "stations.cpu.servers", "inf", "whole", cpu(servers=math.inf)),
    Mistake("discipline", SERVERS, 'discipline = "lifo"', 3, "stations.cpu.discipline", "'lifo'", "fcfs, ps", cpu(discipline="lifo")),
    Mistake("near name", SERVERS, 'discipline = "fcsf"', 3, "stations.cpu.discipline", "'fcsf'", "mean fcfs?", cpu(discipline="fcsf")),
    Mistake("capacity below servers", SERVERS, "servers = 4\ncapacity = 3", 4, "stations.cpu.capacity", "3", "at least 4", cpu(servers=4, capacity=3)),
    Mistake("capacity zero", SERVERS, "capacity = 0", 3, "stations.cpu.capacity", "0", "at least 1", cpu(capacity=0)),
    Mistake("on_full", SERVERS, 'on_full = "drop"', 3, "stations.cpu.on_full", "'drop'", "lose, block", cpu(on_full="drop")),
    Mistake("schedule back", SERVERS, "server_schedule = [[5, 1], [3, 2]]", 3, "stations.cpu.server_schedule", "3 s after 5 s", "ascending", cpu(server_schedule=[(5, 1), (3, 2)])),
    Mistake("schedule shape", SERVERS, "server_schedule = [1, 2]", 3, "stations.cpu.server_schedule", "1", "pairs", cpu(server_schedule=(1, 2))),
    Mistake("period short", SERVERS, "server_schedule = [[0, 1], [9, 2]]\nschedule_period_s = 9", 4, "stations.cpu.schedule_period_s", "9", "longer", cpu(server_schedule=[(0, 1), (9, 2)], schedule_period_s=9)),
    Mistake("period alone", SERVERS, "schedule_period_s = 9", 3, "stations.cpu.schedule_period_s", "9", "server_schedule as well", cpu(schedule_period_s=9.0)),
    Mistake("repair takes no time", SERVERS, 'breakdowns = { up = { kind = "exponential", mean = 9 }, down = { kind = "exponential", mean = 0 } }', 3, "stations.cpu.breakdowns.down", "0", "above 0", cpu(breakdowns=sj.Breakdowns(sj.Exponential(9), sj.Exponential(0)))),
    Mistake("unknown key", SERVERS, "server = 2", 3, "stations.cpu.server", "'server'", "mean servers?"),
    Mistake("unknown kind", SERVERS, 'kind = "que"', 3, "stations.cpu.kind", "'que'", "mean queue?"),
    Mistake("two names in a file", DISK, "[stations.cpu]\n", 4, "", "twice", "once"),
    Mistake("no station", "[stations.cpu]\nservers = 2\n[stations.disk]\n", "", 0, "stations", "no station", "add", {"stations": []}),
    Mistake("rates empty", DISK, '[stations.disk]\nkind = "load_dependent"\nrates_per_s = []\n', 6, "stations.disk.rates_per_s", "()", "at least one", with_station(sj.LoadDependent("ld", ()))),
    Mistake("rate zero", DISK, '[stations.disk]\nkind = "load_dependent"\nrates_per_s = [1, 0]\n', 6, "stations.disk.rates_per_s", "0", "above 0", with_station(sj.LoadDependent("ld", (1, 0)))),
    Mistake("rates missing", DISK, '[stations.disk]\nkind = "load_dependent"\n', 4, "stations.disk", "no rates_per_s", "give rates_per_s"),
    Mistake("no branch", DISK, '[stations.disk]\nkind = "fork_join"\nbranches = 0\n', 6, "stations.disk.branches", "0", "at least 1", with_station(sj.ForkJoin("fj", 0))),
    Mistake("more NICs than cores", DISK, '[stations.disk]\nkind = "multicore"\ncores = 2\nnics = 3\ninterrupt_s = 1e-4\n', 7, "stations.disk.nics", "3", "from 1 to 2", with_station(sj.Multicore("mc", 2, 3, 1e-4))),
    Mistake("p above 1", DISK, '[stations.disk]\nkind = "multicore"\ncores = 2\nnics = 1\ninterrupt_s = 1e-4\np = 1.5\n', 9, "stations.disk.p", "1.5", "at most 1", with_station(sj.Multicore("mc", 2, 1, 1e-4, p=1.5))),
    Mistake("pool over nothing known", DISK, '[stations.disk]\n[stations.pool]\nkind = "pool"\nsize = 3\nheld_over_stations = ["disc"]\n', 8, "stations.pool.held_over_stations", "'disc'", "mean disk?", with_station(sj.Pool("pool", 3, ("disc",)))),
    Mistake("empty pool", DISK, '[stations.disk]\n[stations.pool]\nkind = "pool"\nsize = 0\nheld_over_stations = ["disk"]\n', 7, "stations.pool.size", "0", "at least 1", with_station(sj.Pool("pool", 0, ("disk",)))),
    Mistake("limit 0", DISK, '[stations.disk]\n[regions.db]\nlimit = 0\nstations = ["disk"]\n', 6, "regions.db.limit", "0", "at least 1", {"regions": [sj.Region("db", 0, ("disk",))]}),
    Mistake("region on nothing known", DISK, '[stations.disk]\n[regions.db]\nlimit = 2\nstations = ["tape"]\n', 7, "regions.db.stations", "'tape'", "cpu, disk", {"regions": [sj.Region("db", 2, ("tape",))]}),
    Mistake("slash in a name", DISK, '[stations.disk]\n[stations."a/b"]\n', 5, "stations.a/b", "'a/b'", "without /", with_station(sj.Queue("a/b"))),
    Mistake("empty name", DISK, '[stations.disk]\n[stations.""]\n', 2, "stations", "''", "not empty", with_station(sj.Queue(""))),
]  # fmt: skip
CLASSES = [
    Mistake("negative population", POPULATION, "population = -1", 7, "classes.user.population", "-1", "at least 0", user(population=-1)),
    Mistake("fractional population", POPULATION, "population = 2.5", 7, "classes.user.population", "2.5", "whole", user(population=2.5)),
    Mistake("no population", POPULATION, "", 5, "classes.user", "no population", "give population"),
    Mistake("negative think", "think_s = 1.0", "think_s = -1.0", 8, "classes.user.think_s", "-1.0", "at least 0", user(think_s=-1.0)),
    Mistake("think text", "think_s = 1.0", 'think_s = "1 s"', 8, "classes.user.think_s", "'1 s'", "finite number", user(think_s="1 s")),
    Mistake("wrong unit", "think_s = 1.0", "think_ms = 1000", 8, "classes.user.think_ms", "think_ms", "write think_s, in s (1 ms is 0.001 s)"),
    Mistake("wrong unit of a rate", "rate_per_s", "rate_per_min", 7, "classes.user.rate_per_min", "rate_per_min", "write rate_per_s, in 1/s", None, OPEN),
    Mistake("wrong unit of a part", "demands_s.cpu", "demands_ms.cpu", 9, "demands_ms", "demands_ms", "write demands_s"),
    Mistake("unknown part", "[stations.disk]", "[station.disk]", 4, "station", "'station'", "mean stations?"),
    Mistake("no kind of class", 'kind = "closed"', "", 5, "classes.user", "no kind", "closed or open"),
    Mistake("unknown kind of class", 'kind = "closed"', 'kind = "shut"', 6, "classes.user.kind", "'shut'", "closed, open"),
    Mistake("no class", '[classes.user]\nkind = "closed"\npopulation = 50\nthink_s = 1.0\n', "", 0, "classes", "no class", "add", {"classes": []}),
    Mistake("negative rate", "rate_per_s = 3.0", "rate_per_s = -3.0", 7, "classes.user.rate_per_s", "-3.0", "at least 0", api(rate_per_s=-3.0), OPEN),
    Mistake("rate NaN", "rate_per_s = 3.0", "rate_per_s = nan", 7, "classes.user.rate_per_s", "nan", "finite", api(rate_per_s=math.nan), OPEN),
    Mistake("rate infinite", "rate_per_s = 3.0", "rate_per_s = inf", 7, "classes.user.rate_per_s", "inf", "finite", api(rate_per_s=math.inf), OPEN),
    Mistake("rate and arrivals", "priority = 0", 'arrivals = { kind = "exponential", mean = 1 }', 7, "classes.user.rate_per_s", "3.0", "one of", api(rate_per_s=3.0, arrivals=sj.Exponential(1)), OPEN),
    Mistake("priority negative", "priority = 0", "priority = -1", 8, "classes.user.priority", "-1", "at least 0", api(rate_per_s=3.0, priority=-1), OPEN),
    Mistake("MAP rows", "rate_per_s = 3.0", 'arrivals = { kind = "map", D0 = [[-2, 0], [0, -1]], D1 = [[1, 0], [0, 1]] }', 7, "classes.user.arrivals.D0", "[-1.0, 0.0]", "sum to 0", api(arrivals=sj.MAP(((-2, 0), (0, -1)), ((1, 0), (0, 1)))), OPEN),
    Mistake("MAP not square", "rate_per_s = 3.0", 'arrivals = { kind = "map", D0 = [[-2, 2]], D1 = [[0]] }', 7, "classes.user.arrivals.D0", "((-2, 2),)", "square", api(arrivals=sj.MAP(((-2, 2),), ((0,),))), OPEN),
    Mistake("MAP without arrivals", "rate_per_s = 3.0", 'arrivals = { kind = "map", D0 = [[-1]], D1 = [[0]] }', 7, "classes.user.arrivals.D1", "0", "above 0", api(arrivals=sj.MAP(((-1,),), ((0,),))), OPEN),
    Mistake("steps shape", "rate_per_s = 3.0", 'arrivals = { kind = "steps", steps = [[1, 0]] }', 7, "classes.user.arrivals.steps", "0", "above 0 as duration", api(arrivals=sj.Steps(((1, 0),))), OPEN),
    Mistake("trace back", "rate_per_s = 3.0", 'arrivals = { kind = "trace", times_s = [0, 2, 1] }', 7, "classes.user.arrivals.times_s", "back", "ascending", api(arrivals=sj.Trace((0, 2, 1))), OPEN),
    Mistake("trace of nothing", "rate_per_s = 3.0", 'arrivals = { kind = "trace" }', 7, "classes.user.arrivals", "0 values", "one of", api(arrivals=sj.Trace()), OPEN),
    Mistake("arrivals a number", "rate_per_s = 3.0", "arrivals = 3.0", 7, "classes.user.arrivals", "3.0", "rate_per_s", api(arrivals=3.0), OPEN),
    Mistake("reference unknown", "think_s = 1.0", 'reference_station = "gpu"', 8, "classes.user.reference_station", "'gpu'", "cpu", user(reference_station="gpu")),
]  # fmt: skip
TABLES = [
    Mistake("negative demand", TIME, "user = -0.02", 10, "demands_s.cpu.user", "-0.02", "at least 0", demand(-0.02)),
    Mistake("demand true", TIME, "user = true", 10, "demands_s.cpu.user", "True", "number", demand(True)),
    Mistake("demand NaN", TIME, "user = nan", 10, "demands_s.cpu.user", "nan", "finite", demand(math.nan)),
    Mistake("demand a list", TIME, "user = [1]", 10, "demands_s.cpu.user", "[1]", "number", demand([1])),
    Mistake("unknown station in a table", "[demands_s.disk]", "[demands_s.disc]", 11, "demands_s.disc", "'disc'", "mean disk?", {"demands_s": {"disc": {"user": 1.0}}}),
    Mistake("unknown class in a table", TIME, "usr = 0.02", 10, "demands_s.cpu.usr", "'usr'", "mean user?", {"demands_s": {"cpu": {"usr": 1.0}}}),
    Mistake("a number where a table is", "[demands_s.disk]\nuser = 0.03", "[demands_s]\ndisk = 0.03", 12, "demands_s.disk", "0.03", "table"),
    Mistake("unknown distribution", TIME, 'user = { kind = "normal", mean = 1 }', 10, "demands_s.cpu.user.kind", "'normal'", "lognormal"),
    Mistake("a distribution without kind", TIME, "user = { mean = 1 }", 10, "demands_s.cpu.user", "no kind", "add kind"),
    Mistake("a distribution's unknown key", TIME, 'user = { kind = "erlang", mean = 1, k = 2 }', 10, "demands_s.cpu.user.k", "'k'", "mean, shape"),
    Mistake("Erlang's shape", TIME, 'user = { kind = "erlang", mean = 1, shape = 0 }', 10, "demands_s.cpu.user.shape", "0", "at least 1", demand(sj.Erlang(1, 0))),
    Mistake("probabilities", TIME, 'user = { kind = "hyperexponential", probabilities = [0.5, 0.6], means = [1, 2] }', 10, "demands_s.cpu.user.probabilities", "1.1", "sum to 1", demand(sj.Hyperexponential((0.5, 0.6), (1, 2)))),
    Mistake("same number of means", TIME, 'user = { kind = "hyperexponential", probabilities = [0.5, 0.5], means = [1] }', 10, "demands_s.cpu.user.means", "1 means", "the same number", demand(sj.Hyperexponential((0.5, 0.5), (1,)))),
    Mistake("uniform backwards", TIME, 'user = { kind = "uniform", low = 2, high = 1 }', 10, "demands_s.cpu.user.high", "2 to 1", "above low", demand(sj.Uniform(2, 1))),
    Mistake("scv negative", TIME, 'user = { kind = "lognormal", mean = 2, scv = -1 }', 10, "demands_s.cpu.user.scv", "-1", "at least 0", demand(sj.Lognormal(2, -1))),
    Mistake("Weibull's shape", TIME, 'user = { kind = "weibull", mean = 2, shape = 0 }', 10, "demands_s.cpu.user.shape", "0", "at least 0.02", demand(sj.Weibull(2, 0))),
    Mistake("a think time out of range", "think_s = 1.0", "think_s = 1e300", 8, "classes.user.think_s", "1e+300", "from 1e-30 to 1e+30", user(think_s=1e300)),
    Mistake("a service time out of range", TIME, "user = 1e-31", 10, "demands_s.cpu.user", "1e-31", "0 or a number from 1e-30", demand(1e-31)),
    Mistake("Pareto without a mean", TIME, 'user = { kind = "pareto", mean = 2, shape = 1 }', 10, "demands_s.cpu.user.shape", "1", "above 1", demand(sj.Pareto(2, 1))),
    Mistake("phases without a way out", TIME, 'user = { kind = "phase_type", start = [1, 0], rates = [[-1, 1], [1, -1]] }', 10, "demands_s.cpu.user.rates", "-1", "way to leave", demand(sj.PhaseType((1, 0), ((-1, 1), (1, -1))))),
    Mistake("no value", TIME, 'user = { kind = "empirical", values = [] }', 10, "demands_s.cpu.user.values", "()", "at least one", demand(sj.Empirical(()))),
    Mistake("arrivals where a time is", TIME, 'user = { kind = "map", D0 = [[-1]], D1 = [[1]] }', 10, "demands_s.cpu.user.kind", "'map'", "exponential"),
    Mistake("demand and service", "[demands_s.disk]", "[service_s.cpu]", 10, "demands_s.cpu.user", "also in service_s", "one", {"service_s": {"cpu": {"user": 0.1}}}),
    Mistake("negative visits", "[demands_s.disk]\nuser = 0.03", "[visits.cpu]\nuser = -2", 12, "visits.cpu.user", "-2", "at least 0", {"visits": {"cpu": {"user": -2}}}),
    Mistake("visits without a time", "[demands_s.disk]", "[visits.disk]", 12, "visits.disk.user", "no service time", "0 where", {"demands_s": {"cpu": {"user": 1.0}}, "visits": {"disk": {"user": 2.0}}}),
    Mistake("a class that goes nowhere", "[demands_s.cpu]\nuser = 0.02\n[demands_s.disk]\nuser = 0.03\n", "", 5, "classes.user", "visits no station", "give it a time", {"demands_s": {}}),
    Mistake("a station that nobody visits", "[demands_s.disk]\nuser = 0.03", "", 4, "stations.disk", "no class visits it", "leave it out", {"demands_s": {"cpu": {"user": 0.02}}}),
    Mistake("all times 0", "think_s = 1.0\n[demands_s.cpu]\nuser = 0.02\n[demands_s.disk]\nuser = 0.03", "[demands_s.cpu]\nuser = 0", 5, "classes.user", "times are 0", "think_s", {**user(think_s=0.0), **{"demands_s": {"cpu": {"user": 0.0}}}}),
    Mistake("time of a load-dependent station", DISK, '[stations.disk]\nkind = "load_dependent"\nrates_per_s = [1]\n', 13, "demands_s.disk", "load-dependent", "leave it out", {"stations": [sj.Queue("cpu"), sj.LoadDependent("disk", (1,))]}),
]  # fmt: skip
ROUTES = [
    Mistake("row above 1", "disk = 1", "disk = 1\nthink = 0.5", 13, "routing.user.cpu", "1.5", "sum to 1", routed({"cpu": {"disk": 1, "think": 0.5}, "disk": {"think": 1}}), ROUTED),
    Mistake("closed row below 1", "disk = 1", "disk = 0.9", 13, "routing.user.cpu", "0.9", "customers cannot leave", routed({"cpu": {"disk": 0.9}, "disk": {"think": 1}}), ROUTED),
    Mistake("negative probability", "disk = 1", "disk = 2\nthink = -1", 14, "routing.user.cpu.disk", "2", "at most 1", routed({"cpu": {"disk": 2, "think": -1}}), ROUTED),
    Mistake("unknown end", "disk = 1", "disc = 1", 14, "routing.user.cpu.disc", "'disc'", "mean disk?", routed({"cpu": {"disc": 1}}), ROUTED),
    Mistake("unknown start", "[routing.user.disk]", "[routing.user.tape]", 15, "routing.user.tape", "'tape'", "cpu, disk", routed({"cpu": {"disk": 1}, "tape": {"think": 1}}), ROUTED),
    Mistake("unknown class of a route", "[routing.user.cpu]", "[routing.usr.cpu]", 13, "routing.usr", "'usr'", "mean user?", None, ROUTED),
    Mistake("closed class leaves", "think = 1", "exit = 1", 16, "routing.user.disk.exit", "'exit'", "use think", routed({"cpu": {"disk": 1}, "disk": {"exit": 1}}), ROUTED),
    Mistake("open class thinks", "think = 1", "think = 1", 16, "routing.user.disk.think", "'think'", "use exit", routed({"cpu": {"disk": 1}, "disk": {"think": 1}}, **api(rate_per_s=1.0)), ROUTED.replace('kind = "closed"\npopulation = 50\nthink_s = 1.0', 'kind = "open"\nrate_per_s = 3.0\npriority = 0')),
    Mistake("trap", "think = 1", "disk = 1", 16, "routing.user.disk", "never leave", "path to think", routed({"cpu": {"disk": 0.5, "think": 0.5}, "disk": {"disk": 1}}), ROUTED.replace("disk = 1\n", "disk = 0.5\nthink = 0.5\n", 1)),
    Mistake("no row leads further", "[routing.user.disk]\nthink = 1\n", "", 13, "routing.user", "no row leads further", "add routing.user.disk", routed({"cpu": {"disk": 1}}), ROUTED),
    Mistake("choice of nothing", "disk = 1", 'policy = "jsq"\nto = []', 15, "routing.user.cpu.to", "()", "at least one", routed({"cpu": sj.Choice("jsq", ())}), ROUTED),
    Mistake("unknown policy", "disk = 1", 'policy = "best"\nto = ["disk"]', 14, "routing.user.cpu.policy", "'best'", "round_robin", routed({"cpu": sj.Choice("best", ("disk",))}), ROUTED),
    Mistake("choice of one unknown", "disk = 1", 'policy = "jsq"\nto = ["tape"]', 15, "routing.user.cpu.to", "'tape'", "cpu, disk", routed({"cpu": sj.Choice("jsq", ("tape",))}), ROUTED),
    Mistake("becomes nobody known", "disk = 1", '"disk/vip" = 1', 14, "routing.user.cpu.disk/vip", "'vip'", "user", routed({"cpu": {"disk/vip": 1}}), ROUTED),
    Mistake("reserved name with routes", "[stations.disk]", "[stations.exit]", 4, "stations.exit", "'exit'", "another name", routed({"cpu": {"disk": 1}, "disk": {"think": 1}}, stations=[sj.Queue("cpu"), sj.Queue("disk"), sj.Queue("exit")]), ROUTED.replace("[service_s.disk]\nuser = 0.03\n", "")),
    Mistake("visits and routes", "[routing.user.cpu]", "[visits.cpu]\nuser = 1\n[routing.user.cpu]", 14, "visits.cpu.user", "also has routing", "visits or routing", routed({"cpu": {"disk": 1}, "disk": {"think": 1}}, visits={"cpu": {"user": 1}}), ROUTED),
    Mistake("closed becomes open", "disk = 1", '"disk/api" = 1\n[classes.api]\nkind = "open"\nrate_per_s = 1\n[service_s.net]\n', 15, "routing.user.cpu.disk/api", "user becomes api", "a closed one", None, ROUTED.replace("[service_s.disk]", "[stations.net]\n[service_s.disk]")),
]  # fmt: skip
MISTAKES = [*STATIONS, *CLASSES, *TABLES, *ROUTES]
