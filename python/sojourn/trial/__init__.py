"""`trial`: what sojourn does, shown on a small service of its own: a ramp, a fit, predictions that are written down and then run.

trial          all of it, behind `sojourn try`
trial_result   what came out
"""

from sojourn.trial.trial import trial
from sojourn.trial.trial_result import Prediction, Trial

__all__ = ["Prediction", "Trial", "trial"]
