"""The unknowns of the message service's network from the response times of many configurations.

Every fitted run is told as one number, its relative service time: by how much the delay and all service times must be longer
than the network has them for it to give the response time that was measured. In these terms a run at 20 % of saturation and one far
beyond it are known equally well (what differs between them is the speed of the machine in that minute, of which the recorder's
piece of work tells a part: `fit.speed_adjustment`), while an error of 10 % in a service time is one of 100 % in the response time at the
knee. Least squares of the logarithm, the mean of each configuration
one residual, with a soft L1 loss (P. J. Huber, Robust Statistics (1981), chapter 7: a few far residuals count linearly).

Error of the model: each configuration is left out once, and fitted without. Intervals of parameters: configurations resampled
(A. C. Davison, D. V. Hinkley, Bootstrap Methods and their Application (1997), section 6.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from scipy.optimize import least_squares
from scipy.special import ndtri

from sojourn.errors import FitError
from sojourn.fit import CoreSpeed, ParameterEstimate, speed_adjustment
from sojourn_cases.messages.message_network import Array, MessageNetwork
from sojourn_cases.messages.message_service_metrics import FACTORS, WORK

UNKNOWN = ("alone_per_s", "contention", "coherency", "batching", "half")
MEASURED = ("delay_s", "empty_share", "own_s")
LOW, HIGH = np.log([1e-1, 1e-4, 1e-7, 1e-3, 0.5]), np.log([1e7, 2.0, 1.0, 5.0, 200.0])
FEWEST = len(UNKNOWN) + 1  # configurations
SLOWER = np.exp(np.linspace(-1.2, 1.2, 17))
UNUSED = 0.5  # of workers and connections: fewer in use, and clients and middleware have time for an answer at once
FAR = 0.1  # residuals beyond count linearly
REFIT, RESAMPLES = 6, 40  # function evaluations of a fit that begins at the answer
RUNS = 4  # simulated, for the mean of a run that is not stationary
ROUNDS = 2


@dataclass(frozen=True)
class RunsOfConfiguration:
    """The runs of one configuration. `work_s`: the recorder's piece of work in each of them, NaN where it is not known; `longer`:
    mean response time of a run that starts as they did, over the stationary one."""

    factors: dict[str, Any]
    response_s: tuple[float, ...]
    throughput_per_s: tuple[float, ...]
    work_s: tuple[float, ...]
    longer: float = 1.0

    def relative_times(self, network: MessageNetwork, speed: CoreSpeed | None = None) -> Array:
        """Of each run, the logarithm; at most 1.2 either way. With `speed` beside what its cores explain."""
        known = np.log(network.stationary(self.factors, SLOWER).response_s * self.longer)
        found = np.interp(np.log(self.response_s), known, np.log(SLOWER))
        return found if speed is None else found - np.log(speed.slower(np.array(self.work_s)))

    def throughput_error(self, network: MessageNetwork) -> float:
        """Logarithm of predicted over measured (mean of its runs)."""
        told = network.cycle(self.factors, network.stationary(self.factors).response_s * self.longer)
        return float(np.log(told.throughput_per_s / np.mean(self.throughput_per_s)))


@dataclass(frozen=True)
class FittedMessageNetwork:
    """`speed`: of the cores, with which the network's times change. `draws`: the network fitted to configurations resampled.
    `left_out`: absolute logarithm of the relative service time of each run, its configuration left out of the fit, ascending;
    `left_out_at_speed`: beside what the speed of the cores in it explains; `error`: root mean square of those of the throughput.
    `duration_s`: of a run, of which `window_s` are counted, without its warm-up."""

    network: MessageNetwork
    speed: CoreSpeed | None
    draws: tuple[MessageNetwork, ...]
    left_out: tuple[float, ...]
    left_out_at_speed: tuple[float, ...]
    error: float
    duration_s: float
    window_s: float

    def slower(self, level: float, at_speed: bool = False) -> float:
        """So much longer or shorter are a run's service times at most, with this probability (`at_speed`: than at the speed of the
        cores in it): that share of the runs at configurations left out (R. F. Barber et al., Annals of Statistics 49(1), 2021:
        jackknife prediction intervals)."""
        errors = self.left_out_at_speed if at_speed else self.left_out
        return float(np.exp(np.quantile(errors, level, method="higher")))

    def slower_at(self, work_s: float | None) -> float:
        """By which factor times are longer where the piece of work takes so long; 1 where neither is known."""
        if self.speed is None or work_s is None:
            return 1.0
        return float(self.speed.slower(np.array([work_s]))[0])

    def estimates(self, level: float) -> dict[str, ParameterEstimate]:
        """Of what was fitted, at `level`; of what was measured without an interval."""
        z, nan, found = float(ndtri(0.5 + level / 2)), float("nan"), {}
        for name in UNKNOWN:
            value = getattr(self.network, name)
            wide = np.exp(z * np.std([np.log(getattr(one, name)) for one in self.draws], ddof=1))
            found[name] = (
                ParameterEstimate(value, value / wide, value * wide) if wide > 1 else ParameterEstimate(value, nan, nan)
            )
        return found | {name: ParameterEstimate(getattr(self.network, name), nan, nan) for name in MEASURED}


def where_valid(seen: pl.DataFrame) -> pl.DataFrame:
    """Without the runs that are not valid, where there is another of the same configuration."""
    return seen.filter(pl.col("valid") | ~pl.col("valid").any().over("section", *FACTORS))


def observed(seen: pl.DataFrame) -> list[RunsOfConfiguration]:
    """Configurations of the rows of `messages_reading.frame`."""
    return [
        RunsOfConfiguration(
            dict(zip(FACTORS, key, strict=True)),
            tuple(own["response_s"]),
            tuple(own["throughput_per_s"]),
            tuple(own[WORK].fill_null(np.nan)),
        )
        for key, own in seen.sort(*FACTORS).partition_by(*FACTORS, as_dict=True, maintain_order=True).items()
    ]


def fit(seen: pl.DataFrame, duration_s: float, window_s: float, seed: int = 1) -> FittedMessageNetwork:
    """From valid runs of `duration_s`, of which `window_s` are counted, in any section.

    Raises:
        FitError: fewer than six configurations.
    """
    known = observed(seen)
    if len(known) < FEWEST:
        remedy = f"have {FEWEST} configurations at least in the sections that are fitted"
        raise FitError(f"{len(known)} configurations", "[fit] sections", remedy)
    middle = speed_adjustment.usual(seen[WORK].cast(pl.Float64).fill_null(np.nan).to_numpy())
    speed = None if middle is None else CoreSpeed(middle)
    best = _fitted(known, _start(seen), speed)
    for _ in range(ROUNDS):
        known = [replace(one, longer=best.longer(one.factors, duration_s, RUNS, seed)) for one in known]
        speed = _speed(known, best, speed)
        best = _fitted(known, best, speed)
    times, at_speed, rates = _left_out(known, best, speed)
    error = float(np.sqrt(np.mean(np.square(rates))))
    draws = _resampled(known, best, speed, seed)
    return FittedMessageNetwork(best, speed, draws, _sizes(times), _sizes(at_speed), error, duration_s, window_s)


def _sizes(logs: Sequence[float]) -> tuple[float, ...]:
    return tuple(sorted(map(abs, logs)))


def _speed(known: Sequence[RunsOfConfiguration], at: MessageNetwork, speed: CoreSpeed | None) -> CoreSpeed | None:
    """With the exponent that the runs have beside this network."""
    if speed is None:
        return None
    logs = np.concatenate([speed.logs(np.array(one.work_s)) for one in known])
    return replace(
        speed, exponent=speed_adjustment.exponent(logs, np.concatenate([one.relative_times(at) for one in known]))
    )


def _start(seen: pl.DataFrame) -> MessageNetwork:
    """What is measured: the delay (what the client saw longer than the service) where there is little to do, the share of empty
    takes, the client's own time; and a first guess of the others."""
    outside = pl.col("response_s") - pl.col("mw_response_s")
    idle = seen.filter(pl.max_horizontal("connections_share", "workers_share") < UNUSED)
    found = (idle if idle.height else seen).select(outside.median()).item()
    empty = float(np.average(seen["empty_share"].to_numpy(), weights=seen["throughput_per_s"].to_numpy()))
    shortest, own_s = float(seen["response_s"].min()), float(seen["own_s"].median() or 0.0)  # type: ignore[arg-type]
    delay_s = min(max(float(found or 0.0), 0.0), 0.9 * shortest)
    return MessageNetwork(delay_s, 1 / (shortest - delay_s), 0.3, 1e-3, 0.5, 10.0, empty, own_s)


def _fitted(
    known: Sequence[RunsOfConfiguration], start: MessageNetwork, speed: CoreSpeed | None, evaluations: int = 60
) -> MessageNetwork:
    def network(logs: Array) -> MessageNetwork:
        return replace(start, **dict(zip(UNKNOWN, np.exp(logs).tolist(), strict=True)))

    def residuals(logs: Array) -> Array:
        at = network(logs)
        return np.array([one.relative_times(at, speed).mean() for one in known])

    first = np.clip(np.log([getattr(start, name) for name in UNKNOWN]), LOW + 1e-9, HIGH - 1e-9)
    found = least_squares(
        residuals, first, bounds=(LOW, HIGH), loss="soft_l1", f_scale=FAR, diff_step=1e-3, max_nfev=evaluations
    )
    return network(found.x)


def _left_out(
    known: Sequence[RunsOfConfiguration], best: MessageNetwork, speed: CoreSpeed | None
) -> tuple[list[float], list[float], list[float]]:
    """Relative service times of all runs, the same beside what the speed of cores explains, and throughput errors of all
    configurations, each by a fit without it."""
    times: list[float] = []
    at_speed: list[float] = []
    rates: list[float] = []
    for k, one in enumerate(known):
        without = _fitted([*known[:k], *known[k + 1 :]], best, speed, REFIT)
        times += one.relative_times(without).tolist()
        at_speed += one.relative_times(without, speed).tolist()
        rates.append(one.throughput_error(without))
    return times, at_speed, rates


def _resampled(
    known: Sequence[RunsOfConfiguration], best: MessageNetwork, speed: CoreSpeed | None, seed: int
) -> tuple[MessageNetwork, ...]:
    random = np.random.default_rng(seed)
    chosen = random.integers(0, len(known), (RESAMPLES, len(known)))
    return tuple(_fitted([known[k] for k in row], best, speed, REFIT) for row in chosen)
