"""Each cell of the table of failures in docs/reference/kv-proxy.md, with real servers that fail, both designs."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from kv_cluster import Memcached, Proxy, Talk, free_port, needs_memcached

pytestmark = [pytest.mark.live, needs_memcached]

DOCS = Path(__file__).parents[2] / "docs/reference/kv-proxy.md"
TIMEOUT_S = 0.25
DELAY_S = 0.05

FOUND = b"".join(b"VALUE %s 0 1\r\n5\r\n" % key for key in (b"k", b"l", b"m"))
COMMANDS: dict[str, tuple[bytes, bytes]] = {
    "get": (b"get k\r\n", FOUND[:16] + b"END\r\n"),
    "multi-get": (b"get k l m\r\n", FOUND + b"END\r\n"),
    "multi-get, sharded": (b"get k l m\r\n", FOUND + b"END\r\n"),
    "gets": (b"gets k\r\n", b"VALUE k 0 1 "),
    "gat": (b"gat 100 k\r\n", FOUND[:16] + b"END\r\n"),
    "set": (b"set k 0 0 1\r\n6\r\n", b"STORED\r\n"),
    "add": (b"add k 0 0 1\r\n6\r\n", b"NOT_STORED\r\n"),
    "replace": (b"replace k 0 0 1\r\n6\r\n", b"STORED\r\n"),
    "append": (b"append k 0 0 1\r\n6\r\n", b"STORED\r\n"),
    "cas": (b"cas k 0 0 1 %d\r\n6\r\n", b"STORED\r\n"),
    "delete": (b"delete k\r\n", b"DELETED\r\n"),
    "incr": (b"incr k 1\r\n", b"6\r\n"),
    "touch": (b"touch k 100\r\n", b"TOUCHED\r\n"),
    "flush_all": (b"flush_all\r\n", b"OK\r\n"),
    "version": (b"version\r\n", b"VERSION "),
}


def table() -> dict[str, dict[str, str]]:
    """Cells by column and command."""
    lines = DOCS.read_text().split("When a server fails")[1].split("\n## ")[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    head, _, *body = rows
    return {column: {row[0]: row[1 + i] for row in body} for i, column in enumerate(head[1:])}


def test_the_table_has_every_command() -> None:
    assert all(list(column) == list(COMMANDS) for column in table().values())


class Slow:
    """A relay to a server that keeps each answer back for a while."""

    def __init__(self, target: Memcached) -> None:
        self.port = free_port()
        self._target = target.port
        self._door = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def _accept(self) -> None:
        while True:
            try:
                here, _ = self._door.accept()
            except OSError:
                return
            there = socket.create_connection(("127.0.0.1", self._target))
            threading.Thread(target=self._copy, args=(here, there, 0.0), daemon=True).start()
            threading.Thread(target=self._copy, args=(there, here, DELAY_S), daemon=True).start()

    @staticmethod
    def _copy(source: socket.socket, target: socket.socket, delay_s: float) -> None:
        try:
            while data := source.recv(65536):
                time.sleep(delay_s)
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def close(self) -> None:
        self._door.close()


def tell(server: Memcached, *requests: bytes) -> None:
    with Talk(server.address) as talk:
        for request in requests:
            talk.ask(request)


def fill(servers: list[Memcached]) -> int:
    """The three keys, everywhere; the unique number of `k` at the first server."""
    for server in servers:
        tell(server, b"flush_all\r\n", *(b"set %s 0 0 1\r\n5\r\n" % key for key in (b"k", b"l", b"m")))
    with Talk(servers[0].address) as talk:
        talk.say(b"gets k\r\n")
        return int(talk.until(b"END").split()[4])


def answer(talk: Talk, request: bytes) -> bytes:
    talk.say(request)
    first = talk.line()
    return first + talk.until(b"END") if first.startswith(b"VALUE") else first


def wait_until_up(talk: Talk) -> None:
    """Until a write is taken: all servers are up for one thread, and soon for all."""
    deadline = time.monotonic() + 8
    while answer(talk, b"touch nothing 1\r\n") != b"NOT_FOUND\r\n":
        assert time.monotonic() < deadline
        time.sleep(0.02)


class Scene:
    """Three servers, a proxy, and what happens to one of them."""

    def __init__(self, design: str, sharded: bool, column: str) -> None:
        self.column = column
        self.servers = [Memcached() for _ in range(3)]
        self.slow = Slow(self.servers[1])
        front: list[Memcached] = [*self.servers]
        if column == "slow":
            front[1] = self.slow  # type: ignore[call-overload]
        self.proxy = Proxy(front, design=design, workers=3, sharded=sharded, timeout_s=TIMEOUT_S)
        self.talk = self.proxy.talk()
        self.unique = fill(self.servers)
        {
            "stopped": lambda: self.servers[1].stop(),
            "first stopped": lambda: self.servers[0].stop(),
            "all stopped": lambda: [server.stop() for server in self.servers],
            "back, empty": lambda: self.restart(),
            "back, with its data": lambda: self.thaw_after_failure(),
        }.get(column, lambda: None)()
        time.sleep(0.1)

    def restart(self) -> None:
        self.servers[1].stop()
        time.sleep(0.1)
        self.servers[1].start()
        wait_until_up(self.talk)

    def thaw_after_failure(self) -> None:
        self.servers[1].freeze()
        assert b"timed out" in answer(self.talk, b"touch nothing 1\r\n")
        self.servers[1].thaw()
        wait_until_up(self.talk)

    def prepare(self) -> None:
        """The same start for each command."""
        if self.column in ("slow", "back, with its data", "frozen"):
            self.unique = fill(self.servers)
        elif self.column == "back, empty":
            self.unique = fill([self.servers[0], self.servers[2]])
            tell(self.servers[1], b"flush_all\r\n")
        if self.column == "frozen":
            self.servers[1].freeze()

    def after(self) -> None:
        if self.column == "frozen":
            self.servers[1].thaw()
            wait_until_up(self.talk)

    def close(self) -> None:
        self.talk.close()
        self.proxy.close()
        self.slow.close()
        for server in self.servers:
            server.close()  # at once: a good end takes memcached a second


WORDS = {
    "down": b"SERVER_ERROR a server is down: nothing was written\r\n",
    "none": b"SERVER_ERROR no server is up\r\n",
    "NOT_FOUND": b"NOT_FOUND\r\n",
    "NOT_STORED": b"NOT_STORED\r\n",
}


def check(scene: Scene, command: str, cell: str) -> None:
    scene.prepare()
    request, good = COMMANDS[command]
    request = request % scene.unique if command == "cas" else request
    late = b"SERVER_ERROR server %s timed out\r\n" % scene.servers[1].address.encode()
    begun = time.monotonic()
    answers = [answer(scene.talk, request) for _ in range(3 if "1/3" in cell else 1)]
    took_s = time.monotonic() - begun
    where = f"{command}, {scene.column}: {answers}"
    if cell == "ok":
        assert answers[0].startswith(good), where
    elif cell == "late":
        assert answers == [late] and took_s >= TIMEOUT_S * 0.9, where
    elif cell == "late 1/3":
        assert answers.count(late) == 1 and sum(a.startswith(good) for a in answers) == 2, where
    elif cell == "miss 1/3":
        assert answers.count(b"END\r\n") == 1 and answers.count(good) == 2, where
    elif cell == "partial":
        assert answers[0].count(b"VALUE") == 2 and answers[0].endswith(b"END\r\n"), where
    else:
        assert answers == [WORDS[cell]], where
    assert took_s < 3 * TIMEOUT_S, where
    scene.after()


@pytest.fixture
def scene_of() -> Iterator[Callable[[str, bool, str], Scene]]:
    made: list[Scene] = []

    def make(design: str, sharded: bool, column: str) -> Scene:
        made.append(Scene(design, sharded, column))
        return made[-1]

    yield make
    for scene in made:
        scene.close()


@pytest.mark.parametrize("column", list(table()))
@pytest.mark.parametrize("design", ["direct", "staged"])
def test_the_table_of_failures(scene_of: Callable[[str, bool, str], Scene], design: str, column: str) -> None:
    cells = table()[column]
    for sharded in (False, True):
        scene = scene_of(design, sharded, column)
        for command, cell in cells.items():
            if sharded == ("sharded" in command):
                check(scene, command, cell)


@pytest.mark.parametrize("design", ["direct", "staged"])
def test_a_late_reply_never_reaches_another_request(scene_of: Callable[[str, bool, str], Scene], design: str) -> None:
    """Every value says its key; a server is frozen and goes on again and again under reads of two clients."""
    scene = scene_of(design, False, "frozen")
    for i in range(50):
        assert answer(scene.talk, b"set key%d 0 0 2\r\n%02d\r\n" % (i, i)) == b"STORED\r\n"
    with scene.proxy.talk() as other:
        good = errors = 0
        for round_ in range(4):
            scene.servers[1].freeze()
            for i in range(50):
                for talk in (scene.talk, other):
                    if i == 25:
                        scene.servers[1].thaw()
                    said = answer(talk, b"get key%d\r\n" % i)
                    if said.startswith(b"SERVER_ERROR"):
                        errors += 1
                    else:
                        assert said == b"VALUE key%d 0 2\r\n%02d\r\nEND\r\n" % (i, i), round_
                        good += 1
            wait_until_up(scene.talk)
    assert errors >= 4 and good > 300
