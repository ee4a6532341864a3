"""What a search has to say when it ends: with a model the rate by it, without one what the runs themselves say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sojourn.capacity.capacity_result import Capacity, CapacityRun
from sojourn.capacity.capacity_run import figures
from sojourn.capacity.objective_limit import limit_of
from sojourn.capacity.rate_interval import RateInterval
from sojourn.capacity.search_limits import LightLoad, SearchLimits
from sojourn.capacity.search_state import SearchState
from sojourn.capacity.what_limits import what_limits
from sojourn.errors import SojournError
from sojourn.query.objectives import Objective
from sojourn.runs.assess_run import NOT_BALANCED
from sojourn.runs.disturbances import beside_text
from sojourn.runs.run_folder import RunFolder
from sojourn.units import per_second

FAR = 0.6  # of the answer: where the highest rate that was run is below, the answer is the model's word
MOST_TOLD = 3  # runs that were not valid, with their reasons
AT_MAX = 0.98  # of the largest rate that is allowed: a run that had it


def answer_of(
    state: SearchState,
    folders: Sequence[RunFolder],
    runs: Sequence[CapacityRun],
    objectives: Sequence[Objective],
    light: LightLoad,
    limits: SearchLimits,
    settings: Sequence[Mapping[str, float]],
    stopped: str,
    took_s: float,
) -> Capacity:
    """`state` as an answer; `settings`: factors that are predicted, and were not run."""
    notes = [state.why] if state.why and state.rate else []
    rate, why = state.rate, ""
    if rate is None:
        rate, why = _between(runs, state.why)
        notes += [why] if rate is not None else []
    held = _held(state, runs, light, limits)
    if held is not None and limits.max_rate_per_s is not None:
        rate = _as_held(rate, held, runs, objectives, limits.max_rate_per_s)
    rate = _within_failures(rate, runs, objectives, notes)
    highest = max((one.rate_per_s for one in runs), default=0.0)
    if rate is not None and highest < FAR * rate.value:
        notes.append(f"the highest rate that was run is {per_second(highest)}: this answer extrapolates the model")
    notes += filter(None, [beside_text(folders)])
    notes += [f"not valid, {run.name}: {'; '.join(run.reasons)}" for run in runs if not run.valid][:MOST_TOLD]
    what_if = _predicted(state, runs, objectives, limits.level, settings, notes)
    saturation = (light.full_per_s or state.saturation) if held is None else None
    limit = None if rate is None or held is not None else what_limits(folders, rate.value, saturation)
    requests = sum(int((one.manifest.get("generator") or {}).get("sent") or 0) for one in folders)
    return Capacity(
        objective=" and ".join(one.text for one in objectives), rate_per_s=rate, level=limits.level,
        saturation_per_s=saturation.with_machine(limits.level) if saturation else None,
        no_answer_reason=why if rate is None else "", stop_reason=stopped, limit=limit, model=state.words, runs=tuple(runs),
        requests=requests, elapsed_s=took_s, required_rate_per_s=limits.required_rate_per_s, what_if=what_if, notes=tuple(notes),
        single_user_misses=bool(light.missed),
        fitted=state.fitted, saturation_at_least_per_s=held.value if held else None,
    )  # fmt: skip


def _held(
    state: SearchState, runs: Sequence[CapacityRun], light: LightLoad, limits: SearchLimits
) -> RateInterval | None:
    """The most that came where `--max-rate` held the load and nothing says that the service was full: neither users who waited for each
    other nor a run of which more came than left. What a model says of saturation then is beyond all that was seen. None elsewhere."""
    most = limits.max_rate_per_s
    if most is None or light.missed or light.full_per_s or light.few_full_per_s:
        return None
    if any(NOT_BALANCED in reason for run in runs for reason in run.reasons):
        return None
    by_model = state.saturation is not None and state.saturation.value > most
    if light.held_per_s is None and not by_model and not any(run.rate_per_s >= AT_MAX * most for run in runs):
        return None
    came = [RateInterval(run.achieved_per_s, run.achieved_per_s, None) for run in runs]
    of_users = light.held_per_s or RateInterval(light.borne_per_s, light.borne_per_s, None)
    return max([of_users, *came], key=lambda one: one.value)


def _as_held(
    rate: RateInterval | None,
    held: RateInterval,
    runs: Sequence[CapacityRun],
    objectives: Sequence[Objective],
    most_per_s: float,
) -> RateInterval | None:
    """An answer that is not above what was allowed: there it is the model's word of a saturation that nobody saw."""
    if not objectives:
        return held
    if rate is None or (times_of(objectives) and rate.value <= most_per_s):
        return rate
    met = max((run.achieved_per_s for run in runs if run.objective_met), default=0.0)
    return RateInterval(met, min(rate.low, met), None) if met else RateInterval(rate.value, rate.low, None)


def failures_missed(run: CapacityRun, objectives: Sequence[Objective]) -> list[Objective]:
    """Limits of failures that a run missed."""
    return [one for one in objectives if one.figure == "errors" and not one.met(run.objective_values.get("errors"))]


def times_of(objectives: Sequence[Objective]) -> list[Objective]:
    """Those of response times, which a model answers; failures are counted."""
    return [one for one in objectives if one.figure != "errors"]


def _between(runs: Sequence[CapacityRun], why: str) -> tuple[RateInterval | None, str]:
    """What is known without a model: the largest rate that met the objective, and the next one that did not. Two runs are no interval of
    a stated probability, so that it has no upper end."""
    bad = min((one.rate_per_s for one in runs if one.valid and one.objective_met is False), default=None)
    good = max(
        (one.rate_per_s for one in runs if one.objective_met and one.valid and one.rate_per_s < (bad or 1e300)),
        default=None,
    )
    said = why or f"{len(runs)} runs are too few for a model"
    if good is not None and bad is not None:
        text = f"{said}; between {per_second(good)}, which met it, and {per_second(bad)}, which did not"
        return RateInterval((good + bad) / 2, good, None), text
    told = [f"; {per_second(good)} met it" if good else "", f"; {per_second(bad)} did not" if bad else ""]
    return None, said + "".join(told)


def _within_failures(
    rate: RateInterval | None, runs: Sequence[CapacityRun], objectives: Sequence[Objective], notes: list[str]
) -> RateInterval | None:
    """Below the rate at which requests failed: no end of the interval is above, and its lower end no higher than what was met."""
    bad = min((run.rate_per_s for run in runs if failures_missed(run, objectives)), default=None)
    if rate is None or bad is None or (rate.high is not None and rate.high <= bad):
        return rate
    good = max((run.rate_per_s for run in runs if run.objective_met and run.rate_per_s < bad), default=0.0)
    notes.append(f"requests failed at {per_second(bad)}; the objective was met at {per_second(good)}")
    if rate.value < bad:
        return RateInterval(rate.value, rate.low, bad)
    low = min(rate.low, good)
    return RateInterval((max(low, good) + bad) / 2, low, bad)


def _predicted(
    state: SearchState,
    runs: Sequence[CapacityRun],
    objectives: Sequence[Objective],
    level: float,
    settings: Sequence[Mapping[str, float]],
    notes: list[str],
) -> dict[str, RateInterval]:
    """Settings in words → the rate there, by the model; what it does not tell is in `notes`."""
    found = {}
    for one in settings:
        name = ", ".join(f"{k} = {v:g}" for k, v in one.items())
        if state.fitted is None:
            notes.append(f"{name}: not predicted: there is no model")
            continue
        try:
            weights = state.evidence.weights if state.evidence else None
            found[name] = limit_of(state.fitted, times_of(objectives), figures(runs), None, level, one, weights)
        except SojournError as error:
            notes.append(f"{name}: not predicted: {error.value}; {error.remedy}")
    return found
