"""What `[system]` says of the guests of a study: of which kind they are, and their kernel, Debian's or one of the user's own."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from sojourn.errors import InputError
from sojourn.lab import GuestParts, guest_kind, guest_parts, with_kernel


class GuestOptions(BaseModel):
    """Keys of every `[system]` of guests. `guest`: kvm, tcg, or auto, which is kvm where a guest with it boots. `kernel`, `modules`: of the
    guests, in place of the installed one."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: str
    guest: str = Field(default="auto", pattern="^(auto|kvm|tcg)$")
    kernel: str | None = None
    modules: str | None = None


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
