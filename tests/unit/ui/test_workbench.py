"""The routes of the workbench: who is let in, what they are told, what a stranger's files cannot do."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ui_folder import BROKEN, MM1, run_folder, work_folder

starlette = pytest.importorskip("starlette")
from starlette.testclient import TestClient  # noqa: E402

from sojourn.ui.guard import COOKIE, MOST_BODY_BYTES, AccessSecrets  # noqa: E402
from sojourn.ui.work_folder import WorkFolder  # noqa: E402
from sojourn.ui.workbench import page_files, workbench  # noqa: E402

SECRET = AccessSecrets("token-of-the-test", "prefix")
BASE = "http://127.0.0.1:4711"
ROOT = f"{BASE}/prefix/"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return work_folder(tmp_path_factory.mktemp("ui") / "work")


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[TestClient]:
    with TestClient(workbench(WorkFolder(folder), SECRET), base_url=BASE) as client:
        assert client.get(f"{ROOT}?token={SECRET.token}").status_code == 200
        yield client


def stranger(folder: Path, **options: Any) -> TestClient:
    """Without the cookie."""
    return TestClient(workbench(WorkFolder(folder), SECRET, **options), base_url=BASE)


def test_the_token_becomes_a_cookie_that_no_script_and_no_other_site_has(folder: Path) -> None:
    answer = stranger(folder).get(f"{ROOT}?token={SECRET.token}")
    assert answer.status_code == 200 and "<main" in answer.text and SECRET.token not in answer.text
    cookie = answer.headers["set-cookie"]
    assert cookie == f"{COOKIE}={SECRET.token}; Path=/prefix/; HttpOnly; SameSite=Strict"


@pytest.mark.parametrize(
    "path", ["", "?token=", "?token=wrong", "api/folder", "page/main.js", f"api/folder?token={SECRET.token}"]
)
def test_without_the_token_nothing_is_told(folder: Path, path: str) -> None:
    answer = stranger(folder).get(ROOT + path)
    assert answer.status_code == 403 and "set-cookie" not in answer.headers and "work" not in answer.json()


def test_two_tokens_in_one_url_are_none(folder: Path) -> None:
    assert stranger(folder).get(f"{ROOT}?token={SECRET.token}&token=x").status_code == 403


@pytest.mark.parametrize("path", ["/", "/other/", "/api/folder", "/prefix"])
def test_beside_the_prefix_there_is_nothing(client: TestClient, path: str) -> None:
    assert client.get(BASE + path).status_code == 404


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:4711", "127.0.0.1.evil.example", "", "[", "[::1]:4711", "169.254.1.1"]
)
def test_a_name_that_was_bound_to_this_machine_is_refused(client: TestClient, host: str) -> None:
    assert client.get(f"{ROOT}api/folder", headers={"host": host}).status_code == 421


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:4712", "https://127.0.0.1:4711"])
def test_another_origin_is_refused(client: TestClient, origin: str) -> None:
    for method in ("GET", "POST"):
        assert client.request(method, f"{ROOT}api/folder", headers={"origin": origin}).status_code == 403


def test_a_page_of_another_site_is_refused_and_a_link_with_the_token_is_followed(
    client: TestClient, folder: Path
) -> None:
    other = {"sec-fetch-site": "cross-site"}
    assert client.get(f"{ROOT}api/folder", headers=other).status_code == 403
    assert client.get(f"{ROOT}api/folder", headers={"sec-fetch-site": "same-site"}).status_code == 403  # another port
    assert stranger(folder).get(f"{ROOT}?token={SECRET.token}", headers=other).status_code == 200


def test_a_form_of_another_page_cannot_post(client: TestClient) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        answer = client.post(f"{ROOT}api/rows", content='{"names": ["runs/rate-20"]}', headers={"content-type": kind})
        assert answer.status_code == 415


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"])
def test_other_methods_are_refused(client: TestClient, method: str) -> None:
    assert client.request(method, f"{ROOT}api/folder").status_code == 405


def test_what_is_too_large_is_refused_whether_it_says_so_or_not(client: TestClient) -> None:
    large = b'{"names": ["' + b"x" * MOST_BODY_BYTES + b'"]}'
    head = {"content-type": "application/json"}
    assert client.post(f"{ROOT}api/rows", content=large, headers=head).status_code == 413
    assert client.post(f"{ROOT}api/rows", content=iter([large[:1000], large[1000:]]), headers=head).status_code == 413
    assert client.get(f"{ROOT}api/file?name={'x' * 9000}").status_code == 414


def test_every_answer_says_what_a_browser_may_do_with_it(client: TestClient, folder: Path) -> None:
    for answer in (
        client.get(ROOT),
        client.get(f"{ROOT}api/folder"),
        client.get(f"{ROOT}page/main.js"),
        stranger(folder).get(ROOT),
    ):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "script-src 'self';" in policy and "frame-ancestors 'none'" in policy
        assert (
            answer.headers["x-content-type-options"] == "nosniff" and answer.headers["referrer-policy"] == "no-referrer"
        )
        assert "access-control-allow-origin" not in answer.headers


def test_pages_have_no_script_in_them(client: TestClient) -> None:
    text = client.get(ROOT).text
    assert (
        text.count("<script") == 1
        and 'src="page/main.js"' in text
        and " on" not in text.split("<main")[1].split(">")[0]
    )
    for name in page_files():
        text = client.get(f"{ROOT}page/{name}").text
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "http://", "https://"):
            assert word not in text.replace("http://www.w3.org/2000/svg", ""), (name, word)


@pytest.mark.parametrize("name", ["../guard.py", "..%2fguard.py", "index.html", "%2fetc%2fpasswd", "guard.py"])
def test_only_files_of_the_page_are_given(client: TestClient, name: str) -> None:
    assert client.get(f"{ROOT}page/{name}").status_code == 404


def test_the_folder_is_told(client: TestClient) -> None:
    told = client.get(f"{ROOT}api/folder").json()
    assert (
        told["runs"] == ["runs/rate-20", "runs/rate-40", "runs/rate-60"]
        and told["write"] is False
        and told["folder"] == "work"
    )


def post(client: TestClient, path: str, question: Any) -> Any:
    return client.post(f"{ROOT}api/{path}", json=question)


def test_a_row_has_the_numbers_of_its_run(client: TestClient) -> None:
    (row,) = post(client, "rows", {"names": ["runs/rate-60"]}).json()["rows"]
    assert (
        row["load"] == 60 and row["throughput_per_s"] == 60 and row["response_s"] == pytest.approx(0.025)
    )  # 0.01 / (1 - 0.6)
    assert row["valid"] is True and row["live"] is False and row["busiest"] == pytest.approx(0.6)


@pytest.mark.parametrize("name", ["../other", "/etc", "runs", "no", "runs/rate-20/manifest.json"])
def test_rows_of_what_is_no_run_of_the_folder(client: TestClient, name: str) -> None:
    (row,) = post(client, "rows", {"names": [name]}).json()["rows"]
    assert row["error"]["remedy"] and "status" not in row
    assert post(client, "report", {"names": [name]}).status_code == 422
    assert post(client, "compare", {"a": ["runs/rate-20"], "b": [name]}).status_code == 422


@pytest.mark.parametrize("name", ["../secret.toml", "/etc/passwd", "runs/rate-20/manifest.json", "no.toml", "runs", ""])
def test_files_that_are_no_model_of_the_folder(client: TestClient, folder: Path, name: str) -> None:
    (folder.parent / "secret.toml").write_text("a = 1")
    answer = client.get(f"{ROOT}api/file", params={"name": name})
    assert answer.status_code == 422 and "a = 1" not in answer.text


def test_the_point_of_an_mm1_is_that_of_the_formula(client: TestClient) -> None:
    asked = {"name": "one.toml", "text": MM1, "x": "classes.user.rate_per_s"}
    for settings, expected in (
        ({}, 0.02),
        ({"demands_s.cpu.user": 0.018}, 0.18),
        ({"classes.user.rate_per_s": 80.0}, 0.05),
    ):
        told = post(client, "curves", {**asked, "settings": settings}).json()
        now = {row["metric"]: row["value"] for row in told["now"]}
        assert now["response_time"] == pytest.approx(expected)  # S / (1 - rate S)
    assert told["x"][1] == pytest.approx(100, rel=0.01)  # full at 1 / S
    assert [one["id"] for one in told["figures"]] == ["response", "throughput", "utilisation"]


def test_a_mean_of_a_distribution_can_be_the_x_axis(client: TestClient) -> None:
    text = MM1.replace("user = 0.01", 'user = { kind = "deterministic", mean = 0.01 }')
    asked = {
        "name": "one.toml",
        "text": text,
        "x": "demands_s.cpu.user.mean",
        "settings": {"demands_s.cpu.user.mean": 0.016},
    }
    told = post(client, "curves", asked).json()
    now = {row["metric"]: row["value"] for row in told["now"]}
    assert now["response_time"] == pytest.approx(0.016 + 50 * 0.016**2 / (2 * (1 - 0.8)))  # Pollaczek and Khinchine
    assert told["x"][0] < 0.016 < told["x"][1]


def test_an_error_of_a_model_has_its_line(client: TestClient) -> None:
    told = post(client, "model", {"name": "broken.toml", "text": BROKEN})
    error = told.json()["error"]
    assert told.status_code == 422 and error["line"] == 10 and "-0.01" in error["value"] and error["remedy"]
    told = post(client, "model", {"name": "odd.toml", "text": MM1.replace('kind = "open"', "kind = open")}).json()
    assert told["error"]["line"] == 6


@pytest.mark.parametrize(
    "question",
    [
        {}, [], {"names": []}, {"names": "x"}, {"names": ["x"] * 201}, {"names": ["x"], "more": 1}, {"names": [1]},
    ],
)  # fmt: skip
def test_questions_that_are_none(client: TestClient, question: Any) -> None:
    answer = post(client, "rows", question)
    assert answer.status_code == 422 and answer.json()["error"]["value"]


def test_settings_that_the_model_cannot_have(client: TestClient) -> None:
    asked = {"name": "one.toml", "text": MM1, "x": "classes.user.rate_per_s"}
    for settings in ({"no.such.path": 1.0}, {"demands_s.cpu.user": -1.0}, {"stations.cpu.servers": 1e15}):
        assert post(client, "curves", {**asked, "settings": settings}).status_code == 422
    assert post(client, "curves", {**asked, "x": "name"}).status_code == 422


def test_without_write_nothing_is_saved(client: TestClient, folder: Path) -> None:
    answer = post(client, "save", {"name": "new.toml", "text": MM1})
    assert (
        answer.status_code == 422
        and "--allow-saving" in answer.json()["error"]["remedy"]
        and not (folder / "new.toml").exists()
    )


def test_with_write_a_new_file_is_saved_and_none_replaced(tmp_path: Path) -> None:
    folder = work_folder(tmp_path / "work")
    with stranger(folder, write=True) as client:
        client.get(f"{ROOT}?token={SECRET.token}")
        changed = post(
            client, "changed", {"name": "one.toml", "text": MM1, "settings": {"stations.cpu.servers": 3}}
        ).json()["text"]
        assert post(client, "save", {"name": "three.toml", "text": changed}).status_code == 200
        assert "servers = 3" in (folder / "three.toml").read_text()
        assert post(client, "save", {"name": "one.toml", "text": "x"}).status_code == 422
        assert post(client, "save", {"name": "../x.toml", "text": "x"}).status_code == 422
    assert (folder / "one.toml").read_text() == MM1 and not (tmp_path / "x.toml").exists()


def test_a_hostile_run_is_text(tmp_path: Path) -> None:
    folder = work_folder(tmp_path / "work")
    evil = "<img src=x onerror=alert(1)>"
    run_folder(folder / "evil" / "a<b>&", 10.0, reasons=[evil], valid=False, factors={"rate_per_s": 10.0, evil: evil})
    (folder / "evil" / os.fsdecode(b"\xff\xfe")).mkdir()
    (folder / "evil" / os.fsdecode(b"\xff\xfe") / "manifest.json").write_text("{")
    (folder / "evil" / "cut").mkdir()
    (folder / "evil" / "cut" / "manifest.json").write_text("{")
    damaged = run_folder(folder / "evil" / "damaged", 10.0)
    (damaged / "metrics.parquet").write_bytes(b"PAR1" + b"\0" * 100 + b"PAR1")
    with stranger(folder) as client:
        client.get(f"{ROOT}?token={SECRET.token}")
        told = client.get(f"{ROOT}api/folder").json()
        names = [name for name in told["runs"] if name.startswith("evil")]
        assert len(names) == 3 and told["left_out"].startswith("1 files")  # a name that is no UTF-8
        answer = client.post(
            f"{ROOT}api/rows", content=json.dumps({"names": names}), headers={"content-type": "application/json"}
        )
        assert answer.status_code == 200 and answer.headers["content-type"] == "application/json"
        rows = {row["name"]: row for row in answer.json()["rows"]}
        assert rows["evil/a<b>&"]["reasons"] == [evil]  # as text: the page makes no HTML of it
        assert sum("error" in row for row in rows.values()) == 2


def test_a_run_that_is_over_is_said_by_one_event(client: TestClient) -> None:
    answer = client.get(f"{ROOT}api/live", params={"name": "runs/rate-20"})
    assert answer.headers["content-type"].startswith("text/event-stream")
    (event,) = answer.text.strip().split("\n\n")
    assert json.loads(event.removeprefix("data: "))["told"] == "the run has ended"
    assert client.get(f"{ROOT}api/live", params={"name": "../other"}).status_code == 422
