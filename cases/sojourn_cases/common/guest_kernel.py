"""The kernel of a study's guests: that of Debian's package, or one of the user's own, which `[system]` names."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from sojourn.errors import InputError
from sojourn.lab import GuestParts, guest_kind, guest_parts, with_kernel


class GuestOptions(Protocol):
    """What every system of guests is told: `guest` (kvm, tcg, auto), and `kernel` with `modules`, or None."""

    @property
    def guest(self) -> str: ...
    @property
    def kernel(self) -> str | None: ...
    @property
    def modules(self) -> str | None: ...


def parts_of(options: GuestOptions, folder: Path) -> GuestParts:
    """What guests are made of here, with the kernel that `options` name (a path is relative to `folder`, that of the study).

    Raises:
        InputError: that is no kernel, or not its modules.
    """
    if options.kernel is None:
        if options.modules is not None:
            raise InputError(options.modules, "[system] modules", "set kernel, too")
        return guest_parts()
    modules = folder / options.modules if options.modules is not None else None
    return with_kernel(guest_parts(), folder / options.kernel, modules)


def way_of(options: GuestOptions, parts: GuestParts) -> str:
    """The kind of guest; `auto`: with KVM where one boots, else translated."""
    return guest_kind(parts) if options.guest == "auto" else options.guest
