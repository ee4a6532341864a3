"""All methods, by family, and why one does not apply; `automatic_method` has the choice that `method="auto"` makes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module

import numpy as np

from sojourn.errors import InputError, MethodRefused
from sojourn.file_errors import meant
from sojourn.model.components import Queue
from sojourn.model.network_arrays import Network
from sojourn.solve.method import Method

FAMILIES = ("single", "closed", "open", "markov", "bounds", "special")
BUDGET_S = 1.0
BUDGET_BYTES = 4e9
SIMULATE = "use sj.simulate(model), or `sojourn simulate`"
NO_SIMULATION = "change what the reason names; no other method and no simulation takes such a model"


def methods_of(family: str) -> tuple[Method, ...]:
    """Those of a family, which is imported when it is asked for."""
    found: tuple[Method, ...] = import_module(f"sojourn.solve.{family}").METHODS
    return found


@cache
def all_methods() -> dict[str, Method]:
    """Every method by its name, in the order of the families."""
    return {method.name: method for family in FAMILIES for method in methods_of(family)}


def family(method: Method) -> str:
    """The family that has it."""
    return _families().get(method.name, "")


@cache
def _families() -> dict[str, str]:
    return {m.name: name for name in FAMILIES for m in methods_of(name)}


def refusal(method: Method, network: Network) -> str | None:
    """Why the method does not apply, None where it does: what the model has and it does not read, or its own reason."""
    try:
        return unread(method, network) or method.refuses(network) or _too_much_memory(method, network)
    except MethodRefused as error:  # it would need what is too large to be made, such as a table of all routes
        return str(error.value)


def unread(method: Method, network: Network) -> str | None:
    """What the model has and the method does not read."""
    if not network.remarkable:
        return None
    reads = (*method.reads, *(("limits", "choices") if family(method) == "markov" else ()))
    return next((reason for feature, reason in features(network).items() if feature not in reads), None)


def _too_much_memory(method: Method, network: Network) -> str | None:
    if (need := method.memory_bytes(network)) <= BUDGET_BYTES:
        return None
    most = f"at most {BUDGET_BYTES / 1e9:g} GB are taken"
    return f"it would take about {method.cost_s(network):.2g} s and {need / 1e9:.2g} GB of memory, and {most}"


def features(network: Network) -> dict[str, str]:
    """What a model has beyond stations, classes and routes, and the words in which that is refused."""
    found = {}
    if "multicore" in network.kind:
        s = network.model.station(network.stations[network.kind.index("multicore")])
        variant = getattr(s, "variant", "priority")
        found["multicore"] = f"the station `{s.name}` is of kind `multicore`, which only `two-class/{variant}` supports"
    for group in network.sharing:
        found["sharing"] = (
            f"the stations {' and '.join(group.stations)} share cores, which only `shared-cores` supports"
        )
    for limit in network.limits:
        found["limits"] = (
            f"`{limit.name}` admits at most {limit.size} customers, and this method supports no such limit"
        )
    for (node, c), choice in network.choices.items():
        if choice.policy != "random":
            start = (*(f"`{name}`" for name in network.stations), "outside")[node]
            found["choices"] = (
                f"the route of class `{network.classes[c]}` from {start} depends on the state (policy `{choice.policy}`)"
            )
    if not network.at_load and not network.dependent_times:
        k = int(np.argmax(network.background > 0))
        found["busy times"] = f"other work keeps {network.stations[k]} busy too; `solve` finds first what it leaves"
    elif not network.at_load:
        time = network.dependent_times[0]
        where = f"{network.stations[time.station]}, {network.classes[time.cls]}"
        found["busy times"] = f"the time of {where} depends on how busy the station is; `solve` finds it first"
    for s in network.model.stations:
        if isinstance(s, Queue) and (s.server_schedule or s.breakdowns):
            what = "a schedule" if s.server_schedule else "breakdowns"
            also = "" if s.server_schedule else " (or `mg1-breakdowns`, if the model has no other station)"
            found["time"] = f"the station `{s.name}` has {what}, which only a simulation supports{also}"
    return found


def named(name: str, networks: Sequence[Network]) -> Method:
    """The method called `name`; InputError where there is none, MethodRefused where it does not apply to a point."""
    methods = all_methods()
    if name not in methods:
        raise InputError(repr(name), "method", f"{meant(name, ['auto', *methods])}")
    for network in networks:
        if reason := refusal(methods[name], network):
            raise MethodRefused(reason, f"method {name}", remedy_of(network))
    return methods[name]


def remedy_of(network: Network) -> str:
    fit = [m.name for m in all_methods().values() if refusal(m, network) is None]
    if fit:
        return f"use {' or '.join(fit[:3])}"
    return SIMULATE if can_be_simulated(network) else NO_SIMULATION


def can_be_simulated(network: Network) -> bool:
    """False for the kinds that `simulate` refuses."""
    return not network.sharing and "multicore" not in network.kind
