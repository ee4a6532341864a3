"""One TOML file → runs of any system → fit of any model → predictions, written down → their runs → verdict and report.

Map: `study_run` the whole, and the studies that a study names · `study_file` a study file, read · `file_schema` the file key by
key · `checked_study` checked against its system · `model_check` its model files too · `system` what a study runs: the protocol,
points, factors; `kinds` systems of a user's own: a command, a URL, a function, a model · `study_points` of its sections ·
`named_objects` functions and classes by name · `redacted_file` the file without credentials · `study_folder` where it ends up,
found again after an interruption · `run_order` an order at random · `run_points` points into run folders · `fit_templates` what is
fitted · `best_configuration` the best configuration · `predictions` written and hashed before their runs · `evaluation` predicted
beside measured · `study_findings` all that was found · `analysis` what only some studies show, `analyses` all of them by name ·
`mean_of_runs` intervals · `verdict` the lines, `verdict_end` those that a
terminal shows · `study_progress` how far it is, and how long the rest takes · `study_report` the report ·
`study_steps` what is done in which order · `drawn_systems` many systems drawn at random, each studied so.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sojourn.study.analysis import TABLE_INDENT as TABLE_INDENT
    from sojourn.study.analysis import Analysis as Analysis
    from sojourn.study.analysis import RecoveredParameter as RecoveredParameter
    from sojourn.study.checked_study import CheckedStudy as CheckedStudy
    from sojourn.study.evaluation import BLIND as BLIND
    from sojourn.study.evaluation import HELD_OUT as HELD_OUT
    from sojourn.study.evaluation import TRAINING as TRAINING
    from sojourn.study.evaluation import error_range as error_range
    from sojourn.study.evaluation import median_error as median_error
    from sojourn.study.fit_templates import FittedProtocol as FittedProtocol
    from sojourn.study.fit_templates import FitTemplate as FitTemplate
    from sojourn.study.fit_templates import RivalModels as RivalModels
    from sojourn.study.kinds.call_system import CallSystem as CallSystem
    from sojourn.study.kinds.http_system import LevelLoad as LevelLoad
    from sojourn.study.kinds.simulated_model import VirtualSystem as VirtualSystem
    from sojourn.study.kinds.time_values import Seconds as Seconds
    from sojourn.study.mean_of_runs import mean_with_interval as mean_with_interval
    from sojourn.study.predictions import is_interval as is_interval
    from sojourn.study.probed_runs import TOPOLOGY_PROBE as TOPOLOGY_PROBE
    from sojourn.study.run_order import run_seed as run_seed
    from sojourn.study.run_points import DISTURBED as DISTURBED
    from sojourn.study.study_findings import StudyFindings as StudyFindings
    from sojourn.study.study_points import SATURATION as SATURATION
    from sojourn.study.study_result import StudyResult as StudyResult
    from sojourn.study.study_run import run_study as run_study
    from sojourn.study.system import Factor as Factor
    from sojourn.study.system import Point as Point
    from sojourn.study.system import Session as Session
    from sojourn.study.system import System as System
    from sojourn.study.system import Value as Value
    from sojourn.study.system import all_factors as all_factors
    from sojourn.study.verdict import factors_text as factors_text
else:
    from lazy_loader import attach

    __getattr__, __dir__, __all__ = attach(
        __name__,
        submod_attrs={
            "analysis": ["TABLE_INDENT", "Analysis", "RecoveredParameter"],
            "checked_study": ["CheckedStudy"],
            "evaluation": ["BLIND", "HELD_OUT", "TRAINING", "error_range", "median_error"],
            "fit_templates": ["FitTemplate", "FittedProtocol", "RivalModels"],
            "kinds.call_system": ["CallSystem"],
            "kinds.http_system": ["LevelLoad"],
            "kinds.simulated_model": ["VirtualSystem"],
            "kinds.time_values": ["Seconds"],
            "mean_of_runs": ["mean_with_interval"],
            "predictions": ["is_interval"],
            "probed_runs": ["TOPOLOGY_PROBE"],
            "run_order": ["run_seed"],
            "run_points": ["DISTURBED"],
            "study_findings": ["StudyFindings"],
            "study_points": ["SATURATION"],
            "study_result": ["StudyResult"],
            "study_run": ["run_study"],
            "system": ["Factor", "Point", "Session", "System", "Value", "all_factors"],
            "verdict": ["factors_text"],
        },
    )
