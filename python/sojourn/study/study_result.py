"""What a study comes to."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sojourn.notebook import ShownInNotebook
from sojourn.report import Document
from sojourn.study.study_findings import StudyFindings


@dataclass(frozen=True)
class StudyResult(ShownInNotebook):
    """Where the study is, its verdict line by line, its report (the file, and `document()`), and all that was found; `others`: of other
    studies that `only` named."""

    folder: Path
    verdict: list[str]
    report: Path
    findings: StudyFindings
    written: Document
    others: tuple[StudyResult, ...] = ()

    def document(self) -> Document:
        """The report that was written."""
        return self.written
