"""One TOML file → runs of any system → fit of any model → predictions, written down → their runs → verdict and report.

Map: `study_run` the whole, and the studies that a study names · `study_file` a study file, read · `file_schema` the file key by
key · `checked_study` checked against its system · `model_check` its model files too · `system` what a study runs: the protocol,
points, factors; `kinds` systems of a user's own: a command, a URL, a function, a model · `study_points` of its sections ·
`named_objects` functions and classes by name · `redacted_file` the file without credentials · `study_folder` where it ends up,
found again after an interruption · `run_order` an order at random · `run_points` points into run folders · `fit_templates` what is
fitted · `best_configuration` the best configuration · `predictions` written and hashed before their runs · `evaluation` predicted
beside measured · `study_findings` all that was found · `analysis` what only some studies show, `analyses` all of them by name ·
`mean_of_runs` intervals · `verdict` the lines · `study_report` the report ·
`study_steps` what is done in which order · `drawn_systems` many systems drawn at random, each studied so.
"""

from sojourn.study.study_run import StudyResult, run_study

__all__ = ["StudyResult", "run_study"]
