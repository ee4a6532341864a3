"""What is varied in a study of storage paths, measured or simulated."""

from __future__ import annotations

from collections.abc import Iterable

from sojourn.study import Factor

OTHERS = (
    "another path (a mounted file system, a device that was attached) goes into [system.paths] of a copy of the study"
)


def storage_factors(paths: Iterable[str]) -> dict[str, Factor]:
    """`read`, `random`: shares; `block_kib`: of an I/O; `path`: one of `paths`, by default the first; `iops`: 0 is a run at rest."""
    names = tuple(paths)
    return {
        "read": Factor(default=1.0, low=0.0, high=1.0),
        "random": Factor(default=1.0, low=0.0, high=1.0),
        "block_kib": Factor(default=4, low=1, high=1024),
        "path": Factor(default=names[0], values=names, others=OTHERS),
        "iops": Factor(default=1000, low=0, high=1_000_000),
    }
