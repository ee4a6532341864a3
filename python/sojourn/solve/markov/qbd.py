"""MAP/PH/1, PH/PH/1, MMPP/M/1, M/PH/1 …: one server, first come first served, by matrix-geometric methods.

Sources, letters and derivation: `map_ph_1`; G and R: `matrix_geometric` (logarithmic reduction, to machine precision at
a load of 0.999). Limits: one queue with one server and no limit, one open class that passes it once, Markovian arrivals,
phase-type service. Quantiles and variances of time are told where the law's matrix is of order 400 or less.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sojourn.model.network_arrays import Network
from sojourn.solve.markov.map_ph_1 import LARGEST, MapPh1
from sojourn.solve.markov.phase_type import arrivals, phases
from sojourn.solve.markov.stability import unstable
from sojourn.solve.method import Method, RequestedOutputs
from sojourn.solve.single.station_solution import WHOLE
from sojourn.solve.solution import Solution

MOST_BYTES = 4e9
SPREAD = 1e9  # between rates of phases: as many digits of the powers of the law's matrix are lost


def refuses(network: Network) -> str | None:
    if len(network.stations) != 1 or len(network.classes) != 1 or network.closed[0]:
        return "this method needs a model of exactly one station and exactly one open class"
    if network.kind[0] != "queue" or network.servers[0] != 1 or network.discipline[0] != "fcfs":
        return f"the station `{network.stations[0]}` is not a queue with a single server and the discipline `fcfs`"
    station = network.model.station(network.stations[0])
    if np.isfinite(network.capacity[0]) or network.limits:
        return f"the station `{network.stations[0]}` has a limit"
    if getattr(station, "server_schedule", ()) or getattr(station, "breakdowns", None):
        return f"the number of servers of the station `{network.stations[0]}` changes over time"
    if network.visits[0, 0] != 1 or network.route[0, 0] > 0:
        return "customers come back, or skip the station"
    if arrivals(network.arrivals[0]) is None:
        return "the arrivals are not Markovian, or have too many phases"
    if (law := phases(network.service[0][0])) is None:
        return "the service time is not phase-type, or has too many phases"
    if (need := _memory_bytes(network)) > MOST_BYTES:
        said = f"its matrices are of order {_order(network)} (phases of arrivals times those of service)"
        return f"{said} and take {need / 1e9:.2g} GB, about {_cost_s(network):.2g} s; at most {MOST_BYTES / 1e9:.2g} GB are taken"
    rates = np.abs(np.diag(law.rates))
    if rates.max() > SPREAD * rates.min():
        return f"phases of the service differ by a factor of {rates.max() / rates.min():.3g}, and at most {SPREAD:g} keeps enough digits"
    return None


def queue(network: Network) -> MapPh1:
    """The queue of a network that `refuses` lets pass."""
    process, law = arrivals(network.arrivals[0]), phases(network.service[0][0])
    assert process is not None and law is not None, "refuses let it pass"
    return MapPh1(process, law)


def run(networks: Sequence[Network], wanted: RequestedOutputs) -> Solution:
    mean, busy = np.full(len(networks), np.nan), np.full(len(networks), np.nan)
    rate, status, texts = np.full(len(networks), np.nan), ["ok"] * len(networks), []
    more: list[dict[str, Any]] = []
    for i, network in enumerate(networks):
        if text := unstable(network):
            status[i] = "unstable"
            texts.append(text)
            continue
        q = queue(network)
        mean[i], busy[i], rate[i] = q.mean, q.load, q.rate_per_s
        more += _more(network, q, i, wanted)
    shape = (len(networks), 1, 1)
    return Solution(
        rate[:, None], mean.reshape(shape), busy.reshape(shape), status if texts else [], more=more,
        message="; ".join(dict.fromkeys(texts)),
    )  # fmt: skip


def _more(network: Network, q: MapPh1, point: int, wanted: RequestedOutputs) -> list[dict[str, Any]]:
    rows = _class_rows({"station": network.stations[0], "class": network.classes[0], "point": point}, q, wanted)
    rows += [row | {"station": ""} for row in rows if row["metric"] in WHOLE]
    return rows + [row | {"class": ""} for row in rows]


def _class_rows(here: dict[str, Any], q: MapPh1, wanted: RequestedOutputs) -> list[dict[str, Any]]:
    rows = [
        here | {"metric": "queue_length_variance", "value": q.variance},
        here | {"metric": "waiting_probability", "value": q.waiting_probability},
    ]
    if wanted.state_probabilities is not None:
        rows += [
            here | {"metric": "queue_length_probability", "value": float(p), "n": n}
            for n, p in enumerate(q.probabilities(wanted.state_probabilities))
        ]
    if q.order > LARGEST:
        return rows
    for name, law in (("waiting_time", q.waiting()), ("response_time", q.response())):
        first, second = law.moment(1), law.moment(2)
        rows.append(here | {"metric": f"{name}_variance", "value": second - first**2})
        rows += [here | {"metric": f"{name}_quantile", "q": x, "value": law.quantile(x)} for x in wanted.quantiles]
    return rows


def _order(network: Network) -> int:
    process, law = arrivals(network.arrivals[0]), phases(network.service[0][0])
    return 0 if process is None or law is None else len(process.silent) * len(law.start)


def _cost_s(network: Network) -> float:
    """Some twenty steps of a few products of matrices."""
    return 5e-3 + 5e-8 * float(_order(network)) ** 3


def _memory_bytes(network: Network) -> float:
    return 160.0 * float(_order(network)) ** 2


METHOD = Method(
    name="qbd",
    title="MAP/PH/1 by the matrix-geometric method",
    exact=True,
    sources=(
        "G. Latouche, V. Ramaswami: J. Appl. Prob. 30(3), 1993, pp. 650-674",
        "M. F. Neuts: Matrix-Geometric Solutions in Stochastic Models (1981), ch. 3 and 5",
    ),
    refuses=refuses,
    run=run,
    cost_s=_cost_s,
    memory_bytes=_memory_bytes,
)
