"""From parameters to what can be observed: the one place where fit, compare and predict evaluate a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sojourn.errors import InputError
from sojourn.solve import two_class_equations
from sojourn.solve.mmm_cores import evaluate as evaluate_mmm
from sojourn.solve.same_core_probability import RULES
from sojourn.solve.two_class import arguments, complete

Array = NDArray[np.float64]
MODELS = ("two-class", "mmm")
Given = Mapping[str, float | str]
DEFAULTS: dict[str, float | str] = {
    "p_rule": "uniform",
    "capacity": 1000,
    "client_s": 0.0,
    "interrupt_scv": 0.0,
    "page_scv": 1.0,
    "handoff_s": 0.0,
    "crossing_s": 0.0,
}
KNOWN = {*DEFAULTS, "p", "mu1_per_s", "mu2_per_s", "mu_per_s"}


@dataclass(frozen=True)
class TwoClassSpec:
    """Which model, and what is given rather than fitted (p, p_rule, capacity, client_s, interrupt_scv, page_scv,
    handoff_s, crossing_s, mu1_per_s, mu2_per_s)."""

    model: str = "two-class"
    variant: str = "priority"
    given: Given = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.model not in MODELS:
            raise InputError(repr(self.model), "model", f"use one of {', '.join(MODELS)}")
        if self.model == "two-class" and self.variant not in two_class_equations.VARIANTS:
            raise InputError(repr(self.variant), "variant", f"use one of {', '.join(two_class_equations.VARIANTS)}")
        for name, value in self.given.items():
            _check(name, value)

    def solve(
        self, parameters: Mapping[str, ArrayLike], rate: ArrayLike, cores: ArrayLike, nics: ArrayLike
    ) -> dict[str, Array]:
        """Arrays by result key (`two_class.ROWS`, `mmm.ROWS`), broadcast; `parameters` outrank what is given."""
        if self.model == "mmm":
            return evaluate_mmm(rate, _mean_s(parameters["mu_per_s"]), np.asarray(cores, int))
        x = self.load(parameters, rate, cores, nics)
        with np.errstate(invalid="ignore", over="ignore"):
            return complete(x, two_class_equations.evaluate(self.variant, x), self.variant)

    def saturation(
        self, parameters: Mapping[str, ArrayLike], rate: ArrayLike, cores: ArrayLike, nics: ArrayLike
    ) -> Array:
        """The saturation rate in 1/s for each point."""
        if self.model == "mmm":
            at = np.broadcast_arrays(rate, np.asarray(parameters["mu_per_s"], float) * np.asarray(cores, float))
            return np.asarray(at[1], float)
        return np.minimum(*two_class_equations.saturation(self.variant, self.load(parameters, rate, cores, nics)))

    def load(
        self, parameters: Mapping[str, ArrayLike], rate: ArrayLike, cores: ArrayLike, nics: ArrayLike
    ) -> two_class_equations.TwoClassLoad:
        """The arguments of the two-class laws."""
        known: dict[str, ArrayLike] = {**DEFAULTS, **self.given, **parameters}
        p = known.get("p")
        rule = str(known["p_rule"])
        mu1, mu2 = (np.asarray(known[name], float) for name in ("mu1_per_s", "mu2_per_s"))
        delays = {name: known[name] for name in ("handoff_s", "crossing_s", "client_s", "interrupt_scv", "page_scv")}
        return arguments(
            rate, interrupt_s=_mean_s(mu1), page_s=_mean_s(mu2), p=None if isinstance(p, str) else p, p_rule=rule,
            capacity=int(float(str(known["capacity"]))), cores=cores, nics=nics, **delays,
        )  # fmt: skip


def _mean_s(rate_per_s: ArrayLike) -> Array:
    """Of an exponential time; infinite where the rate is 0, which a search may try."""
    rate = np.asarray(rate_per_s, float)
    return np.divide(1.0, rate, out=np.full_like(rate, np.inf), where=rate > 0)


def _check(name: str, value: float | str) -> None:
    if name not in KNOWN:
        raise InputError(repr(name), "given", f"use some of {', '.join(sorted(KNOWN))}")
    if name == "p_rule":
        if value not in RULES:
            raise InputError(repr(value), "p_rule", f"use one of {', '.join(RULES)}, or give p")
        return
    if name == "p" and value == "utilisation":
        return
    if isinstance(value, str) or not value >= 0 or (name == "p" and value > 1) or (name == "capacity" and value < 1):
        raise InputError(repr(value), name, "give a number in its range: p in [0, 1], capacity >= 1, all else >= 0")
