"""The distribution's nginx as a reverse proxy that lab starts and stops, its own account by stub_status on a Unix socket."""

from __future__ import annotations

import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from sojourn.errors import InputError, ServiceError
from sojourn.lab import in_group, make_owned_folder, stale_folders
from sojourn_cases.common.postgres_folders import USUAL, enterable_parent

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


class Nginx:
    """A running nginx on loopback before one or several servers: where, which processes, what it counted, how to stop it."""

    kind = "nginx"

    def __init__(
        self,
        listen: str,
        servers: Sequence[str],
        *,
        workers: int = 1,
        connections: int = 16_384,
        upstream_connections: int = 256,
        cores: Iterable[int] | None = None,
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
        self.address = listen
        for stale in stale_folders(PREFIX, [USUAL]):
            shutil.rmtree(stale, ignore_errors=True)
        self._user = pwd.getpwnam("nobody") if os.geteuid() == 0 else None
        self._folder = make_owned_folder(PREFIX, enterable_parent(self._user))
        self.process: subprocess.Popen[bytes] | None = None
        self._asked = 0
        try:
            conf = self._folder / "nginx.conf"
            conf.write_text(CONF.format(
                folder=self._folder, workers=workers, connections=connections, files=connections + 64, kept=KEPT, listen=listen,
                servers=" ".join(f"server {server};" for server in servers), upstream=upstream_connections,
            ))  # fmt: skip
            self._begin(program, conf, list(cores or []), cgroup, network)
        except BaseException:
            self.close()
            raise

    def _begin(self, program: str, conf: Path, cores: list[int], cgroup: str | None, network: str | None) -> None:
        # It ends with this process, however that ends; as nobody, or its workers would not be ours to watch.
        command = ["setpriv", "--pdeathsig=TERM", program, "-c", str(conf), "-e", "stderr"]
        if self._user:
            for path in (self._folder, conf):
                os.chown(path, self._user.pw_uid, self._user.pw_gid)
            command[1:1] = [f"--reuid={self._user.pw_uid}", f"--regid={self._user.pw_gid}", "--clear-groups"]
        if cores:
            command = ["taskset", "--cpu-list", ",".join(map(str, cores)), *command]
        if network:
            command = ["nsenter", f"--net={network}", *command]
        if cgroup:
            command = in_group(cgroup, command)
        with open(self.log, "wb") as stderr:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                start_new_session=True,
                cwd="/",
            )
        deadline = time.monotonic() + STARTED_S
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                said = re.search(r"\[(?:emerg|error)\] \S+ (.*)", self.log.read_text(errors="replace"))
                why = said[1] if said else f"it ended with {self.process.returncode}"
                raise ServiceError(why, f"nginx at {self.address}", "choose another port")
            with suppress(OSError, ServiceError):
                self.counted()
                return
            time.sleep(0.01)
        raise ServiceError("it does not answer", f"nginx at {self.address}", f"see {self.log}")

    @property
    def url(self) -> str:
        return f"http://{self.address}/"

    @property
    def log(self) -> Path:
        """What it complains of; gone with it."""
        return self._folder / "error.log"

    @property
    def return_code(self) -> int | None:
        """Of the master; None while that runs."""
        return self.process.poll() if self.process else None

    @property
    def pids(self) -> dict[str, int]:
        """The master and its workers."""
        assert self.process is not None
        path = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        workers = map(int, path.read_text().split())
        return {"nginx": self.process.pid} | {f"nginx worker {k}": pid for k, pid in enumerate(workers, 1)}

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
        if self.process and self.process.poll() is None:
            self.process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(ENDED_S)
        self.close()
        return {"kind": self.kind, "requests": requests}

    def close(self) -> None:
        """Makes sure that the processes are gone, and its folder."""
        if self.process:
            if self.process.poll() != 0:  # alive, or killed: then its workers live on
                with suppress(ProcessLookupError):
                    os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)
