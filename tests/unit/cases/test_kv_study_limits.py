"""Hosts with limits of their own: what is then said to limit a point."""

from __future__ import annotations

from typing import Any

import pytest
from kv_rows import row as row_of
from kv_rows import rows_of

from sojourn.report import Document, Table, render_html
from sojourn_cases.kv.limits import limited_by, limits_section, marked, too_small, uses
from sojourn_cases.kv.middleware.hosts import HostOptions, Hosts

Row = dict[str, Any]


def row(x: float, servers: int = 1, **more: Any) -> Row:
    return row_of(x, servers=servers, **more)


# Answers of 1123 bytes with their headers: 1e8/8/1123 = 11 131/s is all that 100 Mbit/s carry.
# 10 µs of CPU an operation: a quarter of a core works 25 000/s, two of them 50 000/s.
@pytest.mark.parametrize(
    ("seen", "limit"),
    [
        (row(11_000, server_sent_bit_per_s=11_000 * 1123 * 8, server_rate_bit_per_s=1e8), "network of a server"),
        (row(9_000, server_sent_bit_per_s=9_000 * 1123 * 8, server_rate_bit_per_s=1e8), "round trip"),
        (row(11_000, server_sent_bit_per_s=11_000 * 1123 * 8), "round trip"),
        (row(11_000, proxy_sent_bit_per_s=11_000 * 1123 * 8, proxy_rate_bit_per_s=1e8), "network of a middleware"),
        (row(24_000, server_cpu_s=10e-6, server_cores=0.25), "server CPU"),
        (row(24_000, server_cpu_s=10e-6), "round trip"),
        (row(24_000, 2, server_cpu_s=10e-6, server_cores=0.25), "round trip"),
        (row(48_000, 2, server_cpu_s=10e-6, server_cores=0.25), "server CPU"),
        (row(20_000, server_cpu_s=10e-6, server_cores=0.25, server_throttled=0.95), "server CPU"),
        (
            row(11_000, client_share=0.95, server_sent_bit_per_s=0.99e8, server_rate_bit_per_s=1e8),
            "network of a server",
        ),
        (row(11_000, client_share=0.99, server_sent_bit_per_s=0.91e8, server_rate_bit_per_s=1e8), "client"),
    ],
)
def test_a_rate_or_a_share_that_is_used_up_limits(seen: Row, limit: str) -> None:
    (given,) = rows_of(seen).to_dicts()
    assert limited_by(given, 4) == limit
    assert too_small(given, 4) == (limit == "client")


def test_points_are_marked_by_the_rule_and_none_is_left_out() -> None:
    seen = rows_of(row(1000, client_share=0.95), row(1000, other_processes_cores=1.95), row(1000, client_share=0.5))
    found = marked(seen, 2)
    assert found["too_small"].to_list() == [True, True, False]
    assert found["limited_by"].to_list() == ["client", "the machine's cores", "round trip"]
    assert marked(rows_of(), 2).height == 0


def test_uses_are_shares_of_what_there_is() -> None:
    (given,) = rows_of(
        row(10_000, 2, server_cpu_s=20e-6, client_cpu_s=30e-6, service_s=4e-4, other_processes_cores=0.2)
    ).to_dicts()
    found = uses(given, 2)
    assert found["server CPU"] == pytest.approx(0.1)  # 0.2 cores over two servers
    assert found["the machine's cores"] == pytest.approx((0.2 + 0.3 + 0.2) / 2)
    assert found["workers"] == pytest.approx(4 / 8)  # 10 000/s hold one each 0.4 ms: 4 of 8
    assert found["network of a server"] == 0.0


def test_what_others_took_is_not_held_against_the_machine() -> None:
    """All cores are used in both: by the system itself, or by others."""
    own = row(10_000, client_share=0.8, client_cpu_s=8e-5, server_cpu_s=8e-5, net_cpu_s=4e-5)  # two cores together
    others = row(1000, other_processes_cores=1.95, disturbed=True)
    for seen, small, disturbed in ((own, "16", "no"), (others, "no", "16")):
        (table, _) = limits_section(rows_of(seen), 2, {}).blocks
        assert isinstance(table, Table)
        assert table.rows[0][1:] == ("the machine's cores at 16", small, disturbed)


def test_the_report_says_the_limits_and_what_is_not_shown() -> None:
    seen = rows_of(row(11_000, server_sent_bit_per_s=0.988e8, server_rate_bit_per_s=1e8))
    options = HostOptions(hosts="namespaces", server_rate_bit_per_s=1e8)
    lab = {**Hosts(options).describe(), "not shown": []}
    page = render_html(Document("x", "", ["x"], "ok", (limits_section(seen, 2, lab),), {}))
    for words in ("a server sends at most 100 Mbit/s", "network of a server at 16", "99%"):
        assert words in page
    page = render_html(Document("x", "", ["x"], "ok", (limits_section(seen, 2, Hosts().describe()),), {}))
    assert "Not shown: limits of networks and of cores" in page


@pytest.mark.parametrize(
    ("cpu", "limit"),
    [
        ({"client_share": 0.95}, "client"),
        ({"client_share": 0.2, "server_cpu_s": 0.95e-3}, "server CPU"),
        ({"client_share": 0.2, "net_cpu_s": 0.92e-3}, "net thread"),
        ({"client_share": 0.6, "client_cpu_s": 6e-4, "server_cpu_s": 7e-4, "net_cpu_s": 6e-4}, "the machine's cores"),
        ({"server_cpu_s": 5e-4, "net_cpu_s": 4.5e-4, "pinned": True}, "a core that servers and middlewares share"),
        ({"server_cpu_s": 5e-4, "net_cpu_s": 4.5e-4, "pinned": False}, "round trip"),
        ({"client_share": 0.2, "service_s": 7.9e-3}, "workers"),
        ({"client_share": 0.2, "service_s": 1e-3}, "round trip"),
    ],
)
def test_what_limits_a_point(cpu: dict[str, float], limit: str) -> None:
    (given,) = rows_of(row_of(1000.0, 10, **cpu)).to_dicts()
    assert limited_by(given, 2) == limit
    assert too_small(given, 2) == (limit not in ("server CPU", "net thread", "workers", "round trip"))
