"""The runs of one measurement."""

from __future__ import annotations

from sojourn.notebook import ShownInNotebook
from sojourn.runs.run_folder import RunFolder


class MeasuredRuns(list[RunFolder], ShownInNotebook):
    """Run folders in the order of their levels; together they are one report."""

    _REPORT = "measure.run_report:measured_document"
