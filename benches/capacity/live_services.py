"""The services of `live.py`: how each is built and started, and the figure of its objective. The first nine were written after the rules
of the second series were frozen."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
OWN = HERE / "services"
OURS = HERE.parents[1] / "tests/live/services"
HTTPS = "server { listen 127.0.0.1:%d ssl; ssl_certificate cert.pem; ssl_certificate_key key.pem; root .; }"


@dataclass(frozen=True)
class Service:
    """`command` with {port} and {folder}; the program that it needs; `figure` of the objective; how it is built, if it is."""

    command: tuple[str, ...]
    needs: str
    figure: str = "p99"
    build: tuple[str, ...] = ()
    path: str = "/"
    tls: bool = False


def _go(name: str) -> tuple[str, ...]:
    return ("go", "build", "-o", "{folder}/work", str(OWN / f"{name}.go"))


def _java(name: str) -> tuple[str, ...]:
    return ("javac", "-d", "{folder}", str(OWN / f"{name}.java"))


QUEUE = (sys.executable, str(OURS / "queueing.py"), "--port", "{port}", "--workers")
NGINX = ("nginx", "-p", "{folder}", "-c", "nginx.conf")
SERVICES = {
    "c-cores": Service(("{folder}/work", "{port}"), "gcc", "p99",
                       ("gcc", "-O2", "-o", "{folder}/work", str(OWN / "rounds.c"), "-lm", "-lpthread")),
    "rust-tokens": Service(("{folder}/work", "{port}"), "rustc", "p99",
                           ("rustc", "-O", "-o", "{folder}/work", str(OWN / "tokens.rs"))),
    "perl-loop": Service(("perl", str(OWN / "loop.pl"), "{port}"), "perl", "mean"),
    "asyncio-waits": Service((sys.executable, str(OWN / "waits.py"), "{port}"), "python3", "mean"),
    "go-lock": Service(("{folder}/work", "{port}"), "go", "p99", _go("locked")),
    "go-disk": Service(("{folder}/work", "{port}", "{folder}/pages"), "go", "mean", _go("synced")),
    "node-two-lengths": Service(("node", str(OWN / "two_lengths.js"), "{port}"), "node", "p99"),
    "java-waits": Service(("java", "-Dsun.net.httpserver.nodelay=true", "-cp", "{folder}", "Waits", "{port}"), "javac", "mean",
                          _java("Waits")),
    "sqlite-commits": Service((sys.executable, str(OWN / "commits.py"), "{port}", "{folder}/pages.db"), "python3", "mean"),
    "go-2": Service(("{folder}/work", "{port}", "2"), "go", "p99", _go("work")),
    "python": Service((sys.executable, str(OWN / "handler.py"), "{port}"), "python3", "mean"),
    "node": Service(("node", str(OWN / "pauses.js"), "{port}"), "node", "p99"),
    "java": Service(("java", "-cp", "{folder}", "Work", "{port}", "4"), "javac", "mean", _java("Work")),
    "nginx-https": Service(NGINX, "nginx", "mean", path="/page", tls=True),
    "sqlite": Service((*QUEUE, "3", "--rows", "1500", "--rounds", "2000"), "python3", "mean"),
    "pool": Service((*QUEUE, "16", "--connections", "4", "--sleep-ms", "12", "--law", "exponential"), "python3", "p99"),
    "two-cores": Service((*QUEUE, "2", "--rounds", "6000"), "python3", "mean"),
    "waits": Service((*QUEUE, "3", "--sleep-ms", "5"), "python3", "p99"),
    "exponential": Service((*QUEUE, "2", "--sleep-ms", "6", "--law", "exponential"), "python3", "mean"),
    "lock": Service((*QUEUE, "4", "--loops", "60000"), "python3", "mean"),
    "go-1": Service(("{folder}/work", "{port}", "1"), "go", "mean", _go("work")),
    "nginx": Service(NGINX, "nginx", "p99", path="/page"),
}  # fmt: skip


@contextmanager
def running(service: Service, folder: Path, port: int) -> Iterator[str]:
    """The service, and its URL; its files are in `folder`, which is made."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    filled = {"port": str(port), "folder": str(folder)}
    if service.build:
        subprocess.run([part.format(**filled) for part in service.build], check=True)
    if service.needs == "nginx":
        (folder / "page").write_text("x" * 1024)
        listen = HTTPS % port if service.tls else f"server {{ listen 127.0.0.1:{port}; root .; }}"
        head, _, _ = (OURS / "static/nginx.conf").read_text().partition("    server {")
        (folder / "nginx.conf").write_text(head + "    " + listen + "\n}\n")
    if service.tls:
        command = "openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost"
        subprocess.run(command.split(), cwd=folder, check=True, stderr=subprocess.DEVNULL)
    command_line = [part.format(**filled) for part in service.command]
    with open(folder / "service.log", "w") as log:
        process = subprocess.Popen(command_line, stdout=log, stderr=log, start_new_session=True)
    try:
        time.sleep(2)
        yield f"{'https' if service.tls else 'http'}://127.0.0.1:{port}{service.path}"
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(10)
