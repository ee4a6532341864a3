"""What a lease is on: settings of one service, made again in another process of what was told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class LeasedSettings(Protocol):
    """Settings of one service: `ServicePlacement`, `CommandSettings`. `names`: which; `limit_s`: how long a command takes at most."""

    @property
    def kind(self) -> str: ...
    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def limit_s(self) -> float: ...

    def key(self) -> str:
        """One service, one key."""

    def told(self) -> dict[str, Any]:
        """JSON of which `of` makes the same in another process."""

    def gone(self) -> str:
        """Why there is no such service any more; "" where there is."""

    def read(self) -> Mapping[str, int | str]:
        """As they are. LabError."""

    def set(self, wanted: dict[str, Any]) -> None:
        """LabError."""

    def restore(self) -> list[str]:
        """Puts the safe ones back; what could not be, each with its reason."""


def made(kind: str, told: Mapping[str, Any]) -> LeasedSettings:
    """Again, of what another process told. It imports only what it needs: a keeper is small. SojournError: there is no such service."""
    if kind == "placement":
        from sojourn.lab.service_placement import ServicePlacement

        return ServicePlacement.of(told)
    from sojourn.live_service.command_settings import CommandSettings

    return CommandSettings.of(told)


def address(key: str) -> str:
    """Of the keeper of this lease: a Unix socket without a file."""
    return f"\0sojourn-keeper-{key}"
