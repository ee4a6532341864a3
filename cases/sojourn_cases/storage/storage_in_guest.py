"""What a guest of the storage study does: it mounts, carries a load, and reads its own CPU time at both ends of a window.

This runs inside (sojourn.lab.guest_main), so it needs nothing but the standard library and the native loops. Its busy time is what its
processor was not idle, by the kernel's own account in ns (/proc/timer_list), and not by ticks: these see 4 ms at a time.
"""

from __future__ import annotations

import base64
import ctypes
import os
import re
import shutil
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

from sojourn.lab import load_blocks

IDLE = re.compile(r"\.(?:idle|iowait)_sleeptime\s*:\s*(\d+) nsecs")
ATTACH_LIMIT_S, LOOK_S = 60.0, 0.05
NOATIME = 1024  # MS_NOATIME of mount(2): a read of a file is no write
OUT, RECORDS = Path("/tmp/load"), "requests.rec"
Answer = dict[str, Any]


def answer(order: Answer) -> Answer:
    """`mount` [source, folder, type, options] mounts it; before that, `attach`, a command, makes its source appear. `window`
    [start_s, end_s] (of this guest's clock) reads the CPU there, with the configuration `load` of a load, or without (null). `forget`:
    what files of this guest have in memory is forgotten first.

    Raises:
        OSError, RuntimeError: it cannot be done.
    """
    if "mount" in order:
        if "attach" in order:
            attach(order["attach"], Path(order["mount"][0]))
        mount(*order["mount"])
        return {}
    if order.get("forget"):
        Path("/proc/sys/vm/drop_caches").write_text("1\n")
    start_s, end_s = order["window"]
    return window(start_s, end_s, order["load"])


def attach(command: list[str], device: Path, limit_s: float = ATTACH_LIMIT_S) -> None:
    """Runs a command that makes `device` appear; RuntimeError where it fails, or the device is not there in time."""
    end_s = time.monotonic() + limit_s
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=limit_s)
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"{command[0]} did not end within {limit_s:g} s") from None
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise RuntimeError(f"{command[0]} ended with {done.returncode}: {''.join(said)}")
    while not device.exists():
        if time.monotonic() > end_s:
            raise RuntimeError(f"no {device} within {limit_s:g} s")
        time.sleep(LOOK_S)


def mount(source: str, folder: str, kind: str, options: str) -> None:
    """mount(2); OSError for what it complains of."""
    Path(folder).mkdir(exist_ok=True)
    library = ctypes.CDLL(None, use_errno=True)
    if library.mount(source.encode(), folder.encode(), kind.encode(), NOATIME, options.encode()):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), f"{source} on {folder}")


def window(start_s: float, end_s: float, load: Answer | None) -> Answer:
    """CPU of this guest between two times of its own clock, `busy_s` in `over_s`, while `load` goes on in a thread: then its `summary` and
    its `records`, base64."""
    told: Answer = {}
    carried = threading.Thread(target=_carry, args=(load, told), daemon=True)
    if load:
        shutil.rmtree(OUT, ignore_errors=True)
        carried.start()
    before = _read(start_s)
    after = _read(end_s)
    if load:
        carried.join()
    if "failed" in told:
        raise RuntimeError(told["failed"])
    if "summary" in told:
        told["records"] = base64.b64encode((OUT / RECORDS).read_bytes()).decode()
    return {"busy_s": after[0] - before[0] - (after[1] - before[1]), "over_s": after[0] - before[0], **told}


def _carry(load: Answer, told: Answer) -> None:
    try:
        told["summary"] = load_blocks(load, OUT)
    except (OSError, RuntimeError, ValueError) as error:
        told["failed"] = str(error)


def _read(at_s: float) -> tuple[float, float]:
    """The time, and for how long the processors have been idle, s, at `at_s`."""
    while (left_s := at_s - time.monotonic()) > 0:
        time.sleep(left_s)
    text = Path("/proc/timer_list").read_text()
    return time.monotonic(), idle_s(text)


def idle_s(timer_list: str) -> float:
    """For how long processors have been idle since they started, s, in the text of /proc/timer_list (kernel/time/timer_list.c), which has
    the state of each in ns: without I/O under way and with. That of a processor which is idle now is of before; the one that reads is not.

    Raises:
        RuntimeError: it is not told.
    """
    found = IDLE.findall(timer_list)
    if not found:
        raise RuntimeError("/proc/timer_list has no idle_sleeptime: the guest's kernel counts idle time by ticks alone")
    return sum(map(int, found)) / 1e9
