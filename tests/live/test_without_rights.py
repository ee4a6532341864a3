"""Without root: what cannot be had is named with the remedy, and the rest works on loopback."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from machine import Command, tiny_study

pytestmark = pytest.mark.live


def test_the_doctor_tells_a_plain_user_what_to_do(open_folder: Path) -> None:
    command = Command(open_folder, "doctor", "--json", plain=True)
    assert command.end() == 0, command.said()
    checks = {check["name"]: check for check in json.loads(command.answered())["checks"]}
    assert checks["root"]["works"] is False and checks["root"]["remedy"] == "run as root"
    assert "network namespaces" not in checks, "what needs root is not tried"
    assert command.left() == []


@pytest.mark.lab
def test_the_doctor_tries_what_root_may_and_leaves_nothing(tmp_path: Path) -> None:
    command = Command(tmp_path, "doctor", "--json")
    assert command.end() == 0, command.said()
    checks = {check["name"]: check for check in json.loads(command.answered())["checks"]}
    tried = {"network namespaces", "interrupt work", "idle control group", "rate of a NIC", "share of the cores"}
    assert tried <= set(checks)
    assert all(check["remedy"] for check in checks.values() if not check["works"])
    assert command.left() == []


def test_hosts_of_one_s_own_need_root(open_folder: Path) -> None:
    command = Command(open_folder, "study", tiny_study(open_folder, kind="namespaces"), "--out", "out", plain=True)
    assert command.end() == 4, command.said()
    ours = [line for line in command.said().splitlines() if line.startswith("sojourn: ")]
    assert len(ours) == 1 and "Traceback" not in command.said()
    assert "lab.kind = 'namespaces': root: no (run as root)" in ours[0] and "lab.kind = 'auto'" in ours[0]
    assert command.left() == []
