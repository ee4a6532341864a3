"""Hosts as network namespaces: a client and a server joined by veth pairs ("NICs")."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from sojourn.errors import LabError
from sojourn.lab.registry import Book
from sojourn.lab.topology import Placement

NIC_SETUP = Path(__file__).with_name("nic_setup.py")


def core_mask(core: int) -> str:
    """The kernel's bitmap of one core: hexadecimal, groups of 32 bits joined by commas."""
    digits = f"{1 << core:x}"
    groups: list[str] = []
    while digits:
        groups.insert(0, digits[-8:])
        digits = digits[:-8]
    return ",".join(groups)


def ip(*arguments: str, what: str) -> str:
    """Runs the ip command; its complaint becomes a LabError."""
    try:
        done = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False, timeout=20)
    except FileNotFoundError:
        raise LabError("ip: no such command", what, "install the package iproute2") from None
    if done.returncode:
        raise LabError(done.stderr.strip() or f"ip ended with {done.returncode}", what, "run: sojourn lab doctor")
    return done.stdout


class Hosts:
    """A client and a server host with one or more NICs between them; `close` removes both.

    The server's address on NIC k is 10.77.k.1, the client's 10.77.k.2; both exist only inside the namespaces.
    """

    def __init__(self, book: Book, token: str, mtu_bytes: int = 1500) -> None:
        self.client = f"sojourn-{token}-client"
        self.server = f"sojourn-{token}-server"
        self.mtu_bytes = mtu_bytes
        self.refused: list[str] = []
        for name in (self.client, self.server):
            book.add(namespace=name)
            ip("netns", "add", name, what="network namespace")
            ip("-n", name, "link", "set", "lo", "up", what="loopback")

    @staticmethod
    def path(namespace: str) -> str:
        return f"/run/netns/{namespace}"

    @staticmethod
    def server_address(nic: int) -> str:
        return f"10.77.{nic}.1"

    def connect(self, placement: Placement) -> None:
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
        name, what = f"nic{nic}", "veth pair"
        ip("-n", self.server, "link", "add", name, "type", "veth", "peer", "name", name,
           "netns", self.client, what=what)  # fmt: skip
        for host, last in ((self.server, 1), (self.client, 2)):
            ip("-n", host, "address", "add", f"10.77.{nic}.{last}/24", "dev", name, what=what)
            ip("-n", host, "link", "set", name, "mtu", str(self.mtu_bytes), "up", what=what)

    def _setup(self, host: str, cores: tuple[int, ...]) -> None:
        nics = {f"nic{k}": core_mask(core) for k, core in enumerate(cores)}
        done = subprocess.run(
            ["ip", "netns", "exec", host, sys.executable, "-I", str(NIC_SETUP)],
            input=json.dumps({"nics": nics}),
            capture_output=True,
            text=True,
            check=False,
            timeout=20,
        )
        if done.returncode:
            raise LabError(done.stderr.strip()[-300:], f"set-up of the NICs of {host}", "run: sojourn lab doctor")
        answer = json.loads(done.stdout)
        self.refused += answer["offloads"]
        if answer["steering"]:
            raise LabError(
                "; ".join(answer["steering"]),
                "receive packet steering",
                "use a kernel with CONFIG_RPS, or run the study with lab.kind = 'loopback'",
            )
