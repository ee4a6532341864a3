"""Network namespaces as hosts: made, joined by veth pairs, their NICs set up. `emulated_hosts.py` and `emulated_network.py` use them."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from sojourn import _native
from sojourn.errors import LabError
from sojourn.lab.cleanup_registry import CleanupRegistry

NIC_SETUP = Path(__file__).with_name("nic_configuration.py")
LIMIT_S = 20
Answer = TypeVar("Answer")


def command(program: str, *arguments: str, what: str) -> str:
    """Runs `ip` or `tc`; its complaint becomes a LabError about `what`."""
    try:
        done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False, timeout=LIMIT_S)
    except FileNotFoundError:
        raise LabError(f"{program}: no such command", what, "install the package iproute2") from None
    if done.returncode:
        raise LabError(done.stderr.strip() or f"{program} ended with {done.returncode}", what, "run: sojourn doctor")
    return done.stdout


def ip(*arguments: str, what: str) -> str:
    """Runs the ip command."""
    return command("ip", *arguments, what=what)


def make_namespace(registry: CleanupRegistry, name: str) -> None:
    """A network namespace with a loopback that is up; written down before it is made."""
    registry.add(namespace=name)
    ip("netns", "add", name, what="network namespace")
    ip("-n", name, "link", "set", "lo", "up", what="loopback")


def path_of(namespace: str) -> str:
    """Where a process finds the namespace, to enter it."""
    return f"/run/netns/{namespace}"


def pair(namespace: str, name: str, peer_namespace: str, peer: str) -> None:
    """A veth pair, an end in each namespace; both are down."""
    ip("-n", namespace, "link", "add", name, "type", "veth", "peer", "name", peer, "netns", peer_namespace,
       what="veth pair")  # fmt: skip


def raise_nic(namespace: str, name: str, mtu_bytes: int, address: str | None = None) -> None:
    """Gives a NIC its address (`10.0.0.1/24`) and packet size, and sets it up."""
    if address:
        ip("-n", namespace, "address", "add", address, "dev", name, what="address")
    ip("-n", namespace, "link", "set", name, "mtu", str(mtu_bytes), "up", what="NIC")


def set_up_nics(namespace: str, nics: Mapping[str, str | None]) -> list[str]:
    """Switches the offloads of the NICs off, so that packets have the size that they would have on a wire, and steers
    each to its cores (hexadecimal mask; None: leaves it). Returns what was refused of the offloads.

    Raises:
        LabError: the set-up failed, or receive steering is not to be had.
    """
    done = subprocess.run(
        ["ip", "netns", "exec", namespace, sys.executable, "-I", str(NIC_SETUP)],
        input=json.dumps({"nics": dict(nics)}), capture_output=True, text=True, check=False, timeout=LIMIT_S,
    )  # fmt: skip
    if done.returncode:
        raise LabError(done.stderr.strip()[-300:], f"set-up of the NICs of {namespace}", "run: sojourn doctor")
    answer: dict[str, list[str]] = json.loads(done.stdout)
    if answer["steering"]:
        raise LabError(
            "; ".join(answer["steering"]),
            "receive packet steering",
            "use a kernel with CONFIG_RPS, or run the study with lab.kind = 'loopback'",
        )
    return answer["offloads"]


def in_namespace(network: str | None, work: Callable[[], Answer]) -> Answer:
    """What `work` returns, called in the network namespace at the path `network` (None: here), in a thread of its own:
    a thread that has entered one does not come back."""
    if network is None:
        return work()
    found: dict[str, Any] = {}

    def run() -> None:
        try:
            _native.enter_network(network)
            found["answer"] = work()
        except BaseException as error:
            found["error"] = error

    thread = threading.Thread(target=run, name="inside")
    thread.start()
    thread.join()
    if "error" in found:
        raise found["error"]
    answer: Answer = found["answer"]
    return answer
