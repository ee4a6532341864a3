"""All methods, by family, and the choice that `method="auto"` makes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module

from sojourn.errors import InputError, MethodRefused
from sojourn.model.network import Network
from sojourn.model.nouns import Queue
from sojourn.model.values import meant
from sojourn.solve.method import Method

FAMILIES = ("single", "closed", "open", "markov", "bounds", "special")
BUDGET_S = 1.0
NOTHING_S = 0.01
BUDGET_BYTES = 4e9
SAMPLES = 5  # points of a sweep whose cost is estimated
SIMULATE = "use sj.simulate(model), or `sojourn simulate`"


@cache
def all_methods() -> dict[str, Method]:
    """Every method by its name, in the order of the families."""
    found: dict[str, Method] = {}
    for family in FAMILIES:
        for method in import_module(f"sojourn.solve.{family}").METHODS:
            found[method.name] = method
    return found


def family(method: Method) -> str:
    """The family that has it."""
    return _families().get(method.name, "")


@cache
def _families() -> dict[str, str]:
    return {m.name: name for name in FAMILIES for m in import_module(f"sojourn.solve.{name}").METHODS}


def refusal(method: Method, network: Network) -> str | None:
    """Why the method does not apply, None where it does: what the model has and it does not read, or its own reason."""
    if network.remarkable:
        reads = (*method.reads, *(("limits", "choices") if family(method) == "markov" else ()))
        for feature, reason in features(network).items():
            if feature not in reads:
                return reason
    return method.refuses(network)


def features(network: Network) -> dict[str, str]:
    """What a model has beyond stations, classes and routes, and the words in which that is refused."""
    found = {}
    if "multicore" in network.kind:
        s = network.model.station(network.stations[network.kind.index("multicore")])
        variant = getattr(s, "variant", "priority")
        found["multicore"] = f"station {s.name} is of kind multicore, which only two-class/{variant} reads"
    for limit in network.limits:
        found["limits"] = f"{limit.name} limits how many are inside {limit.size}, which this method does not read"
    for (node, c), choice in network.choices.items():
        if choice.policy != "random":
            start = (*network.stations, "outside")[node]
            found["choices"] = f"the route of {network.classes[c]} from {start} depends on the state ({choice.policy})"
    for s in network.model.stations:
        if isinstance(s, Queue) and (s.schedule or s.breakdowns):
            what = "a schedule" if s.schedule else "breakdowns"
            found["time"] = f"station {s.name} has {what}, which only a simulation reads"
    return found


def named(name: str, networks: Sequence[Network]) -> Method:
    """The method called `name`; InputError where there is none, MethodRefused where it does not apply to a point."""
    methods = all_methods()
    if name not in methods:
        raise InputError(repr(name), "method", f"{meant(name, ['auto', *methods])}")
    for network in networks:
        if reason := refusal(methods[name], network):
            raise MethodRefused(reason, f"method {name}", _remedy(network))
    return methods[name]


def choose(network: Network, points: int = 1, budget_s: float = BUDGET_S) -> tuple[Method, str]:
    """The cheapest exact method within the budget, else the best approximation; and why, in words."""
    return preferred([network] * points, budget_s)[0]


def preferred(networks: Sequence[Network], budget_s: float = BUDGET_S) -> list[tuple[Method, str]]:
    """What `auto` takes, best first: exact ones within the budget, the cheapest first; then approximations by rank; then
    exact ones beyond the budget but within memory. Empty where no method applies to the last point."""
    points, last = len(networks), networks[-1]
    # frozen data, so the answer is kept with it
    kept: dict[tuple[int, float], list[tuple[Method, str]]] = last.__dict__.setdefault("preferred", {})
    if points > 1 or (points, budget_s) not in kept:
        kept[points, budget_s] = _ordered(networks, budget_s)
    return kept[points, budget_s]


def _ordered(networks: Sequence[Network], budget_s: float) -> list[tuple[Method, str]]:
    sample = [networks[round(i * (len(networks) - 1) / SAMPLES)] for i in range(SAMPLES + 1)]
    sample = list({id(n): n for n in sample}.values())
    fit = [m for m in all_methods().values() if not m.special and all(refusal(m, n) is None for n in sample)]
    cost = {m.name: len(networks) * sum(map(m.cost_s, sample)) / len(sample) for m in fit}
    # Below NOTHING_S no method is cheaper than another: the family that tells most about such a model comes first.
    exact = sorted((m for m in fit if m.exact), key=lambda m: max(cost[m.name], NOTHING_S))
    holds = [m for m in exact if max(map(m.memory_bytes, sample)) <= BUDGET_BYTES]
    cheap = [m for m in holds if cost[m.name] <= budget_s]
    found = [(m, f"{m.name}: exact, {_among(i, len(cheap))}") for i, m in enumerate(cheap)]
    why = f"no exact method answers within {budget_s:g} s" if exact else "no exact method does"
    rough = sorted((m for m in fit if not m.exact), key=lambda m: m.rank)
    found += [(m, f"{m.name}: the best approximation that applies, because {why}") for m in rough]
    rest = [m for m in holds if m not in cheap]
    return [
        *found,
        *((m, f"{m.name}: exact, and the only kind that applies; about {cost[m.name]:.3g} s") for m in rest),
    ]


def _among(position: int, count: int) -> str:
    if count == 1:
        return "the only exact method that applies"
    return f"the cheapest of {count} exact methods that apply" if position == 0 else f"number {position + 1} of {count}"


def nothing_applies(network: Network) -> MethodRefused:
    """The refusal of `auto`: each method's reason, the common ones said once."""
    reasons: dict[str, list[str]] = {}
    for method in all_methods().values():
        if not method.special or (reason := refusal(method, network)) is None:
            reason = refusal(method, network)
            reasons.setdefault(reason or "it is never chosen by itself", []).append(method.name)
    words = "; ".join(f"{', '.join(names)}: {reason}" for reason, names in reasons.items())
    return MethodRefused(words or "there are no methods", "no analytic method applies by itself", _remedy(network))


def _remedy(network: Network) -> str:
    fit = [m.name for m in all_methods().values() if refusal(m, network) is None]
    return f"use {' or '.join(fit[:3])}" if fit else SIMULATE
