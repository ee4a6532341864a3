"""One cell: a command, a fault at a random moment, and what was found afterwards: a function of verb, fault and seed."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from verbs import Verb, copied, whole
from world import Watch, command_line, tree

from sojourn.lab.process_tree import stat

ONCE_MORE = "once more ends at once, and the next start removes what is left"  # the first signal of a service may be its usual end
FAULTS = ("kill", "stop", "disk", "interrupt", "parent")
CELL = Path("/tmp/cell")
DISK = "192m"
ENDED_S, GONE_S = 60.0, 12.0
STOPPED_S = (0.3, 1.5)
TURN_S = 0.01
PARENT = (
    "import subprocess, sys\n"
    "p = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE)\n"
    "print(p.pid, file=open('pid.tmp', 'w')); import os; os.rename('pid.tmp', 'pid')\n"
    "for line in p.stdout: sys.stdout.buffer.write(line)\n"
)
OURS = "/sojourn/"  # in a trace: it had come to a line of ours
TRACKER = "Python's resource tracker"  # which starts again, with a trace of its own
NEXT_START = """
import shutil
from sojourn.lab.cleanup_registry import clean_stale
from sojourn.lab.owned_folder import stale_folders
from sojourn_cases.common.postgres_folders import remove_stale
clean_stale()
remove_stale()
for folder in stale_folders("sojourn-"):
    shutil.rmtree(folder)
"""
IDLE = "worker"  # which may have no work left when it is killed
ERROR = re.compile(r"^sojourn: ", re.MULTILINE)
Row = dict[str, Any]


class RunningCommand:
    """The command of a cell, behind a parent where that is to be killed; its output goes to files outside its disk."""

    def __init__(self, words: tuple[str, ...], place: Path, parent: bool) -> None:
        command = [sys.executable, "-m", "sojourn", *words]
        before = [sys.executable, "-S", "-c", PARENT] if parent else []
        self.out, self.err = CELL / "out", CELL / "err"
        with open(self.out, "wb") as out, open(self.err, "wb") as err:
            self.started = subprocess.Popen(
                [*before, *command], cwd=place, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True,
                env={**os.environ, "PYTHONFAULTHANDLER": "1"}, preexec_fn=_heed_signals,
            )  # fmt: skip
        self.code: int | None = None
        self.pid = self._named(place) if parent else self.started.pid

    def _named(self, place: Path) -> int:
        while not (place / "pid").exists():
            time.sleep(0.005)
        pid = int((place / "pid").read_text())
        (place / "pid").unlink()
        return pid

    def ended(self) -> bool:
        if self.code is not None:
            return True
        if self.pid == self.started.pid:
            self.code = self.started.poll()
            return self.code is not None
        self.started.poll()
        with suppress(ChildProcessError):  # not yet ours: its parent still lives
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.code = os.waitstatus_to_exitcode(status)
                return True
            return False
        if not Path(f"/proc/{self.pid}").exists():
            self.code = self.started.wait()
        return self.code is not None

    def wait(self, watch: Watch, most_s: float) -> bool:
        """Whether it ended within `most_s`, of which this process had a share, too: a machine that stands still is nobody's fault."""
        deadline, turns = time.monotonic() + most_s, 0
        while not self.ended():
            watch.look()
            turns += 1
            if time.monotonic() > deadline and turns > most_s / (4 * TURN_S):
                return False
            time.sleep(TURN_S)
        return True


def cell(verb: Verb, fault: str, seed: int, base_s: float) -> Row:
    """`base_s`: how long the command takes without a fault; fault `none` measures it."""
    draw = random.Random(f"{verb.name}/{fault}/{seed}")
    place = CELL / "place"
    place.mkdir(parents=True)
    for path in (CELL, place):
        path.chmod(0o755)
    if fault == "disk":
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK},mode=755", "none", str(place)], check=True)
    try:
        copied(verb.fixtures, place)
        verb.prepare(place)
        own = {int(path.name) for path in Path("/proc").glob("[0-9]*")}
        return _fault(verb, fault, seed, draw, base_s, place, Watch(own, CELL))
    finally:
        verb.close()
        if fault == "disk":
            subprocess.run(["umount", "-l", str(place)], check=True)
        shutil.rmtree(CELL, ignore_errors=True)


def _fault(verb: Verb, fault: str, seed: int, draw: random.Random, base_s: float, place: Path, watch: Watch) -> Row:
    at_s = draw.uniform(0.0, base_s)
    begin = time.monotonic()
    running = RunningCommand(verb.words, place, fault == "parent")
    halt = threading.Event()
    driver = threading.Thread(target=_drive, args=(verb, running, halt), daemon=True)
    driver.start()
    done = running.wait(watch, at_s if fault != "none" else ENDED_S)
    hit = "" if done or fault == "none" else _hit(fault, running, seed, draw, place)
    ended = running.wait(watch, ENDED_S)
    took_s = time.monotonic() - begin
    halt.set()
    driver.join(10)
    problems = [] if ended else [f"did not end within {ENDED_S:g} s: {_hung(running)}"]
    problems += judged(verb, fault, hit, running)
    left = watch.left(GONE_S)
    at_once = fault == "interrupt" and running.code == 130 and ONCE_MORE in running.err.read_text(errors="replace")
    if left and ((hit == "main" and fault == "kill") or at_once) and not watch.processes():
        left = _after_next_start(watch, place)
    problems += [f"left: {thing}" for thing in left[:4]]
    for pid in watch.processes():
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    for path in place.glob("ballast"):
        path.unlink()
    try:
        problems += whole(place, verb.outputs) + verb.promises(place, running.code)
    except Exception as error:
        problems.append(f"check: {type(error).__name__}: {error}")
    return {
        "verb": verb.name, "fault": fault, "seed": seed, "at_s": round(at_s, 3), "hit": hit, "code": running.code,
        "took_s": round(took_s, 2), "acknowledged": len(getattr(verb, "acknowledged", ())),
        "problems": " | ".join(problems), "said": running.err.read_text(errors="replace")[-4000:].strip() if problems else "",
    }  # fmt: skip


def _drive(verb: Verb, running: RunningCommand, halt: threading.Event) -> None:
    verb.drive(lambda: running.code is None, halt)
    if not verb.runs and not halt.is_set():
        with suppress(OSError):
            os.kill(running.pid, signal.SIGTERM)


def _hit(fault: str, running: RunningCommand, seed: int, draw: random.Random, place: Path) -> str:
    """Does it; what was hit."""
    with suppress(ProcessLookupError):
        if fault in ("kill", "stop"):
            processes = tree(running.pid)
            if not processes:
                return ""
            pid = processes[(seed - 1) % len(processes)]
            name = "main" if pid == running.pid else role(pid)
            os.kill(pid, signal.SIGKILL if fault == "kill" else signal.SIGSTOP)
            if fault == "stop":
                time.sleep(draw.uniform(*STOPPED_S))
                os.kill(pid, signal.SIGCONT)
            return name
        if fault == "disk":
            free = os.statvfs(place)
            with open(place / "ballast", "wb") as ballast, suppress(OSError):
                os.posix_fallocate(ballast.fileno(), 0, free.f_bavail * free.f_frsize)
            with open(place / "ballast", "ab") as ballast, suppress(OSError):
                while True:
                    os.write(ballast.fileno(), bytes(4096))
            return "full"
        if fault == "interrupt":
            group = seed % 2 == 0  # as a terminal does; else as kill does
            (os.killpg if group else os.kill)(running.pid, signal.SIGINT)
            if seed % 3 == 0:
                time.sleep(draw.uniform(0, 0.3))
                (os.killpg if group else os.kill)(running.pid, signal.SIGINT)
            return "group" if group else "main"
        running.started.kill()
        running.started.wait()
        if seed % 2 == 0:  # a terminal that is closed says so, a shell that is killed does not
            os.kill(running.pid, signal.SIGHUP)
        return "hangup" if seed % 2 == 0 else "killed"
    return ""


def role(pid: int) -> str:
    """What a process is, in a few words."""
    line = command_line(pid)
    worker = re.search(r"worker_main (\S+)", line)
    if worker:
        return worker[1]
    if "resource_tracker" in line:
        return TRACKER
    if "multiprocessing.spawn" in line:
        return IDLE
    name = line.split(" ")[0].rpartition("/")[2] or "?"
    return " ".join(line.split(" ")[:2]).rstrip(":") if line.startswith("postgres:") else name


def judged(verb: Verb, fault: str, hit: str, running: RunningCommand) -> list[str]:
    """Exit code and message."""
    said = running.err.read_text(errors="replace")
    code = running.code
    found = []
    if hit == TRACKER:
        return [] if running.code in verb.codes else [f"exit code {running.code}"]
    killed = code in (-signal.SIGINT, -signal.SIGHUP) and "in main" not in said
    if fault in ("interrupt", "parent") and (
        killed or (code == 1 and "KeyboardInterrupt" in said and OURS not in said)
    ):
        return []  # Python itself was still starting
    if "Traceback" in said or "panicked" in said:
        found.append("traceback")
    errors = len(ERROR.findall(said))
    if errors > (2 if fault == "interrupt" else 1):
        found.append(f"{errors} messages")
    allowed = {
        "": verb.codes, "kill": (-9,) if hit == "main" else (*verb.codes, 1, 4, 5), "stop": (*verb.codes, 3, 5),
        "disk": (*verb.codes, 1, 5), "interrupt": (*verb.codes, 130), "parent": (*verb.codes, 1, 130),
    }[fault if hit else ""]  # fmt: skip
    if code not in allowed:
        found.append(f"exit code {code}")
    if (
        code in (1, 2, 4, 5, 6) and errors == 0 and fault != "parent"
    ):  # whose output nobody reads ends silently, as with SIGPIPE
        found.append(f"exit code {code} without a message")
    if fault == "kill" and hit not in ("", "main", IDLE) and verb.shared and code in (0, 7, 8):
        found.append(f"{hit} killed, and exit code {code}")
    return found


def _after_next_start(watch: Watch, place: Path) -> list[str]:
    """What is left of a killed command when the next one has started."""
    subprocess.run([sys.executable, "-c", NEXT_START], cwd=place, check=False)
    return watch.left(GONE_S)


def _heed_signals() -> None:
    """What runs in the background (nohup, `&`) ignores signals, and so would all that it starts."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def _doing(pid: int) -> str:
    """Its state, what it waits for in the kernel, and the call that it is in."""
    found = [(stat(pid) or "?")[0]]
    for name in ("wchan", "syscall"):
        with suppress(OSError):
            found.append(Path(f"/proc/{pid}/{name}").read_text().strip())
    return " ".join(found)


def _hung(running: RunningCommand) -> str:
    """What hangs, which is then ended; the command itself says on standard error where it was."""
    hung = {pid: f"{role(pid)} ({_doing(pid)})" for pid in tree(running.pid)}
    with suppress(OSError):
        os.kill(running.pid, signal.SIGABRT)
        time.sleep(0.5)
    for pid in hung:
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    return ", ".join(hung.values())
