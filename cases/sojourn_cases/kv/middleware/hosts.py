"""Where the hosts of the system are: all on loopback, or each in a namespace of its own with what limits it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from sojourn.lab import (
    LEAST_BIT_PER_S,
    LEAST_CORE_SHARE,
    MOST_BIT_PER_S,
    NIC,
    QUOTA_PERIODS,
    QUOTA_USED_UP,
    CleanupRegistry,
    CpuShareCgroup,
    EmulatedNetwork,
)
from sojourn_cases.common.namespace_hosts import namespace_registry
from sojourn_cases.kv.middleware.host_counters import sent_bytes

CLIENT = "client"
PORT = 11211
SENT = "sent_bytes"
PLACE, INSTEAD = "system.hosts = 'namespaces'", "or set hosts = 'loopback' and leave its limits out"
KINDS = (CLIENT, "server", "proxy")  # how the names of hosts begin
Meters = dict[tuple[str, str], Callable[[], float]]  # (host, item) → a counter


class HostOptions(BaseModel):
    """Where the hosts are. Rates bound what each host sends; shares are of one core. None: no limit. `pinned`: each process
    keeps to the cores that `affinity.assigned` says, else the scheduler decides. Client limits are of each client host."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    hosts: str = Field(default="loopback", pattern="^(loopback|namespaces)$")
    mtu_bytes: int = Field(default=1500, ge=576, le=9000)
    server_rate_bit_per_s: float | None = Field(default=None, ge=LEAST_BIT_PER_S, le=MOST_BIT_PER_S)
    proxy_rate_bit_per_s: float | None = Field(default=None, ge=LEAST_BIT_PER_S, le=MOST_BIT_PER_S)
    client_rate_bit_per_s: float | None = Field(default=None, ge=LEAST_BIT_PER_S, le=MOST_BIT_PER_S)
    server_cores: float | None = Field(default=None, ge=LEAST_CORE_SHARE, le=1024)
    client_cores: float | None = Field(default=None, ge=LEAST_CORE_SHARE, le=1024)
    pinned: bool = True

    @model_validator(mode="after")
    def _sense(self) -> HostOptions:
        rates = (self.server_rate_bit_per_s, self.proxy_rate_bit_per_s, self.client_rate_bit_per_s)
        limits = (*rates, self.server_cores, self.client_cores)
        if self.hosts == "loopback" and any(limits):
            raise ValueError("limits need separate network hosts: set hosts = 'namespaces', or leave the limits out")
        return self


@dataclass
class Hosts:
    """Names are `client`, `client2` …, `server1` … and `proxy1` …. `network` is None on loopback."""

    options: HostOptions = field(default_factory=HostOptions)
    network: EmulatedNetwork | None = None
    shares: dict[str, CpuShareCgroup] = field(default_factory=dict)

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
        """What to count beside CPU times: bytes sent by each host, periods of each share. `processes`: one a host."""
        if not self.network:
            return {}
        found: Meters = {(host, SENT): partial(sent_bytes, pid, NIC) for host, pid in processes.items()}
        for host in self.shares.keys() & processes.keys():
            found |= {(host, item): partial(self.shares[host].counter, item) for item in (QUOTA_PERIODS, QUOTA_USED_UP)}
        return found

    def limits(self, grown: Mapping[tuple[str, str], float], seconds: float) -> dict[str, Any]:
        """What limits the hosts, and how much of it was used in `seconds`: of the server and the middleware that sent most,
        of the server and the client that waited most for their share. What is unknown here is left out."""
        sent = {
            kind: max((8 * n / seconds for (host, item), n in grown.items() if item == SENT and host.startswith(kind)),
                      default=None)
            for kind in KINDS
        }  # fmt: skip
        waits = {
            kind: max((grown[host, QUOTA_USED_UP] / n if n else 0.0
                       for (host, item), n in grown.items() if item == QUOTA_PERIODS and host.startswith(kind)), default=None)
            for kind in KINDS
        }  # fmt: skip
        found = {
            **{f"{kind}_sent_bit_per_s": sent[kind] for kind in KINDS},
            **{f"{kind}_rate_bit_per_s": getattr(self.options, f"{kind}_rate_bit_per_s") for kind in KINDS},
            "server_cores": self.options.server_cores, "client_cores": self.options.client_cores,
            "server_throttled": waits["server"], "client_throttled": waits[CLIENT],
        }  # fmt: skip
        return {"pinned": self.options.pinned} | {name: value for name, value in found.items() if value is not None}

    def describe(self) -> dict[str, Any]:
        """For the report: what limits the hosts, and what is not shown."""
        lacking = "limits of networks and of cores: all hosts share this machine's loopback and cores"
        refused = sorted(set(self.network.refused)) if self.network else []
        said = {name: getattr(self.options, name) for name in HostOptions.model_fields}
        return {**said, "refused": refused, "not shown": [] if self.network else [lacking]}


@contextmanager
def open_hosts(options: HostOptions, servers: int, proxies: int, clients: int = 1) -> Iterator[Hosts]:
    """The hosts that are asked for, with so many `clients`; everything made is removed at the end, or by the next start.

    Raises:
        PermissionLacking: namespaces without root. LabError: they, a rate or a share cannot be had here.
    """
    if options.hosts == "loopback":
        yield Hosts(options)
        return
    with namespace_registry(PLACE, INSTEAD, {"ip": "iproute2"}) as (registry, token):
        yield _made(options, registry, token, servers, proxies, clients)


def _made(
    options: HostOptions, registry: CleanupRegistry, token: str, servers: int, proxies: int, clients: int
) -> Hosts:
    names = {
        CLIENT: client_names(clients),
        "server": [f"server{k + 1}" for k in range(servers)],
        "proxy": [f"proxy{k + 1}" for k in range(proxies)],
    }
    every = [CLIENT, *names["server"], *names["proxy"], *names[CLIENT][1:]]
    network = EmulatedNetwork(registry, token, every, options.mtu_bytes)
    for kind, hosts in names.items():
        rate = getattr(options, f"{kind}_rate_bit_per_s")
        for host in hosts if rate else ():
            network.limit(host, rate)
    parts = {"server": options.server_cores, CLIENT: options.client_cores}
    shares = {
        host: CpuShareCgroup.make(registry, f"sojourn-{token}-{host}", cores)
        for kind, cores in parts.items() if cores for host in names[kind]
    }  # fmt: skip
    return Hosts(options, network, shares)


def client_names(number: int) -> list[str]:
    """Of so many client hosts."""
    return [CLIENT, *(f"{CLIENT}{k}" for k in range(2, number + 1))]
