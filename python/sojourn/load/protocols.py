"""Which protocols a load can have, and which of them a URL is of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from sojourn.cases import commands, imported
from sojourn.errors import InputError
from sojourn.load.load_options import LoadOptions

# class of options, by protocol; cases have further ones
PLACES = {
    "http": "sojourn.load.http_load:HttpOptions",
    "memcached": "sojourn.load.kv_load:MemcachedOptions",
    "messages": "sojourn.load.messages_load:MessagesOptions",
    "block": "sojourn.load.block_load:BlockOptions",
}


def protocols() -> dict[str, type[LoadOptions]]:
    """Those of this package, by name."""
    return {name: imported(place) for name, place in PLACES.items()}


def protocols_of_cases() -> dict[str, type[LoadOptions]]:
    """Those that cases bring, by the word that stands before the URL: `sojourn load bulletin http://HOST:PORT`."""
    return {name: imported(place) for name, place in commands("load", {}).items()}


def protocol_of(urls: Sequence[str]) -> type[LoadOptions]:
    """That of the URLs; http where they are none of any.

    Raises:
        InputError: URLs of several protocols.
    """
    known = {scheme: one for one in protocols().values() for scheme in one.schemes}
    found = [known.get(url.partition(":")[0], known["http"]) if ":" in url else known["http"] for url in urls]
    if len(names := sorted({one.protocol for one in found})) > 1:
        raise InputError(f"URLs of {' and '.join(names)}", "load", "one run takes one of them, not both")
    return found[0] if found else known["http"]


def options_of(options: type[LoadOptions], given: Mapping[str, Any]) -> LoadOptions:
    """Options by name, as Python gives them.

    Raises:
        InputError: one that this protocol does not have; it names those that have it.
    """
    for name in given:
        if name not in {one.name for one in fields(options)}:
            raise not_for(name, options, [one for one in protocols().values() if name in {f.name for f in fields(one)}])
    return options(**given)


def not_for(name: str, options: type[LoadOptions], others: Iterable[type[LoadOptions]]) -> InputError:
    """The error of an option that the URL's protocol does not have; `others` have it."""
    shapes = " and ".join(one.shape for one in others)
    remedy = f"only {shapes} takes it: remove it" if shapes else "there is no such option: remove it"
    return InputError(f"no option of {options.shape}", name, remedy)
