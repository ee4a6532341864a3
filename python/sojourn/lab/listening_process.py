"""Which processes answer at an address of this machine: the owners of its listening socket."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterable
from contextlib import suppress
from urllib.parse import urlsplit

import psutil

PORTS = {"http": 80, "https": 443, "memcached": 11211, "messages": 7400}


def listeners(urls: Iterable[str]) -> tuple[int, ...]:
    """Ids of the processes whose sockets listen where `urls` go, smallest first; none of other machines, and none of another user's."""
    found: set[int] = set()
    for url in urls:
        with suppress(ValueError):  # what is no URL, the load refuses
            parts = urlsplit(url)
            found |= set(_owners(parts.hostname or "", parts.port or PORTS.get(parts.scheme, 0)))
    return tuple(sorted(found))


def _owners(host: str, port: int) -> set[int]:
    if not _is_loopback(host):
        return set()
    with suppress(psutil.Error, OSError):
        return {
            one.pid for one in psutil.net_connections("tcp")
            if one.status == psutil.CONN_LISTEN and one.pid and one.laddr and one.laddr.port == port and _reaches(one.laddr.ip)
        }  # fmt: skip
    return set()


def _reaches(address: str) -> bool:
    """Whether a socket that listens there is on the loopback, among others."""
    own = ipaddress.ip_address(address.partition("%")[0])
    return own.is_unspecified or own.is_loopback


def _is_loopback(host: str) -> bool:
    try:
        found = {info[4][0] for info in socket.getaddrinfo(host, None)}
        return bool(host) and all(ipaddress.ip_address(str(one).partition("%")[0]).is_loopback for one in found)
    except (OSError, ValueError):
        return False
