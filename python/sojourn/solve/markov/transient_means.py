"""A network over time: mean numbers, utilisations and rates at each moment, from everybody thinking (or nobody there).

Source: uniformisation, `crates/solve/src/markov/transient.rs`; states as in `ctmc`, whose limits hold. Throughputs are
the rates of completion at that moment; no law of the steady state ties them to the numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sojourn.errors import InputError, MethodRefused
from sojourn.model import Model
from sojourn.model.network_arrays import Network
from sojourn.solve.load_dependent_times import beside_background
from sojourn.solve.markov.chain_analysis import transient
from sojourn.solve.markov.chain_applicability import refuses
from sojourn.solve.markov.network_chain import network_chain
from sojourn.solve.markov.network_spec import UNLIMITED
from sojourn.solve.markov.open_truncation import MOST_CUSTOMERS, wanted_bound
from sojourn.table import Metrics


def over_time(model: Model, times_s: Sequence[float], most_open: int | None = None) -> Metrics:
    """One table for all times (s, ascending), with the column `time_s`. The system is empty at 0; closed customers think.

    `most_open`: open customers at once, beyond which arrivals are cut off (default: as `ctmc`; give it where the load
    is above 1). Raises MethodRefused where the network has no chain or too many states.
    """
    network = beside_background([model.network])[0]
    if not network.at_load:
        why = "a time depends on how busy its station is, which is known in the long run only"
        raise MethodRefused(why, "over_time", "give a number in place of u")
    if reason := refuses(network):
        raise MethodRefused(reason, "over_time", "use sj.simulate(model, until_s=…)")
    if most_open is not None and not 1 <= most_open <= MOST_CUSTOMERS:
        raise InputError(most_open, "most_open", f"give a number from 1 to {MOST_CUSTOMERS}")
    bound = UNLIMITED if network.closed.all() else most_open or wanted_bound(network)
    chain = network_chain(network, bound)
    start = np.zeros(len(chain))
    start[0] = 1.0  # the first state found is the one that it begins in
    rows: list[dict[str, Any]] = []
    cut = 0.0
    for time, p in zip(times_s, transient(generator(chain), start, times_s), strict=True):
        m = chain.measure(p)
        cut = max(cut, float(m["cut"].sum()))
        rows += [row | {"time_s": float(time)} for row in _rows(network, m)]
    share = cut / float(network.rate_per_s.sum()) if cut else 0.0
    text = f"{len(chain)} states" + (f"; at most {share:.1e} of the open arrivals cut off" if cut else "")
    return Metrics.of(rows, "ctmc over time", "approximate" if share > 1e-6 else "ok", text)


def generator(chain: Any) -> Any:
    """The generator of a `network_chain` as a scipy CSR matrix, 1/s."""
    from scipy import sparse  # slow to import

    into, from_, rate, out = chain.generator()
    moves = sparse.csc_matrix((rate, from_, into), shape=(len(out), len(out)))
    return sparse.csr_matrix(moves - sparse.diags(out))


def _rows(network: Network, m: dict[str, Any]) -> list[dict[str, Any]]:
    classes = len(network.classes)
    present, busy, done = (np.array(m[name]).reshape(-1, classes) for name in ("present", "busy", "done"))
    rows = []
    for k, station in enumerate(network.stations):
        for c in np.flatnonzero(network.visits[k]):
            here = {"station": station, "class": network.classes[c]}
            rows.append(here | {"metric": "queue_length", "value": float(present[k, c])})
            rows.append(here | {"metric": "throughput", "value": float(done[k, c])})
            if network.kind[k] == "queue":
                rows.append(here | {"metric": "utilisation", "value": float(busy[k, c] / network.servers[k])})
    return rows
