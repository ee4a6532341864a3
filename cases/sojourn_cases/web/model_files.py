"""The model files beside this module as rivals: `priority`, `shared` and `paper` are fitted and averaged as any other model files; `mmm`,
the model that Chen et al. argue against, is fitted for comparison.

Options of `[fit]`: `variants`, some of these (by default all but `mmm`); `group_by`, a factor: runs that differ in it are fitted apart, and
a prediction takes the fit with its value; `unknown`, of `UNKNOWN`: what else the fit finds. `handoff_s` is a delay of every answer beside
the cores, such as that of a hypervisor which carries its packets; `page_scv` is that of a page (of `priority`; the others have an
exponential page); `saved` is by how much longer interrupts and pages take at low rates, which needs the saturation rate: the closed loop
that measured it takes part in the fit then. Before the runs each variant is believed by the live sessions in which it was right, by
Laplace's rule of succession: 1 and the number of these, to each other (S. L. Zabell: The Rule of Succession. Erkenntnis 31 (1989), pp.
283-321). That `priority` is ahead has a reason: in a kernel an interrupt preempts a page. Runs without known work are no part of
the fit: they tell what the client costs on the cores that it shares (`known_demands.py`), which the models take as given.

Runs with one NIC do not tell how the models' error grows with more of them; what is believed of any factor of any system would then be in
the intervals. Of this one more is known: of 22 web services drawn at random (`benches/blind`), fitted with one NIC, 107 of 116 values
with more lay in 90 % intervals that had no such growth. So there is none here; of cores there is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from sojourn.errors import FitError, InputError
from sojourn.fit import (
    AVERAGED,
    ChosenModel,
    FitRuns,
    FittedModel,
    FittedModelData,
    fit_rivals,
    observe_runs,
    with_saturation,
)
from sojourn.model import Lognormal, Model, Multicore, Unknown, replaced
from sojourn.runs import RunFolder
from sojourn.study import FitTemplate, RivalModels
from sojourn_cases.web.fitted_web import PAGE, FittedWeb
from sojourn_cases.web.known_demands import is_bare, overheads

HERE = Path(__file__).parent
NAMES = ("priority", "shared", "paper", "mmm")
PRIORITY, MMM = "priority", "mmm"
# live sessions in which a model predicted spread interrupts best, of five that compared them: docs/decisions/0045
SESSIONS_RIGHT = {"priority": 5}
SomeFit = TypeVar("SomeFit", bound=FittedModelData)
PAGE_SCV = 0.5  # where a fit begins
UNKNOWN = ("handoff_s", "page_scv", "saved")
MOST_SAVED = 1.0  # as of any service (`sojourn.fit.candidate_models`)
NOT_SAVED = "saved is left out: no valid run told the saturation rate, which it needs (give `vary.share` in a section of the fit)"
LEAST_BUSY = 0.005  # cores in soft interrupts, below which a fit reads none (`fit/run_measurements.py`)


def model_file(name: str) -> Model:
    """One of `NAMES`."""
    return Model.read(HERE / f"{name}.toml")


def believed(names: Iterable[str]) -> dict[str, float]:
    """Of each model before the runs, relative: one more than the live sessions in which it was right."""
    return {name: 1.0 + SESSIONS_RIGHT.get(name, 0) for name in names}


class WebModelsTemplate(FitTemplate):
    """Fits the models of the web case to runs of a web system."""

    def fit(self, runs: list[RunFolder], seed: int, options: Mapping[str, Any]) -> RivalModels:
        variants, group_by, unknown = _checked(options)
        groups: dict[Any, list[RunFolder]] = {}
        for run in runs:
            groups.setdefault(_group_of(run.manifest["factors"], group_by), []).append(run)
        found = [
            _fitted(groups[value], variants, seed, {group_by: value} if group_by else {}, unknown)
            for value in (sorted(groups) if group_by else groups)
        ]
        if not found:
            raise _no_run()
        return _rivals(found)

    def read(self, path: Path) -> FittedWeb:
        return FittedWeb(FittedModel.read(path))

    def takes_saturation(self, options: Mapping[str, Any]) -> bool:
        return "saved" in options.get("unknown", ())

    def used_anyway(self, runs: list[RunFolder]) -> tuple[str, ...]:
        return observe_runs(_loaded(runs)).not_valid


def _no_run() -> FitError:
    return FitError("no run at a known rate", "[fit] sections", "name a section with rate_per_s or share")


def _group_of(factors: Mapping[str, Any], group_by: str) -> Any:
    value = factors.get(group_by) if group_by else None
    if group_by and (isinstance(value, bool) or not isinstance(value, int)):
        raise InputError(
            f"group_by = {group_by!r}", "[fit] options", "give a factor of all runs with whole numbers, as cores"
        )
    return value


def _fitted(
    runs: list[RunFolder], variants: tuple[str, ...], seed: int, where: Mapping[str, int], unknown: tuple[str, ...]
) -> tuple[ChosenModel, dict[str, FittedModel]]:
    """What was chosen of the variants, and each model, M/M/m too."""
    loaded = _loaded(runs)
    if not loaded:
        raise _no_run()
    closed = [run for run in runs if "users" in run.manifest["factors"]] if "saved" in unknown else []
    seen, client_s = with_saturation(observe_runs(loaded), closed), overheads(runs).client_s
    lacking = "saved" in unknown and not any(("", "saturation_rate") in run.means for run in seen.runs)
    if lacking:  # any `saved` would do
        unknown = tuple(name for name in unknown if name != "saved")
    models = {name: replace(fit_for(model_file(name), seen, client_s, unknown), where=where) for name in variants}
    chosen = fit_rivals(seen, models, seed=seed, prior=believed(variants))
    fits = dict(chosen.fits)
    if MMM not in fits:
        fits |= fit_rivals(seen, {MMM: replace(model_file(MMM), where=where)}, seed=seed).fits
    why = "\n".join([chosen.why, NOT_SAVED] if lacking else [chosen.why])
    known = replace(chosen, best=known_of_nics(chosen.best), why=why)
    return known, {name: known_of_nics(fitted) for name, fitted in fits.items()}


def _loaded(runs: list[RunFolder]) -> list[RunFolder]:
    return [r for r in runs if not is_bare(r.manifest["factors"]) and "rate_per_s" in r.manifest["factors"]]


def known_of_nics(fitted: SomeFit) -> SomeFit:
    """Without growth of its error, and that of its alternatives, with the number of NICs, where its runs had one number."""
    if len({one.get("nics") for one in fitted.configurations}) > 1:
        return fitted
    growth = {**fitted.demand_error_growth, "nics": (0.0,) * len(fitted.draws)}
    others = tuple((weight, known_of_nics(model)) for weight, model in fitted.alternatives)
    return replace(fitted, demand_error_growth=growth, alternatives=others)


def _rivals(found: list[tuple[ChosenModel, dict[str, FittedModel]]]) -> RivalModels:
    """Those that all groups have."""
    first, *rest = (fits for _, fits in found)
    each = {name: _together([fits[name] for _, fits in found]) for name in first if all(name in fits for fits in rest)}
    chosen = [one for one, _ in found]
    said = ["".join(f"{k} {v}: " for k, v in one.best.model.where.items()) + one.why for one in chosen]
    why, notes = (
        "\n".join(one.splitlines()[0] for one in said),
        tuple(line for one in said for line in one.splitlines()),
    )
    taken = {one.name for one in chosen}
    if len(taken) == 1 and not any(one.best.alternatives for one in chosen):
        return RivalModels(each, taken.pop(), why, notes)
    return RivalModels({AVERAGED: _together([one.best for one in chosen]), **each}, AVERAGED, why, notes)


def _together(groups: list[FittedModel]) -> FittedWeb:
    first, *others = groups
    return FittedWeb(replace(first, models_of_other_runs=tuple(others)))


def fit_for(model: Model, runs: FitRuns, client_s: float = 0.0, unknown: Sequence[str] = ()) -> Model:
    """The model with what these runs can tell: the delay is that of all requests where every core takes interrupts, or where it is asked
    for (`unknown`, of `UNKNOWN`); interrupts that nobody measured cost nothing; `client_s`: work of the client for a request, on the cores
    that it shares."""
    host = next((s.name for s in model.stations if isinstance(s, Multicore)), None)
    if host is None:
        return model
    values: dict[str, Any] = {"client_s": client_s}
    if "handoff_s" in unknown or all(run.factors["cores"] == run.factors["nics"] for run in runs.runs):
        values |= {"crossing_s": 0.0, "handoff_s": Unknown(low=0.0)}
    if "saved" in unknown:
        values["saved"] = Unknown(low=0.0, high=MOST_SAVED)
    meters = {
        part: name
        for part, name in model.observed.items()
        if any(run.busy.get(str(name), 0.0) > LEAST_BUSY for run in runs.runs)
    }
    if f"{host}.interrupts" not in meters:
        values |= {"interrupt_s": 0.0, "interrupt_scv": 0.0}
    found = {f"stations.{host}.{k}": v for k, v in values.items()}
    if "page_scv" in unknown and model.name == PRIORITY:
        found[PAGE] = Lognormal(mean=Unknown(), scv_=Unknown(start=PAGE_SCV, low=0.0, high=1.0))
    return replace(replaced(model, found), observed=meters)


def _checked(options: Mapping[str, Any]) -> tuple[tuple[str, ...], str, tuple[str, ...]]:
    if strange := set(options) - {"variants", "group_by", "unknown"}:
        raise InputError(sorted(strange)[0], "[fit] options", "give variants, group_by, unknown")
    variants = tuple(options.get("variants", [name for name in NAMES if name != MMM]))
    if not variants or not set(variants) <= set(NAMES):
        raise InputError(variants, "[fit] options: variants", f"give some of {', '.join(NAMES)}")
    unknown = tuple(options.get("unknown", ()))
    if not set(unknown) <= set(UNKNOWN):
        raise InputError(unknown, "[fit] options: unknown", f"give some of {', '.join(UNKNOWN)}")
    return variants, str(options.get("group_by", "")), unknown


TEMPLATE = WebModelsTemplate()
