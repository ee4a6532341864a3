"""A model file of traces: stations, classes and visits are counted, service times are unknown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sojourn.model import Exponential, Model, Open, Queue, Unknown
from sojourn.traces.call_graph import Call
from sojourn.traces.trace_results import TraceClass

LEAST_RATE_PER_S = 1e-9
LEAST_START_S = 1e-9
UNKNOWN_HERE = """\
# Made from traces by `sojourn observe`. Counted: stations, classes, visits. Not known from traces:
# - service times ({ free = true }): the time in a span includes waiting. `start` is that time, and only helps the search. Fit them to runs
#   in which the load changed, with the CPU of each station (`sojourn observe traces.json cpu.csv --out runs`, a column per station)
# - servers: 1 unless you write how many CPU cores, workers or connections a station has
# - rates: only as good as the sampling is known; every run of a fit has its own
"""


def skeleton_model(classes: Mapping[str, TraceClass], stations: Mapping[str, str], alike: bool = False) -> Model:
    """Processor sharing at each station, Poisson arrivals; `start` of a service time is the self time of a visit. `alike`: a visit of a
    station takes the same time in all classes, one unknown a station."""
    service_s: dict[str, dict[str, Exponential | str]] = {}
    visits: dict[str, dict[str, float]] = {}
    spent: dict[str, list[tuple[float, float]]] = {}
    for name, cls in classes.items():
        for station, ratio in cls.visits.items():
            if ratio.mean > 0:
                each = cls.residence_s[station] / ratio.mean
                own = shared_name(station) if alike else Exponential(_unknown(each))
                service_s.setdefault(station, {})[name] = own
                visits.setdefault(station, {})[name] = round(ratio.mean, 6)
                spent.setdefault(station, []).append((cls.counted * ratio.mean, each))
    parameters = {
        shared_name(station): _unknown(sum(n * each for n, each in parts) / sum(n for n, _ in parts))
        for station, parts in spent.items()
        if alike
    }
    several = len(classes) > 1
    factors: dict[str, str | tuple[str, ...]] = {
        f"rate_{name}_per_s": f"classes.{name}.rate_per_s" for name in classes if several
    }
    if several:
        factors |= dict.fromkeys(("rate_per_s", "users", "think_s"), ())
    return Model(
        [Queue(name, 1, "ps") for name in stations if name in service_s],
        [Open(name, max(cls.rate_per_s or 0.0, LEAST_RATE_PER_S)) for name, cls in classes.items()],
        service_s=service_s,
        visits=visits,
        parameters=parameters,
        factors=factors,
        name="traces",
    )


def shared_name(station: str) -> str:
    """Of the parameter that is the time of a visit in all classes."""
    return f"{station}_visit_s"


def _unknown(start_s: float) -> Unknown:
    return Unknown(round(start_s, 9) if start_s > LEAST_START_S else None)


def skeleton_text(model: Model, calls: Sequence[Call], notes: Sequence[str]) -> str:
    """The file, with the call graph and the notes as comments."""
    lines = [UNKNOWN_HERE, "# Calls a request, over all classes:\n"]
    for call in calls:
        more = [f"{call.asynchronous:.0%} not waited for"] if call.asynchronous else []
        more += [f"{call.parallel:.0%} beside others"] if call.parallel else []
        said = f" ({', '.join(more)})" if more else ""
        lines.append(f"#   {call.caller or '(outside)'} -> {call.callee}: {call.a_request:.4g}{said}\n")
    lines += [f"# - {' '.join(note.split())}\n" for note in notes]
    return "".join(lines) + "\n" + model.to_toml()
