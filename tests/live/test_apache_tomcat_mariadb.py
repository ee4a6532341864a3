"""The bulletin board on Apache, Tomcat and MariaDB: counts of all tiers equal, CPU time by tier, pages as ours, nothing left."""

from __future__ import annotations

import os
import re
import urllib.error
import urllib.request
from pathlib import Path

import polars as pl
import pytest
from machine import command_words, folders_of_this_process

from sojourn.lab.backends import environment
from sojourn.lab.process_tree import children
from sojourn.study.system import Point
from sojourn_cases.ntier.apache_tomcat_mariadb import apache, java_tiers, mariadb_cluster, tomcat
from sojourn_cases.ntier.apache_tomcat_mariadb.stack_programs import INSTALL, lacking_packages
from sojourn_cases.ntier.bulletin_board import BulletinLoad, BulletinSystem, BulletinSystemOptions

LACKING = lacking_packages()
pytestmark = [
    pytest.mark.live, pytest.mark.alone,
    pytest.mark.skipif(bool(LACKING), reason=f"not installed: {INSTALL} {' '.join(LACKING)}"),
]  # fmt: skip


def test_a_run_counts_the_same_in_all_tiers_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load = BulletinLoad(duration_s=1.5, ramp_up_s=0.5, think_s=0.05, mix="readwrite", users=30)
    system = BulletinSystem(
        BulletinSystemOptions(database=True, scale=0.004, stack="apache-tomcat-mariadb"), load, tmp_path
    )
    monkeypatch.setattr(java_tiers, "warm_up", lambda address, *_: pages_as_ours(f"http://{address}/"))
    asked = {"cores": 1, "page_work_s": 0.001, "replicas": 2, "max_connections": 3, "max_threads": 4}
    with environment("loopback") as place, system.open(place) as session:
        folder = session.run(Point("counts", system.settled(asked, "counts")), tmp_path / "counts", 1)
    assert not any(folders_of_this_process(one.PREFIX) for one in (apache, tomcat, mariadb_cluster))
    assert not [
        pid for pid in children(os.getpid()) if re.search("apache2|java|mariadbd", command_words(Path(f"/proc/{pid}")))
    ]
    service, sent = folder.manifest["service"], folder.manifest["generator"]["sent"]
    assert "died" not in service and sent > 100
    assert service["apache"]["requests"] == sent == sum(one["completions"] for one in service["tomcat"])
    assert {status for one in service["tomcat"] for status in one["statuses"]} == {"200"}
    asked_for = sum(one["statements"] for one in service["tomcat"])
    assert service["mariadb"]["statements"] == asked_for > sent, "a page asks the database once or more in the mean"
    assert all(one["completions"] > sent / 3 for one in service["tomcat"]), "in turn"
    frame = folder.frame("metrics")
    assert frame is not None
    rows = frame.filter(pl.col("metric") == "service_demand", pl.col("class") == "")
    demands = dict(rows.select("station", "value").iter_rows())
    assert all(demands[tier] > 1e-5 for tier in ("apache", "tomcat", "mariadb"))
    assert demands["tomcat"] > 1e-3, "the work of a page is the application's"


def pages_as_ours(url: str) -> None:
    """What docs/reference/bulletin.md says of pages, and of what is refused."""
    made = get(f"{url}StoreComment?nickname=user3&password=password3&storyId=580&parent=0&subject=new&body=x%3Cy")
    number = re.search(r"comment (\d+)", made)
    assert number, made
    comment = f"{url}ViewComment?storyId=580&commentId={number[1]}"
    assert "x&lt;y" in get(comment) and "by user3" in get(comment)
    assert "rated" in get(f"{url}StoreModerateLog?nickname=user1&password=password1&commentId={number[1]}&rating=1")
    assert "rated 1," in get(comment)
    assert "only authors" in get(f"{url}StoreModerateLog?nickname=user60&password=password60&commentId=1&rating=1")
    assert "password is wrong" in get(f"{url}StoreStory?nickname=user3&password=wrong&body=x")
    assert "another nickname" in get(f"{url}RegisterUser?nickname=user3&password=x")
    user = re.search(r"user (\d+)", get(f"{url}RegisterUser?nickname=new&password=x"))
    assert user and int(user[1]) > 2000, "scale 0.004 has so many"
    assert "author will look" in get(f"{url}StoreStory?nickname=user3&password=password3&category=3&title=t&body=x")
    accepted = re.search(r"story (\d+)", get(f"{url}AcceptStory?submissionId=1"))
    assert accepted and "by user" in get(f"{url}ViewStory?storyId={accepted[1]}")
    assert "nothing to accept" in get(f"{url}AcceptStory?submissionId=1")
    answer = "StoreComment?nickname=user3&password=password3&storyId=580&parent=1&body=x"
    for target, what in (
        ("ViewStory?storyId=999999", "no story 999999"), ("viewstory", "404"), (answer, "no story 580 with a comment 1"),
    ):  # fmt: skip
        with pytest.raises(urllib.error.HTTPError) as refused:
            get(url + target)
        assert refused.value.code == 404 and what in refused.value.read().decode()


def get(url: str) -> str:
    with urllib.request.urlopen(url, timeout=5) as answer:
        return str(answer.read().decode())
