"""One TOML file → runs of any system → fit of any model → predictions, written down → their runs → verdict and report.

Map: `file_schema` the file key by key · `checked_study` checked against its system · `model_check` its model files
too · `study_points` of its sections · `named_objects` functions and classes by name · `redacted_file` the file without
credentials · `run_points` points into run folders · `fit_templates` what is fitted · `best_configuration` the best
configuration · `predictions` written and hashed before their runs · `evaluation` predicted beside measured ·
`study_findings` all that was found · `analyses` what only some studies show · `verdict` the lines · `study_report` the
report · `study_steps` what is done in which order · `drawn_systems` many systems drawn at random, each studied so.
"""

from sojourn.study.engine.checked_study import CheckedStudy, read_plan
from sojourn.study.engine.study_findings import StudyFindings
from sojourn.study.engine.study_steps import run_system_study

__all__ = ["CheckedStudy", "StudyFindings", "read_plan", "run_system_study"]
