"""The first program of a guest that serves: a worker and a collector, each a process, and a line of orders from the host.

It runs inside, with this machine's own Python copied there (guest_python.py). `/guest.json` says what: `path` (of modules), `call`
("module:function" of a worker, or null), `config`, `answers` ("module:function", or null), `nics` (of each its name and the core of
each queue's interrupts), `interval_s`.
An order is a line on the port `sojourn.control`, answered by one: `clock` by CLOCK_MONOTONIC here, `interrupts` by /proc/interrupts,
`do JSON` by what `answers` says to that object, or by what went wrong as `error`, `stop` by the worker's summary.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

CONTROL, SAMPLES = "sojourn.control", "sojourn.samples"
CONFIG = "/guest.json"
SUMMARY = Path("/tmp/summary.json")
LINE, LOOK_S = 1 << 20, 0.1


def port(name: str, sys_root: Path = Path("/sys")) -> str:
    """The device of a virtio port of this name."""
    for folder in (sys_root / "class/virtio-ports").iterdir():
        if (folder / "name").read_text().strip() == name:
            return f"/dev/{folder.name}"
    raise RuntimeError(f"no port {name}; give the guest one")


def steer(
    nics: list[dict[str, Any]], sys_root: Path = Path("/sys"), proc: Path = Path("/proc")
) -> dict[str, list[int]]:
    """The interrupts of each NIC to its `cores`, one a queue; NIC → its lines in /proc/interrupts. The first line is that of its
    configuration, then each queue has one in and one out."""
    lines: dict[str, list[int]] = {}
    for nic in nics:
        device = (sys_root / "class/net" / nic["name"] / "device").resolve().parent
        lines[nic["name"]] = sorted(int(line.name) for line in (device / "msi_irqs").iterdir())
        for number, line in enumerate(lines[nic["name"]]):
            core = nic["cores"][max(number - 1, 0) // 2 % len(nic["cores"])]
            (proc / "irq" / str(line) / "smp_affinity_list").write_text(str(core))
    return lines


def main(config_file: str = CONFIG) -> None:
    config = json.loads(Path(config_file).read_text())
    sys.path[:] = config["path"]
    from sojourn import _native

    lines = steer(config["nics"])
    orders = open(port(CONTROL), "r+b", buffering=0)  # noqa: SIM115
    collect = {"out": port(SAMPLES), "interval_s": config["interval_s"], "disks": False}
    answers = _function(config["answers"]) if config.get("answers") else None
    children = [_child(lambda: _serve(config))] if config["call"] else []
    children.append(_child(lambda: _told(_native, lambda: _native.collect_host(json.dumps(collect)))))
    if not children[1:]:
        print("sojourn: ready {}", flush=True)
    buffered = b""
    while not _failed(children):
        if not select.select([orders], [], [], LOOK_S)[0]:
            continue
        data = os.read(orders.fileno(), LINE)
        if not data:  # nobody at the other end
            time.sleep(LOOK_S)
        buffered += data
        while b"\n" in buffered:
            order, _, buffered = buffered.partition(b"\n")
            _write(orders.fileno(), _answer(order.decode(), children, lines, answers).encode() + b"\n")


def _failed(children: list[int]) -> bool:
    """Whether one of them ended without being told to; the machine then ends, too."""
    return any(os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) for pid in children)


def _told(native: Any, work: Callable[[], object]) -> None:
    native.stop_on_signals()
    work()


def _child(work: Callable[[], object]) -> int:
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        work()
        code = 0
    except Exception as error:
        print(f"sojourn: failed {type(error).__name__}: {error}", flush=True)
    finally:
        os._exit(code)


def _serve(config: dict[str, Any]) -> None:
    def emit(event: str, **fields: Any) -> None:
        print(f"sojourn: {event} {json.dumps(fields)}", flush=True)

    SUMMARY.write_text(json.dumps(_function(config["call"])(config["config"], emit)))


def _function(call: str) -> Any:
    module, _, name = call.partition(":")
    __import__(module)
    return getattr(sys.modules[module], name)


def _write(port: int, data: bytes) -> None:
    """All of it: the kernel takes some at a time."""
    while data:
        data = data[os.write(port, data) :]


def _answer(order: str, children: list[int], lines: dict[str, list[int]], answers: Any) -> str:
    if order.startswith("do ") and answers:
        try:
            return json.dumps(answers(json.loads(order[3:])))
        except Exception as error:
            return json.dumps({"error": f"{type(error).__name__}: {error}"})
    if order == "clock":
        return repr(time.monotonic())
    if order == "interrupts":
        return json.dumps({"lines": lines, "text": Path("/proc/interrupts").read_text()})
    if order == "stop":
        for pid in children:
            os.kill(pid, signal.SIGTERM)
        while children:
            os.waitpid(children.pop(), 0)
        return SUMMARY.read_text() if SUMMARY.exists() else "null"
    return "null"


if __name__ == "__main__":
    main()
