"""Services on loopback for the live tests."""

from __future__ import annotations

import http.server
import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from sojourn.errors import LabError
from sojourn.lab import cleanup_registry
from sojourn.lab.process_tree import wait_until
from sojourn_cases.common.postgres import Postgres


class _Failing(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        ok = self.path == "/ok"
        self.send_response(200 if ok else 500)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_: object) -> None:
        pass


class _Server(http.server.ThreadingHTTPServer):
    request_queue_size = 256  # the generator opens its connections at once


@pytest.fixture(scope="session")
def service() -> Iterator[str]:
    """A service that answers 200 at /ok and 500 everywhere else; its address."""
    server = _Server(("127.0.0.1", 0), _Failing)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can reach: those of `tmp_path` are closed to all but their owner."""
    path = Path(tempfile.mkdtemp(prefix="sojourn-test-"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture
def own_registries(own_lock: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of registries for one test that kills, and for the commands that it starts (machine.py): what a killed lab left is removed
    by whoever starts next, and that would be a test beside this one."""
    place = cleanup_registry.places()[0]
    own = place.with_name(f"{place.name}-test-{os.getpid()}")
    monkeypatch.setenv("SOJOURN_TEST_REGISTRIES", str(own))
    monkeypatch.setattr(cleanup_registry, "places", lambda: [own])
    yield own
    removed = wait_until(lambda: not cleanup_registry.clean_stale() and not list(own.glob("lab-*")), 30.0)
    shutil.rmtree(own, ignore_errors=True)
    assert removed, "what it killed can be removed"


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    """A private PostgreSQL cluster for the tests of one file; without its programs they are skipped."""
    try:
        cluster = Postgres(tmp_path_factory.mktemp("postgres"))
    except LabError as error:
        pytest.skip(str(error))
    yield cluster
    cluster.close()
