"""Where the servers of a site are: all on loopback, or each on a host of its own: a network namespace with a share of the cores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sojourn.lab import CLIENT, CleanupRegistry, CpuShareCgroup, EmulatedNetwork
from sojourn_cases.common.namespace_hosts import namespace_registry
from sojourn_cases.ntier.bulletin_board_options import BulletinSystemOptions

LOOPBACK = "127.0.0.1"
PLACE, INSTEAD = "[system] hosts = 'namespaces'", "or set hosts = 'loopback' and leave host_cores out"
WEB, APPLICATION, DATABASE = "web", "application", "database"


class SiteHosts:
    """Hosts by name: `client`, `web1` …, `application1` …, `database1`. `host_cores`: the share of one core that each web and application
    host has, None without a limit."""

    def __init__(
        self,
        network: EmulatedNetwork | None = None,
        host_cores: float | None = None,
        registry: CleanupRegistry | None = None,
        token: str = "",
    ) -> None:
        self.network, self.host_cores = network, host_cores
        self._registry, self._token = registry, token
        self._shares: dict[str, CpuShareCgroup] = {}

    def path(self, host: str) -> str | None:
        """The network namespace of a host; None on loopback."""
        return self.network.path(host) if self.network else None

    def address(self, host: str) -> str:
        return self.network.address(host) if self.network else LOOPBACK

    def started(self, host: str, counted: str | None, pids: Iterable[int]) -> None:
        """Processes of a host run, in the control group at `counted` where there is one: they get the host's share of the cores.

        Raises:
            LabError: no share can be had here.
        """
        if self.host_cores is None or self._registry is None:
            return
        if counted and CpuShareCgroup.of(Path(counted), self.host_cores):
            return
        if host not in self._shares:
            self._shares[host] = CpuShareCgroup.make(self._registry, f"sojourn-{self._token}-{host}", self.host_cores)
        for pid in pids:
            self._shares[host].add(pid)

    def described(self) -> dict[str, Any]:
        """For the manifest, beside what a site on loopback says; nothing on loopback."""
        if not self.network:
            return {}
        return {
            "kind": "namespaces",
            "not shown": [],
            "host_cores": self.host_cores,
            "refused": sorted(set(self.network.refused)),
        }


def names(options: BulletinSystemOptions) -> list[str]:
    """Of all hosts that a point may use."""
    web = [f"{WEB}{k}" for k in range(1, options.web_servers + 1)]
    application = [f"{APPLICATION}{k}" for k in range(1, options.application_servers + 1)]
    return [CLIENT, *web, *application, *([f"{DATABASE}1"] if options.database else [])]


@contextmanager
def site_hosts(options: BulletinSystemOptions) -> Iterator[SiteHosts]:
    """The hosts that are asked for; everything made is removed at the end, or by the next start.

    Raises:
        PermissionLacking: namespaces without root. LabError: they, or a share, cannot be had here.
    """
    if options.hosts == "loopback":
        yield SiteHosts()
        return
    with namespace_registry(PLACE, INSTEAD, {"ip": "iproute2", "nsenter": "util-linux"}) as (registry, token):
        yield SiteHosts(EmulatedNetwork(registry, token, names(options)), options.host_cores, registry, token)
