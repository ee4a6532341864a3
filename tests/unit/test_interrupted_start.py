"""Ctrl-C while a command still imports what it needs: one line and exit code 130, as later."""

from __future__ import annotations

import subprocess
import sys
from types import FrameType

import pytest

from sojourn.cli import stop_signals

# Ctrl-C in the middle of the import of a package; `exec`: within a text that is run, as the import of a dataclass does
STARTED = """
import os, signal, sys
class InterruptedImport:
    def find_spec(self, name, path=None, target=None):
        if name == {package!r}:
            sys.meta_path.remove(self)
            text = "os.kill(os.getpid(), signal.SIGINT)"
            exec(text) if {through_exec} else os.kill(os.getpid(), signal.SIGINT)
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, InterruptedImport())
sys.argv = ["sojourn", "solve", "examples/shop.toml"]
from sojourn.cli import main
main()
"""


@pytest.mark.parametrize(
    "package", ["sojourn.cli.stop_signals", "typer", "selectors", "rich.console", "sojourn.cli.solve", "numpy"]
)
@pytest.mark.parametrize("through_exec", [False, True])
def test_ctrl_c_while_it_starts_is_one_line_and_130(package: str, through_exec: bool) -> None:
    code = STARTED.format(package=package, through_exec=through_exec)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.returncode, len(done.stderr.splitlines()), done.stdout) == (130, 1, ""), (done.returncode, done.stderr)
    assert done.stderr.startswith("sojourn: interrupted")


C_MODULE = """
import sys
class InterruptedImport:
    def find_spec(self, name, path=None, target=None):
        if name == "numpy":
            {raised}
sys.meta_path.insert(0, InterruptedImport())
sys.argv = ["sojourn", "solve", "examples/shop.toml"]
from sojourn.cli import main
main()
"""


def test_ctrl_c_in_the_import_of_a_module_in_c_is_one_line_and_130() -> None:
    """Found by benches/faults: pybind11 makes an ImportError of it; any other one is a trace, as it is an error of ours."""
    raised = 'raise ImportError("initialization failed") from KeyboardInterrupt()'
    done = subprocess.run(
        [sys.executable, "-c", C_MODULE.format(raised=raised)], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, len(done.stderr.splitlines())) == (130, 1) and done.stderr.startswith(
        "sojourn: interrupted"
    )
    other = C_MODULE.format(raised='raise ImportError("initialization failed")')
    done = subprocess.run([sys.executable, "-c", other], capture_output=True, text=True, timeout=120)
    assert done.returncode == 1 and "ImportError: initialization failed" in done.stderr


def test_ctrl_c_never_leaves_the_lock_of_a_process_taken() -> None:
    """Found by benches/faults: `serve messages` waited for ever for a service that had ended, once in some hundred. Of each line of
    CPython's `Popen.poll` it is known whether the lock is taken there, so that the interruption comes later."""
    seen: list[tuple[bool, bool]] = []
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)

    def traced(frame: FrameType, event: str, _: object) -> object:
        if frame.f_code is subprocess.Popen._internal_poll.__code__:  # type: ignore[attr-defined]
            taken = child._waitpid_lock.locked()  # type: ignore[attr-defined]
            seen.append((taken, stop_signals._holds_a_lock(frame)))
        return traced

    before = sys.gettrace()
    sys.settrace(traced)
    try:
        child.poll()
    finally:
        sys.settrace(before)
        child.communicate(b"x")
    assert {taken for taken, _ in seen} == {True, False} and all(taken == told for taken, told in seen)


LATE = """
import signal, time
from sojourn.cli import stop_signals
held = [True]
stop_signals._holds_a_lock = lambda frame: held[0]
stop_signals.end_in_good_order()
try:
    signal.raise_signal(signal.SIGINT)
    time.sleep(0.05)
    print("not in here", flush=True)
    held[0] = False
    time.sleep(60)
except KeyboardInterrupt:
    print("interrupted")
"""


def test_an_interruption_that_has_to_wait_comes_when_the_lock_is_given_back() -> None:
    done = subprocess.run([sys.executable, "-c", LATE], capture_output=True, text=True, timeout=30)
    assert done.stdout.splitlines() == ["not in here", "interrupted"], done.stderr
