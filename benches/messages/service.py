"""What the benches of the message service have in common: a database, the service's own statements, a run of each."""

from __future__ import annotations

import os
import re
import resource
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from record import compiled, cpu_s, listens, running

from sojourn.lab.worker_process import WorkerProcess
from sojourn.load.messages_load import messages_load
from sojourn_cases._native import message_settings, message_statements
from sojourn_cases.common.memcached import free_port
from sojourn_cases.common.postgres import Postgres
from sojourn_cases.common.postgres_programs import programs
from sojourn_cases.messages.message_server import MessageService, MessagesOptions

BODY_BYTES = 200
QUEUE = "load-0"
Row = dict[str, float | str | int]


@dataclass(frozen=True)
class Seen:
    """A run: puts and takes that were answered, their times, and CPU time of service, database and client, s."""

    operations: int
    p50_ms: float
    p99_ms: float
    service_s: float = 0.0
    database_s: float = 0.0
    client_s: float = 0.0
    take_ms: dict[str, float] = field(default_factory=dict)


def statement(name: str, values: dict[str, str]) -> str:
    """One of the service's statements, in one line as pgbench wants it, with its parameters replaced."""
    text = " ".join(message_statements()[name].split())
    for parameter, value in values.items():
        text = text.replace(parameter, value)
    return text + ";\n"


def database_s(database: Postgres) -> float:
    """CPU time of all processes that the database has and had; of those that have ended to 10 ms."""
    while True:
        try:
            present = sum(cpu_s(pid) for pid in database.pids.values())
        except OSError:  # one has just ended: it is among the ended ones now
            continue
        stat = Path(f"/proc/{database.pid}/stat").read_text().rpartition(")")[2].split()
        return present + sum(map(int, stat[13:15])) / os.sysconf("SC_CLK_TCK")


def settle(database: Postgres) -> None:
    """Waits until no client has a session, so that all who had one are among the ended processes."""
    deadline = time.monotonic() + 10
    while any(name.startswith("postgres session") for name in database.pids):
        assert time.monotonic() < deadline, database.pids
        time.sleep(0.01)


@contextmanager
def serving(database: Postgres, **options: Any) -> Iterator[MessageService]:
    service = MessageService(MessagesOptions(listen="127.0.0.1:0", database=database.url, **options))
    try:
        yield service
        service.stop()
    finally:
        service.close()


def fill(database: Postgres, messages: int, queues: int = 1) -> None:
    """`messages` in all, over `queues` queues, and no dead row before the run begins."""
    database.run("TRUNCATE sojourn.message")
    names = f"SELECT 'load-' || k FROM generate_series(0, {queues - 1}) k"
    database.run(f"INSERT INTO sojourn.queue (name) {names} ON CONFLICT (name) DO NOTHING")
    database.run(
        "INSERT INTO sojourn.message (queue, body) SELECT q.id, convert_to(repeat('x', "
        f"{BODY_BYTES}), 'UTF8') FROM generate_series(0, {messages - 1}) k JOIN sojourn.queue q ON q.name = 'load-' || "
        f"(k % {queues})"
    )
    database.run("VACUUM ANALYZE sojourn.message")
    database.run("CHECKPOINT")


@dataclass(frozen=True)
class BareService:
    """A program that answers as the service does."""

    url: str
    pid: int


@contextmanager
def bare_batch(database: Postgres, durability: str) -> Iterator[BareService]:
    """The bare program that batches: the service's statements for many messages, HTTP, and nothing else."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        headers = subprocess.run(
            ["pg_config", "--includedir"], capture_output=True, text=True, check=True
        ).stdout.strip()
        program = compiled(Path(__file__).with_name("bare_batch.c"), folder, f"-I{headers}", "-lpq")
        texts = message_statements()
        port = free_port("127.0.0.1")
        command = [
            "env", f"PGOPTIONS={session_options(durability)}", program, str(port), database.url,
            texts["PUT_MANY"], texts["TAKE_MANY"],
        ]  # fmt: skip
        with running(command, lambda: listens(port)) as pid:
            yield BareService(f"messages://127.0.0.1:{port}", pid)


def session_options(durability: str) -> str:
    """The service's own settings of a session, as PGOPTIONS has them."""
    return f"{message_settings()} -c synchronous_commit={'on' if durability == 'full' else 'off'}"


def loaded(
    database: Postgres, service: MessageService | BareService, clients: int, seconds: float, **options: Any
) -> Seen:
    """The service under puts and takes in equal parts, one after the other from each client."""
    asked = {"put_weight": 1.0, "take_weight": 1.0, "retry_delay_s": 0.0, "message_bytes": BODY_BYTES, "verify": False}
    config = messages_load([service.url], clients=clients, duration_s=seconds, **{**asked, **options})
    before, database_before = cpu_s(service.pid), database_s(database)
    with tempfile.TemporaryDirectory() as out:
        worker = WorkerProcess("load", {"load": config, "out": out})
        summary = worker.finish(seconds + 60)["summary"]
        worker.close()
    used, database_used = cpu_s(service.pid) - before, database_s(database) - database_before
    found = summary["messages"]
    assert summary["failures"] == {} and found["empty"] < 0.01 * (found["put"] + found["taken"] + 1), summary
    latency = summary["latency"]["from_sent"]["to_received"]
    takes = {key: 1e3 * found["classes"]["take"]["latency"][f"{key}_s"] for key in ("mean", "p50", "p99")}
    return Seen(
        operations=found["put"] + found["taken"],
        p50_ms=1e3 * latency["p50_s"],
        p99_ms=1e3 * latency["p99_s"],
        service_s=used,
        database_s=database_used,
        client_s=sum(lane["cpu_s"] for lane in summary["lanes"]),
        take_ms=takes,
    )


@contextmanager
def relay(database: Postgres) -> Iterator[tuple[str, int]]:
    """The bare relay before the database: the folder of its socket, its process."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        program, name = compiled(Path(__file__).with_name("bare_relay.c"), folder), ".s.PGSQL.5432"
        with running([program, f"{folder}/{name}", f"{database.place}/{name}"], Path(folder, name).exists) as pid:
            yield folder, pid


def one_by_one() -> dict[str, str]:
    """pgbench's scripts of a put and of a take."""
    name = f"'{QUEUE}'::text"
    return {
        "put": statement("PUT", {"$1": name, "$2": "NULL::text", "$3": ":body::bytea"}),
        "take": statement("TAKE", {"$1": name}),
    }


def in_batches() -> dict[str, str]:
    """pgbench's script of puts and takes for many with one commit, sent together; how many is a matter of its variables."""
    put = statement("PUT_MANY", {"$1": ":names", "$2": ":senders", "$3": ":bodies"})
    take = statement("TAKE_MANY", {"$1": ":taken_from", "$2": ":takers"})
    return {"batch": f"\\startpipeline\n{put}{take}\\endpipeline\n"}


def variables(batch: int | None) -> dict[str, str]:
    """Of pgbench's scripts."""
    body = "x" * BODY_BYTES
    if batch is None:
        return {"body": body}
    many = {
        "names": [QUEUE] * batch,
        "senders": ["NULL"] * batch,
        "bodies": [body] * batch,
        "taken_from": [QUEUE],
        "takers": [str(batch)],
    }
    return {name: "{" + ",".join(elements) + "}" for name, elements in many.items()}


def pgbench(
    database: Postgres, clients: int, seconds: float, durability: str,
    through: tuple[str, int] | None = None, batch: int | None = None,
) -> Seen:  # fmt: skip
    """The same statements in the same parts by pgbench, prepared, over the same socket, or `through` a relay.

    With `batch` those for many: so many puts and as many takes a transaction.
    """
    place, between = through or (str(database.place), None)
    with tempfile.TemporaryDirectory() as folder:
        scripts = in_batches() if batch else one_by_one()
        for script, text in scripts.items():
            Path(folder, f"{script}.sql").write_text(text)
        command = [
            programs() / "pgbench", "--no-vacuum", "-M", "prepared", "-c", str(clients), "-j", "1", "-T", str(seconds),
            "-h", place, "-U", "sojourn", *(f"--define={name}={value}" for name, value in variables(batch).items()),
            *(f"--file={folder}/{script}.sql" for script in scripts),
            "-l", f"--log-prefix={folder}/log", "--sampling-rate=0.2", "sojourn",
        ]  # fmt: skip
        settle(database)
        before, database_before = resource.getrusage(resource.RUSAGE_CHILDREN), database_s(database)
        between_before = cpu_s(between) if between else 0.0
        done = subprocess.run(
            command, capture_output=True, text=True, cwd=folder, check=False,
            env={"PGOPTIONS": session_options(durability), "LC_ALL": "C"},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        settle(database)
        after, database_used = resource.getrusage(resource.RUSAGE_CHILDREN), database_s(database) - database_before
        client = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        between_s = cpu_s(between) - between_before if between else 0.0
        found = re.search(r"transactions actually processed: (\d+)", done.stdout)
        assert found, done.stdout
        times_ms = [int(line.split()[2]) / 1e3 for log in Path(folder).glob("log*") for line in log.open()]
    cuts = statistics.quantiles(times_ms, n=100)
    used = {"service_s": between_s, "database_s": database_used, "client_s": client}
    return Seen(int(found[1]) * (2 * batch if batch else 1), statistics.median(times_ms), cuts[98], **used)
