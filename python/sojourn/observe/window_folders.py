"""Windows as run folders: Metrics and factors, so that whatever takes runs takes hours of a service that nobody measured."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sojourn.observe.observed_windows import ClassMeans, ObservedWindow
from sojourn.runs import RunFolder, metrics_row
from sojourn.table import Metrics


def factors_of(window: ObservedWindow, users: Mapping[str, int]) -> dict[str, Any]:
    """What the load of a window was: of one class `rate_per_s`, or `users` and `think_s` where it waits for its answers; of several the
    same with the class in the name (`rate_NAME_per_s`, `users_NAME`, `think_NAME_s`), and that of all."""
    classes = window.classes
    several = len(classes) > 1
    found: dict[str, Any] = {}
    for name, one in classes.items() if several else ():
        if name in users:
            found[f"users_{name}"] = users[name]
            found[f"think_{name}_s"] = one.think_s
        else:
            found[f"rate_{name}_per_s"] = one.rate_per_s
    if len(users) < len(classes):
        return found | {"rate_per_s": window.rate_per_s}
    whole = {"users": sum(users.values()), "think_s": _mean_think_s(classes)}
    return found | whole


def _mean_think_s(classes: Mapping[str, ClassMeans]) -> float | None:
    """Between two requests of a user, whichever class he is of."""
    known = [(one.rate_per_s, one.think_s) for one in classes.values() if one.think_s is not None]
    done = sum(rate for rate, _ in known)
    return sum(rate * think for rate, think in known) / done if done else None


def write_windows(
    out: Path, windows: Sequence[ObservedWindow], users: Mapping[str, int], capacity: Mapping[str, float], source: str,
    reasons: Mapping[int, str] | None = None,
    changed_s: float | None = None,
) -> list[Path]:  # fmt: skip
    """One folder a window, named by its start (UTC), in the order of `windows`. `capacity`: resource → servers or cores; 1 where it is not
    named. `source`: where it was observed. `reasons`: number of a window → why it is not valid. `changed_s`: Unix time of the last
    change of the service in these windows, where there was one.

    Raises:
        RunFolderError: a folder is there, or cannot be written; then none of them is left.
    """
    written: list[Path] = []
    try:
        for number, window in enumerate(windows):
            path = _written(
                out / _name(window), window, users, capacity, source, (reasons or {}).get(number, ""), changed_s
            )
            written.append(path)
    except BaseException:  # also where it is interrupted: half of the windows would be taken for all
        for path in written:
            shutil.rmtree(path, ignore_errors=True)
        raise
    return written


def _name(window: ObservedWindow) -> str:
    return time.strftime("%Y-%m-%dT%H-%M-%SZ", time.gmtime(window.start_s))


def _written(
    path: Path,
    window: ObservedWindow,
    users: Mapping[str, int],
    capacity: Mapping[str, float],
    source: str,
    reason: str,
    changed_s: float | None,
) -> Path:
    factors = {name: value for name, value in factors_of(window, users).items() if value is not None}
    resources = {name: {"capacity": float(capacity.get(name, 1.0))} for name in window.busy}
    lanes = [{"closed": {"users": sum(users.values())}}] if len(users) == len(window.classes) else [{}]
    what = {
        "name": path.name,
        "observed": {"source": source, "start_unix_s": window.start_s, "length_s": window.length_s}
        | ({} if changed_s is None else {"changed_unix_s": changed_s}),
        "factors": factors,
        "resources": resources,
        "conditions": {"system": source},
        "load": {"lanes": lanes},
        "classes": list(window.classes),
    }
    folder = RunFolder.create(path, what)
    try:
        metrics = Metrics.of(_rows(window), "measured").with_factors(run=path.name, **factors)
        metrics.write(path / "metrics.parquet")
        reasons = [
            *([] if window.response_s is not None else ["no answer in this window"]),
            *([reason] if reason else []),
        ]
        folder.manifest |= {"status": "complete", "valid": not reasons, "reasons": reasons}
        folder.manifest["window_s"] = [0.0, window.length_s]
        folder.save()
    except BaseException:
        folder.discard()
        raise
    return path


def _rows(window: ObservedWindow) -> list[dict[str, Any]]:
    several = len(window.classes) > 1
    rows = [row for name, one in window.classes.items() for row in _class_rows(name if several else "", one)]
    if several:
        rows.append(metrics_row("throughput", window.rate_per_s, unit="1/s"))
        if window.response_s is not None:
            low, high = _whole_interval(window)
            rows.append(metrics_row("response_time", window.response_s, low=low, high=high))
    done = window.rate_per_s
    for name, share in window.busy.items():
        rows.append(metrics_row("utilisation", share, station=name, unit="1"))
        if done:
            rows.append(metrics_row("service_demand", share / done, station=name))
    return rows


def _class_rows(name: str, one: ClassMeans) -> list[dict[str, Any]]:
    rows = [
        metrics_row(
            "throughput", one.rate_per_s, cls=name, low=one.rate_low_per_s, high=one.rate_high_per_s, unit="1/s"
        )
    ]
    if one.response_s is not None:
        rows.append(metrics_row("response_time", one.response_s, cls=name, low=one.low_s, high=one.high_s))
    return rows


def _whole_interval(window: ObservedWindow) -> tuple[float | None, float | None]:
    """Of the mean of all, from those of the classes, as if they were independent; none where one lacks."""
    mean, done = window.response_s, window.rate_per_s
    half = [(one.rate_per_s, one.high_s - one.response_s) for one in window.classes.values()
            if one.high_s is not None and one.response_s is not None]  # fmt: skip
    if mean is None or len(half) < len(window.classes):
        return None, None
    width = sum((rate * each) ** 2 for rate, each in half) ** 0.5 / done
    return max(mean - width, 0.0), mean + width
