"""Experiment design: which runs to make, in which order, and what they say afterwards.

factors              Factor, read from `name=level,level`         run_list    the run list as CSV, filled in by hand or by a study
make.factorial       all combinations of levels, 2^k r            analyse.factorial   effects, intervals, allocation of variation
make.fractional      2^(k-p) with its alias table                 analyse.anova       ANOVA and linear model for any levels
make.space_filling   Latin hypercube, Sobol                       analyse.residuals   residuals, normal quantiles, transformation
make.run_order       randomised and blocked order                 analyse.additivity  do effects add, or on another scale
make.repetitions     repetitions for a wanted interval            analyse.paired      two treatments in pairs: ratio, spread, covariate
"""

from sojourn.design.analyse.additivity import Additivity, additivity
from sojourn.design.analyse.anova import Anova, anova
from sojourn.design.analyse.paired import PairedComparison, TestedEstimate, compare_pairs, ratio_of_pairs
from sojourn.design.analyse.report_blocks import residual_figures, variation_figure
from sojourn.design.analyse.residuals import Residuals, residuals, residuals_of_effects
from sojourn.design.analyse.two_level_effects import MEAN_EFFECT, Effects, factorial_effects
from sojourn.design.factors import Factor
from sojourn.design.make.fractional import alias_table, fractional
from sojourn.design.make.full_factorial import full_factorial
from sojourn.design.make.repetitions import repetitions
from sojourn.design.make.space_filling import latin_hypercube, sobol
from sojourn.design.run_list import read_runs, write_runs

__all__ = [
    "MEAN_EFFECT",
    "Additivity",
    "Anova",
    "Effects",
    "Factor",
    "PairedComparison",
    "Residuals",
    "TestedEstimate",
    "additivity",
    "alias_table",
    "anova",
    "compare_pairs",
    "factorial_effects",
    "fractional",
    "full_factorial",
    "latin_hypercube",
    "ratio_of_pairs",
    "read_runs",
    "repetitions",
    "residual_figures",
    "residuals",
    "residuals_of_effects",
    "sobol",
    "variation_figure",
    "write_runs",
]
