"""Who may be a dask peer. Scheduler, workers and clients send each other pickles: whoever one of them is can run code in the others.
So a cluster is reached by TLS, or on loopback where the scheduler is of this user or root; all else only where the user says so."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable, Iterator
from contextlib import suppress
from ipaddress import IPv6Address, ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from sojourn.errors import InputError, WorkerError

if TYPE_CHECKING:
    from distributed.security import Security

INSECURE = "dask+insecure"
SCHEMES = ("dask", "tcp", "tls", INSECURE)
PAGE = "docs/howto/run-on-a-cluster.md"
LISTENS = "0A"  # of a line of /proc/net/tcp


def checked_address(kind: str, host: str, port: int) -> str:
    """The address for dask, with a number for a name that was looked up: nobody can answer another one later.

    Raises InputError where anybody on the way, or another user of this machine, could be the scheduler.
    """
    if kind in ("tls", INSECURE):
        return f"{'tls' if kind == 'tls' else 'tcp'}://{host}:{port}"
    given = f"{kind}://{host}:{port}"
    found = _numbers(host, port)
    if not found or not all(_loopback(number) for number in found):
        raise InputError(
            f"{given} is neither TLS nor loopback: dask's peers can run code on this machine",
            "--parallel",
            _remedy(host, port),
        )
    strangers = set(_listeners(port)) - {0, os.geteuid()}
    if strangers:
        whose = ", ".join(f"user {uid}" for uid in sorted(strangers))
        raise InputError(
            f"the scheduler at {given} belongs to {whose}, who could run code as you", "--parallel", _remedy(host, port)
        )
    number = found[0]
    return f"tcp://[{number}]:{port}" if ":" in number else f"tcp://{number}:{port}"


def check_peers(scheduler: str, workers: Iterable[str]) -> None:
    """Raises WorkerError where a scheduler that was reached on loopback, or a worker of it, can be reached from elsewhere without TLS."""
    what = {scheduler: "scheduler --host 127.0.0.1", **dict.fromkeys(workers, "worker --host 127.0.0.1 ADDRESS")}
    for address, start in what.items():
        kind, _, rest = address.partition("://")
        host = rest.rpartition(":")[0].strip("[]")
        if kind not in ("tls", "inproc") and not (_is_number(host) and _loopback(host)):
            role = start.partition(" ")[0]
            raise WorkerError(
                f"the {role} at {address} has no TLS and is not on loopback: anyone who can reach it can run code on this machine",
                "--parallel",
                f"start it with dask {start}, or the cluster with TLS, or use {INSECURE}://HOST:PORT if you trust all of its network "
                f"({PAGE})",
            )  # fmt: skip


def security() -> Security:
    """The certificates of dask's configuration. Raises InputError where they are not there or cannot be read."""
    from distributed.security import Security

    place = "dask's configuration, distributed.comm.tls"
    made: Any = Security(require_encryption=True)
    files = {"ca-file": made.tls_ca_file, "client.cert": made.tls_client_cert, "client.key": made.tls_client_key}
    if lacking := [name for name, file in files.items() if not file]:
        raise InputError(f"tls:// without {', '.join(lacking)}", place, f"give the cluster's certificates: {PAGE}")
    try:
        made.get_connection_args("client")
    except (OSError, ValueError) as error:  # ssl does not say which file
        raise InputError(f"{error} in one of {', '.join(files.values())}", place, f"give PEM files: {PAGE}") from None
    return cast("Security", made)


def _remedy(host: str, port: int) -> str:
    return (
        f"start the cluster with TLS and give tls://{host}:{port}, or {INSECURE}://{host}:{port} if you trust everyone who can reach it "
        f"({PAGE})"
    )


def _numbers(host: str, port: int) -> list[str]:
    try:
        found = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return list(dict.fromkeys(str(place[4][0]) for place in found))


def _is_number(host: str) -> bool:
    with suppress(ValueError):
        return bool(ip_address(host))
    return False


def _loopback(number: str) -> bool:
    address = ip_address(number.partition("%")[0])
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return (mapped or address).is_loopback


def _listeners(port: int, proc: Path = Path("/proc/self/net")) -> Iterator[int]:
    """The users whose sockets wait for connections at a port of this machine."""
    for name in ("tcp", "tcp6"):
        with suppress(OSError):
            for line in (proc / name).read_text().splitlines()[1:]:
                words = line.split()
                if words[3] == LISTENS and int(words[1].rpartition(":")[2], 16) == port:
                    yield int(words[7])
