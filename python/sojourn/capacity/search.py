"""The search: a few low rates, a fit, and the next rate where it teaches most of the answer, until that is known well enough.

A few users who wait for their answers ask first: they are never too much, and what they get is a rate that the service
bears. The first rates are parts of that. From three rates on there is a model. The next rate is the answer that it gives, because
there an error of the model matters; it is never above a share of the lower end of where the model says the service is full.

Source of the idea, a run where the present model says that it tells most: V. V. Fedorov, Theory of Optimal Experiments (1972), chapter 3.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from sojourn.capacity.capacity_result import Capacity, CapacityRun
from sojourn.capacity.capacity_run import capacity_run, figures
from sojourn.capacity.objective_limit import limit_of
from sojourn.capacity.rate_interval import RateInterval
from sojourn.capacity.search_limits import LightLoad, SearchLimits
from sojourn.capacity.what_limits import full_at, what_limits
from sojourn.errors import InputError, SojournError
from sojourn.fit import FittedModel, observe_runs
from sojourn.fit.model_selection import choose_model
from sojourn.query.objectives import Objective
from sojourn.runs.assess_run import NOT_BALANCED, REQUESTS_FAILED
from sojourn.runs.run_folder import RunFolder
from sojourn.units import per_second, percent, seconds

Measured = Callable[[float], RunFolder]
BEGIN = (0.3, 0.55, 0.8)  # of the rate that a few users had: the rates before there is a model
STEP = 1.5  # the next rate over the highest, where no model says more
MOST_BUSY = 0.8  # of what was watched, at the next rate, before there is a model
MOST_FULL = 0.9  # of the lower end of saturation
BELOW_FULL = 0.8  # of a rate of which more came than left
SAME = 0.03  # rates that differ by less tell the same
BELOW = 0.94  # of the answer, where the answer itself was measured


@dataclass(frozen=True)
class SearchState:
    """What the runs say so far."""

    fitted: FittedModel | None = None
    rate: RateInterval | None = None
    saturation: RateInterval | None = None
    why: str = ""
    words: str = ""


def search(
    measured: Measured,
    light: LightLoad,
    objectives: Sequence[Objective],
    limits: SearchLimits | None = None,
    *,
    run_s: float = 0.0,
    settings: Sequence[Mapping[str, float]] = (),
    clock: Callable[[], float] = time.monotonic,
    told: Callable[[str], None] = lambda _line: None,
) -> Capacity:
    """The largest rate that meets all `objectives`, of whatever `measured` makes a run of.

    Args:
        measured: a rate in 1/s → a judged run folder. light: what a single user saw.
        objectives: `mean`, `pQ` or `errors` below a limit, all of them.
        run_s: what a run takes; no run begins that would end too late.
        settings: factors of the service, to be predicted and not run.
        told: is given a line after each run.

    Raises:
        InputError: an objective that has no largest rate. LabError, ServiceError …: of `measured`.
    """
    limits = limits or SearchLimits()
    for one in objectives:
        if one.figure == "rate" or one.relation not in ("<", "<="):
            raise InputError(one.text, "--objective", "give an upper limit of mean, p99 or errors, as 'p99 < 50ms'")
    return _Search(measured, light, tuple(objectives), limits, run_s, tuple(settings), clock, told).answer()


class _Search:
    def __init__(
        self, measured: Measured, light: LightLoad, objectives: tuple[Objective, ...], limits: SearchLimits, run_s: float,
        settings: tuple[Mapping[str, float], ...], clock: Callable[[], float], told: Callable[[str], None],
    ) -> None:  # fmt: skip
        self.measured, self.light, self.objectives, self.limits = measured, light, objectives, limits
        self.run_s, self.settings, self.clock, self.told = run_s, settings, clock, told
        self.began = clock()
        self.folders: list[RunFolder] = []
        self.runs: list[CapacityRun] = []
        self.known = SearchState()
        self.before: RateInterval | None = None  # the answer before the last run
        self.requests = 0

    @property
    def times(self) -> tuple[Objective, ...]:
        """Those of response times, which the model answers; failures are counted."""
        return tuple(one for one in self.objectives if one.figure != "errors")

    @property
    def text(self) -> str:
        """The objective in words; "" where there is none."""
        return " and ".join(one.text for one in self.objectives)

    def answer(self) -> Capacity:
        stopped = f"no run was made: {self.light.missed}" if self.light.missed else ""
        if stopped:
            self.known = SearchState(why=f"no rate meets {self.text}: a single user misses {self.light.missed}")
        while not stopped:
            stopped = self.stop()
            if not stopped:
                began = self.clock()
                self.make(self.next_rate())
                stopped = self.failed()
                self.before, self.known = self.known.rate, self.fit()
                self.run_s = max(self.run_s, self.clock() - began)
                self.told(self.line())
        return self.told_answer(stopped)

    def make(self, rate: float) -> None:
        folder = self.measured(rate)
        self.folders.append(folder)
        self.requests += int((folder.manifest.get("generator") or {}).get("sent") or 0)
        self.runs.append(capacity_run(folder, rate, self.objectives))

    def failed(self) -> str:
        """Why no further run may be made after the last one."""
        last = self.runs[-1]
        for reason in last.reasons:
            if REQUESTS_FAILED in reason:
                return f"stopped at {per_second(last.rate_per_s)}: {reason}"
        for one in self.failures_missed(last):
            return f"stopped at {per_second(last.rate_per_s)}: errors {one.show(last.figures.get(one.figure))}"
        return ""

    def failures_missed(self, run: CapacityRun) -> list[Objective]:
        """Limits of failures that a run missed."""
        return [one for one in self.objectives if one.figure == "errors" and not one.met(run.figures.get("errors"))]

    def stop(self) -> str:
        """Why no further run is made; "" where one is."""
        if self.known.rate is not None and self.well_known():
            return f"known to {percent(self.limits.precision, 0)}"
        if len(self.runs) >= self.limits.runs:
            return f"all {self.limits.runs} runs were made; --runs allows more"
        spent = self.clock() - self.began
        if self.runs and spent + self.run_s > self.limits.within_s:
            return f"the time was up; --within allows more than {seconds(self.limits.within_s)}"
        if self.limits.up_to_per_s is not None and self.enough_of(self.limits.up_to_per_s):
            return f"--up-to {per_second(self.limits.up_to_per_s)} was measured"
        return ""

    def well_known(self) -> bool:
        """Narrow enough, and where it was before the last run: an interval that is narrow by chance is not believed at once."""
        found, before = self.known.rate, self.before
        assert found is not None
        near = before is not None and abs(found.value / before.value - 1) <= self.limits.precision
        return near and found.half_width <= self.limits.precision and self.highest >= 0.6 * found.value

    def enough_of(self, rate: float) -> bool:
        """Whether that rate was measured, and met what was asked with room."""
        return any(one.rate_per_s >= (1 - SAME) * rate and one.met for one in self.runs) and len(self.runs) >= len(
            BEGIN
        )

    @property
    def highest(self) -> float:
        return max((one.rate_per_s for one in self.runs), default=0.0)

    def next_rate(self) -> float:
        if len(self.runs) < len(BEGIN):
            wanted = BEGIN[len(self.runs)] * self.light.borne_per_s
        elif self.known.rate is None:
            wanted = self.highest * STEP
        else:
            wanted = self.known.rate.value
        rate = min(wanted, self.bound())
        while self.was_measured(rate):
            rate *= BELOW
        return float(f"{rate:.4g}")

    def was_measured(self, rate: float) -> bool:
        return any(abs(one.rate_per_s / rate - 1) < SAME for one in self.runs)

    def bound(self) -> float:
        """What must not be offered more than."""
        ends = [float("inf")]
        if self.limits.up_to_per_s is not None:
            ends.append(self.limits.up_to_per_s)
        if len(self.runs) >= len(BEGIN):
            ends.append(max(self.highest, BEGIN[-1] * self.light.borne_per_s) * STEP)
        full = [one.rate_per_s for one in self.runs if any(NOT_BALANCED in reason for reason in one.reasons)]
        ends += [BELOW_FULL * min(full)] if full else []
        if self.known.saturation is not None and not self.limits.saturate:
            ends.append(MOST_FULL * self.known.saturation.low)
        elif watched := full_at(self.folders):
            ends.append(MOST_BUSY * watched[0][0])
        return max(min(ends), 1e-3)

    def fit(self) -> SearchState:
        """A model of the runs so far."""
        if len({one.rate_per_s for one in self.runs}) < len(BEGIN):
            return self.known
        try:
            chosen = choose_model(observe_runs(self.folders))
        except SojournError as error:
            return replace(self.known, why=f"no model: {error.value}; {error.remedy}")
        fitted = chosen.best
        saturation = _saturation(fitted, self.highest, self.limits.level)
        try:
            rate = limit_of(fitted, self.times, figures(self.runs), saturation, self.limits.level)
        except SojournError as error:
            return SearchState(fitted, None, saturation, f"the model does not answer: {error.value}; {error.remedy}")
        if not rate.value > 0:
            return SearchState(
                fitted, None, saturation, f"no rate meets {self.text}, as far as these runs tell", chosen.name
            )
        return SearchState(
            fitted, rate, saturation, "" if chosen.good else "no model fits these runs well", chosen.name
        )

    def line(self) -> str:
        last = self.runs[-1]
        shown = [f"{one.figure} {one.show(last.figures.get(one.figure))}" for one in self.objectives]
        if last.response_s and not any(one.figure == "mean" for one in self.objectives):
            shown.insert(0, f"mean {seconds(last.response_s)}")
        so_far = f"; so far {self.known.rate.text(self.limits.level)}" if self.known.rate else ""
        return f"{per_second(last.rate_per_s)}: {', '.join(shown)}{'' if last.valid else ', not valid'}{so_far}"

    def told_answer(self, stopped: str) -> Capacity:
        known = self.known
        why = known.why or self.bracket()
        notes = [known.why] if known.why and known.rate else []
        rate = self.within_failures(known.rate, notes)
        if rate is not None and self.highest < 0.6 * rate.value:
            notes.append(
                f"the highest rate that was run is {per_second(self.highest)}: beyond it this is the model's word"
            )
        notes += [f"not valid, {run.name}: {'; '.join(run.reasons)}" for run in self.runs if not run.valid][:3]
        what_if = {}
        for one in self.settings:
            name = ", ".join(f"{k} = {v:g}" for k, v in one.items())
            try:
                assert known.fitted is not None
                what_if[name] = limit_of(known.fitted, self.times, figures(self.runs), None, self.limits.level, one)
            except (SojournError, AssertionError) as error:
                why = f"{error.value}; {error.remedy}" if isinstance(error, SojournError) else "there is no model"
                notes.append(f"{name}: not predicted: {why}")
        limit = None if rate is None else what_limits(self.folders, rate.value, known.saturation)
        return Capacity(
            self.text, rate, known.saturation, self.limits.level, why, stopped, limit, known.words, tuple(self.runs), self.requests,
            self.clock() - self.began, what_if, tuple(notes), bool(self.light.missed), known.fitted,
        )  # fmt: skip

    def bracket(self) -> str:
        """What is known without a model."""
        good = max((one.rate_per_s for one in self.runs if one.met and one.valid), default=None)
        bad = min((one.rate_per_s for one in self.runs if not one.met or not one.valid), default=None)
        said = [
            f"{per_second(good)} met it" if good else "",
            f"{per_second(bad)} did not, or could not be judged" if bad else "",
        ]
        return f"there is no model of {len(self.runs)} runs: {'; '.join(filter(None, said))}"

    def within_failures(self, rate: RateInterval | None, notes: list[str]) -> RateInterval | None:
        """No more than the rate at which requests failed."""
        bad = [run.rate_per_s for run in self.runs if self.failures_missed(run)]
        if rate is None or not bad or rate.value < min(bad):
            return rate
        good = max((run.rate_per_s for run in self.runs if run.rate_per_s < min(bad)), default=0.0)
        notes.append(f"requests failed at {per_second(min(bad))}, and did not at {per_second(good)}")
        return RateInterval((good + min(bad)) / 2, good, min(bad))


def _saturation(fitted: FittedModel, rate_per_s: float, level: float) -> RateInterval | None:
    rows = (
        fitted.predict({"rate_per_s": rate_per_s}, level).frame.filter(metric="saturation_rate", station="").to_dicts()
    )
    row = next((one for one in rows if one["class"] == "" and one["value"] is not None), None)
    if row is None:
        return None
    low = row["value"] if row["low"] is None else row["low"]
    return RateInterval(row["value"], low, row["high"])
