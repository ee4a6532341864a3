"""The policy `model`: the least capacity whose predicted tail meets the objective, at the upper bound of the rate.

Feed-forward: M/M/m under FCFS (`solve.single.mmm`), its wait scaled by (1 + scv)/2 for other service times (Lee, Longton, Operational
Research Quarterly 10, 1959). What is corrected is the model's service time, slowly (`estimation`), never the capacity itself. On top:
a rising trend, until what is set now can be set again; what was needed in the last `hold_s` is kept; where that leaves too few to
drain a queue within the objective's limit, as many as do, until it is gone; while the fit is stale or out of its
range no fewer than a reactive rule asks for; and where more servers do not bring more throughput, none is added.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from sojourn.control.decision import Option, Seen, Set
from sojourn.control.estimation import STALE, DemandEstimate, ValidatedRange, updated
from sojourn.control.load_trace import Array
from sojourn.control.rate_bound import lately, upper_rate
from sojourn.solve.single.erlang import erlang_c
from sojourn.solve.single.mmm import response_quantile, response_tail

SATURATED = 0.97  # utilisation


@dataclass(frozen=True)
class ModelState:
    """`rates`: (at_s, length_s, rate) lately; `needed`: (at_s, workers); `before`: (ready, throughput) when all workers were busy
    with a queue; `ceiling`: workers above which more did not help; none is added until `ceiling_s`."""

    demand: DemandEstimate
    rates: tuple[tuple[float, float, float], ...] = ()
    needed: tuple[tuple[float, int], ...] = ()
    before: tuple[int, float] | None = None
    ceiling: int | None = None
    ceiling_s: float = 0.0


class ModelPolicy(BaseModel):
    """`q`, `limit_s`: of the objective; `service_s`, `scv`: of the model. `spread`: standard deviations from the rate to its upper bound,
    over `span_s`. `floor_target`: utilisation for the reactive floor, which holds while the fit is
    stale or the load lies outside of `validated`. `lag_s`: until a server serves. `drain_s`: within
    which a queue is to be gone (None: the longer of `limit_s` and `lag_s`). Times in s."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    q: float = Field(default=0.99, gt=0, lt=1)
    limit_s: float = Field(default=0.3, gt=0)
    service_s: float = Field(default=0.05, gt=0)
    scv: float = Field(default=1.0, ge=0)
    period_s: float = Field(default=2.0, gt=0)
    spread: float = Field(default=2.5, ge=0)
    span_s: float = Field(default=10.0, gt=0)
    hold_s: float = Field(default=60.0, ge=0)
    drain_s: float | None = Field(default=None, gt=0)
    floor_target: float = Field(default=0.6, gt=0, le=1)
    validated: ValidatedRange = ValidatedRange()
    lag_s: float = Field(default=0.0, ge=0)
    least: int = Field(default=1, ge=1)
    most: int = Field(default=1000, ge=1)

    def __call__(self, seen: Seen, state: ModelState | None) -> tuple[Set, ModelState]:
        """A decision of a window."""
        empty = state is None
        state = state or ModelState(DemandEstimate.start([self.service_s]))
        if trouble := seen.trouble():
            return Set(reason=f"{trouble}: no change"), state
        state = self._learnt(seen, state)
        rate = self._upper_rate(state, seen)
        service_s = max(float(state.demand.demands_s[0]), 1e-9)
        wanted = self.capacity(rate, service_s)
        why = f"{wanted} carry {rate:.0f}/s at {1000 * service_s:.3g} ms"
        busy = (seen.utilisation or 0) * seen.ready_workers
        beyond = self.validated.beyond(seen.rate_per_s, seen.utilisation)
        doubt = "the fit is stale" if state.demand.status() == STALE else f"outside range ({beyond})" if beyond else ""
        if doubt and (floor := math.ceil(busy / self.floor_target - 1e-9)) > wanted:
            wanted, why = floor, f"{doubt}; {busy:.1f} busy at {self.floor_target:g} ask for {floor}"
        wanted, why, needed = self._held(wanted, why, seen, state, empty)
        drain_s = self.drain_s or max(self.limit_s, self.lag_s)
        drain = math.ceil((rate + (seen.waiting or 0) / drain_s) * service_s - 1e-9)
        if drain > wanted:  # not held: the queue is gone long before
            wanted, why = drain, f"{why}; {drain} drain {seen.waiting:.0f} that wait in {drain_s:g} s"
        state, wanted, why = self._helps(wanted, why, seen, replace(state, needed=needed))
        wanted = min(max(wanted, self.least), self.most)
        chosen, *others = self._options(wanted, rate, service_s)
        return Set(wanted, why, tuple(others), chosen), state

    def _learnt(self, seen: Seen, state: ModelState) -> ModelState:
        busy = (seen.utilisation or 0) * seen.ready_workers
        demand = updated(state.demand, [seen.throughput_per_s or 0], busy, seen.window_s, scv=self.scv)
        return replace(state, demand=demand, rates=lately(state.rates, seen, self.span_s))

    def _upper_rate(self, state: ModelState, seen: Seen) -> float:
        """Upper bound of the rate, 1/s: over the whole span, or over the last window where that is above it; plus a rising trend."""
        return upper_rate(state.rates, self.spread, falls=True) + self._trend(state) * (self.period_s + self.lag_s)

    def _trend(self, state: ModelState) -> float:
        """Rise of the rate, 1/s each s: by least squares, where it is more than twice its standard error; else 0."""
        if len(state.rates) < 3:
            return 0.0
        at, length, rate = (np.array(column) for column in zip(*state.rates, strict=True))
        at = at - at.mean()
        slope = float(at @ rate / (at @ at))
        error = math.sqrt(max(float(rate.mean()), 1e-9) / float(length.mean()) / float(at @ at))
        return slope if slope > 2 * error else 0.0

    def capacity(self, rate: float, service_s: float) -> int:
        """The least number of workers whose tail meets the objective."""
        offered = rate * service_s
        m = np.arange(math.floor(offered) + 1, math.ceil(offered + 6 * math.sqrt(offered)) + 12, dtype=float)
        waits, drain = self._wait(rate, service_s, m)
        met = response_tail(np.full(len(m), self.limit_s), waits, drain, np.full(len(m), 1 / service_s)) <= 1 - self.q
        return int(m[met][0]) if met.any() else int(m[-1])  # more do not help where the service alone takes too long

    def _wait(self, rate: float, service_s: float, m: Array) -> tuple[Array, Array]:
        """P(wait) and the rate at which the wait of those who wait ends, for each m > offered load."""
        offered = rate * service_s
        return erlang_c(np.full(len(m), offered), m), (m - offered) / service_s * 2 / (1 + self.scv)

    def _options(self, wanted: int, rate: float, service_s: float) -> list[Option]:
        """What is chosen and the next best: one fewer, one and two more, each with its predicted tail."""
        which = np.array([wanted, wanted - 1, wanted + 1, wanted + 2] if wanted > 1 else [1, 2, 3, 4], float)
        able = which > rate * service_s
        waits, drain = self._wait(rate, service_s, which[able])
        tails = np.full(len(which), np.inf)
        if able.any():
            tails[able] = response_quantile(waits, drain, np.full(len(waits), service_s), self.q)
        return [Option(int(m), float(tail)) for m, tail in zip(which, tails, strict=True)]

    def _held(
        self, wanted: int, why: str, seen: Seen, state: ModelState, empty: bool
    ) -> tuple[int, str, tuple[tuple[float, int], ...]]:
        """The most that was needed in the last `hold_s`; at the start what is there counts as needed."""
        before = ((seen.window_end_s, seen.workers),) if empty else state.needed
        kept = tuple(one for one in before if seen.window_end_s - one[0] < self.hold_s - 1e-9)
        most = max((n for _, n in kept), default=0)
        needed = (*kept, (seen.window_end_s, wanted))
        if most > wanted:
            return (
                min(most, max(seen.workers, wanted)),
                f"{why}; up to {most} were needed in the last {self.hold_s:g} s",
                needed,
            )
        return wanted, why, needed

    def _helps(self, wanted: int, why: str, seen: Seen, state: ModelState) -> tuple[ModelState, int, str]:
        """No more workers where half as many again have brought less than a quarter of that in throughput."""
        full = (seen.utilisation or 0) > SATURATED and (seen.waiting or 0) > seen.ready_workers
        now, held = (seen.ready_workers, seen.throughput_per_s or 0.0), seen.window_end_s < state.ceiling_s
        if not full:
            state = state if held else replace(state, ceiling=None, before=None)
        elif state.before is None:
            state = replace(state, before=now)
        elif not held and seen.ready_workers >= 1.5 * state.before[0]:
            workers, throughput = state.before
            if now[1] < throughput * (1 + 0.25 * (seen.ready_workers / workers - 1)):
                state = replace(state, ceiling=workers, ceiling_s=seen.window_end_s + self.hold_s, before=now)
            else:
                state = replace(state, ceiling=None, before=now)
        if state.ceiling is None or wanted <= seen.workers:
            return state, wanted, why
        if seen.window_end_s < state.ceiling_s:
            return (
                state,
                seen.workers,
                f"{why}; but more than {state.ceiling} brought no more throughput: the limit is elsewhere",
            )
        return (
            state,
            min(wanted, math.ceil(1.5 * seen.workers)),
            f"{why}; half as many more, to test whether they help now",
        )
