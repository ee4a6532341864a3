"""What an operation asks of the parts of the system: the terms that CPU times are sums of (`cpu_time_regression`).

Each is a number that follows from the configuration alone. Two kinds are physics that a regression on plain factors lacks: a set
goes to every server behind a middleware (messages), and what a waking costs is shared by all that came at once. A loop
that has N/P clients finds 1 + N/P requests at a waking, so an operation has P/(N + P) wakings; towards the servers each loop
has a batch for each server, so a message has S P/(N + S P). A staged worker sleeps for every message. A get that is split costs a
loop and its servers a reading message for each part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import polars as pl

KIB = 1024.0
Array: TypeAlias = np.ndarray
NEEDED = ("design", "servers", "proxies", "workers", "workload", "sharded", "value_bytes", "clients")


class OperationWork:
    """A row a point: `clients` N, `servers` S, `proxies` P, `workers` W of each; `stores` 1 for sets, 1/2 where they are half;
    `keys` of a read; `messages` to servers; `read_kib` and `sent_kib` as the client has them, `stored_kib` as all servers have them."""

    def __init__(self, rows: pl.DataFrame) -> None:
        """Columns of `system.kv.frame`: those of NEEDED."""
        of = {name: rows[name].to_numpy().astype(float) for name in ("clients", "servers", "proxies", "workers")}
        self.clients, self.servers, self.proxies, self.workers = of.values()
        workload = rows["workload"]
        self.stores = workload.replace_strict({"set": 1.0, "mixed": 0.5}, default=0.0).to_numpy().astype(float)
        multi = workload.str.extract(r"^multi-(\d+)$").cast(pl.Float64).fill_null(1.0).to_numpy()
        self.keys, self.reads = multi, 1 - self.stores
        self.ln_workers = np.log(np.maximum(self.workers * self.proxies, 1))  # of all middlewares: they share cores
        copies = np.where(self.proxies > 0, self.servers, 1.0)
        split = rows["sharded"].to_numpy().astype(bool) & (self.proxies > 0)
        self.asked = np.where(split, np.minimum(multi, self.servers), 1.0)  # servers of a read
        self.messages = self.stores * copies + self.reads * self.asked
        kib = rows["value_bytes"].to_numpy().astype(float) / KIB
        self.read_kib, self.sent_kib, self.stored_kib = (
            self.reads * multi * kib,
            self.stores * kib,
            self.stores * copies * kib,
        )

    def terms(self, names: Sequence[str]) -> Array:
        """A column each of TERMS."""
        return np.stack([TERMS[name](self) + np.zeros(len(self.clients)) for name in names], axis=1)


TERMS: dict[str, Callable[[OperationWork], Array]] = {
    "operation": lambda w: np.ones(len(w.clients)),
    "message": lambda w: w.messages,
    "read": lambda w: w.reads,
    "key": lambda w: w.reads * w.keys,
    "further key": lambda w: w.reads * (w.keys - 1),
    "reading message": lambda w: w.reads * w.asked,
    "further key of a message": lambda w: w.reads * (w.keys - w.asked),
    "KiB read": lambda w: w.read_kib,
    "KiB sent": lambda w: w.sent_kib,
    "KiB stored": lambda w: w.stored_kib,
    "waking": lambda w: w.proxies / (w.clients + w.proxies),
    "waking for a message": lambda w: w.messages * w.servers * w.proxies / (w.clients + w.servers * w.proxies),
    "ln workers": lambda w: w.ln_workers,
    "message, ln workers": lambda w: w.messages * w.ln_workers,
    "1/clients": lambda w: 1 / w.clients,
    "1/clients of a middleware": lambda w: w.proxies / w.clients,
    "message, 1/clients": lambda w: w.messages / w.clients,
    "1/clients squared": lambda w: 1 / w.clients**2,
    "servers, 1/clients squared": lambda w: w.servers / w.clients**2,
}  # fmt: skip

CLIENT, SERVER, NET, WORKERS = "client_cpu_s", "server_cpu_s", "net_cpu_s", "worker_cpu_s"
PARTS: dict[str, dict[str, tuple[str, ...]]] = {
    "none": {
        CLIENT: ("operation", "read", "further key", "KiB read", "KiB sent", "1/clients squared"),
        SERVER: (
            "operation", "read", "further key", "KiB read", "KiB stored", "1/clients squared", "servers, 1/clients squared",
        ),
    },
    "direct": {
        CLIENT: ("operation", "read", "further key", "KiB read", "KiB sent", "waking"),
        SERVER: ("message", "reading message", "further key of a message", "KiB read", "KiB stored", "waking for a message"),
        NET: (
            "operation", "message", "reading message", "further key of a message", "KiB read", "KiB stored", "waking",
            "waking for a message",
        ),
    },
    "staged": {
        CLIENT: ("operation", "message", "key", "KiB read", "KiB sent", "1/clients"),
        SERVER: ("message", "key", "KiB read", "KiB stored", "message, ln workers", "message, 1/clients"),
        NET: ("operation", "ln workers", "1/clients of a middleware"),
        WORKERS: (
            "operation", "message", "key", "KiB read", "KiB stored", "ln workers", "message, ln workers", "message, 1/clients",
        ),
    },
}  # fmt: skip
