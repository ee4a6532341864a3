"""The two-class model as a template: its variants and M/M/m are rivals, each fitted for itself.

Options of `[fit]`: `variants`, in order of preference; `group_by`, a factor: runs that differ in it are fitted apart, and a
prediction takes the fit with its value, else with the nearest. Runs without known work are no part of the fit: they tell what the
client costs on the cores that it shares (`known_demands.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl
import tomli_w

from sojourn import Metrics
from sojourn.errors import FitError, InputError
from sojourn.files import read_toml, write_output
from sojourn.fit import Fitted, FittedDefaults, ParameterEstimate, compare, ranked
from sojourn.predict import predict
from sojourn.runs import RunFolder, observe
from sojourn.study import FitTemplate, RivalModels
from sojourn_cases.web.known_demands import is_bare, overheads

MMM = "mmm"
VARIANTS = ("priority", "shared", "paper")
TIMES = {"mu1_per_s": "interrupt_s", "mu2_per_s": "page_s", "mu_per_s": "request_s"}
TOLD = ("response_time", "throughput", "utilisation", "softirq_utilisation", "saturation_rate")
SATURATED = ("saturated", "trailing_unstable")


@dataclass(frozen=True)
class FittedVariant(FittedDefaults):
    """One variant, fitted to each group of runs; `group_by` is empty where there is one group."""

    group_by: str
    groups: Mapping[Any, Fitted]
    error_of = "response times at rates held out"

    @cached_property
    def joined(self) -> Fitted:
        """The first fit with what was held out of all."""
        first = next(iter(self.groups.values()))
        return replace(first, held_out=tuple(row for fitted in self.groups.values() for row in fitted.held_out))

    @property
    def estimates(self) -> dict[str, ParameterEstimate]:
        """Times in s."""
        return {
            name + (f" ({self.group_by} {value})" if self.group_by else ""): estimate
            for value, fitted in self.groups.items()
            for name, estimate in times(fitted).items()
        }

    @property
    def level(self) -> float:
        return self.joined.level

    @property
    def model_error(self) -> float:
        """Root mean square over the held-out rates of all groups."""
        return self.joined.model_error

    @property
    def message(self) -> str:
        return "\n".join(dict.fromkeys(note for fitted in self.groups.values() for note in fitted.notes))

    def of(self, factors: Mapping[str, Any]) -> Fitted:
        """The fit for a configuration: of its own group, else of the nearest."""
        wanted = factors.get(self.group_by)
        return self.groups[min(self.groups, key=lambda value: abs(value - wanted))] if self.group_by else self.joined

    def predict(self, vary: Mapping[str, Any], level: float) -> Metrics:
        """At `rate_per_s` of `cores` and `nics`; nothing for a run without known work, or in a closed loop."""
        if is_bare(vary) or "rate_per_s" not in vary:
            return Metrics.of([])
        sizes = {name: int(vary[name]) for name in ("cores", "nics")}
        found = predict(self.of(vary), [vary["rate_per_s"]], **sizes, level=level)
        told = found.frame.filter(pl.col("metric").is_in(TOLD), pl.col("station").is_in(["", "leading", "trailing"]))
        status = pl.when(pl.col("status").is_in(SATURATED)).then(pl.lit("unstable")).otherwise(pl.col("status"))
        return Metrics(told.with_columns(status=status), found.method, found.status, found.message)

    def write(self, path: Path) -> None:
        """A `fitted.toml` of the first group, with the others in tables of it."""
        (value, first), *rest = self.groups.items()
        head = {"group_by": self.group_by, "group": value} if self.group_by else {}
        groups = {str(other): fitted.as_tables() for other, fitted in rest}
        write_output(path, tomli_w.dumps(head | first.as_tables() | ({"groups": groups} if groups else {})))


def times(fitted: Fitted) -> dict[str, ParameterEstimate]:
    """Its parameters as times, s: rates upside down."""
    found = {}
    for name, e in fitted.parameters.items():
        found[TIMES.get(name, name)] = ParameterEstimate(1 / e.value, 1 / e.high, 1 / e.low) if name in TIMES else e
    return found


class TwoClassTemplate(FitTemplate):
    """Makes the rivals of runs of a web system."""

    def fit(self, runs: list[RunFolder], seed: int, options: Mapping[str, Any]) -> RivalModels:
        variants, group_by = _checked(options)
        groups: dict[Any, list[RunFolder]] = {}
        for run in runs:
            groups.setdefault(_group(run, group_by), []).append(run)
        fits: dict[str, dict[Any, Fitted]] = {}
        for value, own in sorted(groups.items()) if group_by else groups.items():
            loaded = [r for r in own if not is_bare(r.manifest["factors"]) and "rate_per_s" in r.manifest["factors"]]
            if not loaded:
                raise FitError("no run at a known rate", "[fit] sections", "name a section with rate_per_s or share")
            found = compare(observe(loaded), variants, given={"client_s": overheads(own).client_s}, seed=seed)
            for name, fitted in found.fits.items():
                fits.setdefault(name, {})[value] = fitted
        rivals = {name: FittedVariant(group_by, fits[name]) for name in variants}
        chosen = ranked({name: rival.joined for name, rival in rivals.items()})
        clear = f"{chosen.best} has the smallest errors at rates held out"
        why = clear if chosen.clear else chosen.why.splitlines()[-1]
        return RivalModels(
            {name: rivals[name] for name in chosen.fits}, chosen.best, why, tuple(chosen.why.splitlines())
        )

    def read(self, path: Path) -> FittedVariant:
        data, _ = read_toml(path, "give a fitted model")
        first = {data.get("group"): Fitted.from_dict(data, str(path))}
        others = {int(k): Fitted.from_dict(one, f"{path}: groups.{k}") for k, one in data.get("groups", {}).items()}
        return FittedVariant(data.get("group_by", ""), first | others)


def _group(run: RunFolder, group_by: str) -> Any:
    value = run.manifest["factors"].get(group_by) if group_by else None
    if group_by and (isinstance(value, bool) or not isinstance(value, int)):
        raise InputError(
            f"group_by = {group_by!r}", "[fit] options", "give a factor of all runs with whole numbers, as cores"
        )
    return value


def _checked(options: Mapping[str, Any]) -> tuple[list[str], str]:
    if unknown := set(options) - {"variants", "group_by"}:
        raise InputError(sorted(unknown)[0], "[fit] options", "give variants, group_by")
    variants = list(options.get("variants", VARIANTS))
    if not variants or not set(variants) <= {*VARIANTS, MMM}:
        raise InputError(variants, "[fit] options: variants", f"give some of {', '.join((*VARIANTS, MMM))}")
    return [*(name for name in variants if name != MMM), MMM], str(options.get("group_by", ""))


TEMPLATE = TwoClassTemplate()
