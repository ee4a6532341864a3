"""Runs and a model with unknowns → values with intervals; one file per step.

fit_runs            what a fit is given, a row a run                   starting_values            where a search begins
model_evaluation    a model at many values and configurations at once  nonlinear_least_squares    the search
run_measurements    what of a run a model is fitted to                 measured_parameters        what runs measured of a parameter
formula_values      formulas at many values at once
fit_problem         the fit from inside; model_fit: its result         factor_mapping             factors of runs → numbers of a model
run_mean_error      how uncertain runs are; whether a model fits       fitted_file                fitted.toml
drawn_point         a configuration that nobody has run, drawn         run_clusters               resampled by run
predict_model       its rows, with intervals                           validate_model             beside runs
capacity_ratio      between two configurations                         parameter_estimate         a value with its interval
model_averaging     several models in one prediction                   model_weights              the weight of each
rival_models        models of a user's own, averaged                   model_selection            candidate_models, tried one by one
mix_demands         demands by class and resource from mixes           cpu_time_regression        a CPU time as a sum of parts
trace_visits        visits from traces                                 measured_range         whether a configuration is inside
common_start        runs that begin with all customers at once         searches_in_step           several starts, one call for all
estimate_spread     how uncertain unknowns are                         errors_within_runs         what errors of one run share
unknown_intervals   their ends, along the profile                      model_error                how wrong the model itself is
untold_unknowns     what runs do not tell, by name                     planned_runs               the same before any is made
assumed_values      what is assumed where two unknowns are not separate response_spread           how responses vary, by a model
time_at_rest        CPU time that falls towards saturation             run_contents               what a run folder says beside means
observed_time       when windows are of, and whether a fit is stale    left_out_errors            of rivals, in one unit
left_out_variance   that unit: what a foretold number is off by        sampling_error             of a mean, by a model
window_errors       how much windows of one service differ             cpu_limit                  whether CPU time limits for sure
neighbour_spread    what runs differ by beside what is smooth          chosen_model               the answer of `auto`; is it good?
measured_saturation the saturation rate beside open runs
"""

from sojourn.fit.assumed_values import fit_assuming
from sojourn.fit.capacity_ratio import capacity_ratio
from sojourn.fit.chosen_model import ChosenModel
from sojourn.fit.fit_runs import FitRuns, observe_runs
from sojourn.fit.fitted_defaults import FittedDefaults
from sojourn.fit.fitted_model import FittedModel
from sojourn.fit.fitted_model_data import FittedModelData
from sojourn.fit.measured_saturation import with_saturation
from sojourn.fit.mix_demands import MixDemands, completed_per_s, mix_demands
from sojourn.fit.model_fit import fit
from sojourn.fit.parameter_estimate import ParameterEstimate
from sojourn.fit.predict_model import predict
from sojourn.fit.rival_models import AVERAGED, fit_rivals
from sojourn.fit.validate_model import validate

__all__ = [
    "AVERAGED",
    "ChosenModel",
    "FitRuns",
    "FittedDefaults",
    "FittedModel",
    "FittedModelData",
    "MixDemands",
    "ParameterEstimate",
    "capacity_ratio",
    "completed_per_s",
    "fit",
    "fit_assuming",
    "fit_rivals",
    "mix_demands",
    "observe_runs",
    "predict",
    "validate",
    "with_saturation",
]
