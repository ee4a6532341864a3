"""All methods, by family, and the choice that `method="auto"` makes."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from sojourn.errors import InputError, MethodRefused
from sojourn.model.network import Network
from sojourn.solve.method import Method

FAMILIES = ("single", "closed", "open", "markov", "bounds", "special")
BUDGET_S = 1.0
BUDGET_BYTES = 4e9


@cache
def all_methods() -> dict[str, Method]:
    """Every method by its name, in the order of the families."""
    found: dict[str, Method] = {}
    for family in FAMILIES:
        for method in import_module(f"sojourn.solve.{family}").METHODS:
            found[method.name] = method
    return found


def named(name: str, network: Network) -> Method:
    """The method called `name`; InputError where there is none, MethodRefused where it does not apply."""
    methods = all_methods()
    if name not in methods:
        raise InputError(repr(name), "method", f"use auto or one of {', '.join(methods)}")
    reason = methods[name].refuses(network)
    if reason:
        raise MethodRefused(reason, f"method {name}", _remedy(network))
    return methods[name]


def choose(network: Network, points: int = 1, budget_s: float = BUDGET_S) -> tuple[Method, str]:
    """The cheapest exact method within the budget, else the best approximation; and why, in words."""
    fit = [m for m in all_methods().values() if not m.special and m.refuses(network) is None]
    if not fit:
        raise MethodRefused(
            "; ".join(f"{m.name}: {m.refuses(network)}" for m in all_methods().values() if not m.special),
            "no analytic method applies",
            "use sj.simulate(model), or `sojourn simulate`",
        )
    exact = sorted((m for m in fit if m.exact), key=lambda m: m.cost_s(network))
    cheap = [m for m in exact if points * m.cost_s(network) <= budget_s and m.memory_bytes(network) <= BUDGET_BYTES]
    if cheap:
        return cheap[0], f"{cheap[0].name}: exact, the cheapest of {len(cheap)} exact methods that apply"
    rest = sorted((m for m in fit if not m.exact), key=lambda m: m.rank)
    if not rest:
        return exact[0], f"{exact[0].name}: exact and the only one; about {points * exact[0].cost_s(network):.3g} s"
    why = f"no exact method within {budget_s:g} s" if exact else "no exact method applies"
    return rest[0], f"{rest[0].name}: an approximation, because {why}"


def _remedy(network: Network) -> str:
    fit = [m.name for m in all_methods().values() if m.refuses(network) is None]
    return f"use {' or '.join(fit[:3])}" if fit else "use sj.simulate(model), or `sojourn simulate`"
