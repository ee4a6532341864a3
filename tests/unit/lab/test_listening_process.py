"""Who answers at an address of this machine."""

from __future__ import annotations

import os
import socket

from sojourn.lab.listening_process import listening_processes


def test_this_process() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert os.getpid() in listening_processes("127.0.0.1", port)
        assert os.getpid() in listening_processes("localhost", port)
    assert os.getpid() not in listening_processes("127.0.0.1", port)


def test_no_address_of_this_machine() -> None:
    assert listening_processes("192.0.2.1", 80) == ()  # TEST-NET-1, RFC 5737
    assert listening_processes("no such host", 80) == ()
