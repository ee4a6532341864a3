"""What a plan asks of a fit of two-class or mmm: cores and NICs varied, all draws at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sojourn.errors import InputError
from sojourn.file_errors import meant
from sojourn.fit.fitted import Fitted
from sojourn.parallel import Workers
from sojourn.plan.objective import Quantity
from sojourn.predict import sensitivity
from sojourn.solve.mmm_cores import ROWS as MMM_ROWS
from sojourn.solve.single.mmm import response_quantile as mmm_quantile
from sojourn.solve.single.mmm import waiting_quantile
from sojourn.solve.two_class import ROWS
from sojourn.solve.two_class_tail import response_quantile

Array = NDArray[np.float64]
Settings = Mapping[str, Any]
FACTORS = ("cores", "nics")
CELLS = 500_000  # points that are solved at a time


class TwoClassPredictor:
    """`vary`: cores, nics. Raises InputError for anything else."""

    def __init__(self, fitted: Fitted, vary: Mapping[str, Sequence[Any]]) -> None:
        self.workers: Workers | None = None
        self.fitted, self.spec = fitted, fitted.spec
        for name, values in vary.items():
            if name not in FACTORS:
                raise InputError(name, "--vary", f"{fitted.model} has cores and nics; {meant(name, FACTORS)}")
            for value in values:
                if not isinstance(value, int) or value < 1:
                    raise InputError(f"{name} = {value!r}", "--vary", "give whole numbers of 1 or more")
        self.rows = {(s, m): key for key, s, m in reversed(MMM_ROWS if self.spec.model == "mmm" else ROWS)}
        first = fitted.measured[0] if fitted.measured else {}
        self.usual = {name: int(first.get(name, 1)) for name in FACTORS}

    def affordable(self, wanted: Sequence[Quantity]) -> int:
        """How many points it solves in a few seconds; a quantile is searched for."""
        return 100_000 if any(q.q is not None for q in wanted) else 1_000_000

    @property
    def load_name(self) -> str:
        return "rate_per_s"

    @property
    def draws(self) -> int:
        return len(next(iter(self.fitted.samples.values()), ()))

    @property
    def notes(self) -> list[str]:
        held = len(self.fitted.errors_of("response_time"))
        told = f"draws: parameters, and the errors at {held} rates held out" if held else "draws: parameters only"
        if self.spec.model == "mmm":
            return ["mmm", told]
        return [f"two-class/{self.spec.variant}; its quantiles are approximate, by two moments", told]

    def current_load(self) -> float | None:
        return None

    def impossible(self, settings: Settings) -> InputError | None:
        whole = {**self.usual, **settings}
        if self.spec.model == "mmm" or whole["nics"] <= whole["cores"]:
            return None
        return InputError(
            f"{whole['nics']} nics on {whole['cores']} cores", "--vary", "give at least as many cores as nics"
        )

    def inside(self, settings: Settings, load: float | None) -> bool | None:
        """Each of cores, nics and rate between the least and the most that was measured."""
        rows, whole = self.fitted.measured, {**self.usual, **settings}
        if not rows:
            return None
        ends = {name: [float(row[name]) for row in rows] for name in (*FACTORS, "rate_low_per_s", "rate_high_per_s")}
        within = all(min(ends[name]) <= whole[name] <= max(ends[name]) for name in FACTORS)
        return within and (load is None or min(ends["rate_low_per_s"]) <= load <= max(ends["rate_high_per_s"]))

    def values(
        self, configurations: Sequence[Settings], levels: Array, wanted: Sequence[Quantity], draws: int = 0
    ) -> dict[Quantity, Array]:
        if not len(levels):
            raise InputError("no load", "--load", "give one, as 200..900: this model has none of its own")
        cores, nics = (
            np.array([{**self.usual, **one}[name] for one in configurations], float)[:, None] for name in FACTORS
        )
        if not draws:
            drawn = {name: np.array([e.value]) for name, e in self.fitted.parameters.items()}
        else:
            chosen = np.linspace(0, self.draws - 1, draws).round().astype(int)
            drawn = {name: np.asarray(values, float)[chosen] for name, values in self.fitted.samples.items()}
        longer = self._own_error(cores, nics, levels, draws)
        count = len(next(iter(drawn.values())))
        step = max(1, CELLS // (len(configurations) * len(levels)))
        parts: dict[Quantity, list[Array]] = {q: [] for q in wanted}
        for first in range(0, count, step):
            own = {name: values[first : first + step, None, None] for name, values in drawn.items()}
            shape = (len(next(iter(own.values()))), len(configurations), len(levels))
            told = self.spec.solve(own, np.asarray(levels, float)[None, None], cores[None], nics[None])
            for q in wanted:
                found = np.broadcast_to(self._quantity(q, told, own, levels, cores, nics), shape)
                late = np.broadcast_to(levels >= told["saturation"], shape)
                late = late & (q.metric not in ("arrival_rate", "saturation_rate", "service_time"))
                parts[q].append(np.where(late | ~np.isfinite(found), np.nan, found))
        found_all = {q: np.concatenate(arrays) for q, arrays in parts.items()}
        times = ("response_time", "residence_time", "queue_length", "waiting_time")
        return {q: v * longer if q.metric in times else v for q, v in found_all.items()}

    def _own_error(self, cores: Array, nics: Array, levels: Array, draws: int) -> Array:
        """A factor on times: the errors at rates held out, which grow with the load as `predict` has it."""
        rows = [row for row in self.fitted.held_out if "response_time" in row]
        if not draws or not rows:
            return np.ones(1)
        values = {name: e.value for name, e in self.fitted.parameters.items()}
        where = [np.array([float(row[name]) for row in rows]) for name in ("rate_per_s", "cores", "nics")]
        errors = np.array([row["response_time"] for row in rows]) / np.sqrt(sensitivity(self.spec, values, *where))
        grows = np.sqrt(sensitivity(self.spec, values, levels[None], cores, nics))
        own = np.random.default_rng(self.fitted.seed).standard_t(len(rows), draws)
        return np.asarray(np.exp(np.sqrt(np.mean(errors**2)) * own[:, None, None] * grows[None]))

    def _quantity(
        self, q: Quantity, told: Mapping[str, Array], own: Mapping[str, Array], levels: Array, cores: Array, nics: Array
    ) -> Array:
        if q.cls:
            raise InputError(f"class {q.cls!r}", "--objective", "leave it out: this model has one kind of request")
        if q.q is not None:
            if self.spec.model == "mmm":
                return self._quantile(q, told, cores)
            if self.spec.variant != "priority" or q.metric != "response_time" or q.station:
                remedy = "ask for mean, as mean < 20ms; the variant priority has p99 of the response time"
                raise InputError(f"{self.spec.variant} tells no quantiles of {q.metric}", "--objective", remedy)
            return response_quantile(self.spec.load(own, levels[None, None], cores[None], nics[None]), q.q)
        if (q.station, q.metric) not in self.rows:
            known = sorted({m + (f"{{station={s}}}" if s else "") for s, m in self.rows})
            raise InputError(
                f"no {q.metric} of {q.station or 'the system'}", "--objective", f"use one of {', '.join(known)}"
            )
        return told[self.rows[q.station, q.metric]]

    def _quantile(self, q: Quantity, told: Mapping[str, Array], cores: Array) -> Array:
        if q.metric not in ("response_time", "waiting_time") or q.station:
            remedy = "ask for p99 of the response time, or for mean"
            raise InputError(f"mmm tells no quantiles of {q.metric}", "--objective", remedy)
        assert q.q is not None
        service, busy = told["service"], told["lead_busy"]
        drain = np.where(busy < 1, cores[None] * (1 - busy) / service, np.nan)
        waits = told["waiting"] * drain
        waits, drain, service = np.broadcast_arrays(waits, drain, service)
        if q.metric == "waiting_time":
            return waiting_quantile(waits, drain, q.q)
        shape = waits.shape
        return mmm_quantile(waits.ravel(), drain.ravel(), service.ravel(), q.q).reshape(shape)

    def busiest(self, settings: Settings, level: float | None) -> list[tuple[str, float, int]]:
        cores, nics = ({**self.usual, **settings}[name] for name in FACTORS)
        values = {name: e.value for name, e in self.fitted.parameters.items()}
        told = self.spec.solve(values, float(level or 1.0), cores, nics)
        if self.spec.model == "mmm":
            return [("cores", float(told["lead_busy"]), cores)]
        # each core has a line of its own: one server
        found = [("leading", float(told["lead_busy"]), 1)]
        if cores > nics:
            found.append(("trailing", float(told["behind_busy"]), 1))
        return sorted(found, key=lambda one: -one[1])
