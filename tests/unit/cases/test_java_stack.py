"""Apache, Tomcat and MariaDB as tiers of the bulletin board: their configurations, pools by their names, rows, what is missing."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from sojourn.errors import InputError, LabError, StudyError
from sojourn.study.checked_study import read_plan
from sojourn_cases.ntier.apache_tomcat_mariadb import apache, mariadb, stack_programs, tomcat, warm_up
from sojourn_cases.ntier.apache_tomcat_mariadb.board_rows import hashed
from sojourn_cases.ntier.apache_tomcat_mariadb.mariadb_cluster import TRIED, literal, statements
from sojourn_cases.ntier.bulletin_board import BulletinLoad, BulletinSystem, BulletinSystemOptions
from sojourn_cases.ntier.bulletin_mixes import browse, readwrite

STUDIES = Path(__file__).resolve().parents[3] / "studies"
FOLDER = Path("/run/tier")
OPTIONS = tomcat.TomcatOptions(
    database_port=3307, database_user="sojourn", database_password='a"&<b', max_threads=25, max_connections=7, page_work_s=0.002,
    seed=3,
)  # fmt: skip


def system(**options: object) -> BulletinSystem:
    given = {"database": True, "stack": "apache-tomcat-mariadb", **options}
    return BulletinSystem(BulletinSystemOptions.model_validate(given), BulletinLoad(users=10), Path())


def test_tiers_and_pools_have_the_names_of_their_programs() -> None:
    one = system()
    assert one.tiers == ("apache", "tomcat", "mariadb")
    assert list(one.resources) == ["client", "apache", "tomcat", "mariadb", "cpu"]
    own = set(system(stack="nginx-bulletin-postgresql").factors)
    assert set(one.factors) - own == {"max_request_workers", "keep_alive", "max_threads", "max_connections"}
    assert own - set(one.factors) == {"workers", "nginx_workers", "pool", "checkpoint_pause_s"}


@pytest.mark.parametrize(
    ("given", "said"),
    [({"database": False}, "set database = true: its tables are in MariaDB"), ({"disk": "2G"}, "only PostgreSQL can have a slow disk"),
     ({"scale": 0.0001}, "give 0.001 to 10")],
)  # fmt: skip
def test_options_that_it_cannot_have_are_refused(given: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        system(**given)


def test_more_users_than_request_workers_need_connections_that_end() -> None:
    few = {"users": 200, "max_request_workers": 8}
    with pytest.raises(InputError, match=r"max_request_workers = 8 with 200 users; set keep_alive = false"):
        system().settled(few, "x")
    assert system().settled({**few, "keep_alive": False}, "x")["max_request_workers"] == 8


def directives(text: str) -> dict[str, str]:
    lines = [line.strip().split(" ", 1) for line in text.splitlines() if " " in line.strip()]
    return {line[0]: line[1] for line in lines}


def test_apache_has_as_many_request_workers_as_asked_in_one_child() -> None:
    found = directives(
        apache.configuration(FOLDER, Path("/m"), "127.0.0.1:80", "127.0.0.1:81", ["127.0.0.1:90"], 123, True)
    )
    assert [found[name] for name in ("MaxRequestWorkers", "ThreadsPerChild", "ThreadLimit", "ServerLimit")] == [
        "123", "123", "123", "1",
    ]  # fmt: skip
    assert found["ProxyPass"] == '"/" "http://127.0.0.1:90/" retry=0'


def test_apache_gives_requests_to_several_in_turn() -> None:
    servers = ["127.0.0.1:90", "127.0.0.1:91"]
    text = apache.configuration(FOLDER, Path("/m"), "127.0.0.1:80", "127.0.0.1:81", servers, 4, False)
    assert directives(text)["KeepAlive"] == "Off"
    assert re.findall(r'BalancerMember "http://(\S+)"', text) == servers
    assert 'LoadModule lbmethod_byrequests_module "/m/mod_lbmethod_byrequests.so"' in text


@pytest.mark.parametrize(
    ("listen", "servers", "workers", "said"),
    [("127.0.0.1:80\nInclude /etc/passwd", ["127.0.0.1:90"], 4, "give HOST:PORT"), ("127.0.0.1:80", [], 4, "give a server"),
     ("127.0.0.1:80", ["127.0.0.1:90"], 0, "1 to 20000")],
)  # fmt: skip
def test_what_apache_cannot_have_is_refused(listen: str, servers: list[str], workers: int, said: str) -> None:
    with pytest.raises(InputError, match=said):
        apache.configuration(FOLDER, Path("/m"), listen, "127.0.0.1:81", servers, workers, True)


def test_tomcat_listens_on_loopback_with_its_threads_and_its_pool() -> None:
    server = ElementTree.fromstring(tomcat.server_xml(OPTIONS, FOLDER / "board", "127.0.0.1", 8081))
    connector, pool = server.find(".//Connector"), server.find(".//Resource")
    assert connector is not None and pool is not None and server.get("port") == "-1"
    assert (connector.get("address"), connector.get("port"), connector.get("maxThreads")) == ("127.0.0.1", "8081", "25")
    assert (pool.get("maxTotal"), pool.get("maxWaitMillis"), pool.get("password")) == ("7", "5000", 'a"&<b')
    assert str(pool.get("url")).startswith("jdbc:mariadb://127.0.0.1:3307/sojourn?useServerPrepStmts=true&")
    told = [one.text for one in ElementTree.fromstring(tomcat.web_xml(OPTIONS)).iter() if one.tag.endswith("-value")]
    assert told == ["0.002", "3"]


def test_mariadb_takes_settings_and_no_second_line_in_one() -> None:
    text = mariadb.configuration(FOLDER, {"max-connections": "24"})
    assert "max-connections = 24" in text.splitlines() and "socket = /run/tier/data/socket" in text.splitlines()
    for name, value in (("port", "1\ninit-file = /x"), ("Port = 1\nx", "1")):
        with pytest.raises(InputError, match="values of one line"):
            mariadb.configuration(FOLDER, {name: value})


def test_texts_are_quoted() -> None:
    assert (literal(-3), literal("it's a \\")) == ("-3", "'it''s a \\\\'")


def test_the_hash_is_that_of_postgresql() -> None:
    """PostgreSQL 15.18: SELECT hashint8extended(id, seed)."""
    said = [
        (0, 0, 4154612158245552303), (1, 0, -3670598878359251130), (1, 65, 229639646933443593),
        (4294967296, 0, -3670598878359251130), (123456789012, 78983, -3589224571637366624),
        (9223372036854775807, 2147483647, 8200883836382508670),
    ]  # fmt: skip
    for number, seed, value in said:
        assert hashed(np.array([number]), seed).tolist() == [value & (1 << 63) - 1]


def test_the_servlet_asks_for_statements_that_are_there() -> None:
    source = (tomcat.SOURCES / "Tables.java").read_text()
    call = r'(?:rows|first|changed|recentOrOld)\(\s*(age \+ )?"(\w+)"[,)]'
    asked = {name for _, name in re.findall(call, source)}
    both = {name for age, name in re.findall(call, source) if age} | set(re.findall(r'recentOrOld\(\s*"(\w+)"', source))
    assert asked | {f"old_{name}" for name in both} == set(statements())
    reading = {name for name, text in statements().items() if text.startswith("SELECT")}
    assert reading == set(TRIED), "the plan of each that reads is looked at"
    assert all(statements()[name].count("?") == len(values) for name, values in TRIED.items())


def test_the_servlet_has_the_pages_of_the_mixes_and_warming_up_writes_nothing() -> None:
    listed = re.search(r"INTERACTIONS = List\.of\((.*?)\);", (tomcat.SOURCES / "Pages.java").read_text(), re.DOTALL)
    assert listed
    pages = re.findall(r'"(\w+)"', listed[1])
    steps = {name for _, matrix in (*browse(), *readwrite()) for name in matrix.pages}
    assert set(pages) == steps
    links = {name: f"/{name}?nickname=user1&x=1" for name in pages}
    writes = {name for name, link in links.items() if not warm_up.READING.fullmatch(link)}
    assert writes == {"RegisterUser", "StoreComment", "StoreModerateLog", "StoreStory", "AcceptStory", "RejectStory"}


def test_counts_are_those_since_a_moment() -> None:
    before = {"completions": 5, "rounds_per_s": 1.5, "by_kind": {"Browse": 5}}
    now = {"completions": 9, "rounds_per_s": 1.5, "by_kind": {"Browse": 5, "Search": 4}}
    assert tomcat.since(now, before) == {"completions": 4, "rounds_per_s": 1.5, "by_kind": {"Search": 4}}


def test_what_is_not_installed_is_told_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("tomcat", "client"):
        monkeypatch.setitem(stack_programs.PARTS, name, (lambda: None, stack_programs.PARTS[name][1]))
    packages = stack_programs.lacking_packages()
    assert {"tomcat10-common", "mariadb-client-core"} <= set(packages)
    with (
        pytest.raises(LabError, match="apt-get install --no-install-recommends .*tomcat10-common"),
        system().open(None),
    ):  # type: ignore[arg-type]
        pass
    check = stack_programs.stack_check()
    assert not check.works and "tomcat10-common" in check.finding and check.remedy.startswith("apt-get install")


def test_the_command_line_chooses_the_software_of_a_study_that_has_a_choice() -> None:
    chosen, own = (
        read_plan(STUDIES / "ntier", quick=True, stack="apache-tomcat-mariadb"),
        read_plan(STUDIES / "ntier", quick=True),
    )
    assert isinstance(chosen.system, BulletinSystem) and chosen.system.tiers == ("apache", "tomcat", "mariadb")
    assert isinstance(own.system, BulletinSystem) and own.system.tiers == ("nginx", "application", "database")
    assert chosen.fingerprint != own.fingerprint, "runs of the one do not go on those of the other"
    assert len(chosen.measured) == len(own.measured)
    with pytest.raises(StudyError, match=r"--stack: apache-tomcat-mariadb; leave it out: a system of kind web-virtual"):
        read_plan(STUDIES / "web-virtual", stack="apache-tomcat-mariadb")
    with pytest.raises(StudyError, match="system.stack: 'lamp'"):
        read_plan(STUDIES / "ntier", stack="lamp")
