"""A worker in a guest: what is copied there, what its counters mean, whose threads run where; nothing is booted here."""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from pathlib import Path

import pytest

from sojourn.errors import InputError, LabError
from sojourn.lab import guest_main
from sojourn.lab.guest import Guest
from sojourn.lab.guest_command import LINK, LISTENS, GuestShape, command
from sojourn.lab.guest_parts import GuestParts
from sojourn.lab.guest_python import interpreter, names_of, python_files
from sojourn.lab.guest_samples import merge_samples, ticks_busy
from sojourn.lab.worker_in_guest import (
    PORTS,
    WAITED,
    GuestWorker,
    guest_worker,
    nic_interrupts,
    pin,
    put_first,
    script,
    thread_cpu_s,
)

PARTS = GuestParts(Path("/q"), Path("/k"), Path("/m"), Path("/u"), Path("/um"), Path("/b"))
# as proc_interrupts(5) has it: a head of CPUs, then a row a line
INTERRUPTS = """            CPU0       CPU1
   4:        112          0   IO-APIC   4-edge      ttyS0
  24:          1          0  PCI-MSIX-0000:00:02.0   0-edge      virtio0-config
  25:        340          2  PCI-MSIX-0000:00:02.0   1-edge      virtio0-input.0
  26:          0          9  PCI-MSIX-0000:00:02.0   2-edge      virtio0-output.0
 NMI:          0          0   Non-maskable interrupts
"""


def test_interrupts_of_a_nic_are_the_sum_of_its_lines() -> None:
    assert nic_interrupts(INTERRUPTS, {"eth0": [24, 25, 26], "eth1": [99]}) == {"eth0": [341, 11], "eth1": [0, 0]}


def test_interrupts_go_to_the_core_of_their_nic(tmp_path: Path) -> None:
    device = tmp_path / "sys/devices/pci/0000:00:02.0"
    (device / "msi_irqs").mkdir(parents=True)
    (device / "virtio0").mkdir()
    for line in ("25", "24"):
        (device / "msi_irqs" / line).touch()
        (tmp_path / "proc/irq" / line).mkdir(parents=True)
    net = tmp_path / "sys/class/net/eth0"
    net.mkdir(parents=True)
    (net / "device").symlink_to(device / "virtio0")
    assert guest_main.steer([{"name": "eth0", "cores": [1]}], tmp_path / "sys", tmp_path / "proc") == {"eth0": [24, 25]}
    assert [(tmp_path / f"proc/irq/{line}/smp_affinity_list").read_text() for line in (24, 25)] == ["1", "1"]


def test_a_port_is_found_by_its_name(tmp_path: Path) -> None:
    for name, known in (("vport1p1", "other"), ("vport1p2", guest_main.CONTROL)):
        folder = tmp_path / "class/virtio-ports" / name
        folder.mkdir(parents=True)
        (folder / "name").write_text(f"{known}\n")
    assert guest_main.port(guest_main.CONTROL, tmp_path) == "/dev/vport1p2"
    with pytest.raises(RuntimeError, match="no port x; give the guest one"):
        guest_main.port("x", tmp_path)


def test_what_a_worker_needs_is_copied_where_it_is() -> None:
    files, path = python_files(["sojourn.lab.worker_main"])
    for wanted in (interpreter(), guest_main.__file__, json.__file__, os.__file__):
        assert wanted.lstrip("/") in files
    assert any("_native" in name for name in files) and any("ld-linux" in name for name in files)
    assert files[interpreter().lstrip("/")][1] == 0o755
    assert str(Path(json.__file__).parents[1]) in path
    with pytest.raises(LabError, match="ModuleNotFoundError: No module named 'no_such_module'"):
        python_files(["no_such_module"])


def test_a_library_has_the_names_that_programs_ask_for(tmp_path: Path) -> None:
    for name in ("libz.so.1.2.13", "libzstd.so.1"):
        (tmp_path / name).touch()
    (tmp_path / "libz.so.1").symlink_to("libz.so.1.2.13")
    (tmp_path / "libz.so.2").symlink_to("libzstd.so.1")
    assert names_of(tmp_path / "libz.so.1.2.13") == {"libz.so.1.2.13", "libz.so.1"}


def test_a_guest_is_asked_and_what_fails_there_is_an_error() -> None:
    assert worker(b'{"busy_s": 1.0}\n').do({"window": [1, 2]}) == {"busy_s": 1.0}
    with pytest.raises(LabError, match="in the guest: OSError: no such file"):
        worker(b'{"error": "OSError: no such file"}\n').do({})


def test_what_the_guest_is_asked_is_answered_or_told_to_have_failed() -> None:
    """All of it is one line, whatever the handler does."""
    assert guest_main._answer('do {"x": 2}', [], {}, lambda order: order["x"] + 1) == "3"
    assert json.loads(guest_main._answer("do {}", [], {}, lambda order: order["x"])) == {"error": "KeyError: 'x'"}
    assert guest_main._answer("do {}", [], {}, None) == "null"


def test_disks_and_a_link_are_devices_of_the_guest() -> None:
    """A path may have a comma, which has a meaning of its own in QEMU's short form (qemu(1))."""
    words = command(PARTS, "tcg", GuestShape(ports=(), disks=["/d,1"], link=LISTENS), Path("/t/image"))
    disk = json.loads(words[words.index("-blockdev") + 1])
    assert disk["file"]["filename"] == "/d,1" and disk["cache"]["direct"] is True
    net = json.loads(words[words.index("-netdev") + 1])
    assert net["server"] is True and net["addr"] == {"type": "unix", "path": f"/t/{LINK}"}
    other = command(PARTS, "tcg", GuestShape(ports=(), link="/t/link"), Path("/u/image"))
    net = json.loads(other[other.index("-netdev") + 1])
    assert net["server"] is False and net["addr"]["path"] == "/t/link"
    macs = {next(word.rpartition("mac=")[2] for word in one if "netdev=link" in word) for one in (words, other)}
    assert len(macs) == 2, "two ends of one link"
    with pytest.raises(InputError, match="a disk or a link; take a guest of QEMU"):
        GuestShape(ports=(), link=LISTENS).check("uml")


def test_other_threads_may_have_other_cores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    proc = threads(tmp_path, t7=("qemu", 0), t8=("CPU 0/TCG", 0))
    there: dict[int, set[int]] = {}
    monkeypatch.setattr(os, "sched_setaffinity", lambda thread, cores: there.update({thread: cores}))
    pin(7, [0], proc, others=[1])
    assert there == {7: {1}, 8: {0}}


def test_the_script_has_an_address_a_nic_and_ends_in_our_program() -> None:
    said = script(2)
    assert "ifconfig eth0 10.0.1.15 " in said and "ifconfig eth1 10.0.2.15 " in said
    assert f"{interpreter()} -S -E {guest_main.__file__}\n" in said
    assert script(0, "mount\n").index("mount") < script(0, "mount\n").index(interpreter())


def test_ports_are_a_socket_and_a_file_beside_the_image() -> None:
    words = command(PARTS, "tcg", GuestShape(), Path("/t/image"), PORTS)
    assert "socket,path=/t/control,server=on,wait=off,id=control" in words
    assert "file,path=/t/samples,id=samples" in words
    assert f"virtserialport,chardev=samples,name={guest_main.SAMPLES}" in words


def threads(tmp_path: Path, **named: tuple[str, int]) -> Path:
    for number, (name, run_ns) in named.items():
        folder = tmp_path / "7/task" / number.removeprefix("t")
        folder.mkdir(parents=True)
        (folder / "comm").write_text(f"{name}\n")
        (folder / "schedstat").write_text(f"{run_ns} 5 6\n")
    return tmp_path


def test_cpu_time_is_told_by_virtual_cpu(tmp_path: Path) -> None:
    proc = threads(
        tmp_path, t7=("qemu", 10**9), t8=("CPU 0/TCG", 2 * 10**9), t9=("CPU 1/TCG", 0), t10=("worker", 5 * 10**8)
    )
    assert thread_cpu_s(7, proc) == {"others": 1.5, "CPU 0": 2.0, "CPU 1": 0.0}
    assert thread_cpu_s(7, proc, WAITED) == {"others": pytest.approx(1e-8), "CPU 0": 5e-9, "CPU 1": 5e-9}


def test_each_virtual_cpu_has_its_core(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    proc = threads(tmp_path, t7=("qemu", 0), t8=("CPU 0/KVM", 0), t9=("CPU 1/KVM", 0), t10=("CPU 2/KVM", 0))
    there: dict[int, set[int]] = {}
    monkeypatch.setattr(os, "sched_setaffinity", lambda thread, cores: there.update({thread: cores}))
    pin(7, [4, 6], proc)
    assert there == {7: {4, 6}, 8: {4}, 9: {6}, 10: {4}}


def test_its_threads_come_before_all_but_the_generators(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """sched(7): of two SCHED_FIFO threads the one with the higher number runs; the generator has 10 (crates/loadgen)."""
    proc = threads(tmp_path, t7=("qemu", 0), t8=("CPU 0/TCG", 0))
    limit = proc / "sys/kernel/sched_rt_runtime_us"
    limit.parent.mkdir(parents=True)
    limit.write_text("950000\n")
    there: dict[int, tuple[int, int]] = {}
    monkeypatch.setattr(os, "sched_setscheduler", lambda t, way, p: there.update({t: (way, p.sched_priority)}))
    assert put_first(7, proc)
    assert {way for way, _ in there.values()} == {os.SCHED_FIFO} and 10 > there[7][1] > there[8][1] > 0
    there.clear()
    limit.write_text("-1\n")
    assert not put_first(7, proc) and not there, "a guest that spins would keep its core for good"


def test_without_the_right_they_stay_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    proc = threads(tmp_path, t7=("qemu", 0))
    (proc / "sys/kernel").mkdir(parents=True)
    (proc / "sys/kernel/sched_rt_runtime_us").write_text("950000\n")

    def refused(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "sched_setscheduler", refused)
    assert not put_first(7, proc)
    (proc / "sys/kernel/sched_rt_runtime_us").unlink()
    assert not put_first(7, proc), "a kernel without this limit"


def test_a_translated_guest_reads_the_counter_of_the_host() -> None:
    """tsc=reliable: Documentation/admin-guide/kernel-parameters.txt; with KVM the guest has kvm-clock."""
    appended = {way: command(PARTS, way, GuestShape(), Path("/t/image")) for way in ("tcg", "kvm")}
    said = {way: words[words.index("-append") + 1] for way, words in appended.items()}
    assert "tsc=reliable" in said["tcg"].split() and "tsc=" not in said["kvm"]


def lines(path: Path, *samples: object, cut: str = "") -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in samples) + cut)
    return path


def test_both_sides_are_on_the_clock_of_the_host(tmp_path: Path) -> None:
    """The guest's 1.0 s are 101.0 s here: of its samples those between the host's first and last are kept, without its processes."""
    head = {"format": "sojourn-host", "cores": [0, 1]}
    inside = [{"t_s": t, "cpu": {"0": {"user": t}}, "procs": {}} for t in (0.5, 1.0, 2.0, 9.0)]
    guest = lines(tmp_path / "g", head, *inside, cut='{"t_s": 3')
    host = lines(tmp_path / "h", {"format": "sojourn-host", "cores": [5]}, {"t_s": 100.8, "cpu": {}, "procs": {"7": {}}},
                 {"t_s": 102.5, "cpu": {}, "procs": {"7": {"run_s": 1}}})  # fmt: skip
    assert merge_samples(guest, host, 100.0, host) == 2
    first, *rest = [json.loads(line) for line in host.read_text().splitlines()]
    assert first == head and [one["t_s"] for one in rest] == [100.8, 101.0, 102.0, 102.5]
    assert rest[1] == {"t_s": 101.0, "cpu": {"0": {"user": 1.0}}} and rest[3] == {
        "t_s": 102.5,
        "procs": {"7": {"run_s": 1}},
    }


def test_what_a_guest_does_at_rest_is_that_of_its_last_seconds(tmp_path: Path) -> None:
    """Between 2 and 4 s the core was idle for 1.8 s and waited for a disk for 0.1 s: busy 5 %."""
    states = [(0.0, 0.0, 0.0, 0.0), (2.0, 1.0, 1.0, 0.0), (4.0, 1.1, 2.8, 0.1)]
    samples = [{"t_s": t, "cpu": {"0": {"user": user, "idle": idle, "iowait": wait}}} for t, user, idle, wait in states]
    file = lines(tmp_path / "s", {"format": "sojourn-host"}, *samples, cut='{"t_s": 5')
    assert ticks_busy(file, 2.5) == {"0": pytest.approx(0.05)}
    assert ticks_busy(lines(tmp_path / "few", {"format": "sojourn-host"}, samples[0]), 2.5) == {}


def answering(here: socket.socket, answers: list[bytes]) -> None:
    for answer in answers:
        here.recv(100)
        here.sendall(answer)
    here.close()


def worker(*answers: bytes) -> GuestWorker:
    here, there = socket.socketpair()
    there.settimeout(5)
    threading.Thread(target=answering, args=(here, list(answers)), daemon=True).start()
    return GuestWorker(Guest("tcg", os.getpid(), Path("/none"), 1.0), Path("/none"), [0], False, there)


def test_the_clock_is_asked_and_the_soonest_answer_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked at 10 and answered at 12: the guest's 1.0 was at 11, give or take one; asked at 20 and answered at 20.2: at 20.1."""
    times = iter([10.0, 12.0, 20.0, 20.2])
    monkeypatch.setattr("sojourn.lab.worker_in_guest.ASKED", 2)
    monkeypatch.setattr("sojourn.lab.worker_in_guest.time.monotonic", lambda: next(times))
    offset_s, error_s = worker(b"1.0\n", b"10.05\n").clock_offset_s()
    assert offset_s == pytest.approx(10.05) and error_s == pytest.approx(0.1)


def test_a_guest_that_is_gone_is_an_error() -> None:
    one = worker(b'{"requests": 3}\n')
    assert one.stop() == {"requests": 3} and one.stop() == {"requests": 3}, "asked once"
    with pytest.raises(LabError, match="lab vm: the guest"):
        one.ask("clock")


def test_a_user_mode_linux_has_no_worker() -> None:
    refused = pytest.raises(InputError, match="user-mode-linux has no virtio ports; take a guest of QEMU")
    with refused, guest_worker(PARTS, "uml", GuestShape(), "a:b", {}, cores=[0], interrupt_cores=[0]):
        pass


def test_the_interpreter_is_no_link() -> None:
    assert not Path(interpreter()).is_symlink() and Path(interpreter()).samefile(sys.executable)


def test_each_queue_has_its_core(tmp_path: Path) -> None:
    """The first line is that of the configuration; then each queue has one in and one out."""
    device = tmp_path / "sys/devices/pci/0000:00:02.0"
    (device / "msi_irqs").mkdir(parents=True)
    (device / "virtio0").mkdir()
    for line in range(24, 29):
        (device / "msi_irqs" / str(line)).touch()
        (tmp_path / "proc/irq" / str(line)).mkdir(parents=True)
    net = tmp_path / "sys/class/net/eth0"
    net.mkdir(parents=True)
    (net / "device").symlink_to(device / "virtio0")
    guest_main.steer([{"name": "eth0", "cores": [0, 1]}], tmp_path / "sys", tmp_path / "proc")
    given = [(tmp_path / f"proc/irq/{line}/smp_affinity_list").read_text() for line in range(24, 29)]
    assert given == ["0", "0", "0", "1", "1"]


def test_a_nic_of_the_lab_is_a_tap_device_with_its_queues() -> None:
    words = " ".join(command(PARTS, "tcg", GuestShape(cpus=2, ports=(None, None), queues=2), Path("/t/image")))
    assert "tap,id=nic2,ifname=tap2,script=no,downscript=no,vhost=off,queues=2" in words
    assert "virtio-net-pci,netdev=nic2,mac=52:54:00:00:00:02,mq=on,vectors=6" in words and "user," not in words
    one = " ".join(command(PARTS, "tcg", GuestShape(queues=1), Path("/t/image")))
    assert "queues=" not in one and "mq=on" not in one and "csum=" not in one
    bare = command(PARTS, "tcg", GuestShape(offloads=False), Path("/t/image"))[-1]
    assert {"csum=off", "guest_csum=off", "gso=off", "host_tso4=off", "guest_tso6=off"} <= set(bare.split(","))
    for shape, way in ((GuestShape(cpus=1, queues=2), "tcg"), (GuestShape(queues=1), "uml")):
        with pytest.raises(InputError, match="queues of a NIC; give 0, or 1 to the number of CPUs"):
            shape.check(way)
