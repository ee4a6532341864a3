"""The workbench answers as soon as its URL is told."""

from __future__ import annotations

import socket
from pathlib import Path
from urllib.parse import urlsplit

import pytest

pytest.importorskip("uvicorn")

from sojourn.ui.serve import serve


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
