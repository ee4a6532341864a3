"""A controller in a process of its own, which may be killed in a phase that is named.

URL SOCKET OUT LEASE_S PERIOD_S [die=PHASE] [after=N] [dry]
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from sojourn.control import GuardRails, Seen, Set
from sojourn.control.decision import State
from sojourn.control.live import run_live
from sojourn.control.live_log import LiveLog
from sojourn.control.live_metrics import LiveMetrics
from sojourn.control.policy_file import Policy
from sojourn.errors import SojournError
from sojourn.live_service.control_socket import SocketActuator

url, socket, out, lease_s, period_s, *words = sys.argv[1:]
given = dict(word.partition("=")[::2] for word in words)
die, after, passed = given.get("die"), int(given.get("after", 3)), 0


def decide(seen: Seen, state: State) -> tuple[Set, State]:
    return Set(workers=9, reason="nine, always"), state


def phase(name: str) -> None:
    global passed
    passed += name == die
    if name == die and passed > after:
        os.kill(os.getpid(), signal.SIGKILL)


actuator = SocketActuator(socket, f"test-{os.getpid()}", float(lease_s), timeout_s=0.3)
policy = Policy("nine", decide, "p99 < 300ms", GuardRails(least=1, most=20))
signal.signal(signal.SIGTERM, signal.default_int_handler)
try:
    found = run_live(
        policy, LiveMetrics(url, timeout_s=0.3), None if "dry" in given else actuator, LiveLog(Path(out)), lambda: "",
        period_s=float(period_s), phase=phase, say=lambda text: print(text, flush=True),
    )  # fmt: skip
    print(found)
except SojournError as error:
    print(error)
    sys.exit(error.exit_code)
