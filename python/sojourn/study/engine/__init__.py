"""One TOML file → runs of any system → fit of any model → predictions, written down → their runs → verdict and report.

Map: `schema` the file key by key · `plan` checked against its system · `model_check` its model files too · `points` of its sections ·
`named` functions and classes by name · `hidden` the file without credentials · `run` points into run folders · `templates` what is
fitted · `choose` the best configuration · `predictions` written and hashed before their runs · `evaluation` predicted beside measured ·
`findings` all that was found · `analyses` what only some studies show · `verdict` the lines · `document` the report · `study` what
is done in which order · `draws` many systems drawn at random, each studied so.
"""

from sojourn.study.engine.findings import Findings
from sojourn.study.engine.plan import Plan, read_plan
from sojourn.study.engine.study import run_system_study

__all__ = ["Findings", "Plan", "read_plan", "run_system_study"]
