"""Which methods would apply if the model were a little simpler: what `auto` says where none applies.

The changes are those that people make: servers that do not come and go, room without a limit, exponential times, Poisson
arrivals, one discipline, routes by probabilities, fewer customers. Nearest are the two methods that need the fewest
changes (each kind of change is one, at all stations together): exact ones first, then one for each way to change it. What
is tried is the changed model itself, so what is said is so. Where up to three changes do not help, the first methods of
the family that has the model's shape are named, with their reasons alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, combinations
from typing import Any

from sojourn.errors import SojournError
from sojourn.model import Model, Network
from sojourn.model.components import Choice, Closed, Open, Pool, Queue
from sojourn.model.distribution_registry import Distribution
from sojourn.model.model import as_model
from sojourn.solve import registry
from sojourn.solve.method import Method
from sojourn.solve.product_form import exponential

MOST_CHANGES = 3
NAMED = 2
SHARED = ("ps", "fcfs")
MOST_NAMED = 6  # stations, classes


@dataclass(frozen=True)
class ModelChange:
    """What to do, in words, and the model after it."""

    text: str
    made: Callable[[Model], Model]


def nearest(network: Network) -> str:
    """The nearest two methods in words, each with its reason and with what makes it apply."""
    changes = list(_changes(as_model(network.model)))
    for count in range(1, MOST_CHANGES + 1):
        sets = [found for some in combinations(changes, count) if (found := _applying(network, some))]
        if sets:
            return _told(sorted(chain(*sets), key=lambda x: x.order)[:NAMED], network)
    return "; ".join(f"{m.name}: {_why(m, network)}" for m in _shaped(network)[:NAMED])


@dataclass(frozen=True)
class NearestMethod:
    """A method and what makes it apply; exact ones first, and the first of each set of changes before the second."""

    method: Method
    text: str
    order: tuple[bool, int]


def _applying(network: Network, changes: tuple[ModelChange, ...]) -> list[NearestMethod]:
    changed = _changed(network, changes)
    if changed is None:
        return []
    text = _joined([c.text for c in changes])
    fit = [m for m in _usual() if registry.refusal(m, changed) is None]
    return [NearestMethod(m, text, (not m.exact, rank)) for rank, m in enumerate(fit)]


def _told(near: list[NearestMethod], network: Network) -> str:
    """One sentence for methods with the same changes and the same reason."""
    same: dict[tuple[str, str], list[str]] = {}
    for x in near:
        same.setdefault((x.text, _why(x.method, network)), []).append(x.method.name)
    return "; ".join(f"{_joined(names)} would apply with {text} ({why})" for (text, why), names in same.items())


def _why(method: Method, network: Network) -> str:
    return registry.refusal(method, network) or "it applies, but takes too long"


def _usual() -> list[Method]:
    """Methods that `auto` can take, exact ones first."""
    return sorted((m for m in registry.all_methods().values() if not m.on_request_only), key=lambda m: not m.exact)


def _shaped(network: Network) -> list[Method]:
    """Methods that read what the model has first, then those of the family for such classes and as many stations."""
    own = "closed" if network.closed.any() else "single" if len(network.stations) == 1 else "open"

    def order(method: Method) -> tuple[bool, bool, bool]:
        family = registry.family(method)
        return registry.unread(method, network) is not None, family != own, family != "markov"

    return sorted(_usual(), key=order)


def _changed(network: Network, changes: tuple[ModelChange, ...]) -> Network | None:
    """The model after the changes, with what a sweep varied; None where that is no valid model."""
    model = given = as_model(network.model)
    try:
        for change in changes:
            model = change.made(model)
        made = model.network
    except SojournError:
        return None
    kept = made.population if (made.population != given.network.population).any() else network.population
    return made.altered(population=kept, rate_per_s=network.rate_per_s)


def _joined(texts: list[str]) -> str:
    if len(texts) > MOST_NAMED:
        return f"{', '.join(texts[: MOST_NAMED - 1])} and {len(texts) - MOST_NAMED + 1} more"
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def _changes(model: Model) -> Iterator[ModelChange]:
    """Those that change something in this model."""
    yield from _stations(
        model,
        "a fixed number of servers at {}",
        lambda s: bool(s.server_schedule),
        server_schedule=(),
        schedule_period_s=None,
    )
    yield from _stations(model, "no breakdowns at {}", lambda s: s.breakdowns is not None, breakdowns=None)
    yield from _stations(model, "room without a limit at {}", lambda s: s.capacity is not None, capacity=None)
    held = [s.name for s in model.stations if isinstance(s, Pool)] + [r.name for r in model.regions]
    if held:
        free = lambda m: replace(m, stations=[s for s in m.stations if not isinstance(s, Pool)], regions=())  # noqa: E731
        yield ModelChange(f"no limit by {_joined(held)}", free)
    if policies := sorted({c.policy for row in model.routing.values() for c in row.values() if isinstance(c, Choice)}):
        text = f"routes by probabilities, not by {_joined(policies)}"
        yield ModelChange(text, lambda m: replace(m, routing={c: _mixed(row) for c, row in m.routing.items()}))
    yield from _times(model)
    for discipline in SHARED:
        other = lambda s, d=discipline: s.discipline != d  # noqa: E731
        yield from _stations(model, f"discipline {discipline} at {{}}", other, discipline=discipline)
    yield from _classes(model)


def _stations(model: Model, text: str, wrong: Callable[[Queue], bool], **fields: Any) -> Iterator[ModelChange]:
    names = [s.name for s in model.stations if isinstance(s, Queue) and wrong(s)]
    if names:
        one = lambda s: replace(s, **fields) if isinstance(s, Queue) and wrong(s) else s  # noqa: E731
        yield ModelChange(text.format(_joined(names)), lambda m: replace(m, stations=[one(s) for s in m.stations]))


def _mixed(row: Mapping[str, Any]) -> dict[str, Any]:
    return {k: dict.fromkeys(v.to, 1 / len(v.to)) if isinstance(v, Choice) else v for k, v in row.items()}


def _times(model: Model) -> Iterator[ModelChange]:
    tables = (model.demands_s, model.service_s)
    odd = [s for table in tables for s, row in table.items() if not all(exponential(_law(d)) for d in row.values())]
    if odd:
        plain = lambda table: {s: {c: _mean(d) for c, d in row.items()} for s, row in table.items()}  # noqa: E731
        made = lambda m: replace(m, demands_s=plain(m.demands_s), service_s=plain(m.service_s))  # noqa: E731
        yield ModelChange(f"exponential service at {_joined(odd)}", made)


def _law(value: float | str | Distribution) -> Distribution | None:
    return value if isinstance(value, Distribution) else None


def _mean(value: float | Distribution) -> float:
    return value.first if isinstance(value, Distribution) else value


def _classes(model: Model) -> Iterator[ModelChange]:
    opened = [
        c for c in model.classes if isinstance(c, Open) and c.arrivals is not None and not exponential(c.arrivals)
    ]
    if opened:
        rate = dict(zip(model.network.classes, model.network.rate_per_s.tolist(), strict=True))
        poisson = lambda c: replace(c, arrivals=None, rate_per_s=rate[c.name]) if c in opened else c  # noqa: E731
        names = _joined([c.name for c in opened])
        yield ModelChange(f"Poisson arrivals of {names}", lambda m: replace(m, classes=[poisson(c) for c in m.classes]))
    thinking = [c for c in model.classes if isinstance(c, Closed) and not exponential(_law(c.think_s))]
    if thinking:
        plain = lambda c: replace(c, think_s=_mean(c.think_s)) if c in thinking else c  # noqa: E731
        names = _joined([c.name for c in thinking])
        yield ModelChange(
            f"exponential thinking of {names}", lambda m: replace(m, classes=[plain(c) for c in m.classes])
        )
    crowd = [c for c in model.classes if isinstance(c, Closed) and c.population > 1]
    if crowd:
        fewer = lambda c: replace(c, population=1) if isinstance(c, Closed) and c.population > 1 else c  # noqa: E731
        names = _joined([f"{c.name} ({c.population})" for c in crowd])
        yield ModelChange(
            f"a smaller population of {names}", lambda m: replace(m, classes=[fewer(c) for c in m.classes])
        )
