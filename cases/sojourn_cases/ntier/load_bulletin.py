"""`sojourn load bulletin`: users of the bulletin board, who go from page to page."""

from __future__ import annotations

from typing import Any

from sojourn.errors import InputError
from sojourn.terminal import say
from sojourn.units import duration_s

RAMPS = {"ramp_up": "10s", "ramp_down": "1s"}


def bulletin_load(
    urls: list[str],
    users: int | None,
    others: dict[str, Any],
    ramps: dict[str, str | None],
    common: dict[str, Any],
) -> dict[str, Any]:
    """Users who go from page to page; rows of their matrices that had to be repaired are told.

    Raises:
        InputError: an option that means nothing here, or a value out of range.
    """
    from sojourn.load import mix_of, session_load

    if others or len(urls) != 1 or common["rate_per_s"] is not None or users is None:
        wrong = ", ".join(others) or f"{len(urls)} URLs, users = {users}, rate = {common['rate_per_s']}"
        raise InputError(wrong, "load bulletin", "give one http://HOST:PORT, --users, and of the options --mix, --think, "
                         "--for, --ramp-up, --ramp-down, --seed, --timeout")  # fmt: skip
    mix = ramps["mix"] or "readwrite"
    for _, matrix in mix_of(mix):
        for note in matrix.notes:
            say(note, err=True)
    ramp_up_s, ramp_down_s = (
        duration_s(ramps[name] or usual, f"--{name}".replace("_", "-")) for name, usual in RAMPS.items()
    )
    return session_load(
        urls[0], users=users, mix=mix, think_s=common["think_s"], duration_s=common["duration_s"], ramp_up_s=ramp_up_s,
        ramp_down_s=ramp_down_s, seed=common["seed"], timeout_s=common["timeout_s"],
    )  # fmt: skip
