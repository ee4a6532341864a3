"""The search: a few low rates, a fit, and the next rate where it teaches most of the answer, until that is known well enough.

A few users who wait for their answers ask first: they are never too much, and what they get is a rate that the service
bears. The first rates are parts of that, in short runs: a low rate has little to tell, and tells it soon. From three rates on there is a
model. The next rate is the answer that it gives, because there an error of the model matters; it is never above a share of the lower end
of where the model says the service is full.

Source of the idea, a run where the present model says that it tells most: V. V. Fedorov, Theory of Optimal Experiments (1972), chapter 3.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from sojourn.capacity.capacity_answer import answer_of, failures_missed, times_of
from sojourn.capacity.capacity_result import Capacity, CapacityRun
from sojourn.capacity.capacity_run import capacity_run
from sojourn.capacity.rate_interval import RateInterval
from sojourn.capacity.run_length import lacking_s
from sojourn.capacity.search_limits import LightLoad, SearchLimits, check_objectives
from sojourn.capacity.search_state import SearchState, state_of
from sojourn.capacity.what_limits import full_at
from sojourn.errors import LoadError, ServiceError
from sojourn.query.objectives import Objective
from sojourn.runs.assess_run import NOT_BALANCED, service_failed
from sojourn.runs.manifest import SERVICE_EXITED
from sojourn.runs.run_folder import RunFolder
from sojourn.units import per_second, percent, seconds

Measured = Callable[[float, float], RunFolder]
BEGIN = (0.3, 0.55, 0.8)  # of the rate that a few users had: the rates before there is a model
SHORTEST_S = 4.0  # of a run, and of one that only leads to others
STEERING = 300  # requests that such a run has, even where that takes longer
AIM = 0.8  # of the precision: how narrow the interval shall be after the next run
FIT_S = 5.0  # that a fit takes beside a run, before one is known
MORE_BESIDE = 1.5  # times what it took until now: the last fit has the most runs, and the report comes after it
STEP = 1.5  # the next rate over the highest, where no model says more
MOST_BUSY = 0.8  # of what was watched, at the next rate, before there is a model
SURER = 1.41  # times as far below saturation as the end of its interval: one of 98 % where that is one of 90 %
MOST_FULL = 0.9  # of the lower end of saturation; of what a few users say of it, the upper end once there is a model
BELOW_FULL = 0.8  # of a rate of which more came than left
SAME = 0.02  # rates that differ by less are one
BELOW = 0.97  # of a rate that was measured already
TELLS, RISES = 0.85, 1.1  # of the answer: a run below, that much above the others, leads to a higher one
NEAR = 0.6  # of the answer: an answer further beyond what was run is not believed


def search(
    measured: Measured,
    light: LightLoad,
    objectives: Sequence[Objective],
    limits: SearchLimits | None = None,
    *,
    run_s: float = 15.0,
    settings: Sequence[Mapping[str, float]] = (),
    clock: Callable[[], float] | None = None,
    told: Callable[[str], None] = lambda _line: None,
) -> Capacity:
    """The largest rate that meets all `objectives`, of whatever `measured` makes a run of.

    Args:
        measured: a rate in 1/s, a length in s → a judged run folder. light: what few users saw.
        objectives: `mean`, `pQ` or `errors` below a limit, all of them.
        run_s: the longest run; one is as long as the answer needs. No run begins that would end too late.
        clock: s since the search began, the look at few users included; from now on by default.
        settings: factors of the service, to be predicted and not run.
        told: is given a line after each run.

    Raises:
        InputError: an objective that has no largest rate. LabError, ServiceError …: of `measured`, in the first run; later ones end the
        search.
    """
    limits = limits or SearchLimits()
    check_objectives(objectives)
    begun = time.monotonic()
    since = clock or (lambda: time.monotonic() - begun)
    return _Search(measured, light, tuple(objectives), limits, run_s, tuple(settings), since, told).answer()


class _Search:
    def __init__(
        self, measured: Measured, light: LightLoad, objectives: tuple[Objective, ...], limits: SearchLimits, run_s: float,
        settings: tuple[Mapping[str, float], ...], clock: Callable[[], float], told: Callable[[str], None],
    ) -> None:  # fmt: skip
        self.measured, self.light, self.objectives, self.limits = measured, light, objectives, limits
        self.run_s, self.settings, self.clock, self.told = run_s, settings, clock, told
        self.beside_s = FIT_S  # what a run takes beside its length
        self.folders: list[RunFolder] = []
        self.runs: list[CapacityRun] = []
        self.lengths_s: list[float] = []
        self.known = SearchState()
        self.before: RateInterval | None = None  # the answer before the last run
        self.gone = ""  # how the service failed

    def answer(self) -> Capacity:
        stopped = f"no run was made: {self.light.missed}" if self.light.missed else ""
        if stopped:
            text = " and ".join(one.text for one in self.objectives)
            self.known = SearchState(why=f"no rate meets {text}: a single user misses {self.light.missed}")
        while not stopped:
            stopped = self.stop() or self.make(rate := self.next_rate(), self.length_s(rate))
        found = answer_of(
            self.known, self.folders, self.runs, self.objectives, self.light, self.limits, self.settings, stopped,
            self.clock(),
        )  # fmt: skip
        return replace(found, service_failed=self.gone)

    def make(self, rate: float, length_s: float) -> str:
        """A run, and what is known then; why no further one may be made."""
        began = self.clock()
        try:
            folder = self.measured(rate, length_s)
        except (ServiceError, LoadError) as error:
            if not self.runs:
                raise
            if isinstance(error, ServiceError):
                self.gone = f"the service no longer answers: {error.value}"
            return f"stopped before {per_second(rate)}: {self.gone or error.value}"
        self.folders.append(folder)
        self.lengths_s.append(
            float(folder.manifest.get("load", {}).get("duration_s", length_s))
        )  # a run taken over has its own
        self.runs.append(capacity_run(folder, rate, self.objectives))
        times = times_of(self.objectives)
        self.before, self.known = (
            self.known.rate,
            state_of(self.folders, self.runs, times, self.limits.level, self.known, self.light.tells),
        )
        self.beside_s = max(self.beside_s, self.clock() - began - length_s)
        self.told(self.line())
        return self.failed()

    def failed(self) -> str:
        """Why no further run may be made after the last one."""
        last = self.runs[-1]
        for reason in last.reasons:
            if service_failed(reason):
                self.gone = reason if SERVICE_EXITED in reason else ""
                return f"stopped at {per_second(last.rate_per_s)}: {reason}"
        for one in failures_missed(last, self.objectives):
            return f"stopped at {per_second(last.rate_per_s)}: errors {one.show(last.objective_values.get(one.figure))}"
        return ""

    def stop(self) -> str:
        """Why no further run is made; "" where one is."""
        if self.known.rate is not None:
            if self.well_known():
                return f"within the precision of {percent(self.limits.precision, 0)}"
            if (side := self.decided()) is not None:
                return (
                    f"{'more' if side else 'less'} than --required-rate {per_second(self.limits.required_rate_per_s)}"
                )
        short = f", before the precision of {percent(self.limits.precision, 0)} was reached"
        if len(self.runs) >= self.limits.max_runs:
            return f"all {self.limits.max_runs} runs were made{short}; --max-runs allows more"
        if self.runs and self.left_s() < SHORTEST_S:
            return f"the time limit was reached{short}; --within allows more than {seconds(self.limits.within_s)}"
        if self.limits.max_rate_per_s is not None and self.enough_of(self.limits.max_rate_per_s):
            return f"--max-rate {per_second(self.limits.max_rate_per_s)} was measured"
        return ""

    def well_known(self) -> bool:
        """Narrow enough, and where it was before the last run: an interval that is narrow by chance is not believed at once."""
        found, before = self.known.rate, self.before
        assert found is not None
        near = before is not None and abs(found.value / before.value - 1) <= self.limits.precision
        return near and found.half_width <= self.limits.precision and self.highest >= NEAR * found.value

    def decided(self) -> bool | None:
        """Whether the answer is above `--required-rate`, if two looks say the same; None where that is not known."""
        at = self.limits.required_rate_per_s
        sides = [one.side_of(at) if one and at else None for one in (self.known.rate, self.before)]
        return sides[0] if sides[0] == sides[1] else None

    def enough_of(self, rate: float) -> bool:
        """Whether that rate was measured, and met what was asked with room."""
        enough = len(self.runs) >= len(BEGIN)
        return enough and any(one.rate_per_s >= (1 - SAME) * rate and one.objective_met for one in self.runs)

    @property
    def highest(self) -> float:
        return max((one.rate_per_s for one in self.runs), default=0.0)

    def length_s(self, rate: float) -> float:
        """Of a run at `rate`: short where it only leads to a higher one, else what the interval lacks."""
        length_s = max(SHORTEST_S, STEERING / rate)
        found = self.known.rate
        if found is not None and not self.highest * RISES < rate < TELLS * found.value:
            aim = AIM * self.limits.precision
            lacking = lacking_s(self.known, self.lengths_s, times_of(self.objectives), aim, self.limits.level)
            length_s = max(length_s, lacking)
        return min(self.run_s, length_s, max(self.left_s(), SHORTEST_S))

    def left_s(self) -> float:
        """For a run, of the time that there is."""
        return self.limits.within_s - self.clock() - MORE_BESIDE * self.beside_s

    def next_rate(self) -> float:
        if len(self.runs) < len(BEGIN):
            wanted = BEGIN[len(self.runs)] * self.light.borne_per_s
        elif self.known.rate is None:
            wanted = self.highest * STEP
        else:
            wanted = self.known.rate.value
        bound = self.bound()
        rate = min(wanted, bound)
        while self.was_measured(rate):
            rate *= BELOW
        return min(float(f"{rate:.4g}"), bound)

    def was_measured(self, rate: float) -> bool:
        return any(abs(one.rate_per_s / rate - 1) < SAME for one in self.runs)

    def bound(self) -> float:
        """What must not be offered more than."""
        ends = [float("inf")]
        if self.limits.max_rate_per_s is not None:
            ends.append(self.limits.max_rate_per_s)
        if len(self.runs) >= len(BEGIN):
            ends.append(max(self.highest, BEGIN[-1] * self.light.borne_per_s) * STEP)
        full = [one.rate_per_s for one in self.runs if any(NOT_BALANCED in reason for reason in one.reasons)]
        ends += [BELOW_FULL * min(full)] if full else []
        few = self.light.tells
        if few is not None and few.high is not None and not self.limits.saturate:
            ends.append(MOST_FULL * (few.low if self.known.saturation is None else few.high))
        if self.known.saturation is not None and not self.limits.saturate:
            least = self.known.saturation.further_low(SURER)
            ends.append(max(MOST_FULL * least, BEGIN[-1] * few.low if few else 0.0))
        elif watched := full_at(self.folders):  # less than a few users had it bears in any case
            ends.append(max(MOST_BUSY * watched[0][0], BEGIN[-1] * self.light.borne_per_s))
        return max(min(ends), 1e-3)

    def line(self) -> str:
        last = self.runs[-1]
        shown = [f"{one.figure} {one.show(last.objective_values.get(one.figure))}" for one in self.objectives]
        if last.response_s and not any(one.figure == "mean" for one in self.objectives):
            shown.insert(0, f"mean {seconds(last.response_s)}")
        so_far = f"; so far {self.known.rate.text(self.limits.level)}" if self.known.rate else ""
        return f"{per_second(last.rate_per_s)}: {', '.join(shown)}{'' if last.valid else ', not valid'}{so_far}"
