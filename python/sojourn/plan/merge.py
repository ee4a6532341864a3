"""Two or more queues put together: one line before all servers, customers weighted by how often they call.

Source: Gunther, Guerrilla Capacity Planning (2007), ch. 4, for the helpdesk; the service time of the merged queue is
sum(lambda_i S_i)/sum(lambda_i), weights by call rate and not by staff (errata of the fourth document, section 5). Where the
service times differ, the merged queue is M/H/m and no M/M/m. Priority for one desk's old customers: Cobham (1954), as in
`solve.single.mmm_priority`, without preemption. Limits: one class and one station a model, Poisson arrivals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sojourn.errors import InputError, MethodRefused
from sojourn.former_keyword import former_field
from sojourn.model import Distribution, Exponential, Hyperexponential, Model, Open, Queue
from sojourn.model.model import as_model
from sojourn.solve.solve import settled_network, solve

CLOSE = 1e-12  # relative, of service times that are one


@dataclass(frozen=True)
class HelpDesk:
    """One queue: arrivals in 1/s, mean times in s, utilisation of a server, how it was solved and how well."""

    name: str
    servers: int
    rate_per_s: float
    service_s: float
    utilisation: float
    response_s: float | None
    waiting_s: float | None
    method: str
    status: str


@former_field(first="served_first")
@dataclass(frozen=True)
class Priority:
    """Mean wait (s) by desk where the old customers of `served_first` go before all others in the merged queue."""

    served_first: str
    waiting_s: dict[str, float]


@former_field(whole="merged_queue", by_desk="merged_response_s")
@dataclass(frozen=True)
class Merged:
    """`desks` alone, `merged_queue` together; `merged_response_s`: mean response (s) of each desk's customers together,
    its own service after the common wait. `priorities`: empty where no method tells them; `notes` say why."""

    desks: tuple[HelpDesk, ...]
    merged_queue: HelpDesk
    merged_response_s: dict[str, float]
    priorities: tuple[Priority, ...]
    notes: tuple[str, ...]


def merge(*models: Model | Path | str, servers: int | None = None) -> Merged:
    """Two or more models of one queue and one open class each; `servers` of the merged queue, None: all of them.

    Raises InputError for another kind of model.
    """
    if len(models) < 2:
        raise InputError(f"{len(models)} model{'s' if not models else ''}", "calc merge", "give two or more")
    read = [_read(model, i) for i, model in enumerate(models)]
    names = [name for name, *_ in read]
    if len(set(names)) < len(names):
        read = [(f"{name} {i + 1}", queue, rate, service) for i, (name, queue, rate, service) in enumerate(read)]
    m = sum(queue.servers for _, queue, *_ in read) if servers is None else servers
    if m != int(m) or m < 1:
        raise InputError(m, "--servers", "give a whole number of 1 or more")
    desks = tuple(_desk(name, queue.servers, [(name, rate, service)]) for name, queue, rate, service in read)
    parts = [(name, rate, service) for name, _, rate, service in read]
    whole = _desk(" + ".join(name for name, *_ in parts), int(m), parts)
    by_desk = {} if whole.waiting_s is None else {name: whole.waiting_s + s.first for name, _, s in parts}
    priorities, notes = _priorities(int(m), parts)
    if whole.status != "ok" and whole.response_s is None:
        notes = [f"the merged queue is {whole.status}: give more --servers", *notes]
    if any(abs(s.first / parts[0][2].first - 1) > CLOSE for *_, s in parts):
        notes = [
            "service times differ: the merged queue is not M/M/m; its mean service time is weighted by call rate",
            *notes,
        ]
    return Merged(desks, whole, by_desk, priorities, tuple(notes))


def _read(model: Model | Path | str, number: int) -> tuple[str, Queue, float, Distribution]:
    """(name, station, rate in 1/s, service time) of one model."""
    it = as_model(model)
    place = model if isinstance(model, str | Path) else it.name or f"model {number + 1}"
    network = settled_network(it)
    station, cls = it.stations[0], it.classes[0]
    fits = len(it.stations) == len(it.classes) == 1 and isinstance(station, Queue) and isinstance(cls, Open)
    if not fits or cls.arrivals is not None or station.capacity is not None or network.visits[0, 0] != 1:  # type: ignore[union-attr]
        remedy = "merge needs one queue without a limit, visited once by one open class with a rate_per_s"
        raise InputError("another kind of model", place, remedy)
    service = network.service[0][0]
    assert isinstance(station, Queue) and service is not None
    fallback = Path(model).stem if isinstance(model, str | Path) else f"desk {number + 1}"
    return it.name or fallback, station, float(network.rate_per_s[0]), service


def _desk(name: str, servers: int, parts: Sequence[tuple[str, float, Distribution]]) -> HelpDesk:
    rate = sum(r for _, r, _ in parts)
    service = _mixed(parts)
    model = Model([Queue("desk", servers)], [Open("call", rate)], service_s={"desk": {"call": service}})
    told = solve(model)
    numbers = [told.value(metric, "desk", "call") for metric in ("response_time", "waiting_time")]
    response, waiting = (None if x != x else float(x) for x in numbers)
    busy = rate * service.first / servers
    return HelpDesk(name, servers, rate, service.first, busy, response, waiting, told.method, told.status)


def _mixed(parts: Sequence[tuple[str, float, Distribution]]) -> Distribution:
    """The service time of whoever calls."""
    rate = sum(r for _, r, _ in parts)
    services = [s for *_, s in parts]
    if all(isinstance(s, Exponential) for s in services):
        if all(abs(s.first / services[0].first - 1) < CLOSE for s in services):
            return services[0]
        return Hyperexponential(tuple(r / rate for _, r, _ in parts), tuple(s.first for s in services))
    if len(parts) == 1 or all(s == services[0] for s in services):
        return services[0]
    kinds = ", ".join(sorted({s.kind for s in services}))
    raise InputError(
        f"service times {kinds}", "calc merge", "use exponential times, or the same time for all; else simulate"
    )


def _priorities(
    servers: int, parts: Sequence[tuple[str, float, Distribution]]
) -> tuple[tuple[Priority, ...], list[str]]:
    found = []
    for first, *_ in parts:
        classes: list[Any] = [replace(Open(name, rate), priority=int(name != first)) for name, rate, _ in parts]
        services = {name: service for name, _, service in parts}
        try:
            told = solve(Model([Queue("desk", servers, discipline="priority")], classes, service_s={"desk": services}))
        except MethodRefused as error:
            return (), [
                f'no waiting time with priorities: {error.value}; simulate a model with discipline = "priority"'
            ]
        waits = {name: told.value("waiting_time", "desk", name) for name, *_ in parts}
        found.append(Priority(first, {name: float(wait) for name, wait in waits.items() if wait == wait}))
    return tuple(found), []
