"""What makes a run of block I/O invalid beside what every load is judged by: a rate beyond the path, I/Os that it refused, a server that
ended, wrong blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

BEYOND_CAPACITY = "beyond capacity"
SATURATED = "saturated"
OTHER_REMEDY = "look at the kernel's log (dmesg) or the server's log"
REMEDIES = {
    "ENOSPC": "no space left: free some, or create the whole file first (sojourn load does so with --region-size)",
    "EDQUOT": "the quota is used up: raise it, or give a smaller --region-size",
    "EROFS": "it is read-only: give --read-fraction 1, or mount it writable",
    "EINVAL": "it does not accept I/Os of this size or alignment: give another --block-size or --align, or leave --direct out",
}


def block_reasons(storage: Mapping[str, Any]) -> Iterator[str]:
    """Of what a block load says of itself (`storage` in the manifest)."""
    if SATURATED in storage.get("status", ()):
        share = storage["completed"] / max(storage["due"], 1)
        refused = f", {storage['refused']} were refused by a full queue" if storage.get("refused") else ""
        yield (
            f"{BEYOND_CAPACITY}: {share:.3f} of the {storage['due']} I/Os were done in time "
            f"({storage['achieved_iops']:.0f} of {storage['asked_iops']:.0f} a second{refused}); ask for a lower rate"
        )
    for name, count in (storage.get("errors") or {}).items():
        yield f"the target refused {count} I/Os with {name}; {REMEDIES.get(name, OTHER_REMEDY)}"
    if broke := storage.get("reconnects"):
        yield f"the connection broke and was reopened {broke} times: the server ended or closed it; its log says why"
    if storage.get("wrong"):
        yield f"{storage['wrong']} reads were wrong, the first: {storage['first_wrong']}; do not trust the data that was written there"
