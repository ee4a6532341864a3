"""A fitted model as a TOML file: the model with the values found, and `[fit]` beside it: intervals, draws, errors."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TypeVar

import numpy as np
import tomli_w

from sojourn.errors import InputError
from sojourn.file_kind import FIT, MODEL, expect
from sojourn.files.reading import parse_json, parse_toml, read_text
from sojourn.fit.fitted_model_data import FittedModelData
from sojourn.fit.parameter_estimate import ParameterEstimate
from sojourn.fit.predict_model import template_of
from sojourn.fit.run_mean_error import ErrorGrowth
from sojourn.model import Model
from sojourn.model.toml_file import as_tables
from sojourn.units import percent

SomeFit = TypeVar("SomeFit", bound=FittedModelData)
NO_ERROR = "the model's own error is not known: there are too few configurations to hold one out"
FORMER = {
    "elsewhere": "models_of_other_runs",
    "method": "solve_method",
    "degrees": "degrees_of_freedom",
    "factors": "demand_error_draws",
    "growth": "demand_error_growth",
    "loads": "fitted_saturation_shares",
    "length_s": "run_length_s",
    "until_unix_s": "observed_until_unix_s",
}  # keys by a former name; still read


def to_toml(fitted: FittedModelData) -> str:
    """The text of the file."""
    fit: dict[str, object] = {
        "level": fitted.level, "seed": fitted.seed, "solve_method": fitted.solve_method, "message": fitted.message,
        **({} if fitted.model_error is None else {"model_error": fitted.model_error}), "degrees_of_freedom": fitted.degrees_of_freedom,
        "configurations": [json.dumps(c) for c in fitted.configurations],
        "held_out": [json.dumps(row) for row in fitted.held_out], "noise": dict(fitted.noise),
        "estimates": {path: list(e) for path, e in fitted.estimates.items()},
        "draws": {path: fitted.draws[:, i].tolist() for i, path in enumerate(fitted.paths)},
        "noise_degrees": dict(fitted.noise_degrees), "noise_growth": asdict(fitted.noise_growth), "run_length_s": fitted.run_length_s,
        **({"observed_until_unix_s": fitted.observed_until_unix_s} if fitted.observed_until_unix_s else {}),
        **({} if fitted.demand_error_draws is None else {"demand_error_draws": list(fitted.demand_error_draws)}),
        "demand_error_growth": {name: list(slopes) for name, slopes in fitted.demand_error_growth.items()},
        **({} if fitted.fitted_saturation_shares is None else {"fitted_saturation_shares": list(fitted.fitted_saturation_shares)}),
        **({"warnings": list(fitted.warnings)} if fitted.warnings else {}),
    }  # fmt: skip
    if fitted.alternatives:
        weights, models = zip(*fitted.alternatives, strict=True)
        fit["alternatives"] = {"weights": list(weights), "files": [to_toml(m) for m in models]}
    if fitted.models_of_other_runs:
        fit["models_of_other_runs"] = [to_toml(m) for m in fitted.models_of_other_runs]
    return tomli_w.dumps({**as_tables(fitted.model), "fit": fit})


def read(path: Path | str, make: type[SomeFit]) -> SomeFit:
    """The fitted model of a file. Raises InputError naming file and key, ModelError for its model."""
    expect(path, FIT, MODEL)
    return parse(read_text(path, "give a file that `sojourn fit --model MODEL` wrote", pipes=True), path, make)


def parse(text: str, path: Path | str, make: type[SomeFit]) -> SomeFit:
    """The same from its text."""
    model = Model.parse(text, str(path))
    table = parse_toml(text, path).get("fit")
    if not isinstance(table, dict):
        raise InputError("no [fit]", path, "give a file that `sojourn fit --model MODEL` wrote")
    table = {FORMER.get(key, key): value for key, value in table.items()}
    try:
        paths = tuple(table["estimates"])
        others = table.get("alternatives", {"weights": [], "files": []})
        estimates = {p: ParameterEstimate(*(float(v) for v in table["estimates"][p])) for p in paths}
        return make(
            model, template_of(model, paths, [e.value for e in estimates.values()]), paths, estimates,
            np.array([table["draws"][p] for p in paths], float).T, _number(table.get("model_error")), dict(table["noise"]),
            int(table["degrees_of_freedom"]), tuple(parse_json(row) for row in table["held_out"]),
            tuple(parse_json(row) for row in table["configurations"]), float(table["level"]), int(table["seed"]),
            table["solve_method"], table["message"],
            tuple((float(w), parse(text, path, make)) for w, text in zip(others["weights"], others["files"], strict=True)),
            tuple(map(float, table["demand_error_draws"])) if "demand_error_draws" in table else None,
            table.get("noise_degrees", dict.fromkeys(table["noise"], float(table["degrees_of_freedom"]))),
            tuple(parse(text, path, make) for text in table.get("models_of_other_runs", ())),
            {name: tuple(map(float, slopes)) for name, slopes in table.get("demand_error_growth", {}).items()},
            _range(table["fitted_saturation_shares"]) if "fitted_saturation_shares" in table else None,
            ErrorGrowth(**{name: float(value) for name, value in table.get("noise_growth", {}).items()}),
            float(table.get("run_length_s", 0.0)), float(table.get("observed_until_unix_s", 0.0)),
            warnings=tuple(map(str, table.get("warnings", ()))),
        )  # fmt: skip
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"not a fitted model ({error})", path, "fit again; was the file changed by hand?") from None


def _number(given: object) -> float | None:
    return None if given is None else float(str(given))


def _range(given: list[float]) -> tuple[float, float]:
    low, high = map(float, given)
    return low, high


def text(fitted: FittedModelData) -> str:
    """Values with intervals, errors, notes."""
    lines = [f"{fitted.model.name or 'model'}, intervals at {percent(fitted.level, 0)}"]
    width = max(map(len, fitted.paths))
    lines += [f"  {p:<{width}}  {v:.4g} ({low:.4g} … {high:.4g})" for p, (v, low, high) in fitted.estimates.items()]
    errors = {m: [abs(float(str(r[m]))) for r in fitted.held_out if m in r] for m in ("response_time", "throughput")}
    for metric, values in errors.items():
        if values and fitted.could_hold_out:
            name = metric.replace("_", " ")
            lines.append(f"  {name} of held-out configurations: median error {percent(float(np.median(values)))}, "
                         f"worst {percent(max(values))}")  # fmt: skip
    own = fitted.model_error
    lines.append(f"  {NO_ERROR}" if own is None else f"  the model's own error: {percent(own)} of all demands")
    lines += [f"  {line}" for line in fitted.message.splitlines()]
    return "\n".join([*lines, *map(text, fitted.models_of_other_runs)])
