"""The workbench answers as soon as its URL is told."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path
from urllib.parse import urlsplit

import pytest

pytest.importorskip("uvicorn")

from sojourn.ui.serve import listening, serve


class ToldError(Exception):
    pass


def test_it_listens_before_the_url_is_told(tmp_path: Path) -> None:
    def tell(url: str) -> None:
        port = urlsplit(url).port
        assert port
        socket.create_connection(("127.0.0.1", port), 5).close()
        raise ToldError

    with pytest.raises(ToldError):
        serve(tmp_path, tell)


def test_no_answer_waits_for_an_acknowledgement() -> None:
    """TCP_NODELAY (tcp(7)) on each connection that asyncio accepts."""

    async def asked() -> int:
        found: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        def accepted(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            found.set_result(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        with listening() as listener:
            listener.bind(("127.0.0.1", 0))
            async with await asyncio.start_server(accepted, sock=listener):
                _, writer = await asyncio.open_connection(*listener.getsockname())
                writer.close()
                return await found

    assert asyncio.run(asked()) == 1
