"""nginx as a tier: answers of the server behind it, its own count, and nothing left."""

from __future__ import annotations

import http.server
import os
import signal
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from machine import folders_of_this_process

from sojourn.errors import InputError, ServiceError
from sojourn.lab.process_tree import alive, wait_until
from sojourn_cases.common.memcached import free_port
from sojourn_cases.ntier.nginx import PREFIX, Nginx

pytestmark = pytest.mark.live


@pytest.fixture
def behind() -> Iterator[str]:
    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_it_hands_requests_on_counts_them_and_leaves_nothing(behind: str) -> None:
    nginx = Nginx(f"127.0.0.1:{free_port()}", [behind], workers=2, cores=[0])
    try:
        for _ in range(5):
            with urllib.request.urlopen(nginx.url + "page?x=1", timeout=5) as answer:
                assert answer.read() == b"ok"
        assert len(nginx.pids) == 3
        assert nginx.counted() == 5 and nginx.counted() == 5
        pids, folder = nginx.pids, nginx._folder
        assert nginx.stop() == {"kind": "nginx", "requests": 5}
    finally:
        nginx.close()
    assert not folder.exists() and not any(Path(f"/proc/{pid}").exists() for pid in pids.values())


def test_workers_end_with_a_master_that_was_killed(behind: str) -> None:
    nginx = Nginx(f"127.0.0.1:{free_port()}", [behind], workers=2)
    try:
        master, *workers = nginx.pids.values()
        os.kill(master, signal.SIGKILL)
        assert wait_until(lambda: not alive(master), 5.0) and all(map(alive, workers))
    finally:
        nginx.close()
    assert wait_until(lambda: not any(map(alive, workers)), 5.0)


def test_a_port_that_is_taken_is_told(behind: str) -> None:
    before = folders_of_this_process(PREFIX)
    with pytest.raises(ServiceError, match=r"bind\(\) to .* failed .*Address already in use.*choose another port"):
        Nginx(behind, [behind])
    assert folders_of_this_process(PREFIX) <= before


def test_an_address_that_could_be_a_directive_is_refused() -> None:
    with pytest.raises(InputError, match="give HOST:PORT"):
        Nginx("127.0.0.1:80; include /etc/passwd", ["127.0.0.1:1"])
