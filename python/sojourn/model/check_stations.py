"""What is wrong with one station, region or class by itself."""

from __future__ import annotations

from typing import Any

from sojourn.errors import ModelError
from sojourn.model.check_times import check_arrivals, check_time
from sojourn.model.checked_values import list_of, number, one_of, whole
from sojourn.model.components import (
    DISCIPLINES,
    ON_FULL,
    VARIANTS,
    Breakdowns,
    Closed,
    Delay,
    ForkJoin,
    LoadDependent,
    Multicore,
    Open,
    Pool,
    Queue,
    Region,
    SharedCores,
)

MOST_SERVERS = 10_000_000
RULES_OF_P = ("uniform", "inverse-utilisation", "equal-utilisation")


def check_station(s: Any) -> None:
    """One station: every number in its range, every name known."""
    place = f"stations.{getattr(s, 'name', '?')}"
    if isinstance(s, Queue):
        _queue(s, place)
    elif isinstance(s, LoadDependent):
        list_of(s.rates_per_s, f"{place}.rates_per_s", "rates (1/s) with 1, 2, … present")
        for rate in s.rates_per_s:
            number(rate, f"{place}.rates_per_s", above=True, what="(1/s)")
        one_of(s.discipline, f"{place}.discipline", DISCIPLINES)
    elif isinstance(s, ForkJoin):
        whole(s.branches, f"{place}.branches", 1)
    elif isinstance(s, Multicore):
        _multicore(s, place)
    elif isinstance(s, Pool):
        whole(s.size, f"{place}.size", 1)
        list_of(s.held_over_stations, f"{place}.held_over_stations", "stations that are visited while a token is held")
    elif not isinstance(s, Delay):
        raise ModelError(repr(s), "stations", "give Queue, Delay, LoadDependent, ForkJoin, Multicore or Pool objects")


def _queue(s: Queue, place: str) -> None:
    whole(s.servers, f"{place}.servers", 1)
    if s.servers > MOST_SERVERS:
        raise ModelError(
            s.servers, f"{place}.servers", f"give at most {MOST_SERVERS}, or use a delay, which has no limit"
        )
    one_of(s.discipline, f"{place}.discipline", DISCIPLINES)
    one_of(s.on_full, f"{place}.on_full", ON_FULL)
    if s.capacity is not None:
        whole(s.capacity, f"{place}.capacity", 1)
        if s.capacity < s.servers:
            remedy = f"it includes customers in service: give at least {s.servers}, the number of servers"
            raise ModelError(s.capacity, f"{place}.capacity", remedy)
    _schedule(s, place)
    if s.breakdowns is not None:
        if not isinstance(s.breakdowns, Breakdowns):
            raise ModelError(repr(s.breakdowns), f"{place}.breakdowns", "give Breakdowns(up, down)")
        for key in ("up", "down"):
            check_time(getattr(s.breakdowns, key), f"{place}.breakdowns.{key}", above=True)
    number(s.background, f"{place}.background", what="(servers)")
    if s.background >= s.servers:
        remedy = f"give less than {s.servers}, the number of servers: nothing is left for customers"
        raise ModelError(f"{s.background:g}", f"{place}.background", remedy)
    if s.background and s.server_schedule:
        raise ModelError(f"{s.background:g}", f"{place}.background", "leave out server_schedule, or background")


def _schedule(s: Queue, place: str) -> None:
    at = f"{place}.server_schedule"
    if not isinstance(s.server_schedule, tuple):
        raise ModelError(repr(s.server_schedule), at, "give pairs [at_s, servers]")
    last = -1.0
    for step in s.server_schedule:
        if not isinstance(step, tuple) or len(step) != 2:
            raise ModelError(repr(step), at, "give pairs [at_s, servers]")
        number(step[0], at, what="as time (s)")
        whole(step[1], at)
        if step[0] <= last:
            raise ModelError(f"{step[0]:g} s after {last:g} s", at, "give the steps in ascending order of time")
        last = step[0]
    if s.schedule_period_s is None:
        return
    number(s.schedule_period_s, f"{place}.schedule_period_s", above=True, what="(s)")
    if not s.server_schedule or s.schedule_period_s <= last:
        remedy = (
            "give a period longer than the last step of server_schedule"
            if s.server_schedule
            else "give a server_schedule as well"
        )
        raise ModelError(s.schedule_period_s, f"{place}.schedule_period_s", remedy)


def _multicore(s: Multicore, place: str) -> None:
    whole(s.cores, f"{place}.cores", 1)
    whole(s.nics, f"{place}.nics", 1, int(s.cores))
    for key in ("interrupt_s", "client_s", "handoff_s", "crossing_s"):
        number(getattr(s, key), f"{place}.{key}", what="(s)")
    number(s.interrupt_scv, f"{place}.interrupt_scv", what="(variance over mean squared)")
    number(s.saved, f"{place}.saved")
    one_of(s.variant, f"{place}.variant", VARIANTS)
    whole(s.capacity, f"{place}.capacity", 1, 10**9)
    if isinstance(s.p, str):
        one_of(s.p, f"{place}.p", RULES_OF_P)
    else:
        number(s.p, f"{place}.p", 0.0, 1.0)


def check_region(r: Any) -> None:
    if not isinstance(r, Region):
        raise ModelError(repr(r), "regions", "give Region objects")
    whole(r.limit, f"regions.{r.name}.limit", 1)
    list_of(r.stations, f"regions.{r.name}.stations", "stations")
    one_of(r.on_full, f"regions.{r.name}.on_full", ("wait", "lose"))


def check_shared_cores(s: Any) -> None:
    """One group of stations on the same cores."""
    if not isinstance(s, SharedCores):
        raise ModelError(repr(s), "shared_cores", "give SharedCores objects")
    place = f"shared_cores.{s.name}"
    list_of(s.stations, f"{place}.stations", "queues whose servers are threads on these cores")
    number(s.cores, f"{place}.cores", above=True, what="(cores)")
    if not isinstance(s.weights, (tuple, list)):
        raise ModelError(
            repr(s.weights), f"{place}.weights", "give a list of weights, one for each station, or leave them out"
        )
    if s.weights and len(s.weights) != len(s.stations):
        remedy = f"give {len(s.stations)} weights, one for each station, or leave them out"
        raise ModelError(list(s.weights), f"{place}.weights", remedy)
    for weight in s.weights:
        number(weight, f"{place}.weights", above=True, what="(a weight)")
    number(s.overhead, f"{place}.overhead", what="(s of CPU time beside each s of the stations)")
    if s.together not in (0, 1):
        raise ModelError(s.together, f"{place}.together", "give 1, or 0 where each station has cores of its own")


def check_class(c: Any) -> None:
    """One class: population, think time, rate and arrivals in their ranges."""
    place = f"classes.{getattr(c, 'name', '?')}"
    if isinstance(c, Closed):
        whole(c.population, f"{place}.population")
        check_time(c.think_s, f"{place}.think_s")
    elif isinstance(c, Open):
        number(c.rate_per_s, f"{place}.rate_per_s", what="(1/s)")
        if c.arrivals is not None:
            check_arrivals(c.arrivals, f"{place}.arrivals")
            if c.rate_per_s != 0:
                raise ModelError(c.rate_per_s, f"{place}.rate_per_s", "give one of rate_per_s and arrivals")
    else:
        raise ModelError(repr(c), "classes", "give Closed and Open objects")
    whole(c.priority, f"{place}.priority")
