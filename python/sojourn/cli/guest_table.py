"""What `lab vm --boot-guests` found, in a terminal, a row as soon as it is known, and as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from sojourn.cli.console import console
from sojourn.cli.json_answer import say_answer
from sojourn.lab.guest_parts import WAYS
from sojourn.lab.guest_probe import GuestFound
from sojourn.terminal import say

NO_NFS = "no NFS"


def tell(probed: Iterable[GuestFound], as_json: bool) -> list[GuestFound]:
    """Prints them and what of the host helps a guest; those that were found."""
    found = []
    for one in probed:
        found.append(one)
        say(f"{WAYS[one.kind]}: {'boots' if one.boots else 'no'}", err=True)
    helps = host_helps()
    if as_json:
        guests = [
            {**vars(one), "nics": list(one.nics), "kernel_nfs_support": list(one.kernel_nfs_support)} for one in found
        ]
        say_answer("lab vm", {"guests": guests, "host": helps})
        return found
    table = Table("", "kind", "found", "NFS", "if lacking", box=None, header_style="dim")
    for one in found:
        mark = Text("yes", "green") if one.boots else Text("no", "red")
        nfs = ", ".join(one.kernel_nfs_support) or NO_NFS
        table.add_row(mark, WAYS[one.kind], one.finding, nfs if one.boots else "", one.remedy)
    console().print(table)
    for name, there in helps.items():
        say(f"{name}: {'there' if there else 'not there'}")
    return found


def host_helps(dev: Path = Path("/dev")) -> dict[str, Any]:
    """Devices of the host that make a guest faster, or its network a real one."""
    return {f"/dev/{name}": (dev / name).exists() for name in ("kvm", "vhost-net", "net/tun")}
