"""Settings that the service itself does not lease: `lease_keeper` makes them and holds the lease, here they are asked for and read back."""

from __future__ import annotations

import secrets
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from sojourn.errors import LabError
from sojourn.live_service.control_socket import RefusedError, UnansweredError, Values, asked, check_lease, same
from sojourn.live_service.lease_keeper import SERVICE_GONE, THERE_IS_ONE
from sojourn.live_service.leased_settings import LeasedSettings, address
from sojourn.live_service.restore_plan import RestorePlan, plan_of
from sojourn.live_service.systemd_unit import start_unit, systemd_run

ANSWERS_S = 10.0  # a unit has so long to answer


class LeasedActuator:
    """Of the settings of `leased`, as `holder`; those at the first look are the safe ones. `log`: where the keeper tells what it had to
    put back."""

    def __init__(self, leased: LeasedSettings, holder: str, lease_s: float, log: Path | None = None) -> None:
        check_lease(lease_s)
        self.leased, self.holder, self.lease_s, self.log = leased, holder, lease_s, log
        self._keepers: list[subprocess.Popen[bytes]] = []
        self._by_systemd = bool(systemd_run())

    def begin(self) -> str:
        """Starts the keeper; what holds the lease, and what stays where that is killed. RefusedError."""
        names = " and ".join(self.leased.names)
        why = "no systemd runs here"
        if self._by_systemd:
            try:
                return f"{names}: systemd holds the lease ({self._start()}), even if this process and the keeper are killed"
            except RefusedError as error:
                self._by_systemd, why = False, f"systemd does not hold the lease ({error})"
        self._start()
        stays = f"if this process and the keeper (process {self._keepers[-1].pid}) are both killed, the settings stay as they are"
        return f"{names}: {why}: {stays}; `sojourn lab restore` or the next --act restores them"

    def held_by(self) -> str | None:
        """Whose lease there is on it. RefusedError."""
        try:
            return asked(address(self.leased.key()), {"do": "read"}, self.leased.limit_s).get("holder")
        except UnansweredError:
            plan = plan_of(self.leased.key())  # its keeper was killed: it starts another one
            return plan.holder if plan and plan.holder != self.holder and plan.controlled() else None

    def read(self) -> Values:
        """As they are, whatever the keeper says. RefusedError."""
        return read(self.leased)

    def set(self, wanted: Values) -> Values:
        """Sets some of `leased.names` and renews the lease; what was read back, which is what was set. RefusedError."""
        command = {"do": "set", "holder": self.holder, "lease_s": self.lease_s, **wanted}
        try:
            self._says(command)
        except UnansweredError:
            self._start()
            self._says(command)
        return same(wanted, self.read())

    def revert(self) -> Values:
        """Back to the safe settings at once, by the keeper or, where it is gone, by us. RefusedError."""
        try:
            self._says({"do": "release", "holder": self.holder})
        except UnansweredError:
            if failed := self.leased.restore():
                raise RefusedError("; ".join(failed)) from None
            if plan := plan_of(self.leased.key()):
                plan.remove()
        for keeper in self._keepers:  # it ends when nobody has a lease
            with suppress(subprocess.TimeoutExpired):
                keeper.wait(self.leased.limit_s)
        return self.read()

    def _says(self, command: dict[str, Any]) -> None:
        asked(address(self.leased.key()), command, self.leased.limit_s)

    def _start(self) -> str:
        """A keeper that no signal of our terminal, and no end of ours, ends; what it is. RefusedError."""
        key = self.leased.key()
        unit = f"sojourn-keeper-{key}-{secrets.token_hex(3)}" if self._by_systemd else None
        try:
            plan = self._plan()
            plan.unit = unit
            plan.write()
            words = [sys.executable, "-m", "sojourn.live_service.lease_keeper", str(plan.path)]
            if not unit:
                return self._start_process(words)
            start_unit(unit, words, (SERVICE_GONE, THERE_IS_ONE))
        except LabError as error:
            raise RefusedError(str(error)) from None
        end_s = time.monotonic() + ANSWERS_S
        while time.monotonic() < end_s:
            with suppress(UnansweredError):
                self._says({"do": "read"})
                return f"unit {unit}"
            time.sleep(0.05)
        raise RefusedError(f"unit {unit} does not answer")

    def _plan(self) -> RestorePlan:
        """Ours, where the keeper of this lease was killed; else a new one. RefusedError: another's, with what it has set."""
        new, there = RestorePlan.of(self.leased, self.log, None), plan_of(self.leased.key())
        if there is None or there.holder is None:
            return new
        if there.controller == new.controller:
            return there
        if there.controlled():
            raise RefusedError(f"held by {there.holder}")
        raise RefusedError(
            f"the settings of a killed controller are not restored yet: `sojourn lab restore`, or remove {there.path}"
        )

    def _start_process(self, words: list[str]) -> str:
        """In a session of its own."""
        try:
            keeper = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            raise RefusedError(f"no keeper of the lease: {error}") from None
        self._keepers.append(keeper)
        assert keeper.stdout is not None
        with keeper.stdout:
            keeper.stdout.readline()  # ready, or ended because there is one
        return f"process {keeper.pid}"


def read(leased: LeasedSettings) -> Values:
    """The settings as they are. RefusedError."""
    if why := leased.gone():
        raise RefusedError(why)
    try:
        return leased.read()
    except LabError as error:
        raise RefusedError(str(error)) from None
