"""The middleware in front of real memcached servers, both designs: what a client sees, and what it counted."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from kv_cluster import Memcached, Proxy, Talk, needs_memcached

pytestmark = [pytest.mark.live, needs_memcached]

Start = Callable[..., Proxy]


@pytest.fixture(scope="module")
def servers() -> Iterator[list[Memcached]]:
    started = [Memcached() for _ in range(3)]
    yield started
    for server in started:
        server.stop()


@pytest.fixture(params=["direct", "staged"])
def start(request: pytest.FixtureRequest, servers: list[Memcached]) -> Iterator[Start]:
    """Starts a proxy of one design before three empty servers; ended after the test."""
    for server in servers:
        with Talk(server.address) as talk:
            assert talk.ask(b"flush_all\r\n") == b"OK\r\n"
    proxies: list[Proxy] = []

    def begin(**settings: Any) -> Proxy:
        proxies.append(Proxy(servers, design=request.param, workers=4, **settings))
        return proxies[-1]

    yield begin
    for proxy in proxies:
        proxy.close()


CONVERSATION = [
    b"set a 1 0 3\r\nabc\r\n",
    b"get a\r\n",
    b"get nothing\r\n",
    b"set b 4294967295 0 0\r\n\r\n",
    b"get a b nothing a\r\n",
    b"gets a\r\n",
    b"add a 0 0 1\r\nx\r\n",
    b"add c 0 0 1\r\n5\r\n",
    b"replace none 0 0 1\r\nx\r\n",
    b"append a 0 0 2\r\nde\r\n",
    b"prepend a 0 0 1\r\n_\r\n",
    b"get a\r\n",
    b"incr c 10\r\n",
    b"decr c 6\r\n",
    b"incr none 1\r\n",
    b"incr a 1\r\n",
    b"incr c x\r\n",
    b"touch a 100\r\n",
    b"touch none 100\r\n",
    b"gat 100 a b\r\n",
    b"gats 100 a\r\n",
    b"cas a 0 0 1 1\r\nx\r\n",
    b"cas none 0 0 1 1\r\nx\r\n",
    *(b"cas b 0 0 2 %d\r\n%02d\r\nget b\r\n" % (unique, unique) for unique in range(1, 9)),
    b"set quiet 0 0 1 noreply\r\nq\r\n",
    b"get quiet\r\n",
    b"delete quiet noreply\r\n",
    b"get quiet\r\n",
    b"delete a\r\n",
    b"delete a\r\n",
    b"verbosity 0\r\n",
    b"nonsense\r\n",
    b"get\r\n",
    b"set a 0 0\r\n",
    b"set a 0 0 -1\r\n",
    b"set a 0 0 9 extra\r\nflush_all\r\n",
    b"get a\r\n",
    b"cas a 0 0 x 1\r\n",
    b"version foo\r\n",
    b"verbosity noreply\r\n",
    b"verbosity 0 1\r\n",
    b"verbosity foo bar my\r\n",
    b"incr a noreply\r\n",
    b"incr none 1 x\r\n",
    b"flush_all foo\r\n",
    b"touch none 1 x\r\n",
    b"flush_all\r\n",
    b"get b c\r\n",
    b"set binary 0 0 7\r\n\x00\r\n\xff\r\nz\r\n",
    b"get binary\r\n",
]


def whole(address: str, pieces: list[bytes]) -> bytes:
    with Talk(address) as talk:
        for piece in pieces:
            talk.say(piece)
        return talk.until(b"no line begins so: to the end")


def test_a_conversation_is_the_same_byte_by_byte(start: Start) -> None:
    """Pipelined in one piece, one request at a time, and cut anywhere: as memcached itself answers."""
    alone = Memcached()
    try:
        text = b"".join(CONVERSATION) + b"version\r\nquit noreply\r\n"
        expected = whole(alone.address, [text])
    finally:
        alone.stop()
    # Unique numbers count the writes since a server began, so each proxy has servers of its own.
    for seed in range(3):
        fresh = [Memcached() for _ in range(3)]
        random_cuts = sorted(random.Random(seed).sample(range(1, len(text)), 200))
        cuts = [[], [len(text) // 2], random_cuts][seed]
        pieces = [text[i:j] for i, j in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        proxy = start(sharded=seed == 2)
        own = Proxy(fresh, design=proxy_design(proxy), workers=4)
        try:
            assert whole(own.address, pieces) == expected
        finally:
            own.close()
            for server in fresh:
                server.stop()


def test_behind_a_refused_set_the_next_line_is_a_command_as_memcached_has_it(start: Start) -> None:
    """Issue 26: the proxy swallowed it. What memcached says is its own."""
    alone = Memcached()
    try:
        with start().talk() as talk, Talk(alone.address) as direct:
            for words in (b"cas a 0 0 1", b"set a 0 0 9 more words", b"set a x 0 9", b"add %s 0 0 9" % (b"k" * 251)):
                for one in (talk, direct):
                    assert one.ask(b"set gone 0 0 1\r\nx\r\n") == b"STORED\r\n"
                refused = [one.ask(words + b"\r\nflush_all\r\n") for one in (talk, direct)]
                assert refused[0] == refused[1] and b"ERROR" in refused[0]
                for one in (talk, direct):
                    assert one.line() == b"OK\r\n"
                    assert one.values(b"get gone\r\n") == b"END\r\n", words
    finally:
        alone.stop()


def test_a_set_of_too_large_a_value_forgets_the_old_one(start: Start, servers: list[Memcached]) -> None:
    """As memcached does (proto_text.c: "avoid stale data persisting"); an `add` leaves it. With noreply without a word."""
    large = b"v" * (1 << 20) + b"v"
    with start().talk() as talk:
        for words, kept in ((b"add old 0 0 %d", True), (b"set old 0 0 %d", False), (b"set old 0 0 %d noreply", False)):
            assert talk.ask(b"set old 0 0 1\r\nx\r\n") == b"STORED\r\n"
            talk.say(words % len(large) + b"\r\n" + large + b"\r\n")
            if not words.endswith(b"noreply"):
                assert talk.line() == b"SERVER_ERROR object too large for cache\r\n"
            assert talk.ask(b"version\r\n").startswith(b"VERSION")
            for server in servers:
                with Talk(server.address) as direct:
                    found = direct.values(b"get old\r\n")
                    assert found == (b"VALUE old 0 1\r\nx\r\nEND\r\n" if kept else b"END\r\n"), words


def proxy_design(proxy: Proxy) -> str:
    with proxy.talk() as talk:
        talk.say(b"stats\r\n")
        lines = talk.until(b"END").split(b"\r\n")
    return next(line.split()[2].decode() for line in lines if line.startswith(b"STAT design"))


def test_a_set_reaches_all_servers(start: Start, servers: list[Memcached]) -> None:
    with start().talk() as talk:
        assert talk.ask(b"set everywhere 7 0 5\r\nhello\r\n") == b"STORED\r\n"
        for server in servers:
            with Talk(server.address) as direct:
                assert direct.values(b"get everywhere\r\n") == b"VALUE everywhere 7 5\r\nhello\r\nEND\r\n"


def test_gets_go_round(start: Start, servers: list[Memcached]) -> None:
    proxy = start()
    with proxy.talk() as talk:
        for _ in range(30):
            assert talk.values(b"get nothing\r\n") == b"END\r\n"
    assert [server["requests"] for server in proxy.stop()["servers"]] == [10, 10, 10]


@pytest.mark.parametrize("sharded", [False, True])
def test_a_multi_get_keeps_the_order_of_its_keys(start: Start, sharded: bool) -> None:
    proxy = start(sharded=sharded)
    keys = [b"k%d" % i for i in range(10)]
    with proxy.talk() as talk:
        for key in keys[:9]:
            assert talk.ask(b"set %s 0 0 %d\r\n%s\r\n" % (key, len(key), key)) == b"STORED\r\n"
        for count in (2, 3, 5, 10):
            asked = random.Random(count).sample(keys, count)
            found = b"".join(b"VALUE %s 0 %d\r\n%s\r\n" % (k, len(k), k) for k in asked if k != b"k9")
            assert talk.values(b"get " + b" ".join(asked) + b"\r\n") == found + b"END\r\n"
    summary = proxy.stop()
    gets = [server["requests"] - 9 for server in summary["servers"]]
    assert sum(gets) == (2 + 3 + 3 + 3 if sharded else 4)
    assert summary["hits"] + summary["misses"] == 20 and summary["misses"] <= 4


def test_a_cas_is_decided_by_the_first_server(start: Start, servers: list[Memcached]) -> None:
    with start().talk() as talk:
        talk.ask(b"set x 0 0 1\r\n0\r\n")
        talk.say(b"gets x\r\n")
        unique = talk.until(b"END").split()[4]
        assert talk.ask(b"cas x 0 0 1 " + unique + b"\r\n1\r\n") == b"STORED\r\n"
        assert talk.ask(b"cas x 0 0 1 " + unique + b"\r\n2\r\n") == b"EXISTS\r\n"
        for server in servers:
            with Talk(server.address) as direct:
                assert direct.values(b"get x\r\n") == b"VALUE x 0 1\r\n1\r\nEND\r\n"


def test_pipelined_requests_are_answered_in_order(start: Start) -> None:
    with start(sharded=True).talk() as talk:
        talk.say(b"".join(b"set p%d 0 0 3\r\n%03d\r\n" % (i, i) for i in range(500)))
        assert [talk.line() for _ in range(500)] == [b"STORED\r\n"] * 500
        asked = [f"get p{i} p{(i * 7) % 500}\r\n" if i % 3 else f"get p{i}\r\n" for i in range(500)]
        talk.say("".join(asked).encode())
        heard = [talk.until(b"END") for _ in range(500)]
        assert [answer.split()[1] for answer in heard] == [b"p%d" % i for i in range(500)]


def test_a_large_value_goes_through_and_a_larger_one_is_refused(start: Start) -> None:
    with start().talk() as talk:
        value = bytes(range(256)) * 3900
        assert talk.ask(b"set large 0 0 %d\r\n" % len(value) + value + b"\r\n") == b"STORED\r\n"
        talk.say(b"get large\r\n")
        assert talk.line() == b"VALUE large 0 %d\r\n" % len(value)
        rest = b""
        while len(rest) < len(value) + 7:
            rest += talk.heard or talk.socket.recv(1 << 20)
            talk.heard = b""
        assert rest == value + b"\r\nEND\r\n"
        too_large = b"set large 0 0 1048577\r\n" + bytes(1048577) + b"\r\n"
        assert talk.ask(too_large) == b"SERVER_ERROR object too large for cache\r\n"
        assert talk.ask(b"get " + b"k" * 251 + b"\r\n").startswith(b"CLIENT_ERROR")
        assert talk.ask(b"delete large\r\n") == b"NOT_FOUND\r\n", "as memcached forgets it"


def test_counts_at_the_end_are_what_clients_saw(start: Start, tmp_path: Path) -> None:
    proxy = start(log=str(tmp_path / "app.rec"), period_s=0.2)
    with proxy.talk() as talk, proxy.talk() as other:
        for i in range(200):
            assert talk.ask(b"set n%d 0 0 1\r\nx\r\n" % i) == b"STORED\r\n"
            assert other.values(b"get n%d\r\n" % i).endswith(b"END\r\n")
        assert talk.values(b"get n1 n2 gone\r\n").count(b"VALUE") == 2
        assert talk.ask(b"delete n1\r\n") == b"DELETED\r\n"
        assert talk.ask(b"bad\r\n") == b"ERROR\r\n"
    summary = proxy.stop()
    expected = {"set": 200, "get": 200, "multi_get": 1, "delete": 1, "refused": 1}
    assert {kind: count for kind, count in summary["by_kind"].items() if count} == expected
    assert summary["arrivals"] == summary["completions"] == summary["response"]["count"] == 403
    assert (summary["hits"], summary["misses"], summary["errors"], summary["abandoned"]) == (202, 1, 1, 0)
    assert sum(summary["bins"]) + summary["overflow"] == 403
    assert 0 < summary["service"]["mean_s"] <= summary["response"]["mean_s"] < 1
    rows = read(tmp_path / "app.rec")
    for column in ("arrivals", "completions"):
        assert rows[column].sum() == 403
    assert rows["set"].sum() == 200 and rows["misses"].sum() == 1
    assert [rows[f"server_requests_{i}"].sum() for i in range(3)] == [s["requests"] for s in summary["servers"]]


def read(path: Path) -> pl.DataFrame:
    """A record log, by its own header."""
    import json

    header, body = path.read_bytes().split(b"\n", 1)
    dtype = np.dtype([(name, "<" + code) for name, code in json.loads(header)["columns"]])
    return pl.DataFrame(np.frombuffer(body, dtype=dtype))
