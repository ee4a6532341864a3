"""The generator's configuration for users in sessions, from what a user says."""

from __future__ import annotations

import re
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np

from sojourn.errors import InputError
from sojourn.file_errors import meant
from sojourn.load.http_load import http_load
from sojourn.load.transition_matrix import TransitionMatrix

MIXES = "sojourn.testbed.bulletin_mixes"
# Of the bulletin board: in `readwrite` one user in ten is an author.
KNOWN = {"browse": (("browse_only", 1.0),), "readwrite": (("user_default", 0.9), ("author_default", 0.1))}


DRAWN = re.compile(r"(.+)~([1-9][0-9]{0,8})")
DRAWN_DEVIATION = 0.9  # standard deviation of the logarithm of a weight


def mix_of(mix: str) -> list[tuple[float, TransitionMatrix]]:
    """Kinds of users by share: `browse`, `readwrite`, a CSV file with the matrix of all, a page of the bulletin board, which is then
    asked for again and again; or a mix near one of the first three: `readwrite~3` is the third that is drawn.

    Each page of such a mix has a weight, lognormal with median 1, for all kinds of users, by which its probability is multiplied
    wherever it may be next. The number is the seed.

    Raises:
        InputError: no such mix, no such file, or what it has is no matrix.
    """
    if drawn := DRAWN.fullmatch(mix):
        kinds = mix_of(drawn[1])
        weights = np.random.default_rng(int(drawn[2])).lognormal(0.0, DRAWN_DEVIATION, len(kinds[0][1].pages))
        return [(share, matrix.reweighted(weights)) for share, matrix in kinds]
    if mix in KNOWN:
        found = []
        for name, share in KNOWN[mix]:
            with as_file(files(MIXES).joinpath(f"{name}.csv")) as path:
                found.append((share, TransitionMatrix.read(path)))
        return found
    if not mix.endswith(".csv"):
        board = mix_of("browse")[0][1]
        if mix in board.pages:
            return [(1.0, board.only(mix))]
        raise InputError(
            repr(mix), "--mix", f"give {', '.join(KNOWN)}, a page or a CSV file: {meant(mix, [*KNOWN, *board.pages])}"
        )
    return [(1.0, TransitionMatrix.read(Path(mix)))]


def session_load(
    url: str,
    *,
    users: int,
    think_s: float = 7.0,
    mix: str = "browse",
    duration_s: float = 10.0,
    ramp_up_s: float = 0.0,
    ramp_down_s: float = 0.0,
    seed: int = 1,
    timeout_s: float = 10.0,
    connections: int = 64,
) -> dict[str, Any]:
    """A closed loop of `users` who go from page to page below `url`, thinking `think_s` (exponential) before each.

    `mix`: see `mix_of`. The run is `duration_s` long; `ramp_up_s` before it, in which users come one by one, and `ramp_down_s`
    behind it do not count.

    Raises:
        InputError: a value out of range, or a mix that is none; the generator checks the rest.
    """
    for name, value in (("--ramp-up", ramp_up_s), ("--ramp-down", ramp_down_s)):
        if not 0 <= value <= 3600:
            raise InputError(f"{value:g}", name, "give seconds of 0 to 3600")
    whole_s = ramp_up_s + duration_s + ramp_down_s
    config = http_load(
        [url], users=users, think_s=think_s, duration_s=whole_s, seed=seed, timeout_s=timeout_s, connections=connections
    )
    # where the service is slow, each user waits for an answer of his own
    config["lanes"][0]["connections_max"] = max(connections, users)
    found = mix_of(mix)
    config["sessions"] = {
        "pages": list(found[0][1].pages),
        "mixes": [{"share": share, "rows": matrix.rows.tolist()} for share, matrix in found],
        "ramp_up_s": ramp_up_s,
        "ramp_down_s": ramp_down_s,
    }
    return config
