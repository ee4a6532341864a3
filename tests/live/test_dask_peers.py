"""Dask's peers send pickles: which schedulers and workers a client of ours talks to, and what it says to the others."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dask
import pytest
from dask_cluster import DaskCluster
from machine import PLAIN, Command, as_plain_user, wait_for
from test_bad_input import one_message

from sojourn.errors import InputError, WorkerError
from sojourn.parallel import open_workers, run_pieces
from sojourn.parallel.dask_peers import check_peers, checked_address

pytestmark = pytest.mark.live
SHOP = Path(__file__).resolve().parents[2] / "examples/shop.toml"
SWEEP = ("solve", SHOP, "--vary", "classes.user.population=1..5", "--parallel")


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def listening(host: str = "127.0.0.1") -> Iterator[socket.socket]:
    with socket.socket() as server:
        server.bind((host, 0))
        server.listen()
        server.settimeout(0)
        yield server


@pytest.mark.parametrize(
    "address",
    ["dask://192.0.2.7:8786", "tcp://192.0.2.7:8786", "dask://[2001:db8::1]:8786", "dask://no-such.invalid:1"],
)
def test_a_cluster_that_strangers_can_reach_is_refused(address: str) -> None:
    with (
        pytest.raises(InputError, match=r"neither TLS nor loopback.*give tls://.*dask\+insecure://.*run-on-a-cluster"),
        open_workers(address),
    ):
        pass


@pytest.mark.parametrize("verb", ["--parallel", "--agents"])
def test_nothing_is_sent_to_one_that_is_refused(tmp_path: Path, verb: str) -> None:
    """The machine's own address that is not loopback stands for the network's; without one there is nothing to ask."""
    with listening("0.0.0.0") as server:
        port = server.getsockname()[1]
        address = f"dask://0.0.0.0:{port}"  # reaches this machine, and is not a loopback address
        load = ("load", "http://127.0.0.1:1/", "--rate", "9", "--duration", "1s", "--out", "a/run", "--agents")
        one_message(
            Command(tmp_path, *(SWEEP if verb == "--parallel" else load), address),
            2,
            verb,
            "neither TLS nor loopback",
            "tls://",
        )
        with pytest.raises(BlockingIOError):
            server.accept()


def test_loopback_has_many_names() -> None:
    for host in ("127.0.0.1", "127.8.8.8", "localhost", "[::1]"):
        address = checked_address("dask", host, free_port())
        assert address.startswith(("tcp://127.", "tcp://[::1]:")), "a name is looked up once"
    assert checked_address("dask+insecure", "192.0.2.7", 1) == "tcp://192.0.2.7:1"
    assert checked_address("tls", "192.0.2.7", 1) == "tls://192.0.2.7:1"


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("setpriv") is None, reason="needs another user")
def test_a_scheduler_of_another_user_of_this_machine_is_refused() -> None:
    port = free_port()
    code = f"import socket, time; s = socket.create_server(('127.0.0.1', {port})); time.sleep(60)"
    # listens before the other user's own interpreter need be readable: as_plain_user keeps the right to read
    other = subprocess.Popen([*as_plain_user(), sys.executable, "-c", code])
    try:
        wait_for(lambda: _answers(port))
        with (
            pytest.raises(InputError, match=rf"belongs to user {PLAIN}, who could run code as you"),
            open_workers(f"dask://127.0.0.1:{port}"),
        ):
            pass
    finally:
        other.kill()
        other.wait()


def _answers(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


def test_peers_that_others_reach_are_refused_by_address() -> None:
    check_peers("tcp://127.0.0.1:8786", ["tcp://[::1]:4000", "tls://192.0.2.7:5000", "inproc://192.0.2.7/1/2"])
    with pytest.raises(
        WorkerError, match=r"the scheduler at tcp://192\.0\.2\.7:8786 has no TLS.*dask scheduler --host 127\.0\.0\.1"
    ):
        check_peers("tcp://192.0.2.7:8786", [])
    with pytest.raises(WorkerError, match=r"the worker at tcp://192\.0\.2\.8:9 has no TLS"):
        check_peers("tcp://127.0.0.1:8786", ["tcp://192.0.2.8:9"])


def test_a_scheduler_open_to_the_network_is_refused_on_loopback_too(tmp_path: Path) -> None:
    cluster = DaskCluster(tmp_path, [()], host="0.0.0.0", port=(port := free_port()))
    try:
        wait_for(lambda: _answers(port))
        with (
            pytest.raises(WorkerError, match=r"the scheduler at tcp://.* has no TLS"),
            open_workers(f"dask://127.0.0.1:{port}"),
        ):
            pass
    finally:
        cluster.end()


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("certificates")
    subprocess.run([Path(__file__).parents[1] / "make-certificates", folder], check=True)
    return folder


def settings(folder: Path) -> dict[str, str]:
    """Dask's own settings of TLS."""
    own = {"ca-file": folder / "ca.pem"}
    for role in ("scheduler", "worker", "client"):
        own |= {f"{role}.cert": folder / "good.pem", f"{role}.key": folder / "good.key"}
    return {f"distributed.comm.tls.{name}": str(path) for name, path in own.items()}


def environment(folder: Path) -> dict[str, str]:
    return {
        f"DASK_{name.replace('.', '__').replace('-', '_').upper()}": path for name, path in settings(folder).items()
    }


def doubled(_: object, piece: int) -> tuple[int, int]:
    return piece, 2 * piece


def test_a_cluster_with_tls(tmp_path: Path, certificates: Path) -> None:
    cluster = DaskCluster(tmp_path, [()], port=free_port(), tls=environment(certificates))
    try:
        with dask.config.set(settings(certificates)):
            cluster.wait()
            with open_workers(cluster.address) as workers:
                assert sorted(run_pieces(workers, doubled, workers.send(None), [1, 2, 3])) == [(1, 2), (2, 4), (3, 6)]
        with (
            pytest.raises(InputError, match=r"tls:// without ca-file, client\.cert, client\.key; give"),
            open_workers(cluster.address),
        ):
            pass
        with (
            other_authority(tmp_path),
            pytest.raises(WorkerError, match="no answer from tls://"),
            open_workers(cluster.address),
        ):
            pass
    finally:
        cluster.end()


@contextmanager
def other_authority(folder: Path) -> Iterator[None]:
    own = folder / "other"
    own.mkdir()
    subprocess.run([Path(__file__).parents[1] / "make-certificates", own], check=True)
    with dask.config.set(settings(own)):
        yield


def test_certificates_that_cannot_be_read(tmp_path: Path) -> None:
    gone = settings(tmp_path / "gone")
    with (
        dask.config.set(gone),
        pytest.raises(InputError, match=r"distributed\.comm\.tls: .*No such file.*gone/ca\.pem"),
        open_workers("tls://127.0.0.1:1"),
    ):
        pass
