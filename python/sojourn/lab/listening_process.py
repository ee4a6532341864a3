"""Which processes answer at an address of this machine: the owners of its listening socket, and all that they started."""

from __future__ import annotations

import ipaddress
import socket
from contextlib import suppress

import psutil

from sojourn.lab.process_tree import descendants


def listening_processes(host: str, port: int) -> tuple[int, ...]:
    """Ids of the processes that listen at a local `host` and `port`, children included, smallest first; none where the host is no address
    of this machine's loopback, or where another user's process listens."""
    if not _is_loopback(host):
        return ()
    owners: set[int] = set()
    with suppress(psutil.Error, OSError):
        owners = {
            one.pid for one in psutil.net_connections("tcp")
            if one.status == psutil.CONN_LISTEN and one.pid and one.laddr and one.laddr.port == port
        }  # fmt: skip
    return tuple(sorted(owners | {child for owner in owners for child in descendants(owner)}))


def _is_loopback(host: str) -> bool:
    try:
        found = {info[4][0] for info in socket.getaddrinfo(host, None)}
        return all(ipaddress.ip_address(str(one).partition("%")[0]).is_loopback for one in found)
    except (OSError, ValueError):
        return False
