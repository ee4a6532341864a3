"""The generator's configuration for a load on memcached, from what a user says."""

from __future__ import annotations

from typing import Any

from sojourn.errors import InputError
from sojourn.load.http_load import client_lanes

Sizes = int | str | dict[str, Any]


def kv_load(
    urls: list[str],
    *,
    connections: int = 16,
    threads: int = 1,
    think_s: float = 0.0,
    rate_per_s: float | None = None,
    arrivals: str = "poisson",
    duration_s: float = 10.0,
    set_weight: float = 1.0,
    get_weight: float = 10.0,
    multi_get: Sizes | None = None,
    multi_get_share: float = 1.0,
    keys: int = 10_000,
    key_pattern: str = "uniform",
    key_prefix: str = "sojourn-",
    key_bytes: Sizes | None = None,
    value_bytes: Sizes = 1024,
    expiry_s: int = 0,
    populate: bool = True,
    verify: bool = True,
    seed: int = 1,
    timeout_s: float = 10.0,
    record_limit: int = 2_000_000,
    cores: list[int] | None = None,
) -> dict[str, Any]:
    """A load on the `memcached://HOST:PORT` of `urls`, to which the connections are dealt out in turn.

    Closed loop: `connections` clients over all threads and targets, each with a connection of its own, thinking
    `think_s` (exponential; 0: not at all) between an answer and its next request. With `rate_per_s` an open loop: that
    many requests a second over all threads, due whether or not answers came.

    `set_weight` and `get_weight`: an operation is a set or a get with these weights, drawn independently. With
    `multi_get` (how many keys) the share `multi_get_share` of the gets asks for that many keys at once: class
    `multi-get`. Sizes (`multi_get`, `key_bytes`, `value_bytes`) are a number, `low-high` (each equally likely),
    `size:weight,size:weight`, or the generator's own table. `key_pattern`: `uniform`, `zipf` (exponent 0.99),
    `zipf:EXPONENT` or `sequential`. Value and length of a value belong to its key for ever, so every read is compared
    (`verify`), whoever stored it. `cores`: thread k is pinned to core k of these, in turn.

    Raises:
        InputError: a value out of range; the generator checks the rest.
    """
    lanes = client_lanes(
        urls, connections, place="--connections", threads=threads, think_s=think_s, rate_per_s=rate_per_s,
        arrivals=arrivals, cores=cores,
    )  # fmt: skip
    share = multi_get_share if multi_get is not None else 0.0
    if not 0 <= share <= 1:
        raise InputError(f"{share:g}", "--multi-get-share", "give a share of the gets, 0 to 1")
    kv: dict[str, Any] = {
        "mix": {"set": set_weight, "get": get_weight * (1 - share), "multi_get": get_weight * share},
        "keys": keys,
        "key_pattern": pattern(key_pattern),
        "key_prefix": key_prefix,
        "value_bytes": sizes(value_bytes, "--data-size"),
        "exptime_s": expiry_s,
        "populate": populate,
        "verify": verify,
    }
    if multi_get is not None:
        kv["multi_get_keys"] = sizes(multi_get, "--multi-get")
    if key_bytes is not None:
        kv["key_bytes"] = sizes(key_bytes, "--key-size")
    return {
        "lanes": lanes,
        "duration_s": duration_s,
        "seed": seed,
        "timeout_s": timeout_s,
        "record_limit": record_limit,
        "kv": kv,
    }


def pattern(text: str) -> dict[str, Any]:
    """`uniform`, `zipf`, `zipf:1.2` or `sequential` as the generator has it.

    Raises:
        InputError: anything else.
    """
    name, _, exponent = text.partition(":")
    if name in ("uniform", "sequential") and not exponent:
        return {"kind": name}
    if name == "zipf":
        try:
            return {"kind": "zipf", "exponent": float(exponent or 0.99)}
        except ValueError:
            pass
    raise InputError(repr(text), "--key-pattern", "use uniform, zipf, zipf:EXPONENT or sequential")


def sizes(given: Sizes, place: str) -> dict[str, Any]:
    """`1024`, `32-4096`, `32:40,1024:60` (size:weight) or a table as the generator has it.

    Raises:
        InputError: anything else, naming `place`.
    """
    if isinstance(given, dict):
        return given
    try:
        text = str(given)
        if ":" in text:
            pairs = [part.split(":") for part in text.split(",")]
            values, weights = [int(value) for value, _ in pairs], [float(weight) for _, weight in pairs]
            found: dict[str, Any] = {"kind": "list", "values": values, "weights": weights}
        elif "-" in text[1:]:
            low, high = (int(part) for part in text.split("-"))
            found, values = {"kind": "uniform", "low": low, "high": high}, [low, high]
        else:
            found, values = {"kind": "fixed", "value": int(text)}, [int(text)]
    except ValueError:
        raise InputError(repr(given), place, "give a number, low-high, or size:weight,size:weight") from None
    if min(values) < 0 or max(values) >= 1 << 32:
        raise InputError(repr(given), place, "give sizes of at least 0, below 2^32")
    return found
