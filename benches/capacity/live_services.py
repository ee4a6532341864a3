"""The services of `live.py`: how each is built and started, the figure of its objective, and whether a process computes beside it. The
first two, and the last ten but `pool`, were written after the rules of the search's second series were frozen."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from ssl import CERT_NONE, create_default_context

HERE = Path(__file__).resolve().parent
OWN = HERE / "services"
OURS = HERE.parents[1] / "tests/live/services"
HTTPS = "listen 127.0.0.1:%d ssl; ssl_certificate cert.pem; ssl_certificate_key key.pem;"
PORT = 18600
STARTED_S = 30.0
WORDS = "A page of words that are not all the same, for a server that makes it smaller: %d.\n"


@dataclass(frozen=True)
class Service:
    """`command` with {port}, {folder} and {built}; the program that it needs; `figure` of the objective; `beside`: with a process that
    computes for half of the time; `build`: the command that fills {built}; `page_bytes`: of the page of nginx."""

    command: tuple[str, ...]
    needs: str
    figure: str
    beside: bool
    build: tuple[str, ...] = ()
    path: str = "/"
    tls: bool = False
    page_bytes: int = 0

    @property
    def headers(self) -> list[tuple[str, str]]:
        """Of a request: nginx compresses for those who ask."""
        return [("Accept-Encoding", "gzip")] if self.page_bytes else []


def _go(name: str) -> tuple[str, ...]:
    return ("go", "build", "-o", "{built}/work", str(OWN / f"{name}.go"))


def _java(name: str) -> tuple[str, ...]:
    return ("javac", "-d", "{built}", str(OWN / f"{name}.java"))


def _python(name: str, *more: str) -> tuple[str, ...]:
    return (sys.executable, str(OWN / name), "{port}", *more)


WORK = ("{built}/work", "{port}")
JAVA = ("java", "-Dsun.net.httpserver.nodelay=true", "-cp", "{built}")
QUEUE = (sys.executable, str(OURS / "queueing.py"), "--port", "{port}", "--workers")
PROXIED = (sys.executable, str(OURS / "proxied.py"), "--port", "{port}", "--workers")
NGINX = ("nginx", "-p", "{folder}", "-c", "nginx.conf")
SERVICES = {
    "postgres": Service(_python("rows.py"), "postgres", "mean", False),
    "nginx-before": Service((*PROXIED, "3", "--sleep-ms", "5", "--law", "exponential"), "nginx", "p90", True),
    "go-2": Service((*WORK, "2"), "go", "p90", True, _go("work")),
    "python": Service(_python("handler.py"), "python3", "mean", False),
    "node": Service(("node", str(OWN / "pauses.js"), "{port}"), "node", "p95", True),
    "java": Service((*JAVA, "Work", "{port}", "4"), "javac", "mean", False, _java("Work")),
    "nginx-https": Service(NGINX, "nginx", "mean", True, path="/page", tls=True, page_bytes=20_000),
    "sqlite": Service((*QUEUE, "3", "--rows", "1500", "--rounds", "2000"), "python3", "mean", False),
    "two-cores": Service((*QUEUE, "2", "--rounds", "6000"), "python3", "p90", False),
    "waits": Service((*QUEUE, "3", "--sleep-ms", "5"), "python3", "p95", True),
    "exponential": Service((*QUEUE, "2", "--sleep-ms", "6", "--law", "exponential"), "python3", "mean", True),
    "lock": Service((*QUEUE, "4", "--loops", "60000"), "python3", "p90", False),
    "go-1": Service((*WORK, "1"), "go", "mean", True, _go("work")),
    "nginx": Service(NGINX, "nginx", "p99", False, path="/page", page_bytes=60_000),
    "c-cores": Service(WORK, "gcc", "p90", False, ("gcc", "-O2", "-o", "{built}/work", str(OWN / "rounds.c"), "-lm", "-lpthread")),
    "rust-tokens": Service(WORK, "rustc", "p95", False, ("rustc", "-O", "-o", "{built}/work", str(OWN / "tokens.rs"))),
    "perl-loop": Service(("perl", str(OWN / "loop.pl"), "{port}"), "perl", "mean", False),
    "asyncio-waits": Service(_python("waits.py"), "python3", "mean", False),
    "go-lock": Service(WORK, "go", "p99", False, _go("locked")),
    "go-disk": Service((*WORK, "{folder}/pages"), "go", "mean", True, _go("synced")),
    "node-two-lengths": Service(("node", str(OWN / "two_lengths.js"), "{port}"), "node", "p95", True),
    "java-waits": Service((*JAVA, "Waits", "{port}"), "javac", "mean", True, _java("Waits")),
    "sqlite-commits": Service(_python("commits.py", "{folder}/pages.db"), "python3", "mean", True),
    "pool": Service((*QUEUE, "16", "--connections", "4", "--sleep-ms", "12", "--law", "exponential"), "python3", "p90", True),
}  # fmt: skip


def built(name: str, out: Path) -> Path:
    """The folder with the service's program, which is built where it is not there."""
    service, folder = SERVICES[name], out / "built" / name
    if service.build and not folder.exists():
        part = folder.with_name(f"{name}.part")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        subprocess.run([word.format(built=part) for word in service.build], check=True)
        part.rename(folder)
    return folder


@contextmanager
def running(name: str, out: Path, folder: Path) -> Iterator[str]:
    """The service, which answers, and its URL; its files are in `folder`, which is made.

    Raises:
        OSError: it does not answer within 30 s.
    """
    service, port = SERVICES[name], PORT + 2 * list(SERVICES).index(name)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    filled = {"port": str(port), "folder": str(folder), "built": str(built(name, out))}
    if service.page_bytes:
        _nginx(service, folder, port)
    with open(folder / "service.log", "w") as log:
        process = subprocess.Popen(
            [word.format(**filled) for word in service.command], stdout=log, stderr=log, start_new_session=True
        )
    try:
        url = f"{'https' if service.tls else 'http'}://127.0.0.1:{port}{service.path}"
        _await(url, process, folder)
        yield url
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        process.wait(20)


def _nginx(service: Service, folder: Path, port: int) -> None:
    words = "".join(WORDS % number for number in range(service.page_bytes // len(WORDS)))
    (folder / "page").write_text(words)
    listen = HTTPS % port if service.tls else f"listen 127.0.0.1:{port};"
    head, _, _ = (OURS / "static/nginx.conf").read_text().partition("    server {")
    shrunk = "gzip on; gzip_types *; gzip_comp_level 6;"
    (folder / "nginx.conf").write_text(f"{head}    {shrunk}\n    server {{ {listen} root .; }}\n}}\n")
    if service.tls:
        command = "openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost"
        subprocess.run(command.split(), cwd=folder, check=True, stderr=subprocess.DEVNULL)


def _await(url: str, process: subprocess.Popen[bytes], folder: Path) -> None:
    anybody = create_default_context()
    anybody.check_hostname, anybody.verify_mode = False, CERT_NONE
    began = time.monotonic()
    while process.poll() is None and time.monotonic() < began + STARTED_S:
        try:
            with urllib.request.urlopen(url, timeout=5, context=anybody):
                pass
            time.sleep(0.2)  # one that found its port taken has ended by then
            if process.poll() is None:
                return
        except (OSError, urllib.error.URLError):
            time.sleep(0.1)
    said = (folder / "service.log").read_text().strip()[-300:]
    raise OSError(f"it does not answer at {url}: {said or 'and says nothing'}")
