"""Many hosts, each a network namespace with one NIC, joined by a switch; what a host sends can be given a rate.

The switch is a bridge in a namespace of its own, so nothing of it is seen outside. A rate is a token bucket of the
kernel (`tc-tbf(8)`) on the host's own NIC: it bounds what the host sends ("upload"), counted with the Ethernet header,
without preamble and checksum of the frame. The queue before the bucket loses nothing that a closed loop can put there.
"""

from __future__ import annotations

from collections.abc import Sequence

from sojourn.errors import LabError
from sojourn.lab.cleanup_registry import CleanupRegistry
from sojourn.lab.namespaces import command, ip, make_namespace, pair, path_of, raise_nic, set_up_nics

NIC, BRIDGE = "nic0", "switch0"
ETHERNET_BYTES = 14
# What a host may send at once after silence; a sender that is kept from its core for as long still has its rate.
BURST_S = 20e-3
BURST_PACKETS = 4
QUEUE_BYTES = 64 << 20
LEAST_BIT_PER_S, MOST_BIT_PER_S = 1e5, 1e11
HOSTS_MOST = 200


class EmulatedNetwork:
    """Hosts by name (`client`, `server1` …, `proxy1` …). Host k of `names` has the address 10.78.0.(k + 1), which exists
    only inside. Everything is in the registry, which removes it."""

    def __init__(self, registry: CleanupRegistry, token: str, names: Sequence[str], mtu_bytes: int = 1500) -> None:
        if len(names) > HOSTS_MOST:
            raise LabError(f"{len(names)} hosts", "lab", f"use at most {HOSTS_MOST}")
        self.mtu_bytes = mtu_bytes
        self.rates: dict[str, float] = {}
        self.refused: list[str] = []
        self._token = token
        self._order = {name: k + 1 for k, name in enumerate(names)}
        make_namespace(registry, self._namespace("switch"))
        ip("-n", self._namespace("switch"), "link", "add", BRIDGE, "type", "bridge", what="bridge")
        raise_nic(self._namespace("switch"), BRIDGE, mtu_bytes)
        for name in names:
            self._join(registry, name)

    def _namespace(self, name: str) -> str:
        return f"sojourn-{self._token}-{name}"

    def _join(self, registry: CleanupRegistry, name: str) -> None:
        host, switch = self._namespace(name), self._namespace("switch")
        make_namespace(registry, host)
        pair(host, NIC, switch, name)
        ip("-n", switch, "link", "set", name, "master", BRIDGE, what="bridge")
        raise_nic(switch, name, self.mtu_bytes)
        raise_nic(host, NIC, self.mtu_bytes, f"{self.address(name)}/24")
        self.refused += set_up_nics(host, {NIC: None})

    def path(self, name: str) -> str:
        """Where a process finds the host, to enter it."""
        return path_of(self._namespace(name))

    def address(self, name: str) -> str:
        return f"10.78.0.{self._order[name]}"

    def limit(self, name: str, rate_bit_per_s: float) -> None:
        """What the host sends is bounded by this rate, in place of one that it had.

        Raises:
            LabError: a rate below 100 kbit/s or above 100 Gbit/s; the kernel has no token bucket.
        """
        if not LEAST_BIT_PER_S <= rate_bit_per_s <= MOST_BIT_PER_S:
            raise LabError(
                f"{rate_bit_per_s:g} bit/s", f"rate of {name}", f"give {LEAST_BIT_PER_S:g} to {MOST_BIT_PER_S:g} bit/s"
            )
        command(
            "tc", "-n", self._namespace(name), "qdisc", "replace", "dev", NIC, "root", "tbf",
            "rate", f"{rate_bit_per_s:.0f}bit", "burst", str(self._burst_bytes(rate_bit_per_s)),
            "limit", str(QUEUE_BYTES), what="rate of a NIC (CONFIG_NET_SCH_TBF)",
        )  # fmt: skip
        self.rates[name] = rate_bit_per_s

    def _burst_bytes(self, rate_bit_per_s: float) -> int:
        return max(int(rate_bit_per_s / 8 * BURST_S), BURST_PACKETS * (self.mtu_bytes + ETHERNET_BYTES))
