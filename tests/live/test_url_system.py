"""A service that somebody else runs as a system, and one on a Unix socket."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_command_system import SHOP, least_demand_s, port, run

from sojourn.errors import InputError, ServiceError
from sojourn.lab.readiness import problem
from sojourn.study.kinds.command_system import CommandOptions, CommandSystem
from sojourn.study.kinds.http_system import HttpLoad
from sojourn.study.kinds.url_system import UrlOptions, UrlSystem
from sojourn.table import Metrics

pytestmark = pytest.mark.live
__all__ = ["port"]
LOAD = HttpLoad.model_validate({"for": 1.5, "rate_per_s": 50.0, "connections": 8})


@pytest.fixture
def shop(port: int) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, SHOP, "--port", str(port), "--work-ms", "5"])
    deadline = time.monotonic() + 10
    while problem({"address": ["127.0.0.1", port]}):
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.05)
    yield process
    process.kill()
    process.wait()


@pytest.mark.alone
def test_its_resources_are_what_its_user_says(tmp_path: Path, port: int, shop: subprocess.Popen[bytes]) -> None:
    options = UrlOptions.model_validate({
        "url": f"http://127.0.0.1:{port}/{{page}}", "factors": {"page": "item"},
        "resources": {"shop": {"pids": [shop.pid], "capacity": 1}},
    })  # fmt: skip
    folder = run(UrlSystem(options, LOAD, Path.cwd()), tmp_path, page="other")
    metrics = Metrics.read(folder.path / "metrics.parquet")
    assert least_demand_s(folder, 0.005) <= metrics.value("service_demand", "shop") <= 0.0085
    assert folder.manifest["load"]["lanes"][0]["targets"][0]["url"].endswith("/other")
    assert shop.poll() is None, "it is not ours to end"


def test_nobody_answers(tmp_path: Path, port: int) -> None:
    of = UrlSystem(UrlOptions(url=f"http://127.0.0.1:{port}/"), LOAD, Path.cwd())
    with pytest.raises(ServiceError, match="nothing listens at 127.0.0.1"):
        run(of, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("resource", "said"),
    [
        ({"pids": [99999999]}, "[system.resources.x]: no process 99999999"),
        ({"cgroup": "no/such"}, "[system.resources.x]: no control group no/such"),
        ({"disk": "no-such"}, "[system.resources.x]: no disk no-such"),
        ({}, "resource 'x'; give one of pids, cgroup and disk"),
        ({"pids": [1], "disk": "vda"}, "resource 'x'; give one of pids, cgroup and disk"),
    ],
)
def test_resources_that_are_not_there(tmp_path: Path, resource: dict[str, object], said: str) -> None:
    of = UrlSystem(
        UrlOptions.model_validate({"url": "http://127.0.0.1:1/", "resources": {"x": resource}}), LOAD, tmp_path
    )
    with pytest.raises(InputError) as error:
        run(of, tmp_path)
    assert said in str(error.value)


def test_a_program_on_a_unix_socket(tmp_path: Path) -> None:
    path = f"/tmp/sojourn-test-{os.getpid()}.socket"
    program = str(Path(SHOP).with_name("on_socket.py"))
    options = CommandOptions(command=(sys.executable, program, path), url="http://shop/")
    try:
        folder = run(CommandSystem(options, LOAD.model_copy(update={"unix_socket": path}), Path.cwd()), tmp_path)
    finally:
        Path(path).unlink(missing_ok=True)
    assert folder.manifest["generator"]["ok"] > 50
