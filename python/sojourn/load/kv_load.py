"""The generator's configuration for a load on memcached, from what a user says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from sojourn.errors import InputError
from sojourn.load.client_lanes import ClientsLoad
from sojourn.load.load_options import option

Sizes = int | str | dict[str, Any]
KV = "memcached"


@dataclass(frozen=True, kw_only=True)
class MemcachedOptions(ClientsLoad):
    """A load on memcached.

    Closed loop: `connections` clients over all threads and targets (or `users`, which is the same), each with a connection of its
    own, thinking `think_s` (exponential; 0: not at all) between an answer and its next request. With `rate_per_s` an open loop: that
    many requests a second over all threads, due whether or not answers came.

    `set_weight` and `get_weight`: an operation is a set or a get with these weights, drawn independently. With `multi_get` (how many
    keys) the share `multi_get_share` of the gets asks for that many keys at once: class `multi-get`. Sizes (`multi_get`, `key_bytes`,
    `value_bytes`) are a number, `low-high` (each equally likely), `size:weight,size:weight`, or the generator's own table.
    `key_pattern`: `uniform`, `zipf` (exponent 0.99), `zipf:EXPONENT` or `sequential`. Value and length of a value belong to its key
    for ever, so every read is compared (`verify`), whoever stored it.
    """

    protocol: ClassVar[str] = "memcached"
    schemes: ClassVar[tuple[str, ...]] = ("memcached",)
    shape: ClassVar[str] = "memcached://HOST:PORT"
    about: ClassVar[str] = "gets, sets and multi-gets on memcached"
    examples: ClassVar[tuple[str, ...]] = (
        "sojourn load memcached://127.0.0.1:11211 --rate 9000 --get-weight 9 --set-weight 1",
        "sojourn load memcached://127.0.0.1:11211 --connections 32 --think 1ms",
        "sojourn load memcached://127.0.0.1:11211 --rate 500 --keys-per-multi-get 10 --key-pattern zipf",
    )
    measured: ClassVar[tuple[str, ...]] = (
        "sojourn measure memcached://127.0.0.1:11211 --rate 2000..10000:2000 --out runs",
        "sojourn measure memcached://127.0.0.1:11211 --users 1,4,16 --think 1ms --get-weight 9 --set-weight 1",
    )

    users: int | None = option(None, "closed loop: the same as --connections", "--users", int)
    connections: int | None = option(
        None, "closed loop: this many clients, a connection each; with --rate: connections at the start (default: 16)",
        "--connections", int,
    )  # fmt: skip
    set_weight: float = option(1.0, "weight of sets (default: 1)", "--set-weight", float, panel=KV)
    get_weight: float = option(10.0, "weight of gets (default: 10)", "--get-weight", float, panel=KV)
    multi_get: Sizes | None = option(None, "keys that one get asks for", "--keys-per-multi-get", panel=KV)
    multi_get_share: float = option(
        1.0, "share of the gets that are multi-gets (default: 1)", "--multi-get-share", float, panel=KV
    )
    keys: int = option(10_000, "different keys (default: 10000)", "--key-count", int, panel=KV)
    key_pattern: str = option(
        "uniform", "uniform, zipf, zipf:EXPONENT, sequential (default: uniform)", "--key-pattern", panel=KV
    )
    key_prefix: str = option("sojourn-", "how keys begin (default: sojourn-)", "--key-prefix", panel=KV)
    key_bytes: Sizes | None = option(
        None, "bytes of a key, prefix included: 40, 20-60, 20:1,60:3", "--key-size", panel=KV
    )
    value_bytes: Sizes = option(
        1024, "bytes of a value: 1024, 100-4096, 32:9,1024:1 (default: 1024)", "--data-size", panel=KV
    )
    expiry_s: int = option(0, "expiry that a set gives, s; 0: never (default: 0)", "--expiry-s", int, panel=KV)
    populate: bool = option(True, "store all keys first (default: yes)", "--populate/--no-populate", bool, panel=KV)
    verify: bool = option(
        True, "check that what is read is what was written (default: yes)", "--verify/--no-verify", bool, panel=KV
    )

    def config(self, urls: list[str]) -> dict[str, Any]:
        """The clients are dealt out to the `memcached://HOST:PORT` of `urls` in turn.

        Raises:
            InputError: a value out of range, users beside a rate; the generator checks the rest.
        """
        lanes = self.lanes(urls, self.connections, "--connections")
        share = self.multi_get_share if self.multi_get is not None else 0.0
        if not 0 <= share <= 1:
            raise InputError(f"{share:g}", "--multi-get-share", "give a share of the gets, 0 to 1")
        kv: dict[str, Any] = {
            "mix": {"set": self.set_weight, "get": self.get_weight * (1 - share), "multi_get": self.get_weight * share},
            "keys": self.keys,
            "key_pattern": pattern(self.key_pattern),
            "key_prefix": self.key_prefix,
            "value_bytes": sizes(self.value_bytes, "--data-size"),
            "exptime_s": self.expiry_s,
            "populate": self.populate,
            "verify": self.verify,
        }
        if self.multi_get is not None:
            kv["multi_get_keys"] = sizes(self.multi_get, "--keys-per-multi-get")
        if self.key_bytes is not None:
            kv["key_bytes"] = sizes(self.key_bytes, "--key-size")
        return self.generator(lanes, kv=kv)


def kv_load(urls: list[str], **options: Any) -> dict[str, Any]:
    """The generator's configuration of a load on `urls`; `options`: those of `MemcachedOptions`. InputError as there."""
    return MemcachedOptions(**options).config(urls)


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
