"""Service and database killed, stopped and resumed by a schedule drawn from a seed."""

from __future__ import annotations

import os
import random
import signal
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from sojourn.errors import ServiceError
from sojourn_cases.common.postgres import Postgres
from sojourn_cases.messages.message_server import MessageService, MessagesOptions

LEAD_S, GAP_S = 0.15, (0.05, 0.35)
HELD_S = (0.02, 0.8)  # beyond the service's own patience with its database, and not
RESTART_TRIES = 20
# kind → how often
KINDS = {
    "kill service": 3,
    "kill database": 3,
    "kill a session": 2,
    "kill both": 1,
    "stop service": 2,
    "stop database": 3,
    "stop service, kill it": 1,
    "stop database, kill service": 1,
}


@dataclass(frozen=True)
class Fault:
    """One of the schedule: after a pause, for a time; s."""

    after_s: float
    kind: str
    held_s: float


def schedule(seed: int, seconds: float) -> list[Fault]:
    """One after the other for about so long, starts of programs not counted; at least one."""
    draw, at_s = random.Random(f"faults {seed}"), LEAD_S
    found: list[Fault] = []
    while not found or at_s < seconds:
        kind = draw.choices(list(KINDS), list(KINDS.values()))[0]
        found.append(Fault(draw.uniform(*GAP_S), kind, draw.uniform(*HELD_S)))
        at_s += found[-1].after_s + found[-1].held_s
    return found


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as held:
        port: int = held.getsockname()[1]
        return port


class Pair:
    """A service at one address and its database, which can be killed and started again."""

    def __init__(self, database: Postgres, **options: object) -> None:
        self.database = database
        self.options = MessagesOptions.model_validate(
            {"listen": f"127.0.0.1:{free_port()}", "database": database.url, "workers": 8, "connections": 4, **options}
        )
        self.start()

    def signal(self, what: signal.Signals) -> None:
        os.kill(self.service.pid, what)

    def start(self) -> None:
        """At its address, which an outgoing connection may have for a moment."""
        for _ in range(RESTART_TRIES):
            with suppress(ServiceError):
                self.service = MessageService(self.options)
                return
            time.sleep(0.1)
        self.service = MessageService(self.options)

    def again(self) -> None:
        """Both new: nothing that was under way goes on."""
        self.service.kill()
        # Not in good order: a server that is just recovering by itself may take a minute to hear of that.
        self.database.kill()
        self.database.start()
        self.start()

    def carry_out(self, fault: Fault) -> None:
        acts: dict[str, Callable[[Fault], None]] = {
            "kill service": self._kill_service,
            "kill database": self._kill_database,
            "kill a session": self._kill_session,
            "kill both": self._kill_both,
            "stop service": self._stop_service,
            "stop database": self._stop_database,
            "stop service, kill it": self._stop_and_kill,
            "stop database, kill service": self._stop_database_kill_service,
        }
        acts[fault.kind](fault)

    def _kill_service(self, fault: Fault) -> None:
        self.service.kill()
        self.start()

    def _kill_database(self, fault: Fault) -> None:
        self.database.kill()
        time.sleep(fault.held_s / 4)
        self.database.start()

    def _kill_session(self, fault: Fault) -> None:
        """The server then ends all sessions and recovers by itself."""
        sessions = [pid for name, pid in self.database.pids.items() if name.startswith("postgres session")]
        if sessions:
            with suppress(ProcessLookupError):
                os.kill(sessions[int(1e6 * fault.held_s) % len(sessions)], signal.SIGKILL)
        time.sleep(fault.held_s)

    def _kill_both(self, fault: Fault) -> None:
        self.database.kill()
        self.service.kill()
        self.database.start()
        self.start()

    def _stop_service(self, fault: Fault) -> None:
        self.signal(signal.SIGSTOP)
        time.sleep(fault.held_s)
        self.signal(signal.SIGCONT)

    def _stop_database(self, fault: Fault) -> None:
        self.database.pause()
        time.sleep(fault.held_s)
        self.database.resume()

    def _stop_and_kill(self, fault: Fault) -> None:
        self.signal(signal.SIGSTOP)
        time.sleep(fault.held_s / 2)
        self.service.kill()
        self.start()

    def _stop_database_kill_service(self, fault: Fault) -> None:
        """Statements that the dead service sent may still be carried out, beside the new one."""
        self.database.pause()
        time.sleep(fault.held_s / 2)
        self.service.kill()
        self.database.resume()
        self.start()

    def close(self) -> None:
        self.service.close()


class Faults(threading.Thread):
    """Carries a schedule out."""

    def __init__(self, pair: Pair, faults: list[Fault]) -> None:
        super().__init__(daemon=True)
        self.pair, self.faults, self.failed, self.done = pair, faults, "", 0

    def run(self) -> None:
        try:
            time.sleep(LEAD_S)
            for fault in self.faults:
                time.sleep(fault.after_s)
                self.pair.carry_out(fault)
                self.done += 1
        except Exception as error:
            self.failed = f"a fault could not be carried out: {error!r}"
