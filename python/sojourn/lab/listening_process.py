"""Which processes answer at an address of this machine: the owners of its listening socket."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterable
from contextlib import suppress
from typing import TypeAlias
from urllib.parse import urlsplit

import psutil

from sojourn.errors import ServiceError

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
PORTS = {"http": 80, "https": 443, "memcached": 11211, "messages": 7400, "nbd": 10809}
ANSWER_S = 2.0


def listeners(urls: Iterable[str]) -> tuple[int, ...]:
    """Ids of the processes whose sockets listen where `urls` go, smallest first; none of other machines, and none of another user's."""
    found: set[int] = set()
    for url in urls:
        with suppress(ValueError):  # what is no URL, the load refuses
            parts = urlsplit(url)
            found |= set(_owners(parts.hostname or "", parts.port or PORTS.get(parts.scheme, 0)))
    return tuple(sorted(found))


def refuse_closed(urls: Iterable[str], loopback: bool = False) -> None:
    """Opens a connection to where each of `urls` goes, and closes it; with `loopback` only on this machine. What is not refused, the load
    tells.

    Raises:
        ServiceError: one is refused: nothing listens there.
    """
    for url in urls:
        with suppress(ValueError):  # what is no URL, the load refuses
            parts = urlsplit(url)
            host, port = parts.hostname or "", parts.port or PORTS.get(parts.scheme, 0)
            if host and port and not (loopback and not all(one.is_loopback for one in _addresses(host))):
                _connect(host, port, f"{parts.scheme}://{host}:{port}")


def _connect(host: str, port: int, place: str) -> None:
    try:
        socket.create_connection((host, port), ANSWER_S).close()
    except ConnectionRefusedError:
        remedy = "start the service or check the port"
        raise ServiceError(f"nothing listens at {host}:{port}", place, remedy) from None
    except OSError:
        return


def _owners(host: str, port: int) -> set[int]:
    hosts = _addresses(host)
    if not hosts or not all(one.is_loopback for one in hosts):
        return set()
    with suppress(psutil.Error, OSError):
        return {
            one.pid for one in psutil.net_connections("tcp")
            if one.status == psutil.CONN_LISTEN and one.pid and one.laddr and one.laddr.port == port and _reached(one.laddr.ip, hosts)
        }  # fmt: skip
    return set()


def _reached(listening: str, hosts: Iterable[Address]) -> bool:
    """Whether what goes to one of `hosts` may come to a socket that listens there: at the same address, at all of its family, or at `::`,
    which takes IPv4, too, unless it is told not to (ipv6(7), IPV6_V6ONLY)."""
    own = _address(listening)
    return any(own == host or (own.is_unspecified and own.version in (host.version, 6)) for host in hosts)


def _address(text: str) -> Address:
    """Without its zone; an IPv4 address that is written as one of IPv6 as what it is."""
    found = ipaddress.ip_address(text.partition("%")[0])
    return (found.ipv4_mapped or found) if isinstance(found, ipaddress.IPv6Address) else found


def _addresses(host: str) -> set[Address]:
    """None where it has none."""
    if not host:
        return set()
    with suppress(OSError, ValueError):
        return {_address(str(info[4][0])) for info in socket.getaddrinfo(host, None)}
    return set()
