"""A model file of traces: stations, classes and visits are counted, service times are unknown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sojourn.model import Exponential, Model, Open, Queue, Unknown
from sojourn.traces.call_graph import Call
from sojourn.traces.trace_results import TraceClass

LEAST_RATE_PER_S = 1e-9
UNKNOWN_HERE = """\
# Made from traces by `sojourn observe`. Counted: stations, classes, visits. Not known from traces:
# - service times ({ free = true }): the time in a span has waiting in it. `start` is that time, for the search alone. Fit them to
runs in which
#   the load changed, with the CPU of each station: `sojourn observe requests.csv cpu.csv`, a column of cpu.csv named after each station
# - servers: 1 unless you write how many CPU cores, workers or connections a station has
# - rates: only as good as the sampling is known; every run of a fit has its own
"""


def skeleton_model(classes: Mapping[str, TraceClass], stations: Mapping[str, str]) -> Model:
    """Processor sharing at each station, Poisson arrivals; `start` of a service time is the self time of a visit."""
    service_s: dict[str, dict[str, Exponential]] = {}
    visits: dict[str, dict[str, float]] = {}
    for name, cls in classes.items():
        for station, ratio in cls.visits.items():
            if ratio.mean > 0:
                each = cls.residence_s[station] / ratio.mean
                service_s.setdefault(station, {})[name] = Exponential(Unknown(round(each, 9) if each > 1e-9 else None))
                visits.setdefault(station, {})[name] = round(ratio.mean, 6)
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
        factors=factors,
        name="traces",
    )


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
