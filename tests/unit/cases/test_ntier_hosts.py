"""A site on several hosts: what can be asked of it, who gets which users, and how even the load of its servers was."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import polars as pl
import pytest
from pydantic import ValidationError

from sojourn import Metrics
from sojourn.errors import InputError, PermissionLacking, StudyError
from sojourn.load import session_load
from sojourn.runs.run_folder import RunFolder
from sojourn_cases.ntier import site_hosts
from sojourn_cases.ntier.bulletin_board import BulletinLoad, BulletinSystem, BulletinSystemOptions
from sojourn_cases.ntier.host_balance import host_loads, hosts_analysis

HOSTS = BulletinSystemOptions(hosts="namespaces", web_servers=2, application_servers=4, database=True, host_cores=0.2)


def test_servers_are_factors_as_far_as_there_are_hosts() -> None:
    system = BulletinSystem(HOSTS, BulletinLoad(users=10), Path())
    assert system.settled({"web_servers": 2, "replicas": 4}, "x")["web_servers"] == 2
    with pytest.raises(InputError, match=r"replicas = 5.*give a value in \[1.0, 4"):
        system.settled({"replicas": 5}, "x")
    with pytest.raises(InputError, match="give a user for each of 2 web servers"):
        system.settled({"web_servers": 2, "users": 1}, "x")
    assert "web_servers" not in BulletinSystem(BulletinSystemOptions(), BulletinLoad(users=10), Path()).factors
    assert site_hosts.names(HOSTS) == [
        "client", "web1", "web2", "application1", "application2", "application3", "application4", "database1",
    ]  # fmt: skip


def test_a_share_of_the_cores_needs_hosts_and_hosts_need_root(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValidationError, match="set hosts = 'namespaces'"):
        BulletinSystemOptions(host_cores=0.2)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(PermissionLacking, match="run as root, or set hosts = 'loopback'"), site_hosts.site_hosts(HOSTS):
        pass


def test_users_are_dealt_out_to_the_web_servers() -> None:
    load = session_load(["http://10.78.0.2:8080/", "http://10.78.0.3:8080/"], users=7, mix="browse")
    assert [lane["closed"]["users"] for lane in load["lanes"]] == [4, 3]
    assert [lane["targets"][0]["url"] for lane in load["lanes"]] == ["http://10.78.0.2:8080/", "http://10.78.0.3:8080/"]
    with pytest.raises(InputError, match="one for each URL"):
        session_load(["http://a/", "http://b/"], users=1, mix="browse")


def run(web: int, replicas: int, per_s: float, users: int = 60, skew: int = 0, valid: bool = True) -> RunFolder:
    """10 s; the first application server has `skew` requests more than its part, and each busies its group 0.15 of a core."""
    sent = int(10 * per_s)
    service = {
        "nginx": {"requests": sent} if web == 1 else [{"requests": sent // web} for _ in range(web)],
        "application": [{"completions": sent // replicas + skew * (k == 0)} for k in range(replicas)],
    }
    groups = {f"application{k}": f"g{k}" for k in range(1, replicas + 1)}
    counters = [("cgroups", name, "usage_s", t, 0.15 * t) for name in groups.values() for t in (0.0, 10.0)]
    host = pl.DataFrame(counters, schema=["source", "key", "item", "t_s", "value"], orient="row")
    rows = [{"station": "", "class": "", "metric": "throughput", "value": per_s, "unit": "1/s", "low": None, "high": None,
             "method": "measured", "status": "ok", "q": None}]  # fmt: skip
    manifest = {
        "valid": valid, "load": {"duration_s": 10.0}, "service": service, "tiers": {"groups": groups, "host_cores": 0.2},
        "factors": {"web_servers": web, "replicas": replicas, "users": users}, "window_s": (0.0, 10.0),
    }  # fmt: skip
    metrics = Metrics.of(rows, "measured")
    return cast(
        RunFolder, SimpleNamespace(manifest=manifest, frame=lambda _: host, metrics=lambda: metrics, path=Path("run"))
    )


def test_the_load_of_each_server_and_its_share_of_a_core() -> None:
    found = host_loads(run(2, 4, 80.0, skew=20))
    assert [one.name for one in found] == ["nginx1", "nginx2", *(f"application{k}" for k in range(1, 5))]
    assert found[0].per_s == 40.0 and found[0].balance == 1.0
    assert found[2].balance == pytest.approx(220 / 205), "220 of 820 requests, where 205 are the mean"
    assert [one.busy_cores for one in found] == [None, None, *[pytest.approx(0.15)] * 4]


def analysed(runs: list[RunFolder], options: dict[str, Any] | None = None) -> Any:
    return hosts_analysis(cast(Any, SimpleNamespace(runs=runs)), cast(Any, None), options or {})


def test_what_more_servers_bring() -> None:
    runs = [run(1, 1, 85.0), run(1, 1, 80.0, users=20), run(2, 4, 340.0), run(2, 4, 999.0, valid=False)]
    found = analysed(runs)
    assert found.lines == (
        "1 web and 1 application server: at most 85.0 /s",
        "2 web and 4 application servers: at most 340 /s, 4.00 times what 1 web and 1 application server complete",
        "the busiest server of a tier has at most 0.0 % more requests than the mean",
    )
    (section,) = found.sections
    figure, table = section.blocks
    assert figure.x_names == ("nginx1", "nginx2", "application1", "application2", "application3", "application4")
    assert list(figure.series[0].y) == [170.0, 170.0, *[85.0] * 4]
    assert [row[-1] for row in table.rows if row[2] == "application1"] == [pytest.approx(0.75)] * 2, "0.15 of 0.2"
    assert analysed([run(1, 1, 1.0, valid=False)]).sections == ()
    with pytest.raises(StudyError, match="it has none"):
        analysed(runs, {"level": 0.9})
