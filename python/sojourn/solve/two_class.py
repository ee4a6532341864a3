"""Two classes on m leading cores: a soft interrupt per request, then its page, there or on one of the n - m others.

Sources. Variants `paper` and `shared`: Chen et al., ICPE 2014, Sections 4.1-4.4 and 5.2, with errata section 1 ("multi-
NIC, proposed specification"). Variant `priority` is ours. `cite("two-class/priority")` prints them.

| letters                  | here                          | unit |
|--------------------------|-------------------------------|------|
| lambda                   | `total_rate_per_s`            | 1/s  |
| mu1, mu2                 | `mu1_per_s`, `mu2_per_s`      | 1/s  |
| p                        | `p`, or by `p_rule`           | 1    |
| N (per leading core)     | `capacity`                    | jobs |
| n, m                     | `cores`, `nics`               |      |
| E(T_sys), P_N            | response_time, loss_probability | s, 1 |

Requests are Poisson, split evenly: l = lambda/m to each leading core. After its interrupt a page stays on that core
with probability p, else goes to one of cores m..n-1, evenly. With m = n, p is 1.

* `paper`: pi_ij = alpha^i beta^j pi_00, i + j <= N: both classes at full rate at once. Cannot show its own bottleneck.
* `shared`: both classes share one core (PS): pi_ij = C(i+j,i) alpha^i beta^j pi_00.
* both: trailing cores M/M/1-PS at lambda (1-p)(1-P_N)/(n-m); E(T_sys) = [m E(k_0) + (n-m) E(k_i)]/(lambda (1-P_N)).
* `priority`: unbounded queues; X = S + client (S = 1/mu1, second moment (1 + interrupt_scv) S²; the client's work is
  constant) arrives Poisson at l and preempts page work A = 1/mu2 (scv page_scv), FCFS. With rho_h = l E[X]:
  - a request that stays finds the workload V (PASTA). Everything found, and its own X + A, is done before it leaves,
    and so is every interrupt that arrives meanwhile: a busy period of the high class begun by V + X + A. Hence
    E[T] = (V + E[X] + E[A])/(1 - rho_h). A core is busy whenever work of any request is there, so V is that of M/G/1
    with G = X + B A, B ~ Bernoulli(p): V = l E[G²]/(2 (1 - l E[G])). Exact for Poisson arrivals.
  - a request that leaves waits for interrupts only (exact: l E[X²]/(2 (1 - rho_h)) + E[X]), then joins a G/G/1 trailing
    core: thinned departures c² = 1 - q + q (1 + rho_h²(c_X² - 1)), superposed, wait by Kraemer and Langenbach-Belz
    (approximate; exact where m = n).
* `client_s` is the load generator's work per request where it shares the leading cores; in `paper` and `shared` it is
  added to the work of class a. `handoff_s` is a fixed delay of every response, `crossing_s` one
  of each request that goes to another core (IPI, wake-up there). All three ours, 0 by default.
* `saved` of a station: S and A are 1 + saved (1 - lambda/saturation)² times as long, the same at the saturation rate. Ours, 0 by default.

Limits. Above about 90 % interrupts move to ksoftirqd at normal priority, which no variant has. The client's batches
under load make arrivals burstier than Poisson. Stable at any load and N: see `cpu0`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sojourn.errors import InputError
from sojourn.former_keyword import former_keyword
from sojourn.solve import status
from sojourn.solve.same_core_probability import routing_probability
from sojourn.solve.two_class_equations import VARIANTS, Results, TwoClassLoad, evaluate, load
from sojourn.table import Metrics

PRINTED = "leading (Prop. 3 as printed)"
# result key → (station, metric); the order is the order of the rows
ROWS: tuple[tuple[str, str, str], ...] = (
    ("rate", "", "arrival_rate"),
    ("response", "", "response_time"),
    ("throughput", "", "throughput"),
    ("jobs", "", "queue_length"),
    ("loss", "", "loss_probability"),
    ("saturation", "", "saturation_rate"),
    ("rate", "leading", "arrival_rate"),
    ("carried", "leading", "throughput"),
    ("lead_busy", "leading", "utilisation"),
    ("softirq", "leading", "softirq_utilisation"),
    ("lead_jobs", "leading", "queue_length"),
    ("lead_s", "leading", "residence_time"),
    ("lead_service", "leading", "service_time"),
    ("loss", "leading", "loss_probability"),
    ("empty", "leading", "queue_length_probability"),
    ("printed_utilisation", PRINTED, "utilisation"),
    ("away", "trailing", "arrival_rate"),
    ("away_done", "trailing", "throughput"),
    ("behind_busy", "trailing", "utilisation"),
    ("behind_jobs", "trailing", "queue_length"),
    ("behind_s", "trailing", "residence_time"),
    ("page", "trailing", "service_time"),
)


@former_keyword(rate_per_s="total_rate_per_s")
def two_class(
    total_rate_per_s: ArrayLike,
    *,
    mu1_per_s: float,
    mu2_per_s: float,
    p: float | None = None,
    p_rule: str = "uniform",
    capacity: int = 1000,
    cores: int = 1,
    nics: int = 1,
    variant: str = "paper",
    handoff_s: float = 0.0,
    crossing_s: float = 0.0,
    client_s: float = 0.0,
    interrupt_scv: float = 0.0,
    page_scv: float = 1.0,
) -> Metrics:
    """Solves each rate of the whole system (scalar or 1-d, 1/s, > 0); rows per rate with factors rate_per_s, cores, nics, variant.

    mu1_per_s may be infinite (no interrupt work), capacity >= 1 jobs per leading core (not used by `priority`),
    1 <= nics <= cores, p in [0, 1], delays >= 0 s. queue_length counts all cores of the station; utilisation one core;
    `queue_length_probability` with n=0 at "leading" is pi_00. Where a value does not exist it is null with a status.
    Raises InputError naming the argument.
    """
    rates = np.atleast_1d(np.asarray(total_rate_per_s, float))
    _check(rates, mu1_per_s, mu2_per_s, capacity, cores, nics, variant)
    delays = {
        "handoff_s": handoff_s,
        "crossing_s": crossing_s,
        "client_s": client_s,
        "interrupt_scv": interrupt_scv,
        "page_scv": page_scv,
    }
    for name, number in delays.items():
        if not (np.isfinite(number) and number >= 0):
            raise InputError(number, name, "give a finite number >= 0")
    if p is not None and not 0 <= p <= 1:
        raise InputError(p, "p", "give a probability in [0, 1]")
    x = arguments(
        rates, interrupt_s=1 / mu1_per_s, page_s=1 / mu2_per_s, p=p, p_rule=p_rule, capacity=int(capacity), cores=cores,
        nics=nics, **delays,
    )  # fmt: skip
    return table(x, evaluate(variant, x), variant)


def arguments(
    rate: ArrayLike,
    *,
    interrupt_s: ArrayLike,
    page_s: ArrayLike,
    p: ArrayLike | None,
    p_rule: str,
    capacity: int,
    cores: ArrayLike,
    nics: ArrayLike,
    **delays: ArrayLike,
) -> TwoClassLoad:
    """A `TwoClassLoad` with p by the rule where it is not given, and 1 where every core is leading."""
    cores_, nics_ = np.asarray(cores, float), np.asarray(nics, float)
    if p is None:
        work = np.asarray(interrupt_s, float) + np.asarray(delays.get("client_s", 0.0), float)
        p = routing_probability(p_rule, cores_, nics_, work / np.asarray(page_s, float))
    p = np.where(cores_ == nics_, 1.0, p)
    full = {
        "handoff_s": 0.0,
        "crossing_s": 0.0,
        "client_s": 0.0,
        "interrupt_scv": 0.0,
        "page_scv": 1.0,
        "longer": 1.0,
        **delays,
    }
    return load(capacity, rate=rate, interrupt_s=interrupt_s, page_s=page_s, p=p, cores=cores_, nics=nics_, **full)


def complete(x: TwoClassLoad, results: Results, variant: str) -> Results:
    """Adds what the table shows beyond `evaluate`; above saturation `priority` is bounded by it."""
    done = np.minimum(results["throughput"], results["saturation"]) if variant == "priority" else results["throughput"]
    away_done = results["away"] / np.maximum(results["behind_busy"], 1.0)
    jobs = done * results["response"]
    added = {"rate": x.rate, "page": x.page_s, "throughput": done, "away_done": away_done, "jobs": jobs}
    if variant == "priority":
        added |= {key: np.minimum(results[key], 1.0) for key in ("lead_busy", "softirq", "behind_busy")}
    return results | added


def table(x: TwoClassLoad, results: Results, variant: str) -> Metrics:
    """Rows of one configuration, 1-d arrays by rate."""
    full = complete(x, results, variant)
    rows: list[dict[str, Any]] = []
    names: set[str] = set()
    for k, rate in enumerate(x.rate):
        cores, nics = int(x.cores[k]), int(x.nics[k])
        factors = {"rate_per_s": float(rate), "cores": cores, "nics": nics, "variant": variant}
        for key, station, metric in ROWS:
            if key not in full or (station == "trailing" and cores == nics):
                continue
            value = float(full[key][k])
            name = _name(
                variant,
                station,
                metric,
                value,
                float(rate),
                float(full["saturation"][k]),
                float(full["behind_busy"][k]),
            )
            names.add(name)
            extra = {"n": 0} if metric == "queue_length_probability" else {}
            rows.append({"station": station, "metric": metric, "value": value, "status": name, **extra, **factors})
    return Metrics.of(rows, f"two-class/{variant}", status.worst(names), status.message(names))


def _name(variant: str, station: str, metric: str, value: float, rate: float, saturation: float, behind: float) -> str:
    if station == PRINTED:
        return "as_printed"
    if (
        variant == "priority"
        and rate >= saturation
        and metric not in ("arrival_rate", "saturation_rate", "service_time")
    ):
        return "saturated"
    if not np.isfinite(value) or (behind >= 1 and metric == "throughput" and station != "leading"):
        return "trailing_unstable"
    return "above_one" if metric == "utilisation" and value > 1 + 1e-12 else "ok"


def _check(rates: Any, mu1: float, mu2: float, capacity: int, cores: int, nics: int, variant: str) -> None:
    wrong = rates[~(np.isfinite(rates) & (rates > 0))]
    if rates.ndim != 1 or wrong.size:
        raise InputError(
            float(wrong[0]) if wrong.size else rates.shape, "total_rate_per_s", "give finite rates > 0 in 1/s"
        )
    if not mu1 > 0:
        raise InputError(mu1, "mu1_per_s", "give a rate > 0 in 1/s")
    if not (np.isfinite(mu2) and mu2 > 0):
        raise InputError(mu2, "mu2_per_s", "give a finite rate > 0 in 1/s")
    if capacity != int(capacity) or not 1 <= capacity <= 10**9:
        raise InputError(capacity, "capacity", "give a whole number of jobs from 1 to 1e9")
    if cores != int(cores) or cores < 1:
        raise InputError(cores, "cores", "give a whole number >= 1")
    if nics != int(nics) or not 1 <= nics <= cores:
        raise InputError(nics, "nics", f"give a whole number from 1 to {int(cores)}, the number of cores")
    if variant not in VARIANTS:
        raise InputError(repr(variant), "variant", f"use one of {', '.join(VARIANTS)}")
