"""Runs and a model with unknowns → values with intervals; one file per step.

Of any model:
fit_runs            what a fit is given, a row a run                   starting_values            where a search begins
model_evaluation    a model at many values and configurations at once  nonlinear_least_squares    the search
run_measurements    what of a run a model is fitted to                 measured_parameters        what runs measured of a parameter
formula_values      formulas at many values at once
fit_problem         the fit from inside; model_fit: its result         factor_mapping             factors of runs → numbers of a model
run_mean_error      how uncertain runs are; whether a model fits       fitted_file                fitted.toml
drawn_point         a configuration that nobody has run, drawn         run_clusters               resampled by run
predict_model       its rows, with intervals                           validate_model             beside runs
model_averaging     several models in one prediction                   model_weights              the weight of each
rival_models        models of a user's own, averaged                   model_selection            candidate_models, tried one by one
mix_demands         demands by class and resource from mixes           cpu_time_regression    a CPU time as a sum of parts
trace_visits        visits from traces

Of the two-class model, which has rows of its own:
observation_rows    what a fit is given, checked; which runs may be used       bootstrap       resampled run means
forward_model   parameters → what can be observed                          least_squares   one fit, or many in step
fit, fit_data   the estimators, outside and inside                         fitted          the result, fitted.toml
compare         which variant, decided on held-out rates                   between_run_variance   what differs from run to run
"""

from sojourn.fit import speed_adjustment
from sojourn.fit.compare import Comparison, compare, ranked
from sojourn.fit.cpu_time_regression import fit_parts
from sojourn.fit.fit import fit
from sojourn.fit.fit_runs import FitRuns, observe_runs
from sojourn.fit.fitted import Fitted, ParameterEstimate
from sojourn.fit.fitted_defaults import FittedDefaults
from sojourn.fit.fitted_model import FittedModel
from sojourn.fit.mix_demands import MixDemands, completed_per_s, mix_demands
from sojourn.fit.model_fit import fit_model
from sojourn.fit.rival_models import AVERAGED, fit_rivals
from sojourn.fit.speed_adjustment import CoreSpeed

__all__ = [
    "AVERAGED",
    "Comparison",
    "CoreSpeed",
    "FitRuns",
    "Fitted",
    "FittedDefaults",
    "FittedModel",
    "MixDemands",
    "ParameterEstimate",
    "compare",
    "completed_per_s",
    "fit",
    "fit_model",
    "fit_parts",
    "fit_rivals",
    "mix_demands",
    "observe_runs",
    "ranked",
    "speed_adjustment",
]
