"""What of a study `--only-parts` and `--quick` take."""

from __future__ import annotations

import pytest

from sojourn.errors import StudyError
from sojourn.study.file_schema import QuickOverrides, StudyFile
from sojourn.study.wanted_parts import wanted_parts


def test_parts_of_several_sections_and_what_quick_leaves_out() -> None:
    """By hand from the file: `blind` has one of two predictions, which need the fit and so the first section."""
    sections = [{"name": name, "parts": parts} for name, parts in (("a", ["up"]), ("b", ["mixes"]))]
    predict = [{"name": "p", "parts": ["up", "blind"]}, {"name": "q"}]
    study = StudyFile(
        name="s", system={}, section=sections, predict=predict, fit={"model": "auto", "sections": ["a"]},
        analysis=[{"name": "factorial", "parts": ["mixes"]}], quick={"leave_out": ["mixes", "q"]},
    )  # fmt: skip

    def wanted(*only: str, quick: bool = False) -> set[str]:
        names = {"a", "b", "p", "q", "fit", "factorial"}
        return names & set(wanted_parts(study, only, None, quick))

    assert wanted("blind") == {"p", "fit", "a"} and wanted("up") == {"a", "p", "fit"}
    assert wanted("mixes") == wanted("mixes", quick=True) == {"b", "factorial"}
    assert wanted("predict") == {"p", "q", "fit", "a"}
    assert wanted("predict", quick=True) == {"p", "fit", "a"} and wanted("q", quick=True) == {"q", "fit", "a"}
    with pytest.raises(StudyError, match="leave_out: 'mixs'; did you mean mixes"):
        wanted_parts(study.model_copy(update={"quick": QuickOverrides(leave_out=("mixs",))}), (), None, True)
    assert wanted(quick=True) == {"a", "p", "fit"} and wanted() == {"a", "b", "p", "q", "fit", "factorial"}
