"""Two hosts as network namespaces: a client and a server joined by veth pairs ("NICs")."""

from __future__ import annotations

import json

from sojourn.lab.cleanup_registry import CleanupRegistry
from sojourn.lab.cpu_topology import CorePlacement
from sojourn.lab.namespaces import ip, make_namespace, pair, path_of, raise_nic, set_up_nics


def core_mask(*cores: int) -> str:
    """The kernel's bitmap of cores: hexadecimal, groups of 32 bits joined by commas."""
    digits = f"{sum(1 << core for core in cores):x}"
    groups: list[str] = []
    while digits:
        groups.insert(0, digits[-8:])
        digits = digits[:-8]
    return ",".join(groups)


class EmulatedHosts:
    """A client and a server host with one or more NICs between them; both are in the registry, which removes them.

    The server's address on NIC k is 10.77.k.1, the client's 10.77.k.2; both exist only inside the namespaces.
    """

    def __init__(self, registry: CleanupRegistry, token: str, mtu_bytes: int = 1500) -> None:
        self.client = f"sojourn-{token}-client"
        self.server = f"sojourn-{token}-server"
        self.mtu_bytes = mtu_bytes
        self.refused: list[str] = []
        for name in (self.client, self.server):
            make_namespace(registry, name)

    @staticmethod
    def path(namespace: str) -> str:
        return path_of(namespace)

    @staticmethod
    def server_address(nic: int) -> str:
        return f"10.77.{nic}.1"

    def connect(self, placement: CorePlacement) -> None:
        """Makes one veth pair for each interrupt core of `placement`, in place of what was there."""
        for nic in range(self._count()):
            ip("-n", self.server, "link", "delete", f"nic{nic}", what="veth pair")
        for nic in range(len(placement.interrupts)):
            self._pair(nic)
        self._setup(self.server, placement.interrupts)
        self._setup(self.client, placement.client)

    def _count(self) -> int:
        links = json.loads(ip("-n", self.server, "-j", "link", "show", what="links"))
        return sum(link["ifname"].startswith("nic") for link in links)

    def _pair(self, nic: int) -> None:
        name = f"nic{nic}"
        pair(self.server, name, self.client, name)
        for host, last in ((self.server, 1), (self.client, 2)):
            raise_nic(host, name, self.mtu_bytes, f"10.77.{nic}.{last}/24")

    def _setup(self, host: str, cores: tuple[int, ...]) -> None:
        self.refused += set_up_nics(host, {f"nic{k}": core_mask(core) for k, core in enumerate(cores)})
