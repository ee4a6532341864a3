"""The distribution's nginx as a reverse proxy that lab starts and stops, its own account by stub_status on a Unix socket."""

from __future__ import annotations

import re
import shutil
import socket
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

from sojourn.errors import InputError, ServiceError
from sojourn.lab import last_lines
from sojourn_cases.ntier.tier_process import Tier, TierProcess, give, write_private

PROGRAM = "nginx"
PREFIX = "sojourn-nginx-"
STARTED_S, ENDED_S = 5.0, 10.0
ADDRESS = re.compile(r"[0-9A-Za-z.\[\]:-]+:\d{1,5}")
KEPT = 1_000_000_000  # requests a connection: more than a run sends
CONF = """daemon off;
pid {folder}/nginx.pid;
error_log stderr warn;
worker_processes {workers};
worker_rlimit_nofile {files};
events {{ worker_connections {connections}; }}
http {{
    access_log off;
    server_tokens off;
    keepalive_requests {kept};
    keepalive_timeout 3600s;
    client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
    uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
    upstream application {{
        {servers}
        keepalive {upstream}; keepalive_requests {kept}; keepalive_timeout 3600s;
    }}
    server {{
        listen {listen} backlog=4096;
        location / {{ proxy_pass http://application; proxy_http_version 1.1; proxy_set_header Connection ""; }}
    }}
    server {{
        listen unix:{folder}/status.sock;
        location / {{ stub_status; }}
    }}
}}
"""


def nginx_program() -> str:
    """Where it is; ServiceError where it is not installed."""
    program = shutil.which(PROGRAM) or shutil.which(PROGRAM, path="/usr/sbin:/sbin")
    if program is None:
        raise ServiceError(f"{PROGRAM} is not installed", "lab", "install the distribution's package nginx")
    return program


class Nginx(Tier):
    """A running nginx on loopback before one or several servers, and what it counted."""

    kind: ClassVar[str] = "nginx"
    child: ClassVar[str] = "worker"

    def __init__(
        self,
        listen: str,
        servers: Sequence[str],
        *,
        workers: int = 1,
        connections: int = 16_384,
        upstream_connections: int = 256,
        cores: Iterable[int] = (),
        cgroup: str | None = None,
        network: str | None = None,
    ) -> None:
        """Starts it at `listen` (HOST:PORT) with `workers` worker processes, requests given to `servers` in turn over at most
        `upstream_connections` idle connections a worker, all on `cores`, in the control group at `cgroup` and in the network namespace at
        `network` where given.

        Raises:
            InputError: an address that is none, no server, or a number out of range. ServiceError: nginx is not installed, or
            does not start; the reason is its own.
        """
        program = nginx_program()
        for address in (listen, *servers):
            if not ADDRESS.fullmatch(address):
                raise InputError(repr(address), "nginx", "give HOST:PORT")
        if not servers or not 1 <= workers <= 1024 or not 16 <= connections <= 1_000_000:
            raise InputError(f"{len(servers)} servers, {workers} workers, {connections} connections", "nginx",
                             "give a server, 1 to 1024 workers, 16 to 1000000 connections a worker")  # fmt: skip
        super().__init__(listen, PREFIX)
        self._asked = 0
        try:
            conf = self._folder / "nginx.conf"
            write_private(conf, CONF.format(
                folder=self._folder, workers=workers, connections=connections, files=connections + 64, kept=KEPT, listen=listen,
                servers=" ".join(f"server {server};" for server in servers), upstream=upstream_connections,
            ))  # fmt: skip
            give(self._folder)  # for its pid and its socket
            command = [program, "-c", str(conf), "-e", "stderr"]
            self._process = TierProcess(command, self.log, cores=cores, cgroup=cgroup, network=network)
            self._process.await_answer(
                self.counted, (OSError, ServiceError), within_s=STARTED_S, every_s=0.01,
                place=f"nginx at {self.address}", remedy="choose another port", refusal=_refusal,
            )  # fmt: skip
        except BaseException:
            self.close()
            raise

    def counted(self) -> int:
        """Requests since its start, without those that asked for this.

        Raises:
            OSError: it is gone. ServiceError: it says something else.
        """
        with socket.socket(socket.AF_UNIX) as talk:
            talk.settimeout(2.0)
            talk.connect(str(self._folder / "status.sock"))
            talk.sendall(b"GET / HTTP/1.0\r\n\r\n")
            said = b"".join(iter(lambda: talk.recv(4096), b"")).decode(errors="replace")
        found = re.search(r"requests\s+\d+\s+\d+\s+(\d+)", said)
        if not found:
            raise ServiceError(repr(said[:80]), "nginx, stub_status", "check that this nginx has that module")
        self._asked += 1
        return int(found[1]) - self._asked

    def stop(self) -> dict[str, Any]:
        """Ends it after the answers that are under way; what it counted."""
        requests = None
        with suppress(OSError, ServiceError):
            requests = self.counted()
        self._end(ENDED_S)
        return {"kind": self.kind, "requests": requests}


def _refusal(log: Path) -> str:
    """Why it did not start: the first error that it tells, since what follows tells only that it gave up."""
    said = re.search(r"\[(?:emerg|error)\] \S+ (.*)", log.read_text(errors="replace"))
    return said[1] if said else last_lines(log)
