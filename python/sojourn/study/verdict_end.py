"""What a study prints in the end: of its verdict what answers the question, in a few lines."""

from __future__ import annotations

from collections.abc import Sequence

from sojourn.study.counted_values import is_misfit
from sojourn.study.study_findings import StudyFindings
from sojourn.study.verdict import headline, left_out, predicted_lines

MOST = 5  # lines, beside those that name the files


def end_lines(found: StudyFindings, verdict: Sequence[str]) -> list[str]:
    """Of a study that predicts at most five lines: that no model fits, the answers, how many measured values lie in their intervals and
    the errors, which model was taken, single predictions, and what is missing. Of others the whole `verdict`, which is short."""
    if found.predicted is None or len(verdict) <= MOST:
        return list(verdict)
    misfits = [line for line in verdict if is_misfit(line)]
    answers = [*misfits, *(one.headline for one in found.analyses if one.headline), headline(found)]
    missing = [f"not shown here: {'; '.join(found.not_shown)}"] if found.not_shown else []
    missing += left_out(found)[:1]
    analysed = [line for one in found.analyses for line in one.lines if not line.startswith(" ")]
    taken = [line for line in found.why.splitlines() if line not in misfits]
    more = [
        *taken[:1],
        *predicted_lines(found)[1:],
        *analysed,
    ]  # without when predictions were written, which the answer says
    if len(taken) > 1:
        more[0] += f"; {len(taken) - 1} more such lines in the full verdict"
    room = MOST - len(missing)
    return [*[*answers[:room], *more][:room], *missing]
