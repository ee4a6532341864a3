"""What traces cannot tell, and what was odd in them, in lines for the reader."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sojourn.traces.linked_spans import LinkedSpans
from sojourn.traces.request_classes import MOST_CLASSES, RequestClasses
from sojourn.traces.self_times import SelfTimes
from sojourn.traces.trace_files import TraceFiles
from sojourn.traces.visit_ratios import missing_share
from sojourn.traces.visits import Visits
from sojourn.units import percent, seconds

MOST_SKEWS = 5


def notes(
    files: TraceFiles,
    linked: LinkedSpans,
    found: Visits,
    times: SelfTimes,
    weight: NDArray[np.float64],
    kinds: RequestClasses,
    sampled: float | None,
) -> list[str]:
    """Sampling first, then what is missing, then clocks and calls."""
    said = [_sampling(files, linked, weight, sampled)]
    said += [f"{name} ends within a line: what is before it was read" for name in files.cut_off]
    said += _missing(files, linked, found)
    said += _clocks(files, times)
    if kinds.grouped:
        said.append(
            f"{kinds.grouped} rare kinds of requests are together in 'other': a model has at most {MOST_CLASSES}"
        )
    if linked.callers:
        said.append(f"{linked.callers} roots are the client's side of a call: the caller is no station")
    if found.unnamed:
        said.append(
            f"{found.unnamed} calls name nobody (no peer.service, db.system, server.address): their time counts as their caller's"
        )
    if times.parallel.any():
        said.append(
            f"{int(times.parallel.sum())} spans ran beside another of the same parent: a model adds visits up one after the other, so its "
            "response times are too long there"
        )
    if found.asynchronous.any():
        said.append(
            f"{int(found.asynchronous.sum())} calls are messages that nobody waits for: they load their stations and are in no response "
            "time, where the model has them in it"
        )
    said.append(
        "self time is residence, with waiting in it, and no demand: service times are fitted to runs with the CPU of each station"
    )
    return said


def _sampling(files: TraceFiles, linked: LinkedSpans, weight: NDArray[np.float64], sampled: float | None) -> str:
    known = ~np.isnan(files.spans.probability[linked.roots])
    own = weight[linked.roots]
    share = (
        f"{1 / own.max():.3g}"
        if own.max() - own.min() < 1e-9 * own.max()
        else f"{1 / own.max():.3g} to {1 / own.min():.3g}"
    )
    if known.all():
        return f"traces were kept with a probability of {share}, as they say: rates are those of all requests"
    if sampled is not None:
        return f"traces were kept with a probability of {share}, as --trace-share says: rates are those of all requests"
    if known.any():
        silent = int((~known).sum())
        return f"{silent} of {len(known)} traces do not say their sampling: each counts as one request, so rates are too low"
    return "no trace says its sampling: rates are those of the traces, and too low where only a share was kept (--trace-share 0.01)"


def _missing(files: TraceFiles, linked: LinkedSpans, found: Visits) -> list[str]:
    said = []
    if linked.without_root:
        said.append(f"{linked.without_root} of {files.spans.traces} traces lack their root, and are left out")
    if linked.absent:
        share, high = missing_share(linked)
        said.append(
            f"{linked.absent} spans are named as parents and are not there: {percent(share)} of all (at most {percent(high)}) if they are "
            "lost by chance; visits are corrected for it, and their intervals reach from what was counted to what may be lost"
        )
    elif not linked.referenced:
        said.append("no span other than a request's own has children: nothing shows whether spans are missing")
    if linked.unplaced:
        said.append(
            f"{linked.unplaced} spans lie below a missing parent in traces of several requests, and are left out"
        )
    if unsure := int((~found.sure).sum()):
        said.append(
            f"{unsure} visits are not sure: a parent or the called side is missing; only the upper ends have them"
        )
    if linked.duplicates:
        said.append(f"{linked.duplicates} spans were exported twice, and count once")
    if linked.same_id:
        said.append(f"{linked.same_id} spans have the id of another span of their trace: the first one counts")
    if linked.circular:
        said.append(f"{linked.circular} spans are each other's parents, and are left out")
    return said


def _clocks(files: TraceFiles, times: SelfTimes) -> list[str]:
    names, said = files.spans.services, []
    worst = sorted(times.skews.items(), key=lambda item: -item[1].most_s)
    for (caller, callee), skew in worst[:MOST_SKEWS]:
        why = "clocks are apart" if skew.earlier else "clocks are apart, or the caller gave up"
        said.append(
            f"{skew.outside} of {skew.calls} calls of {names[callee]} lie outside of their caller's span in {names[caller]}, by up to "
            f"{seconds(skew.most_s)}: {why}; they were moved inside where they fit"
        )
    if len(worst) > MOST_SKEWS:
        said.append(f"and {len(worst) - MOST_SKEWS} more pairs of services are like that")
    if times.outlived:
        said.append(
            f"{times.outlived} spans end after the span that they are part of: what is later is not counted as its"
        )
    if times.untimed:
        said.append(
            f"{times.untimed} spans have no start and end that make sense: their visits count, their times do not"
        )
    return said
