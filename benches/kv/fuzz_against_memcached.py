"""The same random command lines to a memcached and to a memcached behind a proxy: the same answers, the same state after.

    python benches/kv/fuzz_against_memcached.py --lines 1000000 --seed 1 --design direct

A batch of lines goes over one connection, which then says that nothing follows; all that comes back until the end is compared,
byte for byte (unique numbers too). After every `CHECK` batches and at the end both servers are asked, directly, for every key that they
have, with flags, unique number and value. `fuzz_commands.py` has what is sent and what is left out. Ends at the first difference (exit
code 1), which it shows, or after `--seconds`. With `--record` results go to benches/kv/fuzz/DATE-against-DESIGN: machine.json, summary.md,
raw.json.
"""

from __future__ import annotations

import argparse
import json
import re
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from fuzz_commands import KEYS, CommandLineGenerator

from sojourn.lab.embedded_kv import EmbeddedKv
from sojourn_cases.common.memcached import Memcached, version
from sojourn_cases.kv.middleware.kv_proxy import KvProxy, ProxyOptions

LINES = 200  # of a batch
CHECK = 50
PATIENCE_S = 30.0
DESIGNS = ("direct", "staged", "embedded")
SUBJECTS = {"embedded": "the embedded server, answers alone"}
LISTED = re.compile(rb"key=(\S+) exp=(\S+) la=\S+ cas=(\d+) ")
VERSION = re.compile(rb"^VERSION \S+", re.MULTILINE)  # not of the embedded server
Json = dict[str, Any]


class DifferenceError(Exception):
    """What the two said or hold differently."""


def said(address: str, text: bytes) -> bytes:
    """All that a server answers to these bytes and no more."""
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port)), PATIENCE_S) as stream:
        sender = threading.Thread(target=_send, args=(stream, text), daemon=True)
        sender.start()
        parts = []
        try:
            while part := stream.recv(1 << 18):
                parts.append(part)
        except ConnectionResetError:
            parts.append(b"<reset>")
        sender.join()
    return b"".join(parts)


def _send(stream: socket.socket, text: bytes) -> None:
    try:
        stream.sendall(text)
        stream.shutdown(socket.SHUT_WR)
    except OSError:
        return  # it was closed; the answers show where


def dumped(address: str) -> set[bytes]:
    """The keys that a memcached has; its crawler may miss one."""
    return {_unquoted(found[1]) for found in LISTED.finditer(said(address, b"lru_crawler metadump all\r\n"))}


def _unquoted(key: bytes) -> bytes:
    """A key as the dump has it: percent-encoded."""
    return re.sub(rb"%([0-9A-Fa-f]{2})", lambda two: bytes([int(two[1], 16)]), key)


def compare(text: bytes, reference: str, subject: str) -> None:
    ours, theirs = (VERSION.sub(b"VERSION", said(address, text)) for address in (subject, reference))
    if ours != theirs:
        raise DifferenceError(_shown(text, theirs, ours))


def _shown(text: bytes, theirs: bytes, ours: bytes) -> str:
    """The first line that differs, with some before it."""
    one, other = theirs.split(b"\r\n"), ours.split(b"\r\n")
    at = next((k for k, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    lines = [f"answer {at} differs:"]
    lines += [f"  both: {part[:80]!r}" for part in one[max(at - 3, 0) : at]]
    lines += [
        f"  memcached: {[part[:80] for part in one[at : at + 3]]}",
        f"  ours: {[part[:80] for part in other[at : at + 3]]}",
    ]
    return "\n".join([*lines, f"batch of {len(text)} bytes"])


def compare_states(reference: str, behind: str) -> int:
    """How many keys both have, with the same flags, unique number and value."""
    keys = sorted({*dumped(reference), *dumped(behind), *KEYS})
    theirs, ours = ([said(address, b"gets " + key + b"\r\n") for key in keys] for address in (reference, behind))
    wrong = [(key, one[:90], other[:90]) for key, one, other in zip(keys, theirs, ours, strict=True) if one != other]
    if wrong:
        raise DifferenceError(f"{len(wrong)} keys differ (key, memcached, ours): {wrong[:5]}")
    return sum(one != b"END\r\n" for one in theirs)


def quiet(stack: ExitStack) -> Memcached:
    """What it says of itself is read, or it would wait for that for ever."""
    server = Memcached(memory_bytes=512 << 20)
    stack.callback(server.stop)
    threading.Thread(target=lambda: [None for _ in server.process.stderr or ()], daemon=True).start()
    return server


@contextmanager
def pair(design: str) -> Iterator[tuple[str, str, str]]:
    """Addresses of a memcached, of one behind a proxy ("" where there is none), and of what is compared with the first."""
    with ExitStack() as stack:
        reference = quiet(stack).address
        if design == "embedded":
            server = EmbeddedKv()
            stack.callback(server.stop)
            yield reference, "", server.address
            return
        behind = quiet(stack).address
        options = ProxyOptions(listen="127.0.0.1:0", servers=(behind,), design=design, workers=4, timeout_s=10.0)
        proxy = KvProxy(options)
        stack.callback(proxy.close)
        yield reference, behind, proxy.address


def fuzz(lines: int, seed: int, design: str, seconds: float) -> Json:
    """What was sent and held. DifferenceError."""
    begun, sent, batches, keys, size = time.monotonic(), 0, 0, 0, 0
    commands = CommandLineGenerator(seed, large=design != "embedded")  # that has no slabs: its limit is another
    with pair(design) as (reference, behind, subject):
        while sent < lines and time.monotonic() - begun < seconds:
            text, count = commands.batch(min(LINES, lines - sent))
            try:
                compare(text, reference, subject)
                sent, batches, size = sent + count, batches + 1, size + len(text)
                if behind and (batches % CHECK == 0 or sent >= lines):
                    keys = compare_states(reference, behind)
            except DifferenceError as error:
                raise DifferenceError(f"seed {seed}, {design}, batch {batches}, line {sent}: {error}") from None
    return {
        "design": design, "seed": seed, "lines": sent, "batches": batches, "bytes": size, "keys_at_end": keys,
        "took_s": round(time.monotonic() - begun, 1),
    }  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=3600.0, help="at most")
    parser.add_argument("--design", choices=DESIGNS, default="direct")
    parser.add_argument("--record", action="store_true")
    asked = parser.parse_args()
    try:
        found = fuzz(asked.lines, asked.seed, asked.design, asked.seconds)
    except DifferenceError as error:
        print(error, file=sys.stderr)
        return 1
    print(json.dumps(found))
    if asked.record:
        from folder import new_folder

        folder = new_folder("fuzz", f"-against-{asked.design}")
        (folder / "raw.json").write_text(json.dumps(found, indent=1) + "\n")
        told = "; ".join(f"{key} {value}" for key, value in found.items())
        kept = "and no key " if asked.design not in SUBJECTS else ""
        words = f"--lines {asked.lines} --seed {asked.seed} --design {asked.design}"
        (folder / "summary.md").write_text(
            f"# The same command lines to {version()} and to {SUBJECTS.get(asked.design, 'one behind the proxy')}\n\n"
            f"`python benches/kv/fuzz_against_memcached.py {words}`: no answer {kept}differs.\n\n{told}\n"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
