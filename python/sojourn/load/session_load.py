"""The generator's configuration for users in sessions, from what a user says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sojourn.cases import imported, known
from sojourn.errors import InputError
from sojourn.file_errors import meant
from sojourn.load.http_load import http_load
from sojourn.load.transition_matrix import TransitionMatrix

DRAWN = re.compile(r"(.+)~([1-9][0-9]{0,8})")
DRAWN_DEVIATION = 0.9  # standard deviation of the logarithm of a weight


def mix_of(mix: str) -> list[tuple[float, TransitionMatrix]]:
    """Kinds of users by share: a mix of a case by its name, a CSV file with the matrix of all, a page of such a mix, which is then asked
    for again and again; or a mix near one of the first two: `readwrite~3` is the third that is drawn.

    Each page of such a mix has a weight, lognormal with median 1, for all kinds of users, by which its probability is multiplied
    wherever it may be next. The number is the seed.

    Raises:
        InputError: no such mix, no such file, or what it has is no matrix.
    """
    if drawn := DRAWN.fullmatch(mix):
        kinds = mix_of(drawn[1])
        weights = np.random.default_rng(int(drawn[2])).lognormal(0.0, DRAWN_DEVIATION, len(kinds[0][1].pages))
        return [(share, matrix.reweighted(weights)) for share, matrix in kinds]
    mixes = known("mix_functions", {})
    if mix in mixes:
        found: list[tuple[float, TransitionMatrix]] = imported(mixes[mix])()
        return found
    if not mix.endswith(".csv"):
        pages: dict[str, TransitionMatrix] = {}
        for name in mixes:
            matrix = mix_of(name)[0][1]
            pages = {**dict.fromkeys(matrix.pages, matrix), **pages}
        if mix in pages:
            return [(1.0, pages[mix].only(mix))]
        names = [*mixes, "a page", "a CSV file"] if mixes else ["a CSV file"]
        raise InputError(repr(mix), "--mix", f"give {_or(names)}: {meant(mix, [*mixes, *pages])}")
    return [(1.0, TransitionMatrix.read(Path(mix)))]


def _or(names: list[str]) -> str:
    return " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def session_load(
    url: str | Sequence[str],
    *,
    users: int,
    think_s: float = 7.0,
    mix: str,
    duration_s: float = 10.0,
    ramp_up_s: float = 0.0,
    ramp_down_s: float = 0.0,
    seed: int = 1,
    timeout_s: float = 10.0,
    connections: int = 64,
) -> dict[str, Any]:
    """A closed loop of `users` who go from page to page below `url`, thinking `think_s` (exponential) before each. Several URLs: the users
    are dealt out to them, each stays with one, and each has a thread of its own.

    `mix`: see `mix_of`. The run is `duration_s` long; `ramp_up_s` before it, in which users come one by one, and `ramp_down_s`
    behind it do not count.

    Raises:
        InputError: a value out of range, or a mix that is none; the generator checks the rest.
    """
    for name, value in (("--ramp-up", ramp_up_s), ("--ramp-down", ramp_down_s)):
        if not 0 <= value <= 3600:
            raise InputError(f"{value:g}", name, "give seconds of 0 to 3600")
    whole_s = ramp_up_s + duration_s + ramp_down_s
    urls = [url] if isinstance(url, str) else list(url)
    if users < len(urls):
        raise InputError(str(users), "--users", f"give {len(urls)} (one for each URL) or more")
    shares = [users // len(urls) + (k < users % len(urls)) for k in range(len(urls))]
    each = [
        http_load([one], users=own, think_s=think_s, duration_s=whole_s, seed=seed, timeout_s=timeout_s, connections=connections)
        for one, own in zip(urls, shares, strict=True)
    ]  # fmt: skip
    config = each[0] | {"lanes": [one["lanes"][0] for one in each]}
    for lane, own in zip(config["lanes"], shares, strict=True):
        # where the service is slow, each user waits for an answer of his own
        lane["connections_max"] = max(connections, own)
    found = mix_of(mix)
    config["sessions"] = {
        "pages": list(found[0][1].pages),
        "mixes": [{"share": share, "rows": matrix.rows.tolist()} for share, matrix in found],
        "ramp_up_s": ramp_up_s,
        "ramp_down_s": ramp_down_s,
    }
    return config
