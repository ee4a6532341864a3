"""The generator's configuration for a plain HTTP load, from what a user says."""

from __future__ import annotations

from typing import Any

from sojourn.errors import InputError

MOST_PER_S = 1e7
MOST_USERS = 1_000_000


def http_load(
    urls: list[str],
    *,
    rate_per_s: float | None = None,
    users: int | None = None,
    think_s: float = 0.0,
    arrivals: str = "poisson",
    duration_s: float = 10.0,
    connections: int = 64,
    seed: int = 1,
    timeout_s: float = 10.0,
    status: int = 200,
) -> dict[str, Any]:
    """One lane over `urls` (equal weights): open loop at `rate_per_s` in (0, 1e7], or closed loop with `users`.

    Raises:
        InputError: both or neither of rate and users, or one of them out of range; the generator checks the rest.
    """
    if (rate_per_s is None) == (users is None):
        raise InputError(f"rate = {rate_per_s}, users = {users}", "load", "give either --rate or --users")
    if rate_per_s is not None and not 0 < rate_per_s <= MOST_PER_S:
        raise InputError(f"{rate_per_s:g}", "--rate", f"give requests per second above 0, at most {MOST_PER_S:.0f}")
    if users is not None and not 1 <= users <= MOST_USERS:
        raise InputError(str(users), "--users", f"give 1 to {MOST_USERS} users")
    if connections < 1:
        raise InputError(str(connections), "--connections", "give at least 1")
    if arrivals not in ("poisson", "constant"):
        raise InputError(repr(arrivals), "--arrivals", "use poisson or constant")
    lane: dict[str, Any] = {
        "targets": [{"url": url, "weight": 1.0, "class": url} for url in urls],
        "connections": connections,
        "connections_max": max(connections, 4096),
        "cpu": None,
    }
    if rate_per_s is not None:
        lane["arrivals"] = {"kind": arrivals, "rate_per_s": rate_per_s}
    else:
        kind = "exponential" if think_s > 0 else "deterministic"
        lane["closed"] = {"users": users, "think": {"kind": kind, "mean": think_s}}
    return {
        "lanes": [lane],
        "duration_s": duration_s,
        "seed": seed,
        "timeout_s": timeout_s,
        "expect": {"status": status},
        "realtime": False,
    }
