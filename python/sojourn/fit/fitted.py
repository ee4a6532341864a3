"""`Fitted`: parameters with intervals, how wrong the model was on rates it had not seen, and the file `fitted.toml`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import tomli_w

from sojourn.errors import InputError
from sojourn.files.reading import read_toml
from sojourn.files.writing import write_output
from sojourn.fit.forward_model import TwoClassSpec
from sojourn.model.table_fields import plain
from sojourn.units import per_second, percent, seconds

Row = dict[str, float]
# columns of a held-out row beside cores, nics, rate_per_s: relative errors (predicted - measured)/measured
ERRORS = ("response_time", "throughput", "utilisation_leading", "utilisation_trailing")


def check_level(level: float) -> None:
    """Raises InputError for the level of an interval that does not lie in (0, 1)."""
    if not 0 < level < 1:
        raise InputError(level, "level", "give a number between 0 and 1, like 0.95")


class ParameterEstimate(NamedTuple):
    """Value and interval at the level of its `Fitted`; rates in 1/s, times in s."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Fitted:
    """A fitted model. `given`: what was not fitted. `samples`: bootstrap draws by parameter, equal lengths.
    `held_out`: one row per (cores, nics, rate_per_s) predicted by a fit without it, with relative errors by name in
    `ERRORS` (absent where not measured; 1, the least that it can be, where the model says saturated, which `saturated` counts).
    `measured`: cores, nics, rate_low_per_s, rate_high_per_s of what the fit
    saw. Immutable."""

    model: str
    variant: str
    parameters: dict[str, ParameterEstimate]
    given: dict[str, float | str]
    samples: dict[str, tuple[float, ...]]
    level: float
    seed: int
    held_out: tuple[Row, ...]
    measured: tuple[Row, ...]
    notes: tuple[str, ...]

    @property
    def spec(self) -> TwoClassSpec:
        """The model with what is given."""
        return TwoClassSpec(self.model, self.variant, self.given)

    @property
    def model_error(self) -> float:
        """Root mean square of the held-out relative response errors; sampling noise of the measurement included."""
        return self.model_error_of("response_time")

    def model_error_of(self, quantity: str) -> float:
        """The same for one of `ERRORS`; 0 where it was never measured."""
        errors = self.errors_of(quantity)
        return math.sqrt(sum(e * e for e in errors) / len(errors)) if errors else 0.0

    def errors_of(self, quantity: str) -> list[float]:
        """Each held-out error of one of `ERRORS`."""
        return [row[quantity] for row in self.held_out if quantity in row]

    def inside(self, rate_per_s: float, cores: int, nics: int) -> bool:
        """Whether this configuration was measured at rates around this one."""
        return any(
            (row["cores"], row["nics"]) == (cores, nics)
            and row["rate_low_per_s"] * (1 - 1e-9) <= rate_per_s <= row["rate_high_per_s"] * (1 + 1e-9)
            for row in self.measured
        )

    def write(self, path: Path | str) -> None:
        """One TOML file; `read` gives the same object back."""
        write_output(path, self.to_toml())

    @classmethod
    def read(cls, path: Path | str) -> Fitted:
        """From `write`. Raises InputError naming file and key."""
        data, _ = read_toml(path, "give the fitted.toml that `sojourn fit` wrote")
        return cls.from_dict(data, str(path))

    @classmethod
    def from_dict(cls, data: dict[str, Any], place: str = "fitted") -> Fitted:
        """From the tables of the file."""
        try:
            names = list(data["parameters"])
            fitted = cls(
                model=data["model"],
                variant=data["variant"],
                parameters={name: ParameterEstimate(*(float(v) for v in data["parameters"][name])) for name in names},
                given=dict(data["given"]),
                samples={name: tuple(float(v) for v in data["samples"][name]) for name in names},
                level=float(data["level"]),
                seed=int(data["seed"]),
                held_out=tuple(data.get("held_out", [])),
                measured=tuple(data.get("measured", [])),
                notes=tuple(data.get("notes", [])),
            )
            fitted.spec.solve({name: e.value for name, e in fitted.parameters.items()}, 1.0, 1, 1)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(
                f"not a fitted model ({error})", place, "fit again; the file was changed by hand?"
            ) from None
        return fitted

    def to_toml(self) -> str:
        """The text of the file."""
        return tomli_w.dumps(self.as_tables())

    def as_tables(self) -> dict[str, Any]:
        """What the file has: a head for people, samples last."""
        head = {name: getattr(self, name) for name in ("model", "variant", "level", "seed", "notes")}
        rows = {name: [_plain(row) for row in getattr(self, name)] for name in ("measured", "held_out")}
        parameters = {name: list(estimate) for name, estimate in self.parameters.items()}
        tables = {"parameters": parameters, "given": _plain(self.given), **rows, "samples": self.samples}
        return head | tables

    def __str__(self) -> str:
        title = f"{self.model}/{self.variant}" if self.model == "two-class" else self.model
        lines = [f"{title}, intervals at {percent(self.level, 0)}"]
        for name, (value, low, high) in self.parameters.items():
            text = _text(name)
            lines.append(f"  {name:<10} {text(value)} ({text(low)} … {text(high)})" + _demand(name, value))
        lines.append(f"  response times at rates held out: off by {percent(self.model_error)} (root mean square)")
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])


def _plain(table: Mapping[str, Any]) -> dict[str, Any]:
    return {name: plain(value) for name, value in table.items()}


def _text(name: str) -> Any:
    return per_second if name.endswith("_per_s") else seconds if name.endswith("_s") else lambda v: f"{v:.3f}"


def _demand(name: str, value: float) -> str:
    return f", {seconds(1 / value)} a request" if name.startswith("mu") else ""
