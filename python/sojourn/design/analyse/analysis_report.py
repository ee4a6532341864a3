"""One analysis of one response, and the document it is shown as."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl

from sojourn.design.analyse.additivity import Additivity, additivity
from sojourn.design.analyse.anova import Anova, anova
from sojourn.design.analyse.report_blocks import letters, residual_figures, variation_figure
from sojourn.design.analyse.residuals import Residuals, residuals, residuals_of_effects
from sojourn.design.analyse.two_level_effects import MEAN_EFFECT, Effects, factorial_effects
from sojourn.design.factors import Factor
from sojourn.design.run_list import factors_of, filled
from sojourn.errors import DesignError
from sojourn.report.document import Document, Figure, Section, Series, Table, Text
from sojourn.units import USUAL_LEVEL


@dataclass(frozen=True)
class Analysis:
    """`effects` where the experiment is 2^k r, balanced; `anova` where the runs are enough for it; `check` the errors."""

    response: str
    level: float
    runs: int
    factors: tuple[Factor, ...]
    effects: Effects | None
    anova: Anova | None
    check: Residuals
    scale: Additivity | None = None

    def as_dict(self) -> dict[str, Any]:
        """For `--json`."""
        found: dict[str, Any] = {"response": self.response, "level": self.level, "runs": self.runs,
                                 "factors": {f.name: list(f.levels) for f in self.factors}}  # fmt: skip
        if self.effects:
            e = self.effects
            found |= {
                "effects": e.table.to_dicts(),
                "sse": e.sse,
                "sst": e.sst,
                "degrees": e.degrees,
                "error_sd": e.error_sd,
            }
        if self.anova:
            found |= {"anova": self.anova.table.to_dicts(), "coefficients": self.anova.coefficients.to_dicts()}
        check = {k: v for k, v in asdict(self.check).items() if k in ("straightness", "growth", "suggestion")}
        return found | {"residuals": check, "additivity": asdict(self.scale) if self.scale else None}


def analysis(
    runs: pl.DataFrame, response: str, factors: list[str] | None = None, level: float = USUAL_LEVEL
) -> Analysis:
    """Everything that the run list allows. DesignError where it allows neither effects nor an analysis of variance."""
    found = tuple(factors_of(runs, response, factors))
    names = [f.name for f in found]
    reasons = []
    effects = variance = None
    try:
        effects = factorial_effects(runs, response, names, level)
    except DesignError as error:
        reasons.append(error)
    try:
        variance = anova(runs, response, names, order=min(3, len(names)), level=level)
    except DesignError as error:
        reasons.append(error)
    if effects is None and variance is None:
        raise reasons[-1]
    if variance is not None:
        check = residuals(np.array(variance.fitted), np.array(variance.residual))
    else:
        assert effects is not None
        check = residuals_of_effects(effects)
    scale = additivity(runs, response, names) if effects and len(names) > 1 else None
    return Analysis(response, level, len(filled(runs, response)), found, effects, variance, check, scale)


def document(found: Analysis) -> Document:
    """Verdict: what explains most; then effects, variation, analysis of variance, residuals."""
    shares = _shares(found)
    best = ", ".join(f"{name} {share:.1%}" for name, share in shares[:3])
    verdict = [
        f"{found.response}: the variation is explained by {best}" if shares else f"{found.response} does not vary"
    ]
    verdict.append(f"transformation: {found.check.suggestion}")
    verdict += [found.scale.suggestion] if found.scale else []
    sections = [
        *([_effects(found.effects)] if found.effects else []),
        *([_anova(found.anova)] if found.anova else []),
        _check(found),
    ]
    levels = "; ".join(f"{f.name} {', '.join(map(str, f.levels))}" for f in found.factors)
    return Document(f"Analysis of {found.response}", f"{found.runs} runs; {levels}", verdict, "ok", tuple(sections))


def _shares(found: Analysis) -> list[tuple[str, float]]:
    if found.effects:
        rows = found.effects.table.filter(pl.col("effect") != MEAN_EFFECT)
        pairs = list(zip(rows["effect"], rows["share_of_total"], strict=True))
        error = found.effects.sse / found.effects.sst if found.effects.sst > 0 else 0.0
        pairs.append(("error", error))
    else:
        assert found.anova
        pairs = list(zip(found.anova.table["source"], found.anova.table["share_of_total"], strict=True))
    return sorted(((n, s) for n, s in pairs if s is not None), key=lambda pair: -pair[1])


def _effects(e: Effects) -> Section:
    rows = tuple(
        e.table.select("effect", "estimate", "low", "high", "share_of_total", "share_of_explained").iter_rows()
    )
    error = (("error", None, None, None, e.sse / e.sst if e.sst > 0 else None, None),)
    chart = e.table.filter(pl.col("effect") != MEAN_EFFECT)
    x = list(range(1, len(chart) + 1))
    names, meaning = letters(e)
    figure = Figure("effects", "Effects, half the difference between the levels", "effect", e.response,
                    (Series("estimate", x, chart["estimate"].to_list(), chart["low"].to_list() if e.degrees else None,
                            chart["high"].to_list() if e.degrees else None, "points"),),
                    note=f"{meaning}.", x_names=tuple(names))  # fmt: skip
    signs = tuple(tuple(row) for row in e.rows.iter_rows())
    return Section("Effects", "", (
        variation_figure(e), Table(f"Effects and allocation of variation, intervals at {e.level:.0%}",
              ("effect", "estimate", "low", "high", "share of SST (with the error)", "of SST - SSE"), (*rows, *error),
              note="the two columns follow the two usual conventions; only the first includes a share for the error",
              formats=("", ".5g", ".5g", ".5g", ".2%", ".2%")),
        figure, Table("Sign table, means and errors (y - mean)", tuple(e.rows.columns), signs),
    ))  # fmt: skip


def _anova(a: Anova) -> Section:
    rows = tuple(a.table.iter_rows())
    terms = tuple(a.coefficients.iter_rows())
    return Section("Analysis of variance", "", (
        Table("Sources of variation", tuple(a.table.columns), rows, formats=("", ".5g", ".3g", ".5g", ".4g", ".2g", ".2%")),
        Table("Linear model, factors coded to [-1, 1]", tuple(a.coefficients.columns), terms, note=f"R² {a.r_squared:.4f} of all levels",
              formats=("", ".5g", ".5g", ".5g", ".2g")),
    ))  # fmt: skip


def _check(found: Analysis) -> Section:
    c = found.check
    text = Text(
        f"Normal quantiles: correlation {c.straightness:.3f} (1 for normal errors). Size of the errors against the fitted "
        f"value: rank correlation {c.growth:.2f}. Transformation: {c.suggestion}."
    )
    return Section("Residuals", "", (text, *residual_figures(c, response=found.response)))
