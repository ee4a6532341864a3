"""A client library that others wrote, against the proxy: pymemcache, in the manner of its own tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from kv_cluster import Memcached, Proxy, needs_memcached

pymemcache = pytest.importorskip("pymemcache")
pytestmark = [pytest.mark.live, needs_memcached]


@pytest.fixture(scope="module", params=["direct", "staged", "direct sharded"])
def client(request: pytest.FixtureRequest) -> Iterator[pymemcache.Client]:
    servers = [Memcached() for _ in range(3)]
    design, _, sharded = request.param.partition(" ")
    proxy = Proxy(servers, design=design, workers=4, sharded=bool(sharded))
    host, port = proxy.address.split(":")
    made = pymemcache.Client((host, int(port)), timeout=5, default_noreply=False)
    yield made
    made.close()
    proxy.close()
    for server in servers:
        server.stop()


def test_storing(client: pymemcache.Client) -> None:
    client.flush_all()
    assert client.set("key", "value") and client.get("key") == b"value"
    assert client.set(b"key2", b"value2", noreply=True) and client.get("key2") == b"value2"
    assert client.get("nothing") is None and client.get("nothing", "default") == "default"
    assert client.add("key", "other") is False and client.add("new", "value") is True
    assert client.replace("none", "x") is False and client.replace("key", "v") is True
    assert client.append("key", "after") and client.prepend("key", "before")
    assert client.get("key") == b"beforevafter"
    assert client.set("empty", "") and client.get("empty") == b""


def test_many(client: pymemcache.Client) -> None:
    client.flush_all()
    values = {f"many{i}": f"value{i}".encode() for i in range(20)}
    assert client.set_many(values) == []
    assert client.get_many([*values, "none"]) == values
    assert client.get_many([]) == {}
    assert client.delete_many(["many0", "many1"]) and client.get_many(["many0", "many2"]) == {"many2": b"value2"}


def test_compare_and_set(client: pymemcache.Client) -> None:
    client.flush_all()
    assert client.gets("key") == (None, None)
    assert client.cas("key", "value", "1") is None
    client.set("key", "value")
    value, unique = client.gets("key")
    assert value == b"value"
    assert client.cas("key", "value1", unique) is True and client.cas("key", "value2", unique) is False
    assert client.get("key") == b"value1"
    assert set(client.gets_many(["key", "none"])) == {"key"}


def test_counting(client: pymemcache.Client) -> None:
    client.flush_all()
    assert client.incr("number", 1) is None
    client.set("number", "0")
    assert client.incr("number", 5) == 5 and client.decr("number", 2) == 3 and client.decr("number", 9) == 0
    with pytest.raises(pymemcache.MemcacheClientError):
        client.incr("number", -1)


def test_the_rest(client: pymemcache.Client) -> None:
    client.set("key", "value")
    assert client.touch("key", 100) is True and client.touch("none", 1) is False
    assert client.delete("key") is True and client.delete("key") is False
    assert client.version().startswith(b"1.")
    assert client.stats()[b"design"] in (b"direct", b"staged")
    with pytest.raises(pymemcache.MemcacheIllegalInputError):
        client.get("k" * 251)
    with pytest.raises(pymemcache.MemcacheServerError):
        client.set("large", bytes(1 << 21))
    assert client.set("after", "x") and client.get("after") == b"x"
