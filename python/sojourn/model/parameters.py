"""`[parameters]`: named numbers that formulas in place of numbers are made of (`formulas`)."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sojourn.arithmetic import HOW, Arithmetic
from sojourn.errors import ModelError
from sojourn.file_errors import meant
from sojourn.former_keyword import former_field

BUSY, PRESENT = "u", "n"  # names that a load gives
LOADS = ("rate_per_s", "users", "think_s")  # factors of runs that have their place in a model
MOST = "most present"  # no name of a parameter


@former_field(of="factor")
@dataclass(frozen=True)
class NumberByFactor:
    """A number by a factor of the runs that is a text: `cases[value]`, else `otherwise`; `value` is what the factor is now."""

    factor: str
    value: str
    cases: Mapping[str, float]
    otherwise: float | None = None

    @property
    def number(self) -> float:
        """Raises KeyError for a value without a number."""
        found = self.cases.get(self.value, self.otherwise)
        if found is None:
            raise KeyError(self.value)
        return found


@former_field(
    per="divisor_metric", each="one_value_per_run", at="run_factors", station="metric_station", cls="metric_class",
    formula="model_formula",
)  # fmt: skip
@dataclass(frozen=True)
class ParameterFromRuns:
    """A parameter of the model whose value a fit takes from the runs. It is the mean of `metric` over the runs whose factors are as in
    `run_factors`, at `metric_station` and of class `metric_class` ("": all), divided by the `divisor_metric` of the whole system where
    that is given.
    `value` stands in the model until then.
    With a `model_formula`, the parameter has the value of the formula. Each run with the metric is then one more number for the fit.
    With `one_value_per_run`, every run of the fit has a value of its own, and a prediction draws one of them."""

    metric: str
    metric_station: str = ""
    metric_class: str = ""
    divisor_metric: str = ""
    model_formula: str = ""
    one_value_per_run: bool = False
    run_factors: Mapping[str, Any] = field(default_factory=dict)
    value: float = 0.01


def formula_text(given: Any) -> str:
    """Of a parameter that is a formula; "" of any other."""
    return given if isinstance(given, str) else given.model_formula if isinstance(given, ParameterFromRuns) else ""


def parameter_values(parameters: Mapping[str, Any]) -> dict[str, float]:
    """The number of each, in an order in which each formula knows those that it needs.

    Raises ModelError for a text that is no arithmetic, a name that is not there, and formulas that need each other.
    """
    found: dict[str, float] = {}
    formulas: dict[str, Arithmetic] = {}
    for name, given in parameters.items():
        place = f"parameters.{name}"
        if isinstance(given, str) or formula_text(given):
            formulas[name] = read_formula(formula_text(given), parameters, (), place)
        elif isinstance(given, NumberByFactor):
            try:
                found[name] = given.number
            except KeyError:
                known = ", ".join(given.cases)
                raise ModelError(repr(given.value), f"{place}.value", f"use {known}, or add otherwise") from None
        else:
            found[name] = float(given.value if isinstance(given, ParameterFromRuns) else given)
    while formulas:
        ready = [name for name, one in formulas.items() if all(n in found for n in one.names)]
        if not ready:
            name = next(iter(formulas))
            raise ModelError(
                formulas[name].text,
                f"parameters.{name}",
                "formulas depend on each other in a circle: give one of them as a number",
            )
        for name in ready:
            found[name] = formula_value(formulas.pop(name), found, f"parameters.{name}")
    return found


def check_parameters(parameters: Any) -> None:
    """Raises ModelError for names that cannot be used in a formula, and values that are no numbers, unknowns, texts or cases."""
    if not isinstance(parameters, Mapping):
        raise ModelError(repr(parameters), "parameters", "give a table of names")
    for name, value in parameters.items():
        place = f"parameters.{name}"
        if not isinstance(name, str) or not name.isidentifier() or name in (BUSY, PRESENT):
            remedy = f"choose a name of letters, digits and _, other than {BUSY} and {PRESENT}, which are reserved"
            raise ModelError(repr(name), "parameters", remedy)
        if name in LOADS:
            remedy = f"choose another name: a load of the runs is called {name}, and goes to the class by itself"
            raise ModelError(repr(name), "parameters", remedy)
        if isinstance(value, NumberByFactor):
            if not isinstance(value.cases, Mapping) or not all(map(_is_number, value.cases.values())):
                raise ModelError(repr(value.cases), f"{place}.cases", "give a number for each text value")
            if not isinstance(value.factor, str) or not isinstance(value.value, str):
                raise ModelError(repr(value.factor), f"{place}.factor", "give factor and value as text")
            if value.otherwise is not None and not _is_number(value.otherwise):
                raise ModelError(repr(value.otherwise), f"{place}.otherwise", "give a number")
        elif isinstance(value, ParameterFromRuns):
            _check_measured(value, place)
        elif not isinstance(value, str) and not _is_number(value):
            remedy = "give a number, { free = true }, a formula, { factor, value, cases } or { metric, metric_station }"
            raise ModelError(repr(value), place, remedy)


def _check_measured(value: ParameterFromRuns, place: str) -> None:
    for key, text in (
        ("metric", value.metric),
        ("metric_station", value.metric_station),
        ("metric_class", value.metric_class),
        ("divisor_metric", value.divisor_metric),
        ("model_formula", value.model_formula),
    ):
        if not isinstance(text, str):
            raise ModelError(repr(text), f"{place}.{key}", "give a text")
    if not isinstance(value.one_value_per_run, bool) or (value.one_value_per_run and value.model_formula):
        raise ModelError(
            repr(value.one_value_per_run),
            f"{place}.one_value_per_run",
            "give true or false, and no model_formula beside it",
        )
    if not isinstance(value.run_factors, Mapping):
        raise ModelError(repr(value.run_factors), f"{place}.run_factors", "give a table of factors of the runs")
    if not _is_number(value.value):
        raise ModelError(repr(value.value), f"{place}.value", "give a number")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool) and math.isfinite(value)


def read_formula(text: str, values: Mapping[str, Any], load: tuple[str, ...], place: str) -> Arithmetic:
    try:
        found = Arithmetic.read(text)
    except ValueError as error:
        raise ModelError(str(error), place, f"give a finite number, or a formula: {HOW}") from None
    if isinstance(found.tree, ast.Constant):
        raise ModelError(repr(text), place, "give a finite number or a whole number without quotes")
    for name in found.names:
        if name not in values and name not in load:
            if name in (BUSY, PRESENT):
                where = (
                    "a mean of demands_s or service_s" if name == BUSY else "rates_per_s of a load-dependent station"
                )
                raise ModelError(f"{name} in {text!r}", place, f"{name} is only allowed in {where}")
            there = [*(n for n in values if n != MOST), *load]
            raise ModelError(
                f"no parameter {name!r}",
                place,
                f"add it to [parameters]; {meant(name, there) if there else 'there is none'}",
            )
    return found


def formula_value(arithmetic: Arithmetic, values: Mapping[str, float], place: str) -> float:
    found = float(arithmetic.value(values))
    if not math.isfinite(found):
        numbers = ", ".join(f"{name} = {values[name]:g}" for name in arithmetic.names)
        raise ModelError(f"{arithmetic.text} is {found}", place, f"change it, or its numbers: {numbers}")
    return found
