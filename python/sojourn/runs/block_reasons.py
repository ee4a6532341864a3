"""What makes a run of block I/O invalid beside what every load is judged by: a rate beyond the path, I/Os that it refused, a server that
ended, wrong blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

BEYOND_CAPACITY = "beyond capacity"
SATURATED = "saturated"
OTHER_REMEDY = "see what the kernel's log (dmesg) or the server's says"
REMEDIES = {
    "ENOSPC": "no room: free space where the target is, or write the file whole first (sojourn load makes it so with --span)",
    "EDQUOT": "the quota is used up: raise it, or give a smaller --span",
    "EROFS": "it is read-only: give --read 1, or mount it to be written",
    "EINVAL": "it refuses I/O of this size or place: give another --block or --align, or leave --direct out",
}


def block_reasons(storage: Mapping[str, Any]) -> Iterator[str]:
    """Of what a block load says of itself (`storage` in the manifest)."""
    if SATURATED in storage.get("status", ()):
        share = storage["completed"] / max(storage["due"], 1)
        refused = f", {storage['refused']} found the queue full" if storage.get("refused") else ""
        yield (
            f"{BEYOND_CAPACITY}: {share:.3f} of the {storage['due']} I/Os that were due were done in time "
            f"({storage['achieved_iops']:.0f} of {storage['asked_iops']:.0f} a second{refused}); ask for a lower rate"
        )
    for name, count in (storage.get("errors") or {}).items():
        yield f"the target refused {count} I/Os with {name}; {REMEDIES.get(name, OTHER_REMEDY)}"
    if broke := storage.get("reconnects"):
        yield f"the connection broke and was made again, {broke} times: the server ended, or cut it; its log says why"
    if storage.get("wrong"):
        yield f"{storage['wrong']} reads were wrong, the first: {storage['first_wrong']}; trust nothing that was written there"
