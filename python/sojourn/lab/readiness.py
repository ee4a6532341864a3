"""Whether a service is ready, and who holds its port."""

from __future__ import annotations

import socket
import ssl
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sojourn.lab.process_tree import entries, name_of

ANSWER_S = 2.0
LISTEN = "0A"


def problem(ready: dict[str, Any]) -> str:
    """Why it is not ready: `url` must answer with a status below 400, `address` (host, port) or `unix` (the path of a socket)
    must accept, `printed` (a file and a text) must be there; empty: it is."""
    if "url" in ready:
        return _asked(ready["url"])
    if "printed" in ready:
        return _printed(*ready["printed"])
    return _entered(ready["unix"]) if "unix" in ready else _reached(*ready["address"])


def _printed(file: str, text: str) -> str:
    with suppress(OSError):
        if text.encode() in Path(file).read_bytes():
            return ""
    return f"it has not printed {text!r}"


def _asked(url: str) -> str:
    unchecked = ssl._create_unverified_context()  # whose certificate it is, the load asks
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=unchecked)
    )
    try:
        with opener.open(url, timeout=ANSWER_S):
            return ""
    except urllib.error.HTTPError as error:
        return f"{url} answers with {error.code}"
    except (OSError, ValueError) as error:
        return f"{url}: {getattr(error, 'reason', error)}"
    except Exception as error:  # http.client: an answer that is no HTTP
        return f"{url}: {type(error).__name__}"


def _reached(host: str, port: int) -> str:
    try:
        with socket.create_connection((host, port), ANSWER_S):
            return ""
    except OSError as error:
        return f"{host}:{port}: {error.strerror or error}"


def _entered(path: str) -> str:
    try:
        with socket.socket(socket.AF_UNIX) as one:
            one.settimeout(ANSWER_S)
            one.connect(path)
            return ""
    except OSError as error:
        return f"{path}: {error.strerror or error}"


def address_of(ready: dict[str, Any]) -> tuple[str, int]:
    """Host and port behind a URL or an address."""
    if "address" in ready:
        return ready["address"][0], ready["address"][1]
    parts = urlsplit(ready["url"])
    return parts.hostname or "127.0.0.1", parts.port or (443 if parts.scheme == "https" else 80)


def holder(host: str, port: int, proc: Path = Path("/proc")) -> str:
    """Who accepts there: `process 4711 (nginx)`; empty where nobody does."""
    if _reached(host, port):
        return ""
    sockets = {f"socket:[{inode}]" for inode in _listening(port, proc)}
    for pid, link in entries("fd", proc):
        with suppress(OSError):
            if str(link.readlink()) in sockets:
                return f"process {pid} ({name_of(pid)})"
    return "another process"


def _listening(port: int, proc: Path) -> set[str]:
    found = set()
    for table in ("net/tcp", "net/tcp6"):
        with suppress(OSError):
            for line in (proc / table).read_text().splitlines()[1:]:
                fields = line.split()
                if fields[3] == LISTEN and int(fields[1].rpartition(":")[2], 16) == port:
                    found.add(fields[9])
    return found
