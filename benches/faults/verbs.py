"""The verbs of the matrix: a short command line each, what it needs, how it is driven, and which of its promises are checked."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from clients import BLOCK, NbdClient, Site, asked, listens, memcached_line, until

from sojourn.live_service.control_socket import SocketActuator
from sojourn.runs.run_folder import RunFolder

URL = "http://127.0.0.1:8480/"
SERVED_S, PUT_BACK_S = 1.0, 10.0
SAFE = 2  # workers of the service that is controlled
Alive = Callable[[], bool]


class Verb:
    """`words`: the command; `codes`: of a run without a fault; `outputs`: files that are whole or not there."""

    codes: tuple[int, ...] = (0,)
    outputs: tuple[tuple[str, str], ...] = ()  # a file, and how a whole one ends
    runs = True  # a command that ends by itself
    shared = True  # what its processes lose is an error of the command; a database starts its own again

    def __init__(self, name: str, *words: str, fixtures: Path, **more: Any) -> None:
        self.name, self.words, self.fixtures = name, words, fixtures
        self.__dict__.update(more)

    def prepare(self, folder: Path) -> None:
        """What the command needs, made in its folder, and services beside it."""

    def drive(self, alive: Alive, halt: threading.Event) -> None:
        """What clients do while the command runs; returns when it is to be stopped."""

    def promises(self, folder: Path, code: int | None) -> list[str]:
        """What it has broken of what it promised."""
        return []

    def close(self) -> None:
        """Ends what `prepare` started."""


class MeasuringVerb(Verb):
    """A load on a service that counts what it answered."""

    codes = (0, 3)

    def prepare(self, folder: Path) -> None:
        self.site = Site()

    def promises(self, folder: Path, code: int | None) -> list[str]:
        found = []
        for path in sorted(folder.rglob("manifest.json")):
            found += _kept(RunFolder.open(path.parent), str(path.parent.relative_to(folder)))
        if (
            code == 130
            and self.name == "load"
            and self.site.answered > 100
            and not found
            and not list(folder.rglob("manifest.json"))
        ):
            found.append(f"{self.site.answered} answers, and no run folder")
        return found

    def close(self) -> None:
        self.site.close()


def _kept(run: RunFolder, name: str) -> list[str]:
    """Whether a run folder says what it is, and has the rows that its generator says it recorded."""
    status, generator = run.manifest["status"], run.manifest.get("generator") or {}
    if status not in ("complete", "cut off"):
        return [f"{name} says {status}"]
    frame = run.frame("requests")
    if generator.get("recorded") and (frame is None or frame.height != generator["recorded"]):
        return [f"{name} has {0 if frame is None else frame.height} rows of {generator['recorded']}"]
    return []


class Served(Verb):
    """A service that is asked for a while and then stopped by SIGTERM; `acknowledged` is what it has to keep."""

    runs = False
    port = 0

    def prepare(self, folder: Path) -> None:
        self.acknowledged: list[str] = []

    def drive(self, alive: Alive, halt: threading.Event) -> None:
        while alive() and not halt.is_set() and not listens(self.port, 0.2):
            time.sleep(0.05)
        stop = threading.Event()
        client = threading.Thread(target=until, args=(stop, self.ask))
        client.start()
        end = time.monotonic() + SERVED_S
        while alive() and time.monotonic() < end and not halt.is_set():
            time.sleep(0.05)
        stop.set()
        client.join()

    def ask(self, number: int) -> None:
        if asked(self.port, "GET", "/health")[0] == 200:
            self.acknowledged.append(str(number))


class KvProxy(Served):
    port, behind = 11212, 11311

    def prepare(self, folder: Path) -> None:
        super().prepare(folder)
        words = ["memcached", "-l", "127.0.0.1", "-p", str(self.behind), "-U", "0", "-u", "root"]
        self.memcached = subprocess.Popen(words, stderr=subprocess.DEVNULL)
        listens(self.behind)

    def ask(self, number: int) -> None:
        if memcached_line(self.port, b"set key%d 0 0 1\r\nv\r\n" % number) == b"STORED\r\n":
            self.acknowledged.append(f"key{number}")

    def promises(self, folder: Path, code: int | None) -> list[str]:
        asked_of = (b"get %s\r\n" % key.encode() for key in self.acknowledged)
        lost = sum(not memcached_line(self.behind, question).startswith(b"VALUE") for question in asked_of)
        return [f"{lost} of {len(self.acknowledged)} acknowledged sets are not in the server"] if lost else []

    def close(self) -> None:
        self.memcached.kill()
        self.memcached.wait()


class ServedFromPostgres(Served):
    """A service on a PostgreSQL cluster of its own, whose folder is kept; what was acknowledged is read from it afterwards."""

    shared = False
    cluster = kept = ""

    def prepare(self, folder: Path) -> None:
        super().prepare(folder)
        subprocess.run(["cp", "-a", str(self.fixtures / self.cluster), str(folder / "cluster")], check=True)

    def promises(self, folder: Path, code: int | None) -> list[str]:
        from sojourn_cases.common.postgres import Postgres

        if not self.acknowledged:
            return []
        database = Postgres(folder / "cluster", keep=True)
        try:
            there = {str(row[0]) for row in database.run(self.kept)}
        finally:
            database.close()
        lost = [one for one in self.acknowledged if one not in there]
        return [f"{len(lost)} of {len(self.acknowledged)} acknowledged writes are not in the database"] if lost else []


class MessageServiceVerb(ServedFromPostgres):
    port, cluster, kept = 7400, "messages", "SELECT convert_from(body, 'UTF8') FROM sojourn.message"

    def ask(self, number: int) -> None:
        if number == 0:
            asked(self.port, "PUT", "/queues/q")
        if asked(self.port, "POST", "/queues/q/messages", f"fault-{number}")[0] == 201:
            self.acknowledged.append(f"fault-{number}")


class BulletinBoardVerb(ServedFromPostgres):
    port, cluster, kept = 5600, "bulletin", "SELECT nickname FROM users WHERE nickname LIKE 'fault%'"

    def ask(self, number: int) -> None:
        status, page = asked(self.port, "GET", f"/RegisterUser?nickname=fault{number}&password=p")
        if status == 200 and "<p>user " in page:
            self.acknowledged.append(f"fault{number}")


class BlockDeviceVerb(Served):
    port = 10809

    def prepare(self, folder: Path) -> None:
        super().prepare(folder)
        (folder / "img").write_bytes(bytes(4 << 20))
        self.client: NbdClient | None = None

    def ask(self, number: int) -> None:
        self.client = self.client or NbdClient(self.port)
        block = number % 1024
        self.client.write(block, b"%08d" % number + bytes(BLOCK - 8))
        self.acknowledged.append(str(number))

    def promises(self, folder: Path, code: int | None) -> list[str]:
        last = {int(one) % 1024: int(one) for one in self.acknowledged}
        image = (folder / "img").read_bytes()
        lost = [number for block, number in last.items() if int(image[block * BLOCK : block * BLOCK + 8]) < number]
        return [f"{len(lost)} of {len(last)} acknowledged blocks are not in the file"] if lost else []


class LiveControlVerb(Verb):
    """A controller beside a service of ours, which has to be back at its safe setting afterwards."""

    def prepare(self, folder: Path) -> None:
        pool = ["--mean-backend-ms", "20", "--backend-servers", str(SAFE), "--control", str(folder / "control")]
        web = [sys.executable, "-m", "sojourn", "serve", "web", "--port", "8380", *pool]
        self.service = subprocess.Popen(web, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        listens(8380, 30)
        self.settings = SocketActuator(str(folder / "control"), "looks", 2.0)

    def promises(self, folder: Path, code: int | None) -> list[str]:
        deadline = time.monotonic() + PUT_BACK_S
        while (
            workers := self.settings.read().workers
        ) != SAFE:  # the lease is the service's: it is back by itself within it
            if time.monotonic() > deadline:
                return [f"{PUT_BACK_S:g} s after its controller the service has {workers} workers, {SAFE} at its start"]
            time.sleep(0.1)
        return []

    def close(self) -> None:
        self.service.terminate()
        self.service.wait()


def whole(folder: Path, outputs: tuple[tuple[str, str], ...]) -> list[str]:
    """Files that are there and are not whole."""
    found = []
    for name, end in outputs:
        path = folder / name
        if path.is_file() and not path.read_text().rstrip().endswith(end):
            found.append(f"{name} is half written ({path.stat().st_size} bytes)")
    return found


def copied(fixtures: Path, folder: Path) -> None:
    """Runs and models for the verbs that read them."""
    shutil.copytree(fixtures / "files", folder, dirs_exist_ok=True)


def verbs(fixtures: Path) -> dict[str, Verb]:
    """All of them, by name."""
    of, on = {"fixtures": fixtures}, ("--parallel", "local:2")
    sweep = ("--vary", "service_s.app.user=0.001..0.030:0.0001", "--output-format", "csv")
    bought = ("--vary", "stations.app.servers=1..8", "--cost", "stations.app.servers", "--objective", "mean < 50ms")
    live = ("http://127.0.0.1:8380", "--act", "--skip-simulated-check", "--lease", "2s", "--stop-after", "2s")
    board = ("--postgresql-url", "auto", "--database-folder", "cluster", "--data-scale", "0.001", "--page-cpu-s", "0")
    made = [
        MeasuringVerb("load", "load", URL, "--rate", "300", "--duration", "1.5s", "--out", "run", **of),
        MeasuringVerb("measure", "measure", URL, "--rate", "100,200", "--for", "1s", "--out", "measured", **of),
        MeasuringVerb("study", "study", "study.toml", "--out", "out", **of),
        Verb("fit", "fit", "runs", "--model", "shop.toml", "--out", "new.toml", **of),
        Verb("predict", "predict", "fitted.toml", "--set", "rate_per_s=40", **of),
        Verb("simulate", "simulate", "pool.toml", "--until", "2000s", "--out", "simulated", **of),
        Verb(
            "simulate on workers", "simulate", "pool.toml", "--replications", "8", "--completions", "20000", *on, **of
        ),
        Verb("solve on workers", "solve", "pool.toml", *sweep, *on, **of),
        Verb("plan", "plan", "pool.toml", *bought, "--load", "20..200", *on, **of),
        Verb(
            "control",
            "control",
            "simulate",
            "policy.toml",
            "--model",
            "pool.toml",
            "--load",
            "sine",
            "--duration",
            "2m",
            "--out",
            "log",
            **of,
        ),
        LiveControlVerb("control live", "control", "live", "fixed.toml", *live, "--out", "log", **of),
        Served("serve web", "serve", "web", "--port", "8080", port=8080, **of),
        KvProxy(
            "serve kv-proxy",
            "serve",
            "kv-proxy",
            "--server",
            f"127.0.0.1:{KvProxy.behind}",
            "--thread-log",
            "log",
            **of,
        ),
        MessageServiceVerb(
            "serve messages", "serve", "messages", "--database-folder", "cluster", "--request-log", "log", **of
        ),
        BulletinBoardVerb("serve bulletin", "serve", "bulletin", *board, **of),
        BlockDeviceVerb("serve nbd", "serve", "nbd", "--file", "img", **of),
        Verb("query", "query", "p99 < 500ms", "runs", codes=(0, 7, 8), **of),
        Verb("report", "report", "runs", "--out", "r.html", outputs=(("r.html", "</html>"),), **of),
        Verb("validate", "validate", "runs", "--model", "fitted.toml", **of),
    ]
    return {verb.name: verb for verb in made}
