"""One TOML file → runs of any system → fit of any model → predictions, written down → their runs → verdict and report.

Map: `plan` what the file says · `hidden` the same without credentials · `run` points into run folders · `models` the calls of
`fit` · `predictions` written and hashed before their runs · `judge` predicted beside measured · `verdict` the lines ·
`document` the report · `study` what is done in which order.
"""

from sojourn.study.engine.plan import Plan, read_plan
from sojourn.study.engine.study import Findings, run_system_study

__all__ = ["Findings", "Plan", "read_plan", "run_system_study"]
