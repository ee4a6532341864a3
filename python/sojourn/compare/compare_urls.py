"""Two services at URLs, loaded in turn on this machine: the same schedule for both in each block.

A folder of runs keeps its seed and how many blocks its answer was about (`series.json`). A series that was interrupted goes on; one that
was answered takes no more blocks: who adds runs until a difference shows finds one more often than the level says (see `interleaved`), and
no level of the later answer makes up for the one that was given. Two looks at 90 % found a difference that is not there in 16 %.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sojourn.compare.compare import check_blocks, check_metrics, check_range, compare_values
from sojourn.compare.comparison import Comparison
from sojourn.compare.interleaved import SIDES, InterleavedLimits, interleaved
from sojourn.compare.run_values import OF_RUN_FOLDERS, RunValues, run_values
from sojourn.errors import RunFolderError
from sojourn.files.reading import read_bytes
from sojourn.files.writing import write_whole
from sojourn.former_keyword import former_keyword
from sojourn.load.schedule_seed import run_seed
from sojourn.measure import measure
from sojourn.measure.measure import Shown
from sojourn.runs.disturbances import beside_text
from sojourn.runs.run_folder import RunFolder
from sojourn.units import USUAL_LEVEL

RUN_S = 6.0
SERIES, MOST_SERIES_BYTES = "series.json", 10_000


@former_keyword(margin="equivalence_margin")
def compare_urls(
    a: str, b: str, *, rate_per_s: float | None = None, users: int | None = None, run_s: float = RUN_S, out: Path | str | None = None,
    limits: InterleavedLimits | None = None, metrics: Sequence[str] = (), equivalence_margin: float = 0.05, level: float = USUAL_LEVEL,
    names: tuple[str, str] = ("A", "B"), cores: Iterable[int] = (), told: Callable[[str], None] = lambda _line: None,
    shown: Shown | None = None, **load: Any,
) -> Comparison:  # fmt: skip
    """Loads two services in turn, a run each a block, and says whether B is better than A, worse, or the same.

    Args:
        a, b: URLs. Processes that listen there on loopback are watched, which gives the CPU time of a request (`demand`).
        rate_per_s (open loop) or users (closed loop): the load, one of them. run_s: length of a run, s.
        out: folder of the runs [runs/compare-TIME], `a/block-01/rate-50` …; one that was interrupted goes on.
        limits: how many blocks, how long in all. metrics, equivalence_margin, level, names: as of `compare`.
        cores: those that the services run on [as of `measure`]. load: what else `http_load` takes. shown: as of `measure`.

    Raises:
        InputError: a value out of range. ServiceError, LoadError: nothing answers there, or no run is valid. LabError: another measurement
        runs. RunFolderError: `out` has something else, another seed, or was answered with other blocks.
    """
    check_range(equivalence_margin, level)
    check_metrics(metrics, OF_RUN_FOLDERS, "demand ")
    check_blocks((limits := limits or InterleavedLimits()).blocks, metrics, level)
    where = Path(out) if out is not None else Path("runs") / f"compare-{time.strftime('%Y%m%d-%H%M%S')}"
    limits = _series(where, limits)
    urls = dict(zip(SIDES, (a, b), strict=True))
    common: dict[str, Any] = {
        "rates_per_s": [] if rate_per_s is None else [rate_per_s],
        "users": [] if users is None else [users],
        **({"run_progress": shown} if shown else {}),
    }

    measured: list[RunFolder] = []

    def run(side: str, block: int) -> RunValues:
        folder = measure(
            [urls[side]], where / side / f"block-{block:02d}", **common, service_runs_on_cores=list(cores), tolerate_other_programs=True,
            seed=block_seed(limits, block), duration_s=run_s, **load,
        )[0]  # fmt: skip
        if not (where / SERIES).exists():
            _keep(where, limits, None)
        measured.append(folder)
        return run_values(folder)

    runs_a, runs_b, stopped = interleaved(run, limits, told)
    notes = [*filter(None, [stopped, beside_text(measured)]), limits.told()]
    found = compare_values(
        runs_a, runs_b, metrics=metrics, equivalence_margin=equivalence_margin, level=level, names=names, notes=notes
    )
    _keep(where, limits, len(runs_a))
    return found


def block_seed(limits: InterleavedLimits, block: int) -> int:
    """That both sides share in a block, and no other block of any seed does."""
    assert limits.seed is not None
    return run_seed(limits.seed, f"block-{block:02d}")


def _series(where: Path, limits: InterleavedLimits) -> InterleavedLimits:
    """With the seed of the runs that `where` has, where it has any. RunFolderError: it was answered, or has another seed."""
    file = where / SERIES
    if not file.exists():
        there = [one for side in SIDES for one in (where / side).glob("block-*/*/manifest.json")]
        if any(RunFolder.open(one.parent).manifest["status"] == "complete" for one in there):
            raise RunFolderError(f"it has runs, and no {SERIES}", where, "choose another --out")
        return limits.seeded()
    try:
        told = json.loads(read_bytes(file, "choose another --out", most_bytes=MOST_SERIES_BYTES))
        seed, answered = int(told["seed"]), told["answered_blocks"]
    except (ValueError, TypeError, KeyError):
        raise RunFolderError("not a comparison's file", file, "choose another --out") from None
    if limits.seed not in (None, seed):
        raise RunFolderError(f"its runs have the seed {seed}", where, "leave out --seed, or choose another --out")
    if answered not in (None, limits.blocks):
        raise RunFolderError(
            f"it was already evaluated with {answered} blocks: adding runs afterwards makes a false difference more "
            f"likely than the level allows",
            where,
            f"begin a new series with another --out; `sojourn compare {where}` reads this one",
        )  # fmt: skip
    return replace(limits, seed=seed)


def _keep(where: Path, limits: InterleavedLimits, answered_blocks: int | None) -> None:
    write_whole(where / SERIES, json.dumps({"seed": limits.seed, "answered_blocks": answered_blocks}) + "\n")
