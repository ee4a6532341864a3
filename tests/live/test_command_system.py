"""A user's own program as a system: run folders of it, each of its bad habits one clear error, and nothing left of it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from machine import command_words, made_here

from sojourn.errors import Busy, InputError, ServiceError
from sojourn.runs.run_folder import RunFolder
from sojourn.study.kinds.command_system import CommandOptions, CommandSystem
from sojourn.study.kinds.http_system import HttpLoad
from sojourn.study.system import Point
from sojourn.table import Metrics

pytestmark = pytest.mark.live
SHOP = str(Path(__file__).parent / "services/shop.py")


@pytest.fixture
def port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.fixture(autouse=True)
def nothing_left(port: int) -> Iterator[None]:
    before = made_here()
    yield
    assert made_here() <= before
    assert services(port) == []


def least_demand_s(folder: RunFolder, work_s: float) -> float:
    """What a request that works for `work_s` uses at least: the work of one request of the window may lie outside it, and meters of CPU
    time are known to 2 % (benches/meters)."""
    start_s, end_s = folder.manifest["window_s"]
    requests = Metrics.read(folder.path / "metrics.parquet").value("throughput") * (end_s - start_s)
    return work_s * (1 - 1 / requests - 0.02)


def services(port: int) -> list[str]:
    """Command lines of services of this test that still run."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        line = command_words(process)
        if (
            SHOP in line
            and f" --port {port} " in line
            and process.name != str(os.getpid())
            and "sojourn.cli" not in line
        ):
            found.append(line)
    return found


def system(port: int, *arguments: str, load: dict[str, Any] | None = None, **options: Any) -> CommandSystem:
    given = {
        "command": [sys.executable, SHOP, "--port", str(port), *arguments],
        "url": f"http://127.0.0.1:{port}/item",
        "ready": f"http://127.0.0.1:{port}/ready",
        **options,
    }
    chosen = {"for": 1.5, "rate_per_s": 100.0, "connections": 8, **(load or {})}
    return CommandSystem(CommandOptions(**given), HttpLoad(**chosen), Path.cwd())


def run(of: CommandSystem, out: Path, **factors: Any) -> RunFolder:
    point = Point("s", of.settled(factors, "test"))
    with of.place() as place, of.open(place) as session:
        return session.run(point, out / point.name, 1)


@pytest.mark.alone
def test_a_run_tells_utilisation_and_demand_of_the_program(tmp_path: Path, port: int) -> None:
    """5 ms of work a request on one core: the demand is that and what HTTP takes, and D X = U c (utilisation law)."""
    of = system(
        port, "--work-ms", "{work_ms}", factors={"work_ms": 1.0}, cpuset="0", load={"for": 2.0, "rate_per_s": 40.0}
    )
    folder = run(of, tmp_path, work_ms=5.0)
    metrics = Metrics.read(folder.path / "metrics.parquet")
    demand, busy = metrics.value("service_demand", "cpu"), metrics.value("utilisation", "cpu")
    assert least_demand_s(folder, 0.005) <= demand <= 0.0085
    assert busy == pytest.approx(demand * metrics.value("throughput"), rel=0.03)
    assert folder.manifest["factors"] == {"work_ms": 5.0, "rate_per_s": 40.0}
    assert metrics.frame["work_ms"].unique().to_list() == [5.0]
    assert folder.manifest["placement"]["server"] == [0]
    assert "--work-ms" in folder.manifest["argv"] and folder.manifest["resources"]["cpu"]["capacity"] == 1
    assert folder.manifest["service"]["left"] == [] and not folder.manifest["service"]["killed"]


@pytest.mark.alone
def test_time_of_forked_workers_counts(tmp_path: Path, port: int) -> None:
    folder = run(system(port, "--work-ms", "5", "--processes", "3", load={"rate_per_s": 40.0, "for": 2.0}), tmp_path)
    demand = Metrics.read(folder.path / "metrics.parquet").value("service_demand", "cpu")
    assert least_demand_s(folder, 0.005) <= demand <= 0.0085
    assert sum(name.startswith("service") for name in folder.manifest["pids"]) == 3


@pytest.mark.alone
def test_without_control_groups_the_processes_are_counted(
    tmp_path: Path, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sojourn.study.kinds.command_system.make_counted_group", lambda *_: None)
    folder = run(system(port, "--work-ms", "5", "--processes", "3", load={"rate_per_s": 40.0, "for": 2.0}), tmp_path)
    demand = Metrics.read(folder.path / "metrics.parquet").value("service_demand", "cpu")
    assert least_demand_s(folder, 0.005) <= demand <= 0.0085
    assert len(folder.manifest["resources"]["cpu"]["pids"]) == 3


def test_closed_loop_and_factor_in_environment(tmp_path: Path, port: int) -> None:
    of = system(
        port, "--print", "COLOUR", environment={"COLOUR": "{colour}"}, factors={"colour": "red"},
        load={"rate_per_s": None, "think": "20ms"},
    )  # fmt: skip
    folder = run(of, tmp_path, colour="blue", users=4)
    assert "COLOUR is blue" in (folder.path / "service.log").read_text()
    assert folder.manifest["factors"] == {"colour": "blue", "users": 4, "think_s": 0.02}


@pytest.mark.alone
@pytest.mark.lab
def test_on_hosts_of_its_own(tmp_path: Path, port: int) -> None:
    """The service is reached over a NIC, and nothing of the two hosts is left; nobody hears of it on this host."""
    url, ready = f"http://{{host}}:{port}/item", f"http://{{host}}:{port}/ready"
    of = system(
        port, "--host", "{host}", "--work-ms", "5", hosts="namespaces", url=url, ready=ready,
        load={"for": 3.0, "rate_per_s": 40.0},
    )  # fmt: skip
    folder = run(of, tmp_path)
    assert folder.manifest["lab"]["kind"] == "namespaces"
    assert folder.manifest["load"]["lanes"][0]["targets"][0]["url"] == f"http://10.77.0.1:{port}/item"
    demand = Metrics.read(folder.path / "metrics.parquet").value("service_demand", "cpu")
    assert least_demand_s(folder, 0.005) <= demand <= 0.0085


def test_what_it_prints_has_no_secrets(tmp_path: Path, port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT", "open-sesame")
    given = {"KEY": "env:VAULT", "DB_PASSWORD": "hunter2", "COLOUR": "red"}
    folder = run(system(port, "--print", "KEY,DB_PASSWORD,COLOUR", environment=given), tmp_path)
    log = (folder.path / "service.log").read_text()
    assert "KEY is ***" in log and "DB_PASSWORD is ***" in log and "COLOUR is red" in log
    for file in folder.path.iterdir():
        assert b"open-sesame" not in file.read_bytes() and b"hunter2" not in file.read_bytes(), file


def test_output_is_bounded(tmp_path: Path, port: int) -> None:
    folder = run(system(port, "--noise-bytes", "2000000", output_bytes=10_000), tmp_path)
    log = (folder.path / "service.log").read_text()
    assert len(log) < 11_000 and log.startswith("xxx") and log.rstrip().endswith("the last line")
    assert "bytes left out" in log


def test_a_service_that_dies_makes_the_run_invalid(tmp_path: Path, port: int) -> None:
    folder = run(system(port, "--dies-after", "1"), tmp_path)
    assert not folder.manifest["valid"]
    reason = folder.manifest["reasons"][0]
    assert reason.startswith("the service ended with 3 ") and "after the load began" in reason
    assert "out of memory: giving up" in reason


def refused(of: CommandSystem, out: Path, kind: type[Exception], *said: str) -> None:
    with pytest.raises(kind) as error:
        run(of, out)
    for part in said:
        assert part in str(error.value)
    assert list(out.iterdir()) == []


def test_never_ready(tmp_path: Path, port: int) -> None:
    of = system(port, "--ready-after", "60", ready_s="1s")
    refused(
        of, tmp_path, ServiceError, "[system] command: not ready after 1 s", "Connection refused", "increase `ready_s`"
    )


def test_ready_address_that_answers_otherwise(tmp_path: Path, port: int) -> None:
    of = system(port, ready=f"http://127.0.0.1:{port + 1}/none", ready_s=1)
    refused(of, tmp_path, ServiceError, f"{port + 1}/none", "fix `ready`")


def test_dies_at_once(tmp_path: Path, port: int) -> None:
    of = system(port, "--no-such-option")
    refused(
        of,
        tmp_path,
        ServiceError,
        "ended with 2 before it was ready",
        "unrecognized arguments",
        "fix what the message says",
    )


def test_port_in_use(tmp_path: Path, port: int) -> None:
    other = subprocess.Popen([sys.executable, SHOP, "--port", str(port)])
    try:
        deadline = time.monotonic() + 10
        while refuses(port) and time.monotonic() < deadline:
            time.sleep(0.05)
        refused(
            system(port), tmp_path, Busy, f"port {port} is in use by process {other.pid}", "give the service another"
        )
    finally:
        other.kill()
        other.wait()


def refuses(port: int) -> str:
    from sojourn.lab.readiness import problem

    return problem({"address": ["127.0.0.1", port]})


def test_goes_to_the_background(tmp_path: Path, port: int) -> None:
    of = system(port, "--background", "--ready-after", "3")
    refused(of, tmp_path, ServiceError, "left 1 processes behind", "start it in the foreground")


def test_children_that_stay_are_ended_and_told(tmp_path: Path, port: int) -> None:
    folder = run(system(port, "--child"), tmp_path)
    assert "left 1 processes behind" in folder.manifest["warnings"][0]


def test_deaf_to_its_signal(tmp_path: Path, port: int) -> None:
    folder = run(system(port, "--deaf", grace_s=0.5), tmp_path)
    assert folder.manifest["service"]["killed"]
    assert not any("the service ended" in reason for reason in folder.manifest["reasons"])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"command": ["no-such-program"]}, "no program 'no-such-program' on the PATH"),
        ({"command": ["./no-such-program"]}, "no program './no-such-program' in "),
        (
            {"command": ["sleep", "{workers}"]},
            "[system] command[1]: placeholder {workers} has no factor; use one of the",
        ),
        ({"factors": {"workers": 2}}, "[system.factors]: factor workers has no placeholder; write {workers} into"),
        ({"environment": {"KEY": "env:NOT_SET_ANYWHERE"}}, "environment variable NOT_SET_ANYWHERE is not set"),
        ({"cpuset": "99"}, "cpuset = 99; give some of the cores"),
        ({"cores": 999}, "cores = 999; give 1 to "),
        ({"folder": "no/such/folder"}, "no folder"),
        ({"factors": {"host": "a"}}, "factor 'host'"),
        ({"ready": "not-a-port"}, "[system] ready: 'not-a-port'; give a URL, host:port or a port"),
    ],
)
def test_bad_options_are_refused_before_anything_starts(port: int, options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as error:
        system(port, **options)
    assert said in str(error.value)
