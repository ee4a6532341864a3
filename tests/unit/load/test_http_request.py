"""Requests from options and from a file; credentials are kept out of the generator's configuration."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from sojourn.errors import InputError
from sojourn.load.credentials import authorization, header, hidden
from sojourn.load.http_load import http_load
from sojourn.load.http_request import HttpRequest, pairs, read_requests, status_list, targets

URL = "http://127.0.0.1:1/x"


def test_a_plain_get_is_as_it_always_was() -> None:
    assert http_load([URL], rate_per_s=1.0)["lanes"][0]["targets"] == [{"url": URL, "weight": 1.0, "class": URL}]
    assert http_load([URL], rate_per_s=1.0)["expect"] == {"status": 200}
    assert http_load([URL], rate_per_s=1.0, status=[200, 304])["expect"] == {"status": [200, 304]}


def test_a_post_with_headers_and_body() -> None:
    load = http_load([URL], rate_per_s=1.0, method="POST", headers=[("Accept", "a")], body="{}", template=True)
    expected = {"method": "POST", "headers": [{"name": "Accept", "value": "a"}], "body": {"text": "{}"}}
    assert load["lanes"][0]["targets"] == [
        {"url": URL, "weight": 1.0, "class": f"POST {URL}", "template": True, **expected}
    ]


def test_credentials_become_names_of_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "environ", dict(os.environ))
    os.environ["T"] = "hush"
    assert header("X", "env:T") == {"name": "X", "env": "T"}
    assert header("A", "basic-env:T") == {"name": "A", "env": "T", "credential": "basic"}
    assert authorization("T", None) == [("Authorization", "bearer-env:T")]
    assert header("Accept", "hush") == {"name": "Accept", "value": "hush"}
    for name in ("authorization", "Cookie", "X-Api-Key", "x-auth-token", "Proxy-Authorization", "My-Secret"):
        assert "hush" not in json.dumps(header(name, "hush"))
    assert header("Cookie", "hush") == header("Cookie", "hush"), "the same variable for the same value"
    assert header("Cookie", "hush") != header("Cookie", "other")
    load = http_load([URL], rate_per_s=1.0, headers=[("Cookie", "hush"), ("X", "env:T")])
    assert hidden(load) == ["Cookie"]


@pytest.mark.parametrize(
    ("call", "part"),
    [
        (lambda: header("X", "env:NO_SUCH_VARIABLE"), "export NO_SUCH_VARIABLE"),
        (lambda: authorization("A", "B"), "choose one"),
        (lambda: pairs(["no colon hush"]), "'Name: value'"),
        (lambda: pairs([": hush"]), "'Name: value'"),
        (lambda: status_list("2xx"), "200,201"),
        (lambda: targets([URL, URL], [HttpRequest("/a")], HttpRequest("")), "give a URL that the paths belong to"),
        (lambda: targets([], [HttpRequest("/a")], HttpRequest("")), "give the URL"),
        (lambda: targets([URL], [HttpRequest("/a")], HttpRequest("", method="PUT")), "into the file"),
    ],
)
def test_mistakes_say_what_to_do_and_no_secret(call: object, part: str) -> None:
    with pytest.raises(InputError) as error:
        call()  # type: ignore[operator]
    assert part in str(error.value) and "hush" not in str(error.value)


def test_a_file_of_requests(tmp_path: Path) -> None:
    path = tmp_path / "mix.toml"
    path.write_text("""
        [[request]]
        path = "/a"
        headers = { X = "own" }
        [[request]]
        url = "http://other/b"
        method = "PUT"
        body = "@b.json"
        weight = 2
        name = "put"
        status = [201, 204]
    """)
    common = HttpRequest("", headers=(("x", "1"), ("Y", "2")))
    first, second = targets(["http://h:1/"], read_requests(path), common)
    assert first == {
        "url": "http://h:1/a", "weight": 1.0, "class": "/a",
        "headers": [{"name": "X", "value": "own"}, {"name": "Y", "value": "2"}],
    }  # fmt: skip
    assert second["url"] == "http://other/b" and second["body"] == {"file": str(tmp_path / "b.json")}
    assert second["status"] == [201, 204] and second["weight"] == 2 and second["class"] == "put"
    assert {"name": "Content-Type", "value": "application/json"} in second["headers"]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ("no list of requests", "[[request]]")),
        ("request = 3", ("no list of requests",)),
        ("[[request]\n", ("not TOML", "correct the line")),
        ("[[request]]\nmethod = 'GET'", ("request 1", "no path")),
        ("[[request]]\npath = '/a'\nurl = 'http://a'", ("path and url", "give either")),
        ("[[request]]\npath = 'a'", ("request 1: path", "begin it with /")),
        ("[[request]]\npath = '/a'\n[[request]]\npath = '/b'\nrate = 3", ("request 2", "unknown key rate")),
        ("[[request]]\npath = '/a'\nweight = 'x'", ("request 1: weight", "'x'")),
        ("[[request]]\npath = '/a'\nstatus = 'x'", ("request 1: status",)),
        ("[[request]]\npath = '/a'\nheaders = { X = 3 }", ("request 1: headers", "as text")),
        ("[[request]]\npath = 3", ("request 1: path",)),
    ],
)
def test_a_file_that_cannot_be_used(tmp_path: Path, text: str, parts: tuple[str, ...]) -> None:
    (tmp_path / "mix.toml").write_text(text)
    with pytest.raises(InputError) as error:
        read_requests(tmp_path / "mix.toml")
    assert all(part in str(error.value) for part in (*parts, "mix.toml")), error.value
    with pytest.raises(InputError, match="can be read"):
        read_requests(tmp_path / "none.toml")


def test_slack_is_for_a_schedule() -> None:
    assert http_load([URL], rate_per_s=1.0, slack_s=0.001)["slack_s"] == 0.001
    for wrong in (
        {"rate_per_s": 1.0, "slack_s": 0.2},
        {"rate_per_s": 1.0, "slack_s": -1.0},
        {"users": 2, "slack_s": 0.001},
    ):
        with pytest.raises(InputError, match="--max-send-delay: .*; give 0 to 0.1 s with a rate"):
            http_load([URL], **wrong)  # type: ignore[arg-type]


def test_a_method_in_small_letters_is_the_one_that_is_meant() -> None:
    (target,) = http_load([URL], rate_per_s=1.0, method="post", body="{}")["lanes"][0]["targets"]
    assert target["method"] == "POST" and target["class"] == f"POST {URL}"
    assert "method" not in http_load([URL], rate_per_s=1.0, method="get")["lanes"][0]["targets"][0]
