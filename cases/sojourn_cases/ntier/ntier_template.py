"""The tiers of a site as one station, the cores that they share, with what each tier demands of them, constant or falling with the load.

Closed network: users think, then are served by `cores` servers in processor sharing (exact MVA of a multi-server station; E. D.
Lazowska et al., Quantitative System Performance (1984), chapters 6 and 8). The demand of a request is the CPU time of all tiers over
the requests; that of the client belongs to it where the client has no core of its own. Two models:

    constant   D = d0 + d1 w; of the saturated runs, where there are enough of them
    hand-over  D = d0 + d1 w + (h0 + h1 w) (1 - U)^2; of all runs

w: page_work_s, where it was varied; U: utilisation of the cores, found with the throughput, U = X D(U)/c. Handing a request on
costs more where the process that it goes to sleeps and its caches are cold: not at all where the cores are full. The square was chosen on
128 runs of the embedded tables (against 1 - U, its cube, (1 - U)/U and others) by response times and maxima on two cores from one.

Predictions have no interval: one from how much the demands of runs differ held 17 of 32 values at 95 %, because a layout with more
cores errs beyond that, and runs of one layout tell nothing of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import tomli_w
from numpy.typing import NDArray
from scipy.optimize import brentq

import sojourn as sj
from sojourn import Metrics
from sojourn.errors import FitError, InputError
from sojourn.file_errors import meant
from sojourn.files import read_toml, write_output
from sojourn.fit import FittedDefaults, MixDemands, ParameterEstimate
from sojourn.lab import split_cores
from sojourn.runs import RunFolder
from sojourn.study import FitTemplate, RivalModels
from sojourn_cases.ntier.load_dependence import LEAST_SPREAD
from sojourn_cases.ntier.tier_demands import CLIENT, CORES, SIGNIFICANT, TierDemands, dependence, falls, tier_demands

Array = NDArray[np.float64]
SATURATED = 0.95  # of the cores' time
FEWEST = 3
LEVEL = 0.95
CONSTANT, HAND_OVER = "constant demands", "hand-over"
TERMS = ("fixed", "per_ms_of_page_work", "hand_over", "hand_over_per_ms")


Terms = dict[str, ParameterEstimate]


def _constant(seen: Sequence[TierDemands]) -> dict[str, Terms]:
    full = [one for one in seen if one.utilisation >= SATURATED]
    enough = len(full) >= FEWEST and {one.page_work_s for one in full} == {one.page_work_s for one in seen}
    return _fitted(full if enough else seen, hand_over=False)


def _fitted(seen: Sequence[TierDemands], *, hand_over: bool) -> dict[str, Terms]:
    several = len({one.page_work_s for one in seen}) > 1
    kept = [several or "per_ms" not in name for name in TERMS]
    kept = [keep and (hand_over or "hand_over" not in name) for name, keep in zip(TERMS, kept, strict=True)]
    names = tuple(name for name, keep in zip(TERMS, kept, strict=True) if keep)
    per_s = np.array([one.per_s for one in seen])
    terms = np.array([_terms(one.utilisation, one.page_work_s) for one in seen])[:, kept] * per_s[:, None]
    found = {}
    for tier in seen[0].demands_s:
        busy = per_s * np.array([one.demands_s[tier] for one in seen])
        found[tier] = MixDemands(names, terms, busy).estimates(LEVEL)
    return found


def _terms(utilisation: float, page_work_s: float) -> Array:
    idle, work_ms = (1 - utilisation) ** 2, 1e3 * page_work_s
    return np.array([1.0, work_ms, idle, idle * work_ms])


@dataclass(frozen=True)
class NtierModel(FittedDefaults):
    """`demands`: mix → tier → term (see TERMS) → its coefficient in s; the client is a tier. `page_work_s`: those that were fitted.
    `background_cores`: what the machine is busy with beside them."""

    demands: Mapping[str, Mapping[str, Terms]]
    page_work_s: tuple[float, ...]
    name: str
    background_cores: float = 0.0
    level: float = LEVEL
    message: str = field(default="predictions have no interval: runs of one layout do not tell how another one errs")
    model_error: ClassVar[None] = None  # no configuration was left out

    @property
    def estimates(self) -> dict[str, ParameterEstimate]:
        """Coefficients with the intervals of the regression."""
        return {
            f"{mix}.{tier}.{term}": value
            for mix, tiers in self.demands.items()
            for tier, terms in tiers.items()
            for term, value in terms.items()
        }

    def demand_s(self, factors: Mapping[str, Any], utilisation: float) -> float:
        """Of a request, of the cores that the tiers share, where these are so busy.

        Raises:
            InputError: a mix that was not fitted, work outside that which was, or tiers that do not share their cores.
        """
        place, work_s = "a run to predict", float(factors["page_work_s"])
        if factors.get("pinned"):
            raise InputError("pinned = true", place, "leave it out: tiers share their cores in this model")
        if not min(self.page_work_s) <= work_s <= max(self.page_work_s):
            fitted = ", ".join(f"{one:g}" for one in self.page_work_s)
            raise InputError(f"page_work_s = {work_s:g}", place, f"give what was fitted ({fitted}), or between")
        mix = str(factors["mix"])
        if mix not in self.demands:
            raise InputError(f"mix {mix!r}", place, meant(mix, self.demands))
        shared = _shared_with_all(factors)
        terms = dict(zip(TERMS, _terms(utilisation, work_s).tolist(), strict=True))
        return sum(
            value.value * terms[name]
            for tier, own in self.demands[mix].items()
            if tier != CLIENT or shared
            for name, value in own.items()
        )

    def knows(self, factors: Mapping[str, Any]) -> bool:
        """Whether a run with these factors can be predicted."""
        try:
            self.demand_s(factors, 1.0)
        except InputError:
            return False
        return True

    def predict(self, vary: Mapping[str, Any], level: float = LEVEL) -> Metrics:
        """Throughput, response time, utilisation of the cores, and what they can complete at most; without intervals (see above)."""
        cores = int(vary["cores"])
        slower = cores / (cores - self.background_cores) if _shared_with_all(vary) else 1.0

        def solved(utilisation: float) -> tuple[float, float, float]:
            return _solved(slower * self.demand_s(vary, utilisation), cores, vary)

        def missing(utilisation: float) -> float:
            return solved(utilisation)[2] - utilisation

        utilisation = brentq(missing, 0.0, 1.0, xtol=1e-6) if missing(1.0) < 0 else 1.0
        x, r, u = solved(utilisation)
        told = {"throughput": x, "response_time": r, "saturation_rate": cores / (slower * self.demand_s(vary, 1.0))}
        rows = [{"metric": metric, "value": value, "status": "no_interval"} for metric, value in told.items()]
        return Metrics.of(
            [*rows, {"metric": "utilisation", "station": CORES, "value": u / slower, "status": "no_interval"}],
            "ntier",
        )  # fmt: skip

    def write(self, path: Path) -> None:
        """A TOML file."""
        demands = {
            mix: {tier: {term: list(value) for term, value in terms.items()} for tier, terms in tiers.items()}
            for mix, tiers in self.demands.items()
        }
        about = {"model": self.name, "level": self.level, "background_cores": self.background_cores}
        write_output(path, tomli_w.dumps({**about, "page_work_s": list(self.page_work_s), "demands_s": demands}))


def _shared_with_all(factors: Mapping[str, Any]) -> bool:
    """Whether the tiers have all cores, so that the client and all else run there, too; a simulated client has its own."""
    if "client_cores" in factors:
        return False
    tiers, client = split_cores(int(factors["cores"]), str(factors["placement"]))
    return bool(set(tiers) & set(client))


def _solved(demand_s: float, cores: int, factors: Mapping[str, Any]) -> tuple[float, float, float]:
    users = sj.Closed("user", int(factors["users"]), think_s=float(factors["think_s"]))
    model = sj.Model([sj.Queue(CORES, cores, discipline="ps")], [users], {CORES: {"user": demand_s}})
    found = sj.solve(model)
    return found.value("throughput"), found.value("response_time"), found.value("utilisation", CORES)


class NtierTemplate(FitTemplate):
    """`[fit] model = "ntier"`; it has no options."""

    def fit(self, runs: list[RunFolder], seed: int, options: Mapping[str, Any]) -> RivalModels:
        """Both models, of each mix; the hand-over where the runs differ in how busy they were.

        Raises:
            FitError: fewer than three valid runs of a mix, or an option: it has none.
        """
        if options:
            raise FitError(f"fit.options: {next(iter(options))}", "[fit]", "leave it out: this template has none")
        by_mix: dict[str, list[TierDemands]] = {}
        for run in runs:
            if run.manifest["valid"]:
                by_mix.setdefault(run.manifest["factors"]["mix"], []).append(tier_demands(run))
        for mix, seen in by_mix.items() or {"": []}.items():
            if len(seen) < FEWEST:
                raise FitError(f"{len(seen)} valid runs of mix {mix!r}", "[fit]", f"have {FEWEST} at least")
        work_s = tuple(sorted({one.page_work_s for seen in by_mix.values() for one in seen}))
        background = float(np.median([one.background_cores for seen in by_mix.values() for one in seen]))
        constant = {mix: _constant(seen) for mix, seen in by_mix.items()}
        fitted = {CONSTANT: NtierModel(constant, work_s, CONSTANT, background)}
        if not all(np.ptp([one.utilisation for one in seen]) >= LEAST_SPREAD for seen in by_mix.values()):
            return RivalModels(fitted, CONSTANT, "runs are all as busy, so that nothing tells a hand-over term")
        falling = {mix: _fitted(seen, hand_over=True) for mix, seen in by_mix.items()}
        fitted[HAND_OVER] = NtierModel(falling, work_s, HAND_OVER, background)
        told = dependence([one for seen in by_mix.values() for one in seen], seed=seed)
        best = HAND_OVER if told.p_value < SIGNIFICANT and told.slope.value < 0 else CONSTANT
        return RivalModels(fitted, best, falls(told))

    def read(self, path: Path) -> NtierModel:
        """From `write`."""
        data, _ = read_toml(path, "give a fitted model")
        mixes = {
            mix: {
                tier: {term: ParameterEstimate(*values) for term, values in terms.items()} for tier, terms in of.items()
            }
            for mix, of in data["demands_s"].items()
        }
        return NtierModel(mixes, tuple(data["page_work_s"]), data["model"], data["background_cores"], data["level"])


TEMPLATE = NtierTemplate()
