"""The private cluster: found, started, crashed, paused, restarted, and gone without a trace."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from machine import folders_of_this_process
from message_cluster import needs_postgres

from sojourn.errors import InputError, LabError, ServiceError
from sojourn.lab.cleanup_registry import start_time
from sojourn.lab.process_tree import alive, children, send
from sojourn_cases.common.memcached import free_port
from sojourn_cases.common.postgres import Postgres
from sojourn_cases.common.postgres_folders import PREFIX
from sojourn_cases.common.postgres_processes import name_of
from sojourn_cases.common.postgres_programs import reaches
from sojourn_cases.common.postgres_protocol import PostgresSession

pytestmark = [pytest.mark.live, needs_postgres]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    """One for all tests that leave it running: to make one takes seconds."""
    one = Postgres(tmp_path_factory.mktemp("cluster"), connections=20)
    yield one
    one.close()


def test_what_was_committed_is_there_after_a_crash(cluster: Postgres) -> None:
    cluster.run("CREATE TABLE kept (number int); INSERT INTO kept VALUES (1), (NULL)")
    assert cluster.run("SELECT number FROM kept ORDER BY number") == [("1",), (None,)]
    seen = list(cluster.pids.values())
    assert len(seen) > 3 and cluster.pid in seen
    cluster.kill()
    assert cluster.pids == {} and not any(map(alive, seen))
    with pytest.raises(OSError):
        cluster.run("SELECT 1")
    assert recoveries(cluster, cluster.restart) == 1
    assert cluster.run("SELECT count(*) FROM kept") == [("2",)]


def recoveries(cluster: Postgres, during: Callable[[], None]) -> int:
    before = len(cluster.log.read_bytes())
    during()
    return cluster.log.read_bytes()[before:].count(b"was not properly shut down")


def test_a_restart_in_good_order_needs_no_recovery(cluster: Postgres) -> None:
    first, socket_ = cluster.pid, cluster.socket
    assert recoveries(cluster, cluster.restart) == 0
    assert cluster.pid != first and cluster.socket == socket_


def test_paused_it_answers_nobody_and_resumed_it_goes_on(cluster: Postgres) -> None:
    answers: list[object] = []
    cluster.pause()
    asking = threading.Thread(target=lambda: answers.append(cluster.run("SELECT 7")))
    asking.start()
    time.sleep(0.3)
    assert answers == []
    cluster.resume()
    asking.join(20)
    assert answers == [[("7",)]]


def test_a_refusal_is_told_and_the_session_goes_on(cluster: Postgres) -> None:
    with PostgresSession(cluster.socket, user="sojourn", database="sojourn") as session:
        with pytest.raises(ServiceError, match="does not exist"):
            session.run("SELECT * FROM nowhere")
        assert session.run("SELECT 'ä', 1; SELECT 2") == [("ä", "1"), ("2",)]
    with pytest.raises(ServiceError, match="nobody-s"):
        PostgresSession(cluster.socket, user="sojourn", database="nobody-s")


def test_it_never_runs_as_root_and_nobody_else_reaches_its_socket(cluster: Postgres) -> None:
    uid = Path(f"/proc/{cluster.pid}").stat().st_uid
    assert uid != 0 and cluster.place.stat().st_uid == uid
    assert cluster.place.stat().st_mode & 0o077 == 0
    assert f"?host={cluster.place}&" in cluster.url and len(cluster.socket) < 100
    listening = cluster.run("SELECT current_setting('listen_addresses')")
    assert listening == [("",)]


def test_over_tcp_it_wants_the_password(tmp_path: Path) -> None:
    cluster = Postgres(tmp_path, port=free_port())
    try:
        with socket.create_connection(("127.0.0.1", cluster.port), timeout=10) as talk:
            start = b"\x00\x03\x00\x00user\0sojourn\0\0"
            talk.sendall((len(start) + 4).to_bytes(4, "big") + start)
            said = talk.recv(100)
        assert said[:1] == b"R" and b"SCRAM-SHA-256" in said
        assert cluster.tcp_url.startswith("postgresql://sojourn:") and f"@127.0.0.1:{cluster.port}/" in cluster.tcp_url
    finally:
        cluster.stop()


@pytest.mark.alone  # others make segments of shared memory too
def test_nothing_is_left(tmp_path: Path) -> None:
    segments = set(Path("/dev/shm").glob("PostgreSQL.*"))
    first = Postgres(tmp_path / "one", durable=False, cores=[0])
    pids = first.pids
    for pid in pids.values():
        with suppress(OSError):  # one that started it has just ended
            assert "Cpus_allowed_list:\t0\n" in Path(f"/proc/{pid}/status").read_text()
    assert first.stop()["version"].startswith("postgres (PostgreSQL)")
    second = Postgres(tmp_path / "two", durable=False)
    pids |= second.pids
    second.kill()
    second.close()
    assert not any(map(alive, pids.values())) and not first.place.exists() and not second.place.exists()
    assert set(Path("/dev/shm").glob("PostgreSQL.*")) <= segments
    memory = Path("/proc/sysvipc/shm").read_text().splitlines()[1:]
    assert not {int(line.split()[4]) for line in memory} & set(pids.values()), "made by one of these"


def test_it_keeps_its_data_where_its_user_can_reach_the_folder(tmp_path: Path) -> None:
    place = Path("/tmp") / f"sojourn-test-{os.getpid()}"
    try:
        first = Postgres(place, durable=False)
        first.run("CREATE TABLE kept AS SELECT 5 AS number")
        first.stop()
        second = Postgres(place, durable=False)
        assert second.run("SELECT number FROM kept") == [("5",)]
        second.stop()
    finally:
        subprocess.run(["rm", "-rf", place], check=True)


@pytest.mark.parametrize("ending", ["os._exit(1)", "os.kill(os.getpid(), 9)"])
def test_it_ends_with_the_process_that_started_it(ending: str, tmp_path: Path) -> None:
    code = (
        "import os; from sojourn_cases.common.postgres import Postgres; "
        f"one = Postgres({str(tmp_path)!r}, durable=False); print(one.place, *one.pids.values(), flush=True); {ending}"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    place, *pids = said.stdout.split()
    deadline = time.monotonic() + 20
    while any(alive(int(pid)) for pid in pids):
        assert time.monotonic() < deadline, f"{pids} are still there"
        time.sleep(0.05)
    Postgres(tmp_path / "next", durable=False).stop()
    assert not Path(place).exists(), "the next start removes what a crash left"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_user_without_rights_runs_it_as_himself() -> None:
    place = Path("/tmp") / f"sojourn-test-{os.getpid()}"
    place.mkdir()
    nobody = pwd.getpwnam("nobody")
    os.chown(place, nobody.pw_uid, nobody.pw_gid)
    code = (
        f"import os; os.setgroups([]); os.setgid({nobody.pw_gid}); os.setuid({nobody.pw_uid}); "
        f"from sojourn_cases.common.postgres import Postgres; one = Postgres({str(place)!r}, durable=False); "
        "print(one.run('SELECT 1'), os.stat('/proc/%d' % one.pid).st_uid); one.stop()"
    )
    try:
        # Imported as root, as the package may lie where only root can read.
        whole = f"import sojourn_cases.common.postgres, sojourn.lab.cleanup_registry; {code}"
        said = subprocess.run([sys.executable, "-c", whole], capture_output=True, text=True, timeout=60)
        assert said.stdout == f"[('1',)] {nobody.pw_uid}\n", said.stderr
    finally:
        subprocess.run(["rm", "-rf", place], check=True)


def test_where_it_is_missing_the_remedy_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr("sojourn_cases.common.postgres_programs.INSTALLED", ())
    monkeypatch.setattr("sojourn_cases.common.postgres_programs.PACKAGES", ())
    with pytest.raises(LabError, match="pip install"):
        Postgres(tmp_path)


def test_what_the_server_refuses_is_told_in_its_own_words(tmp_path: Path) -> None:
    before = folders_of_this_process(PREFIX)
    with pytest.raises(ServiceError, match="no_such_setting"):
        Postgres(tmp_path, settings={"no_such_setting": "1"})
    assert folders_of_this_process(PREFIX) <= before


def test_a_folder_that_a_user_cannot_enter(tmp_path: Path) -> None:
    nobody = pwd.getpwnam("nobody")
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    assert reaches(None, closed) and not reaches(nobody, closed) and reaches(nobody, Path("/tmp"))


def test_a_signal_ends_it_in_good_order(cluster: Postgres) -> None:
    cluster.run("SELECT 1")
    os.kill(cluster.pid, signal.SIGINT)
    deadline = time.monotonic() + 20
    while cluster.pids:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert recoveries(cluster, cluster.restart) == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives the server to another user")
def test_a_folder_whose_data_must_be_kept_can_be_entered(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot enter it"):
        Postgres(tmp_path / "kept", keep=True)


@contextmanager
def recovering(cluster: Postgres) -> Iterator[None]:
    """One of its processes has crashed, and it stays at the begin of the recovery until the end of this."""
    os.kill(cluster.pids["postgres walwriter"], signal.SIGKILL)
    deadline = time.monotonic() + 10
    while not (startup := cluster.pids.get("postgres startup")):
        assert time.monotonic() < deadline
    os.kill(startup, signal.SIGSTOP)
    try:
        yield
    finally:
        send([startup], signal.SIGCONT)


def test_it_ends_with_its_process_also_while_it_recovers(open_folder: Path) -> None:
    code = f"from sojourn_cases.common.postgres import Postgres; one = Postgres({str(open_folder)!r}); print(one.pid, flush=True); input()"
    starter = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert starter.stdout
    server = int(starter.stdout.readline())
    deadline = time.monotonic() + 20
    os.kill(next(pid for pid in children(server) if name_of(pid) == "postgres walwriter"), signal.SIGKILL)
    while not (startup := [pid for pid in children(server) if name_of(pid) == "postgres startup"]):
        assert time.monotonic() < deadline
    send(startup, signal.SIGSTOP)
    starter.kill()
    starter.communicate()
    send(startup, signal.SIGCONT)
    while alive(server):
        assert time.monotonic() < deadline, "it stays for good"
        time.sleep(0.05)
    Postgres(open_folder).stop()


def test_a_stop_while_it_recovers_does_not_wait_for_that(tmp_path: Path) -> None:
    cluster = Postgres(tmp_path)
    with recovering(cluster):
        stopping = threading.Thread(target=cluster.stop)
        stopping.start()
        time.sleep(0.5)
    stopping.join(20)
    assert not stopping.is_alive() and b"received immediate shutdown request" in cluster.log.read_bytes()


def test_a_server_that_nobody_waits_for_makes_room_and_one_in_use_does_not(open_folder: Path) -> None:
    first = Postgres(open_folder, durable=False)
    (first.place / "owner.json").write_text(json.dumps({"pid": 1, "started": start_time(1)}))
    with pytest.raises(ServiceError, match="process 1 runs a server there"):
        Postgres(open_folder, durable=False)
    (first.place / "owner.json").write_text(json.dumps({"pid": 1, "started": "another"}))
    second = Postgres(open_folder, durable=False)
    assert first.ended and second.run("SELECT 1") == [("1",)]
    second.stop()
    first.close()


def test_after_its_first_process_was_killed_it_starts_again(open_folder: Path) -> None:
    cluster = Postgres(open_folder)
    cluster.run("CREATE TABLE kept AS SELECT 5 AS number")
    os.kill(cluster.pid, signal.SIGKILL)
    deadline = time.monotonic() + 10
    while not cluster.ended:
        assert time.monotonic() < deadline
    cluster.start()
    assert cluster.run("SELECT number FROM kept") == [("5",)]
    cluster.stop()


@pytest.mark.lab
@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("ip"), reason="needs root and iproute2")
def test_it_runs_in_the_network_that_it_is_given(tmp_path: Path) -> None:
    name = f"postgres-{os.getpid()}"  # not a name of labs, whose tests beside this one look for theirs
    if subprocess.run(["ip", "netns", "add", name], capture_output=True).returncode:
        pytest.skip("no network namespaces here")
    try:
        cluster = Postgres(tmp_path, durable=False, network=f"/run/netns/{name}")
        try:
            assert Path(f"/proc/{cluster.pid}/ns/net").stat().st_ino == Path(f"/run/netns/{name}").stat().st_ino
            assert cluster.run("SELECT 1") == [("1",)], "its socket is a file: it is reached from any network"
        finally:
            cluster.stop()
    finally:
        subprocess.run(["ip", "netns", "delete", name], check=True)
