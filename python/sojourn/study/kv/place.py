"""Where the hosts of the key-value study are: all on loopback, or each in a namespace of its own with what limits it."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from sojourn.errors import LabError, PermissionLacking
from sojourn.lab.groups import LEAST_CORES, PERIODS, USED_UP, CoreShare
from sojourn.lab.network import LEAST_RATE, MOST_RATE, NIC, Network
from sojourn.lab.registry import Book, clean_stale
from sojourn.study.kv.cpu import sent_bytes

CLIENT = "client"
PORT = 11211
Meters = dict[str, Callable[[], float]]


class Lab(BaseModel):
    """`[lab]`: where the hosts are. Rates bound what each host sends; shares are of one core. None: no limit.
    `pinned`: each process keeps to the cores that `affinity.assigned` says, else the scheduler decides."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    hosts: str = Field(default="loopback", pattern="^(loopback|namespaces)$")
    mtu_bytes: int = Field(default=1500, ge=576, le=9000)
    server_rate_bit_per_s: float | None = Field(default=None, ge=LEAST_RATE, le=MOST_RATE)
    proxy_rate_bit_per_s: float | None = Field(default=None, ge=LEAST_RATE, le=MOST_RATE)
    server_cores: float | None = Field(default=None, ge=LEAST_CORES, le=1024)
    pinned: bool = True

    @model_validator(mode="after")
    def _sense(self) -> Lab:
        limits = (self.server_rate_bit_per_s, self.proxy_rate_bit_per_s, self.server_cores)
        if self.hosts == "loopback" and any(limits):
            raise ValueError("limits need hosts of their own: set hosts = 'namespaces', or leave the limits out")
        return self


@dataclass
class Place:
    """The hosts of one study; names are `client`, `server1` … and `proxy1` …. `network` is None on loopback."""

    lab: Lab = field(default_factory=Lab)
    network: Network | None = None
    shares: dict[str, CoreShare] = field(default_factory=dict)

    def path(self, host: str) -> str | None:
        """The network namespace of a host, None where it has none of its own."""
        return self.network.path(host) if self.network else None

    def address(self, host: str) -> str:
        return self.network.address(host) if self.network else "127.0.0.1"

    def server_options(self, host: str) -> dict[str, Any]:
        """For `start_server`; ports on a host of its own are all free."""
        if not self.network:
            return {}
        return {"network": self.path(host), "address": self.address(host), "port": PORT}

    def started(self, host: str, pids: list[int]) -> None:
        """Its processes run: they get the host's share of the cores."""
        for pid in pids if host in self.shares else ():
            self.shares[host].add(pid)

    def meters(self, processes: Mapping[str, int]) -> Meters:
        """What to sample beside CPU times: bytes sent by each host, periods of each share. `processes`: one a host."""
        if not self.network:
            return {}
        found: Meters = {f"sent {host}": partial(sent_bytes, pid, NIC) for host, pid in processes.items()}
        for host in self.shares.keys() & processes.keys():
            found[f"periods {host}"] = partial(self.shares[host].counter, PERIODS)
            found[f"used up {host}"] = partial(self.shares[host].counter, USED_UP)
        return found

    def limits(self, used: Mapping[str, float], seconds: float) -> dict[str, float]:
        """Columns of `Seen` from what was counted in `seconds`; those that are unknown here are left out."""
        sent = {kind: _most(used, f"sent {kind}", 8 / seconds) for kind in ("server", "proxy")}
        waits = [
            used[f"used up {host}"] / used[f"periods {host}"] if used[f"periods {host}"] > 0 else 0.0
            for host in self.shares if f"periods {host}" in used
        ]  # fmt: skip
        found = {
            "server_sent_bit_per_s": sent["server"], "proxy_sent_bit_per_s": sent["proxy"],
            "server_rate_bit_per_s": self.lab.server_rate_bit_per_s, "proxy_rate_bit_per_s": self.lab.proxy_rate_bit_per_s,
            "server_cores": self.lab.server_cores, "server_throttled": max(waits, default=None),
        }  # fmt: skip
        return {"pinned": self.lab.pinned} | {name: value for name, value in found.items() if value is not None}

    def describe(self) -> dict[str, Any]:
        """For the report: what limits the hosts, and what is not shown."""
        lacking = "a network or a share of the cores that limits: all hosts share this machine's loopback and cores"
        refused = sorted(set(self.network.refused)) if self.network else []
        return {**self.lab.model_dump(), "refused": refused, "not shown": [] if self.network else [lacking]}


def _most(used: Mapping[str, float], start: str, scale: float) -> float | None:
    """The most of the counters whose name begins so."""
    found = [value * scale for name, value in used.items() if name.startswith(start)]
    return max(found, default=None)


@contextmanager
def place(lab: Lab, servers: int, proxies: int) -> Iterator[Place]:
    """The hosts that `lab` asks for; everything made is removed at the end, or by the next start.

    Raises:
        PermissionLacking: namespaces without root. LabError: they, a rate or a share cannot be had here.
    """
    if lab.hosts == "loopback":
        yield Place(lab)
        return
    _can()
    clean_stale()
    token = secrets.token_hex(3)
    book = Book(token)
    try:
        yield _made(lab, book, token, servers, proxies)
    finally:
        book.close()


def _made(lab: Lab, book: Book, token: str, servers: int, proxies: int) -> Place:
    names = [f"server{k + 1}" for k in range(servers)], [f"proxy{k + 1}" for k in range(proxies)]
    network = Network(book, token, [CLIENT, *names[0], *names[1]], lab.mtu_bytes)
    for hosts, rate in zip(names, (lab.server_rate_bit_per_s, lab.proxy_rate_bit_per_s), strict=True):
        if rate:
            for host in hosts:
                network.limit(host, rate)
    shares = {
        host: CoreShare.make(book, f"sojourn-{token}-{host}", lab.server_cores) for host in names[0] if lab.server_cores
    }
    return Place(lab, network, shares)


def _can() -> None:
    where, remedy = "lab.hosts = 'namespaces'", "or set lab.hosts = 'loopback' and leave its limits out"
    if os.geteuid():
        raise PermissionLacking("not root", where, f"run as root, {remedy}")
    if not shutil.which("ip"):
        raise LabError("ip: no such command", where, f"install the package iproute2, {remedy}")
