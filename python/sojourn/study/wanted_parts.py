"""What of a study is done: what `--only-parts` names and what that needs, or all but what `--quick` leaves out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sojourn.errors import StudyError
from sojourn.file_errors import meant
from sojourn.study.file_schema import StudyFile
from sojourn.study.study_file import parts

FIT, CHOOSE, PREDICT, DRAW = "fit", "choose", "predict", "draw"
COMMAND_LINE = "command line"


def wanted_parts(study: StudyFile, only: Sequence[str], draw: int | None, quick: bool) -> tuple[str, ...]:
    """Names of sections, predictions and analyses, `fit` and `choose`.

    Raises:
        StudyError: a part that is not known, or `--random-configurations` without what it needs.
    """
    if draw is not None and (study.draw is None or study.fit is None):
        raise StudyError(
            f"--random-configurations {draw}", COMMAND_LINE, "give the ranges in [draw], and the model in [fit]"
        )
    sections, predictions = ([part.name for part in given] for given in (study.section, study.predict))
    known = known_parts(study)
    for name in study.quick.leave_out:
        if name not in known:
            raise StudyError(repr(name), "[quick] leave_out", meant(name, known))
    asked = parts(only, [*known, *study.studies]) if only else known
    named = _members(study, [name for name in asked if name not in study.studies])
    left_out = set(_members(study, study.quick.leave_out)) - set(named if only else ()) if quick else set()
    found = [name for name in named if name not in left_out]
    if PREDICT in found:
        found += [name for name in predictions if name not in left_out]
    if study.fit and ({FIT, CHOOSE, PREDICT} | set(predictions)) & set(found):
        found += [FIT, *(name for name in study.fit.sections or sections if name not in left_out)]
    return tuple(dict.fromkeys(found))


def known_parts(study: StudyFile) -> list[str]:
    """What `--only-parts` takes of the study itself."""
    sections, predictions = ([part.name for part in given] for given in (study.section, study.predict))
    every = [*sections, *([FIT] if study.fit else []), *([CHOOSE] if study.choose else [])]
    every += [*([PREDICT] if study.predict else []), *(one.name for one in study.analysis)]
    return list(dict.fromkeys([*every, *_groups(study), *predictions]))


def _groups(study: StudyFile) -> dict[str, list[str]]:
    """Names under which several sections, predictions and analyses are known, with these."""
    groups: dict[str, list[str]] = {}
    every = [(part.name, part.parts) for part in (*study.section, *study.predict)]
    every += [(part.name, part.parts) for part in study.analysis]
    for own, names in every:
        for name in names:
            groups.setdefault(name, []).append(own)
    return groups


def _members(study: StudyFile, names: Iterable[str]) -> list[str]:
    groups = _groups(study)
    return [member for name in names for member in (name, *groups.get(name, ()))]
