"""What a user says of a load on memcached, as the generator has it."""

from __future__ import annotations

from typing import Any

import pytest

from sojourn.errors import InputError
from sojourn.load.kv_load import kv_load, pattern, sizes

URL = "memcached://127.0.0.1:1"


def test_sizes() -> None:
    assert sizes(1024, "x") == sizes("1024", "x") == {"kind": "fixed", "value": 1024}
    assert sizes("32-64", "x") == {"kind": "uniform", "low": 32, "high": 64}
    assert sizes("32:1,64:2.5", "x") == {"kind": "list", "values": [32, 64], "weights": [1.0, 2.5]}
    for wrong in ("", "a", "1-", "1-2-3", "1:2:3", "-5", "5000000000", "1.5"):
        with pytest.raises(InputError, match="x"):
            sizes(wrong, "x")


def test_patterns() -> None:
    assert pattern("uniform") == {"kind": "uniform"}
    assert pattern("zipf") == {"kind": "zipf", "exponent": 0.99}
    assert pattern("zipf:1.5") == {"kind": "zipf", "exponent": 1.5}
    for wrong in ("uniform:1", "zipf:x", "gauss", ""):
        with pytest.raises(InputError, match="--key-pattern"):
            pattern(wrong)


@pytest.mark.parametrize(("connections", "threads", "urls"), [(198, 3, 1), (5, 2, 2), (1, 4, 1), (33, 2, 3)])
def test_every_client_has_a_lane_and_a_connection(connections: int, threads: int, urls: int) -> None:
    lanes = kv_load([f"{URL}{k}" for k in range(urls)], connections=connections, threads=threads)["lanes"]
    users = [lane["closed"]["users"] for lane in lanes]
    assert sum(users) == connections and max(users) - min(users) <= 1 and len(lanes) == min(threads, connections)
    assert all(lane["connections"] * urls >= lane["closed"]["users"] for lane in lanes)


def test_the_share_of_multi_gets() -> None:
    def mix(**options: Any) -> dict[str, float]:
        found: dict[str, float] = kv_load([URL], **options)["kv"]["mix"]
        return found

    assert mix() == {"set": 1.0, "get": 10.0, "multi_get": 0.0}
    assert mix(set_weight=1, get_weight=9, multi_get=6) == {"set": 1, "get": 0.0, "multi_get": 9.0}
    assert mix(get_weight=8, multi_get=6, multi_get_share=0.25) == {"set": 1.0, "get": 6.0, "multi_get": 2.0}


def test_refusals() -> None:
    refused: list[dict[str, Any]] = [
        {"threads": 0}, {"connections": 0}, {"rate_per_s": 0.0}, {"arrivals": "gauss"},
        {"multi_get": 2, "multi_get_share": 2.0},
    ]  # fmt: skip
    for options in refused:
        with pytest.raises(InputError):
            kv_load([URL], **options)


@pytest.mark.parametrize(("connections", "each_per_s"), [(4, [300.0] * 3), (2, [450.0] * 2)])
def test_an_open_loop_divides_its_rate(connections: int, each_per_s: list[float]) -> None:
    """Over the lanes that there are: with fewer clients than threads not all threads have one."""
    lanes = kv_load([URL], rate_per_s=900.0, threads=3, connections=connections)["lanes"]
    assert [lane["arrivals"]["rate_per_s"] for lane in lanes] == each_per_s
