"""The workbench served on loopback, until it is interrupted."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

from sojourn.errors import InputError
from sojourn.ui.guard import AccessSecrets
from sojourn.ui.work_folder import WorkFolder
from sojourn.ui.workbench import workbench

HOST = "127.0.0.1"
MOST_CONNECTIONS = 64


def serve(folder: Path, tell: Callable[[str], None], *, port: int = 0, write: bool = False) -> None:
    """Serves until SIGINT or SIGTERM; `tell` is given the URL. `port` 0: any that is free. InputError for a folder or a port that cannot be
    had."""
    place, secret = WorkFolder(folder), AccessSecrets()
    with listening() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
        except (OSError, OverflowError) as error:
            raise InputError(
                f"port {port}: {getattr(error, 'strerror', None) or error}", "--port", "give another one, or none"
            ) from None
        listener.listen()  # before the URL is told: who opens it at once waits, and is not refused
        tell(f"http://{HOST}:{listener.getsockname()[1]}{secret.root}?token={secret.token}")
        server = uvicorn.Server(_config(workbench(place, secret, write)))
        # what is still being computed when it is interrupted is cut off: no error that anybody need read
        logging.getLogger("uvicorn.error").addFilter(lambda _: not server.should_exit)
        with suppress(KeyboardInterrupt):
            server.run(sockets=[listener])


def listening() -> socket.socket:
    """A TCP socket that names its protocol. asyncio switches Nagle's algorithm off (RFC 896) only on connections of such a one; with it the
    second part of an answer waits until the first is acknowledged, which Linux may put off for 40 ms (tcp(7), TCP_QUICKACK)."""
    return socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)


def _config(app: ASGIApp) -> uvicorn.Config:
    """No log of requests, which would hold the token; no websockets, no headers of proxies."""
    return uvicorn.Config(
        app, log_level="warning", access_log=False, ws="none", proxy_headers=False, server_header=False, date_header=False,
        limit_concurrency=MOST_CONNECTIONS, timeout_keep_alive=5, timeout_graceful_shutdown=1, http="h11", loop="asyncio",
    )  # fmt: skip
