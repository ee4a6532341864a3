"""A client that floods a memcached or what stands in front of it, until it is killed: `flood_clients.py HOST:PORT NAME`.

Nothing of the package is imported: it starts at once. It says `begun` when it has.
"""

from __future__ import annotations

import selectors
import socket
import sys
import threading
import time
from contextlib import suppress

CONNECTIONS, VALUE_BYTES = 2000, 1_000_000
SET = b"set big 0 0 %d\r\n" % VALUE_BYTES + bytes(VALUE_BYTES) + b"\r\n"
BLASTS: dict[str, tuple[bytes, bool]] = {
    "garbage lines": (b"x\r\n" * 20_000, True),
    "tiny pipelined gets": (b"get k\r\n" * 8_000, True),
    "sets of 1 MB": (SET, True),
    "gets of 100 keys": ((b"get" + b" k" * 100 + b"\r\n") * 300, True),
    "sets of 1 MB, never reading": (SET, False),
    "gets of 1 MB, never reading": (b"get large\r\n" * 1_000, False),
}
MANY = f"{CONNECTIONS} connections"
FLOODS = ["none", *BLASTS, "byte by byte", MANY]


def connect(address: str) -> socket.socket:
    host, port = address.rsplit(":", 1)
    client = socket.create_connection((host, int(port)), timeout=20)
    client.settimeout(None)
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return client


def begun() -> None:
    """Tells whoever started this."""
    print("begun", flush=True)


def discard(client: socket.socket) -> None:
    with suppress(OSError):
        while client.recv(1 << 18):
            pass


def blast(address: str, data: bytes, reads: bool) -> None:
    client = connect(address)
    if reads:
        threading.Thread(target=discard, args=(client,), daemon=True).start()
    begun()
    while True:
        client.sendall(data)


def many(address: str) -> None:
    """Each connection asks again as soon as it has its answer."""
    ready = selectors.DefaultSelector()
    for _ in range(CONNECTIONS):
        client = connect(address)
        client.send(b"get k\r\n")
        ready.register(client, selectors.EVENT_READ)
    begun()
    while True:
        for key, _ in ready.select():
            assert isinstance(key.fileobj, socket.socket)
            key.fileobj.recv(4096)
            key.fileobj.send(b"get k\r\n")


def flood(address: str, name: str) -> None:
    """Until it is killed, or the connection ends."""
    if name in BLASTS:
        blast(address, *BLASTS[name])
    elif name == "byte by byte":
        client = connect(address)
        threading.Thread(target=discard, args=(client,), daemon=True).start()
        begun()
        while True:
            for byte in b"get k\r\n":
                client.send(bytes((byte,)))
    elif name == MANY:
        many(address)
    else:
        begun()
        time.sleep(3600)


if __name__ == "__main__":
    flood(*sys.argv[1:3])
