"""The command lines that boot a guest; nothing is run here."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sojourn.errors import InputError
from sojourn.lab.guest_parts import KVM, UML, WHAT, GuestParts

MOST_CPUS, MOST_NICS = 16, 4
LEAST_MIB, MOST_MIB = 128, 65_536
# It opens no program, takes no right and forks nothing: what breaks out of a guest finds little (qemu(1), -sandbox).
SANDBOX = "on,obsolete=deny,elevateprivileges=deny,spawn=deny"
NOBODY = "65534"
LISTENS = "listens"
LINK = "link"  # the name of the socket
NO_OFFLOADS = ",csum=off,gso=off,guest_csum=off" + "".join(
    f",{of}_{what}=off" for of in ("host", "guest") for what in ("tso4", "tso6")
)


@dataclass(frozen=True)
class GuestDisk:
    """A raw image of the host as a virtio-blk device with so many queues. `cached`: through the host's page cache, which keeps what the
    guest wrote until the host writes it, else past it. `own_thread`: a thread of QEMU for this disk alone (an IOThread)."""

    path: str
    queues: int = 1
    cached: bool = False
    own_thread: bool = False


@dataclass(frozen=True)
class GuestShape:
    """`cpus`: virtual ones; `ports`: for each of its NICs the host's port on 127.0.0.1 that leads to `guest_port` there, or None.
    `queues`: of each NIC on a network of the lab (a namespace of the host, as root), at `address(k)` there; 0: QEMU's own network.
    `offloads`: the NIC takes a whole answer and splits and sums its packets; without, the guest does, and each packet crosses alone.
    `disks`: raw images of the host (a path, or a `GuestDisk`), each a virtio-blk device (vda, vdb …). `link`: one more NIC, whose
    packets go to one other guest alone: `LISTENS`, or the socket `LINK` beside the console of the guest that listens."""

    cpus: int = 1
    memory_mib: int = 256
    ports: Sequence[int | None] = (None,)
    guest_port: int = 80
    queues: int = 0
    offloads: bool = True
    disks: Sequence[str | GuestDisk] = ()
    link: str | None = None

    def check(self, way: str) -> None:
        """InputError for what no guest of this way has."""
        most = 1 if way == UML else MOST_CPUS
        if not 1 <= self.cpus <= most:
            raise InputError(
                f"{self.cpus} CPUs", WHAT, f"give 1 to {most}" if most > 1 else "user-mode-linux has one CPU"
            )
        if not LEAST_MIB <= self.memory_mib <= MOST_MIB:
            raise InputError(f"{self.memory_mib} MiB", WHAT, f"give {LEAST_MIB} to {MOST_MIB}")
        if not 0 <= self.queues <= self.cpus or (self.queues and way == UML):
            raise InputError(
                f"{self.queues} queues of a NIC", WHAT, "give 0, or 1 to the number of CPUs of a guest of QEMU"
            )
        if way == UML and (self.disks or self.link):
            raise InputError("a disk or a link", WHAT, "take a guest of QEMU: kvm or tcg")
        if not 0 <= len(self.ports) <= MOST_NICS:
            raise InputError(f"{len(self.ports)} NICs", WHAT, f"give 0 to {MOST_NICS}")


def command(
    parts: GuestParts, way: str, shape: GuestShape, image: Path, ports: Mapping[str, str] | None = None
) -> list[str]:
    """The words that boot a guest whose console is standard output. `ports` (QEMU alone): "control", a socket of that name beside the
    image, and "samples", a file, each with the name that the guest knows it by."""
    return _uml(parts, shape, image) if way == UML else [*_qemu(parts, way, shape, image), *_ports(ports or {}, image)]


def _ports(ports: Mapping[str, str], image: Path) -> list[str]:
    words = ["-device", "virtio-serial-pci"] if ports else []
    for name, known in ports.items():
        there = f"path={image.parent / name}"
        back = f"file,{there}" if name == "samples" else f"socket,{there},server=on,wait=off"
        words += ["-chardev", f"{back},id={name}", "-device", f"virtserialport,chardev={name},name={known}"]
    return words


def _qemu(parts: GuestParts, way: str, shape: GuestShape, image: Path) -> list[str]:
    # arch-capabilities: a host that is itself virtual may offer it and then refuse it
    accel, cpu = ("kvm", "host,-arch-capabilities") if way == KVM else ("tcg,thread=multi", "max")
    # A translated guest distrusts the time stamp counter and reads the HPET instead: each time that anything in it looks at the clock,
    # that leaves the guest and takes the lock that also carries its packets. The counter is the host's, the same on each virtual CPU.
    clock = "" if way == KVM else " tsc=reliable"
    words = [
        str(parts.qemu), "-nodefaults", "-no-user-config", "-no-reboot", "-name", "guest,debug-threads=on", "-display", "none",
        "-sandbox", SANDBOX,
        "-accel", accel, "-machine", "q35", "-cpu", cpu, "-smp", str(shape.cpus), "-m", str(shape.memory_mib),
        "-serial", "stdio", "-kernel", str(parts.kernel), "-initrd", str(image),
        "-append", f"console=ttyS0 quiet panic=-1 edd=off{clock}",
    ]  # fmt: skip
    for number, port in enumerate(shape.ports, 1):
        *net, device = _lab_nic(number, shape.queues) if shape.queues else _nic(number, port, shape.guest_port)
        words += [*net, device if shape.offloads else device + NO_OFFLOADS]
    return [*words, *_link(shape.link, image), *(word for k, disk in enumerate(shape.disks) for word in _disk(k, disk))]


def _nic(number: int, port: int | None, guest_port: int) -> list[str]:
    """A network of its own for each, of which the guest sees nothing but itself (`restrict`)."""
    net = f"user,id=nic{number},restrict=on,net=10.0.{number}.0/24,host=10.0.{number}.2,dns=10.0.{number}.3"
    net += f",hostfwd=tcp:127.0.0.1:{port}-10.0.{number}.15:{guest_port}" if port else ""
    return ["-netdev", net, "-device", f"virtio-net-pci,netdev=nic{number},mac=52:54:00:00:00:{number:02x}"]


def _link(link: str | None, image: Path) -> list[str]:
    """A NIC on a socket of the host between two guests; no right is needed for it, and nobody else is on it."""
    if link is None:
        return []
    listens = link == LISTENS
    address = {"type": "unix", "path": str(image.parent / LINK) if listens else link}
    net = {"type": "stream", "id": "link", "server": listens, "addr": address}
    device = f"virtio-net-pci,netdev=link,mac=52:54:00:00:01:{1 if listens else 2:02x}"
    return ["-netdev", json.dumps(net), "-device", device]


def _disk(number: int, disk: str | GuestDisk) -> list[str]:
    """Flushes are left out: each write of the guest is on the host's disk or in its device when it ends, as on an array with a battery;
    of a cached one in the host's memory."""
    own = GuestDisk(disk) if isinstance(disk, str) else disk
    cache = {"direct": not own.cached, "no-flush": True}
    aio = "threads" if own.cached else "native"  # the other needs O_DIRECT
    file = {"driver": "file", "filename": own.path, "aio": aio, "cache": cache}
    node = {"driver": "raw", "node-name": f"disk{number}", "cache": cache, "file": file}
    device = f"virtio-blk-pci,drive=disk{number},num-queues={own.queues}"
    thread = ["-object", f"iothread,id=thread{number}"] if own.own_thread else []
    return [
        *thread,
        "-blockdev",
        json.dumps(node),
        "-device",
        f"{device},iothread=thread{number}" if thread else device,
    ]


def _lab_nic(number: int, queues: int) -> list[str]:
    """A tap device of the namespace that QEMU runs in; it is gone with QEMU. A vector for the configuration and one each way of a queue."""
    more, vectors = (f",queues={queues}", f",mq=on,vectors={2 * queues + 2}") if queues > 1 else ("", "")
    net = f"tap,id=nic{number},ifname={tap(number)},script=no,downscript=no,vhost=off{more}"
    return ["-netdev", net, "-device", f"virtio-net-pci,netdev=nic{number},mac=52:54:00:00:00:{number:02x}{vectors}"]


def tap(number: int) -> str:
    """The name of the host's end of a NIC, from 1."""
    return f"tap{number}"


def address(number: int, end: int = 15) -> str:
    """Of a NIC, from 1; `end` 1: of the host's end on a network of the lab."""
    return f"10.0.{number}.{end}"


def _uml(parts: GuestParts, shape: GuestShape, image: Path) -> list[str]:
    """As root in a PID namespace, with the rights of nobody: what a killed UML leaves goes with it, and a process of the guest that the
    kernel lets go of for a moment finds no rights on the host."""
    before = [
        "unshare", "--pid", "--fork", "--kill-child=SIGKILL", "--",
        "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs", "--pdeathsig=KILL",
    ]  # fmt: skip
    words = [
        str(parts.uml), f"mem={shape.memory_mib}M", f"initrd={image}", f"uml_dir={image.parent}/", "umid=guest",
        "con=null", "con0=null,fd:1", "ssl=null", "quiet", "panic=-1",
    ]  # fmt: skip
    return [*(before if os.geteuid() == 0 else []), *words]
