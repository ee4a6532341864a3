"""Settings that the service itself does not lease: `lease_keeper` makes them and holds the lease, here they are asked for and read back."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from sojourn.errors import LabError
from sojourn.live_service.control_socket import RefusedError, UnansweredError, Values, asked, check_lease, same
from sojourn.live_service.lease_keeper import LeasedSettings, address


class LeasedActuator:
    """Of the settings of `leased`, as `holder`; those at the first look are the safe ones. `log`: where the keeper tells what it had to
    put back."""

    def __init__(self, leased: LeasedSettings, holder: str, lease_s: float, log: Path | None = None) -> None:
        check_lease(lease_s)
        self.leased, self.holder, self.lease_s, self.log = leased, holder, lease_s, log
        self._keepers: list[subprocess.Popen[bytes]] = []

    def held_by(self) -> str | None:
        """Whose lease there is on it. RefusedError."""
        try:
            return asked(address(self.leased), {"do": "read"}, self.leased.limit_s).get("holder")
        except UnansweredError:
            return None

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
        for keeper in self._keepers:  # it ends when nobody has a lease
            with suppress(subprocess.TimeoutExpired):
                keeper.wait(self.leased.limit_s)
        return self.read()

    def _says(self, command: dict[str, Any]) -> None:
        asked(address(self.leased), command, self.leased.limit_s)

    def _start(self) -> None:
        """A keeper in a session of its own: no signal of our terminal, and no end of ours, ends it."""
        keeper = subprocess.Popen(
            [sys.executable, "-m", "sojourn.live_service.lease_keeper", self.leased.key()],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        self._keepers.append(keeper)
        assert keeper.stdin is not None and keeper.stdout is not None
        log = str(self.log.resolve()) if self.log else None
        given = {"kind": self.leased.kind, "told": self.leased.told(), "log": log}
        try:
            keeper.stdin.write(json.dumps(given).encode() + b"\n")
            keeper.stdin.close()
            keeper.stdout.readline()  # ready, or ended because there is one
        except OSError as error:
            raise RefusedError(f"no keeper of the lease: {error}") from None
        finally:
            keeper.stdout.close()


def read(leased: LeasedSettings) -> Values:
    """The settings as they are. RefusedError."""
    if why := leased.gone():
        raise RefusedError(why)
    try:
        return leased.read()
    except LabError as error:
        raise RefusedError(str(error)) from None
