"""The two-class CPU 0 model on a station of kind multicore: soft interrupts and pages on n cores, m of them leading.

Sources, letters, limits and stability: `sojourn.solve.two_class`, whose numbers these are. What the model says here:

| `two_class`               | here                                             | unit |
|---------------------------|--------------------------------------------------|------|
| `rate_per_s`              | visits of the one open class                     | 1/s  |
| 1 / `mu1_per_s`           | `interrupt_s` of the station                     | s    |
| 1 / `mu2_per_s`, page_scv | service time of the class: mean, and its scv     | s, 1 |
| `cores`, `nics`, `p`, `capacity`, `client_s`, `handoff_s`, `crossing_s`, `interrupt_scv`, `saved` | of the station | |

One method a variant. Limits: one open class, Poisson arrivals, at most one visit a pass; `paper` and `shared` take
exponential pages. The rows of the stations "leading" and "trailing" are those of `two_class`.

Other stations may stand before and behind it, where they have a product form (`open.jackson_bcmp`). Each is then solved alone, with
Poisson arrivals of its rate: exact if they are delays, which leave a Poisson stream as it is (N. M. Mirasol: The Output of an
M/G/infinity Queuing System is Poisson. Operations Research 11(2), 1963, pp. 282-284); behind the cores a stream is Poisson only
approximately, so that with a queue in the network the numbers are approximate.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from sojourn.model.distribution_registry import Exponential
from sojourn.model.network_arrays import Array, Network
from sojourn.model.network_points import HOSTS, NetworkPoints, as_points, stacked
from sojourn.solve.cite import SOURCES
from sojourn.solve.method import Method, RequestedOutputs
from sojourn.solve.multicore_load import loads
from sojourn.solve.open import jackson_bcmp
from sojourn.solve.open.open_rates import TrafficSolution
from sojourn.solve.solution import Solution
from sojourn.solve.two_class import complete, table
from sojourn.solve.two_class_equations import VARIANTS, TwoClassLoad, evaluate
from sojourn.solve.two_class_tail import response_quantile
from sojourn.table import COLUMNS

TITLES = {
    "paper": "two classes on the first cores, as in the paper, both at full rate at the same time",
    "shared": "two classes on leading cores, sharing each core",
    "priority": "two classes on leading cores, interrupts preempt pages",
}
FOUND = ("throughput", "jobs", "busy", "loss", "saturation")
WORST = ("unstable", "saturated", "trailing_unstable", "approximate", "ok")


def refuses(variant: str, network: Network) -> str | None:
    if len(network.hosts) != 1:
        return f"this method needs exactly one station of kind `multicore`, but the model has {len(network.hosts) or 'none'}"
    k, station = next(iter(network.hosts.items()))
    if len(network.classes) != 1 or network.closed[0]:
        return "this method needs exactly one open class"
    if station.variant != variant:
        return f"the station `{station.name}` has the variant `{station.variant}`, but this method is for the variant `{variant}`"
    if not isinstance(network.arrivals[0], Exponential):
        return f"the class `{network.classes[0]}` does not arrive as a Poisson process with a rate above 0"
    if not 0 < network.visits[k, 0] <= 1 + 1e-12 or network.service_s[k, 0] <= 0:
        return f"the station `{station.name}` is not visited once with a page time above 0"
    if variant != "priority" and not isinstance(network.service[k][0], Exponential):
        return "pages are not exponential, which this variant assumes"
    return jackson_bcmp.refuses(_rest(network)) if len(network.kind) > 1 else None


def run(variant: str, networks: Sequence[Network], wanted: RequestedOutputs) -> Solution:
    """All points, those of one capacity and one rule for p together; stations beside the cores by `jackson_bcmp`."""
    k = next(iter(networks[0].hosts))
    points, host = as_points(networks), _Host.of(variant, networks, k, wanted)
    cores, nics = (points.part(HOSTS, k, name).astype(float) for name in ("cores", "nics"))
    status, message = host.status, ""
    if variant == "priority":  # only the wait at the trailing cores is approximate
        status = [
            "approximate" if one == "ok" and rough else one for one, rough in zip(status, cores > nics, strict=True)
        ]
        message = "" if "approximate" in status else "here it is exact: all cores take interrupts"
    one = Solution(
        host.found["throughput"][:, None], host.found["jobs"][:, None, None], host.found["busy"][:, None, None] / cores[:, None, None],
        status, loss=None if variant == "priority" else host.found["loss"][:, None, None], more=host.more, message=message,
        busy_of={f"{networks[0].stations[k]}.{part}": busy for part, busy in host.parts.items()},
    )  # fmt: skip
    return one if len(networks[0].kind) == 1 else _among(networks, k, one, host.found["saturation"], wanted)


class _Host:
    """The station at P points: `found` by `FOUND` (busy: cores at work), `parts` (cores at work by part), a status a point, and
    the rows of `two_class` with their point, where they are asked for."""

    def __init__(self, points: int) -> None:
        self.found = {name: np.full(points, np.nan) for name in FOUND}
        self.parts = {part: np.zeros(points) for part in ("leading", "trailing", "interrupts")}
        self.status, self.more = ["ok"] * points, list[dict[str, Any]]()

    @staticmethod
    def of(variant: str, networks: Sequence[Network], k: int, wanted: RequestedOutputs) -> _Host:
        made = _Host(len(networks))
        alone = len(networks[0].kind) == 1
        for points, x in loads(networks, k):
            made._group(variant, points, x, wanted.further)
            if wanted.further and variant == "priority" and alone:  # the only one whose quantiles are known
                made.more += [row for q in wanted.quantiles for row in _quantiles(x, q, points)]
        return made

    def _group(self, variant: str, points: np.ndarray, x: TwoClassLoad, further: bool) -> None:
        results = evaluate(variant, x)
        full = complete(x, results, variant)
        parts = {
            "leading": full["lead_busy"] * x.nics,
            "trailing": np.where(x.trailing > 0, full["behind_busy"] * x.trailing, 0.0),
            "interrupts": full["softirq"] * x.nics,
        }
        for name, busy in parts.items():
            self.parts[name][points] = busy
        for name in ("throughput", "jobs", "loss", "saturation"):
            self.found[name][points] = full[name]
        self.found["busy"][points] = parts["leading"] + parts["trailing"]
        if not further:
            return
        for row in _rows(variant, table(x, results, variant).frame.to_dicts(), points):
            if row["station"] == "" and row["metric"] == "response_time":
                self.status[row["point"]] = row["status"]
            if row["station"] or row["metric"] == "saturation_rate":
                self.more.append(row)


def _quantiles(x: TwoClassLoad, q: float, points: np.ndarray) -> list[dict[str, Any]]:
    """Of the response time, by two moments of its parts (`two_class_tail`): none where it saturates."""
    found = zip(points.tolist(), response_quantile(x, q).tolist(), strict=True)
    row = {"station": "", "class": "", "metric": "response_time_quantile", "q": q}
    return [{**row, "point": p, "value": v, **({"status": "approximate"} if np.isfinite(v) else {})} for p, v in found]


def _rows(variant: str, rows: list[dict[str, Any]], points: np.ndarray) -> list[dict[str, Any]]:
    """The factors of `two_class` away, and the point in their place: it begins anew at each system arrival rate."""
    made, at = [], -1
    for row in rows:
        at += row["station"] == "" and row["metric"] == "arrival_rate"
        if (
            variant == "priority"
            and row["station"] == "trailing"
            and row["metric"] in ("queue_length", "residence_time")
        ):
            row["status"] = "approximate" if row["status"] == "ok" else row["status"]
        kept = {key: value for key, value in row.items() if key in COLUMNS and value is not None}
        made.append({"value": None, **kept, "point": int(points[at])})
    return made


def _rest(network: Network) -> Network:
    """The network without its cores: they take no time."""
    kind = tuple("delay" if k in network.hosts else kind for k, kind in enumerate(network.kind))
    service = tuple((None,) * len(row) if k in network.hosts else row for k, row in enumerate(network.service))
    none = np.array([k in network.hosts for k in range(len(network.kind))])
    return network.altered(
        kind=kind, service=service, service_s=np.where(none[:, None], 0.0, network.service_s), hosts={}
    )


def _rests(points: NetworkPoints, k: int) -> NetworkPoints:
    """All of them without their cores."""
    service_s = np.array(points.column("service_s"))
    service_s[:, k] = 0.0
    return NetworkPoints(
        [_rest(base) for base in points.bases], points.which, {**points.columns, "service_s": service_s}
    )


def _among(networks: Sequence[Network], k: int, one: Solution, own: Array, wanted: RequestedOutputs) -> Solution:
    """The cores, solved alone, among the other stations of their networks; `own` P, visits/s at which the cores saturate."""
    rest = _rests(as_points(networks), k)
    whole = jackson_bcmp.run(rest, wanted)
    assert whole.residence_s is not None, "jackson_bcmp.run makes it"
    queues = {"queue", "load_dependent"} & set(networks[0].kind)
    limit = np.minimum(own / stacked(networks, "visits")[:, k, 0], TrafficSolution.of(rest).saturation)
    whole.more = [row for row in (*whole.more, *one.more) if row["metric"] != "saturation_rate"]
    whole.more += [
        {"point": p, "station": "", "class": "", "metric": "saturation_rate", "value": float(v)}
        for p, v in enumerate(limit if wanted.further else ())
    ]
    worst = [
        min(a, b, "approximate" if queues else "ok", key=WORST.index)
        for a, b in zip(whole.status or ["ok"] * len(networks), one.status, strict=True)
    ]
    with np.errstate(divide="ignore", invalid="ignore"):
        visits = stacked(networks, "visits")[:, k]
        passes = stacked(networks, "rate_per_s")
        loss = np.zeros_like(passes) if one.loss is None else one.loss[:, 0]
        whole.throughput = np.minimum(whole.throughput * (1 - visits * loss), limit[:, None])
        whole.queue_length[:, k], whole.utilisation[:, k] = one.queue_length[:, 0], one.utilisation[:, 0]
        whole.residence_s[:, k] = one.queue_length[:, 0] / (passes * (1 - loss))
    if one.loss is not None:
        whole.loss = np.zeros_like(whole.queue_length)
        whole.loss[:, k] = one.loss[:, 0]
    whole.waiting_s, whole.status, whole.busy_of = None, worst, one.busy_of
    whole.message = "\n".join(filter(None, (whole.message, one.message)))
    return whole


METHODS = tuple(
    Method(
        name=f"two-class/{variant}",
        title=TITLES[variant],
        exact=variant != "priority",
        sources=SOURCES[f"two-class/{variant}"],
        refuses=partial(refuses, variant),
        run=partial(run, variant),
        reads=("multicore",),
    )
    for variant in VARIANTS
)
