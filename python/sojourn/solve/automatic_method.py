"""What `auto` takes: the cheapest exact method within the budget, else the best approximation; and the refusal where nothing applies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sojourn.errors import MethodRefused
from sojourn.model import Network
from sojourn.solve import registry
from sojourn.solve.method import Method
from sojourn.solve.nearest_methods import nearest
from sojourn.solve.registry import BUDGET_BYTES, BUDGET_S, FAMILIES, SIMULATE, can_be_simulated, refusal, remedy_of

QUICK = tuple(name for name in FAMILIES if name != "markov")
NOTHING_S = 0.01
SAMPLES = 2  # beside the last: points of a sweep whose cost is estimated


def choose(network: Network, points: int = 1, budget_s: float = BUDGET_S) -> tuple[Method, str]:
    """The cheapest exact method within the budget, else the best approximation; and why, in words."""
    for found in preferred([network] * points, budget_s):
        return found
    raise nothing_applies(network)


def preferred(networks: Sequence[Network], budget_s: float = BUDGET_S) -> Iterator[tuple[Method, str]]:
    """What `auto` takes, best first: exact ones within the budget, the cheapest first; then approximations by rank; then,
    for a sweep, exact ones that keep to the budget at each point. Nothing where no method applies to the last point.

    Counting states takes longer than solving a small model, so chains are asked only where nothing else is quick.
    """
    quick = _cached(networks, budget_s, QUICK)
    soon = quick[: next((i for i, c in enumerate(quick) if not c.method.exact or c.cost_s > NOTHING_S), len(quick))]
    for found in soon:
        yield found.method, f"{found.method.name}: {found.worth} and fast"
    taken = {found.method.name for found in soon}
    for found in _cached(networks, budget_s, FAMILIES):
        if found.method.name not in taken:
            yield found.method, f"{found.method.name}: {found.why}"


@dataclass(frozen=True)
class MethodCandidate:
    method: Method
    cost_s: float
    why: str
    worth: str = "exact"


def _cached(networks: Sequence[Network], budget_s: float, families: tuple[str, ...]) -> list[MethodCandidate]:
    """As `_ordered`; cached with a network that is asked alone, which is frozen data."""
    if len(networks) > 1:
        return _ordered(networks, budget_s, families)
    cached: dict[Any, list[MethodCandidate]] = networks[0].__dict__.setdefault("preferred", {})
    if (budget_s, families) not in cached:
        cached[budget_s, families] = _ordered(networks, budget_s, families)
    return cached[budget_s, families]


def _ordered(networks: Sequence[Network], budget_s: float, families: tuple[str, ...]) -> list[MethodCandidate]:
    sample = [networks[round(i * (len(networks) - 1) / SAMPLES)] for i in range(SAMPLES + 1)]
    sample = list({id(n): n for n in sample}.values())
    asked = [m for family in families for m in registry.methods_of(family) if not m.on_request_only]
    fit = [m for m in asked if all(refusal(m, n) is None for n in reversed(sample))]
    cost = {m.name: len(networks) * sum(map(m.cost_s, sample)) / len(sample) for m in fit}
    # Below NOTHING_S no method is cheaper than another: the family that tells most about such a model comes first.
    exact = sorted((m for m in fit if m.exact), key=lambda m: max(cost[m.name], NOTHING_S))
    holds = [m for m in exact if max(map(m.memory_bytes, sample)) <= BUDGET_BYTES]
    cheap = [m for m in holds if cost[m.name] <= budget_s]
    worth = {m.name: _worth(m, sample) for m in exact}
    found = [
        MethodCandidate(m, cost[m.name], f"{worth[m.name]}, {_among(i, cheap, sample)}", worth[m.name])
        for i, m in enumerate(cheap)
    ]
    why = f"no exact method answers within {budget_s:g} s" if exact else "no exact method does"
    rough = sorted((m for m in fit if not m.exact), key=lambda m: m.rank)
    rough = [m for m in rough if cost[m.name] <= budget_s] or rough
    found += [MethodCandidate(m, cost[m.name], f"the best approximation that applies, because {why}") for m in rough]
    dear = [m for m in holds if m not in cheap and cost[m.name] <= len(networks) * budget_s]
    about = "{}, and the only method that applies; about {:.3g} s in all"
    return found + [MethodCandidate(m, cost[m.name], about.format(worth[m.name], cost[m.name])) for m in dear]


def _worth(method: Method, networks: Sequence[Network]) -> str:
    if method.approximate_if and not all(map(method.exact_for, networks)):
        return f"approximate where {method.approximate_if[0]}"
    return "exact"


def too_dear(networks: Sequence[Network], budget_s: float) -> MethodRefused | None:
    """The refusal of `auto` where an exact method applies but takes longer than it may take without being asked for."""
    asked = [m for m in registry.all_methods().values() if not m.on_request_only and m.exact]
    fit = [m for m in asked if all(refusal(m, n) is None for n in networks)]
    if not fit:
        return None
    cost_s, first = min((max(map(m.cost_s, networks)), m.name) for m in fit)
    if cost_s <= budget_s:
        return None
    value = f"method {first} takes about {cost_s:.2g} s and {budget_s:g} s are allowed"
    remedy = f"request it by name, or give an exact_time_limit_s above {cost_s:.2g}"
    return MethodRefused(value, "method auto", remedy + (f", or {SIMULATE}" if can_be_simulated(networks[0]) else ""))


def _among(position: int, cheap: Sequence[Method], networks: Sequence[Network]) -> str:
    kind = "exact method" if all(m.exact_for(n) for m in cheap for n in networks) else "method"
    if len(cheap) == 1:
        return f"the only {kind} that applies"
    many = f"the cheapest of {len(cheap)} {kind}s that apply"
    return many if position == 0 else f"number {position + 1} of {len(cheap)}"


def nothing_applies(network: Network) -> MethodRefused:
    """The refusal of `auto`: the nearest two methods, what would make them apply, and where all reasons are."""
    from sojourn.solve.markov.chain_applicability import (
        too_large,  # with all of the family, which most models do not need
    )

    large = too_large(network)
    words = "; ".join(filter(None, (large and f"ctmc: {large}", nearest(network)))) or "there are no methods"
    remedy = f"{remedy_of(network)}; `sojourn methods model.toml --all` has the reasons of all methods"
    return MethodRefused(words, "no analytic method applies", remedy)
