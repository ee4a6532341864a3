"""One load from several client hosts: who gets which users, and what their generators say, added."""

from __future__ import annotations

from typing import Any

import pytest

from sojourn.errors import InputError
from sojourn.load import kv_load
from sojourn.measure import ClientHosts
from sojourn.measure.client_hosts import added, share


def test_users_are_dealt_out_to_the_hosts_and_none_is_lost() -> None:
    load = kv_load(["memcached://127.0.0.1:1"], connections=7, threads=3, seed=5, record_limit=90)
    own = [share(load, k, 3) for k in range(3)]
    assert [one["lanes"][0]["closed"]["users"] for one in own] == [3, 2, 2]
    assert all(len(one["lanes"]) == 1 for one in own)
    assert len({one["seed"] for one in own}) == 3, "or all hosts would ask for the same keys"
    assert [one["record_limit"] for one in own] == [30, 30, 30]


def test_other_than_a_lane_a_host_is_refused() -> None:
    load = kv_load(["memcached://127.0.0.1:1"], connections=7, threads=2)
    with pytest.raises(InputError, match="2 lanes of users"):
        share(load, 0, 3)
    with pytest.raises(InputError, match="no client host"):
        ClientHosts([])


def summary(number: int, **more: Any) -> dict[str, Any]:
    return {
        "requested": 10 * number, "sent": 9 * number, "ok": 8 * number, "failed": number, "offered_per_s": 1.0 * number,
        "achieved_per_s": 0.5 * number, "recorded": 8 * number, "steal_s": 0.25, "seed": number, "start_s": 5.0, "end_s": 6.0,
        "interrupted": False, "failures": {"timeout": number}, "schedule_reason": None, "sampled": number == 2,
        "sample_every": number, "stamped": 1.0, "lanes": [{"lane": 0, "cpu_s": 0.1}], "realtime_granted": True, "notes": ["slow"],
        "kv": {"populated": 0, "keys_asked": 4 * number, "hits": 3 * number, "misses": number, "wrong": 0, "bytes_read": 7,
               "bytes_written": 2, "verified": True}, **more,
    }  # fmt: skip


def test_what_the_hosts_say_is_added() -> None:
    in_flight = [[(0.25, 3), (0.5, 4), (0.75, 4)], [(0.25, 1), (0.5, 2)]]
    found = added([summary(1), summary(2)], in_flight, 5.0)
    assert (found["requested"], found["ok"], found["failures"]) == (30, 24, {"timeout": 3})
    assert found["kv"] == {"populated": 0, "keys_asked": 12, "hits": 9, "misses": 3, "wrong": 0, "bytes_read": 14,
                           "bytes_written": 4, "verified": True}  # fmt: skip
    assert found["in_flight"] == [(0.25, 4), (0.5, 6)], "as far as both have counted"
    assert [lane["client"] for lane in found["lanes"]] == [1, 2] and found["notes"] == [
        "client 1: slow",
        "client 2: slow",
    ]
    assert (found["start_s"], found["end_s"], found["sample_every"], found["sampled"]) == (5.0, 6.0, 2, True)
