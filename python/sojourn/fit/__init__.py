"""Runs and a model with unknowns → values with intervals; one file per step.

Of any model:
runs            what a fit is given, a row a run                           start, search   where it begins; least squares
evaluate        a model at many values and configurations at once          factors         factors of runs → numbers of a model
problem, model  the fit from inside; its result                            file            fitted.toml
run_error       how uncertain runs are; whether a model fits               clusters        resampled by run
predict_model   configurations that nobody has run; beside runs            candidates      models tried by themselves
averaged        several models in one prediction                           candidate_models  which these are

Of the two-class model, which has rows of its own:
observations    what a fit is given, checked; which runs may be used       bootstrap       resampled run means
forward         parameters → what can be observed                          least_squares   one fit, or many in step
fit, data       the estimators, outside and inside                         fitted          the result, fitted.toml
compare         which variant, decided on held-out rates               between_runs    what differs from run to run
"""

from sojourn.fit.compare import Comparison, compare
from sojourn.fit.fit import fit
from sojourn.fit.fitted import Estimate, Fitted
from sojourn.fit.model import FittedModel, fit_model
from sojourn.fit.runs import Runs, observe_runs

__all__ = ["Comparison", "Estimate", "Fitted", "FittedModel", "Runs", "compare", "fit", "fit_model", "observe_runs"]
