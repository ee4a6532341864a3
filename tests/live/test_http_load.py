"""HTTP as services have it: what goes over the wire is what was asked for, and credentials are in no file."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from machine import Command
from recording import Recording, recording
from test_bad_input import one_message

pytestmark = pytest.mark.live
LOAD = ("--rate", "80", "--duration", "1s")
SECRET = "hush-4f1d9c"


def ran(command: Command) -> None:
    """It ran to its end; on a busy machine (3) its times are worth nothing, but what was sent and written is."""
    assert command.end() in (0, 3), command.said()


@pytest.fixture
def shop() -> Iterator[Recording]:
    with recording() as service:
        yield service


def test_method_headers_and_a_body_from_a_file(tmp_path: Path, shop: Recording) -> None:
    (tmp_path / "cart.json").write_bytes(b'{"item": 7, "note": "\xc3\xa4"}')
    request = (
        "--http-method",
        "POST",
        "--header",
        "X-Shop: a: b",
        "--header",
        "Host: shop.test",
        "--body",
        "@cart.json",
    )
    command = Command(tmp_path, "load", f"{shop.url}/api/cart", *LOAD, *request, "--ok-status", "200,201", "--json")
    ran(command)
    assert json.loads(command.answered())["ok"] == len(shop.heard) > 40
    for method, path, headers, body in shop.heard:
        assert (method, path, body) == ("POST", "/api/cart", (tmp_path / "cart.json").read_bytes())
        assert headers["X-Shop"] == "a: b" and headers["Host"] == "shop.test"
        assert headers["Content-Type"] == "application/json" and headers["Content-Length"] == str(len(body))


def test_a_status_that_is_not_good(tmp_path: Path, shop: Recording) -> None:
    command = Command(tmp_path, "load", shop.url, *LOAD, "--http-method", "POST", "--ok-status", "200")
    one_message(command, 5, "requests after the warm-up failed (HTTP 201: ")


def test_a_weighted_list_of_requests_with_templates(tmp_path: Path, shop: Recording) -> None:
    (tmp_path / "add.txt").write_text("id={uuid}")
    (tmp_path / "mix.toml").write_text("""
        [[request]]
        name = "look"
        path = "/item/{int:1-5}"
        weight = 3
        template = true
        [[request]]
        path = "/cart"
        method = "POST"
        body = "@add.txt"
        template = true
        status = 201
        headers = { X-Own = "1" }
    """)
    arguments = ("--request-mix", "mix.toml", "--header", "X-All: yes", "--out", "run", "--json")
    command = Command(tmp_path, "load", shop.url, "--rate", "150", "--duration", "2s", *arguments)
    ran(command)
    counts = Counter(method for method, *_ in shop.heard)
    share, all_ = counts["POST"] / counts.total(), counts.total()
    assert abs(share - 0.25) < 5 * (0.25 * 0.75 / all_) ** 0.5, counts
    assert {path for method, path, *_ in shop.heard if method == "GET"} == {f"/item/{n}" for n in range(1, 6)}
    bodies = [body for method, _, _, body in shop.heard if method == "POST"]
    assert len(set(bodies)) == len(bodies) and all(len(body) == 39 for body in bodies)
    assert all(headers["X-All"] == "yes" for _, _, headers, _ in shop.heard)
    manifest = json.loads((tmp_path / "run/manifest.json").read_text())
    assert manifest["records"]["requests"]["classes"] == ["look", "POST /cart"]


def test_head_and_put(tmp_path: Path, shop: Recording) -> None:
    for method in ("HEAD", "PUT"):
        command = Command(tmp_path, "load", shop.url, *LOAD, "--http-method", method, "--json")
        ran(command)
    assert {method for method, *_ in shop.heard} == {"HEAD", "PUT"}


WAYS = [
    ("Bearer " + SECRET, ("--bearer-token-env", "SHOP_TOKEN"), {"SHOP_TOKEN": SECRET}),
    ("Basic dTpodXNoLTRmMWQ5Yw==", ("--basic-auth-env", "SHOP_USER"), {"SHOP_USER": "u:" + SECRET}),
    (SECRET, ("--header", "Authorization: env:SHOP_TOKEN"), {"SHOP_TOKEN": SECRET}),
    (SECRET, ("--header", f"Authorization: {SECRET}"), {}),
]


@pytest.mark.parametrize(("sent", "options", "environment"), WAYS)
@pytest.mark.parametrize("verb", ["load", "measure"])
def test_credentials_are_sent_and_written_nowhere(
    tmp_path: Path, shop: Recording, verb: str, sent: str, options: tuple[str, ...], environment: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    length = ("--duration", "1s") if verb == "load" else ("--for", "1s")
    command = Command(tmp_path, verb, shop.url, "--rate", "80", *length, *options, "--out", "run")
    ran(command)
    assert {headers["Authorization"] for _, _, headers, _ in shop.heard} == {sent}
    files = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert len(files) >= 4
    for path in files:
        assert SECRET.encode() not in path.read_bytes() and b"dTpodXNo" not in path.read_bytes(), path
    assert SECRET not in command.said() + command.answered()
    assert ("warning: the value of header Authorization" in command.said()) == (not environment)


def test_a_failing_run_tells_no_credential_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_TOKEN", SECRET + "\r\nEvil: 1")
    arguments = ("http://127.0.0.1:1/", *LOAD, "--bearer-token-env", "SHOP_TOKEN", "--out", "run")
    command = Command(tmp_path, "load", *arguments)
    one_message(command, 2, "header Authorization", "line break", "one line")
    assert SECRET not in command.said()
    command = Command(tmp_path, "load", f"http://user:{SECRET}@127.0.0.1:1/", *LOAD, "--out", "run")
    one_message(command, 2, "user name or password", "--basic-auth-env")
    assert SECRET not in command.said()
    command = Command(
        tmp_path, "load", "http://127.0.0.1:1/", *LOAD, "--header", f"Cookie: a\r\nX: {SECRET}", "--out", "run"
    )
    one_message(command, 2, "header Cookie", "line break", "one line")
    assert SECRET not in command.said()
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (("--http-method", "FETCH"), ('method is "FETCH"', "use GET, HEAD, POST")),
        (
            ("--body", "@no-such.json", "--http-method", "POST"),
            ("body file no-such.json", "No such file", "can be read"),
        ),
        (("--header", "X: a\r\nEvil: 1"), ("header X", "line break", "give it in one line")),
        (("--header", "Content-Length: 3"), ('"Content-Length"', "leave it out")),
        (("--placeholders", "--body", "{int:9-1}", "--http-method", "POST"), ("body is {int:9-1}", "{int:LOW-HIGH}")),
        (("--ok-status", "99"), ("status is 99", "100 to 599")),
    ],
)
def test_requests_that_cannot_be_sent(
    tmp_path: Path, shop: Recording, options: tuple[str, ...], parts: tuple[str, ...]
) -> None:
    one_message(Command(tmp_path, "load", shop.url, *LOAD, *options, "--out", "a/run"), 2, *parts)
    assert not (tmp_path / "a").exists() and shop.heard == []


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("certificates")
    subprocess.run([Path(__file__).parents[1] / "make-certificates", folder], check=True)
    return folder


def test_https_and_what_can_be_wrong_with_it(tmp_path: Path, certificates: Path) -> None:
    ca, run = certificates / "ca.pem", ("--out", "run")
    with recording((certificates / "good.pem", certificates / "good.key")) as service:
        for host in ("127.0.0.1", "localhost"):
            url = service.url.replace("127.0.0.1", host)
            ran(Command(tmp_path, "load", url, *LOAD, "--ca", ca, "--json"))
        ran(Command(tmp_path, "load", service.url, *LOAD, "--insecure", "--json"))
        assert len(service.heard) > 120
        before = len(service.heard)
        command = Command(tmp_path, "load", service.url, "--rate", "10", "--duration", "1s", *run)
        one_message(command, 5, service.url, "authority that is not trusted here", "--ca FILE")
        command = Command(tmp_path, "load", service.url.replace("https", "http"), *LOAD, "--ca", ca, *run)
        one_message(command, 2, "tls is given without an https:// target", "remove it")
        assert len(service.heard) == before and not (tmp_path / "run").exists()
    with recording((certificates / "other.pem", certificates / "other.key")) as service:
        command = Command(tmp_path, "load", service.url, *LOAD, "--ca", ca, *run)
        one_message(command, 5, "its certificate is not for 127.0.0.1", "use a name")
        one_message(
            Command(tmp_path, "load", service.url, *LOAD, "--ca", "none.pem", *run), 2, "--ca none.pem", "a file"
        )
    with recording((certificates / "own.pem", certificates / "own.key")) as service:
        own = service.url.replace("127.0.0.1", "localhost")
        ran(Command(tmp_path, "load", own, *LOAD, "--ca", certificates / "own.pem", "--json"))
        assert len(service.heard) > 30
        one_message(
            Command(tmp_path, "load", own, *LOAD, "--ca", ca, *run), 5, "an authority's", "this very certificate"
        )
    with recording() as service:
        url = service.url.replace("http", "https")
        one_message(Command(tmp_path, "load", url, *LOAD, "--insecure", *run), 5, "does not speak TLS", "give http://")
    assert not (tmp_path / "run").exists()


def test_a_certificate_that_measure_does_not_trust(tmp_path: Path, certificates: Path) -> None:
    with recording((certificates / "good.pem", certificates / "good.key")) as service:
        command = Command(tmp_path, "measure", service.url, "--rate", "10", "--for", "1s", "--out", "run")
        one_message(command, 5, service.url, "authority that is not trusted here", "--ca FILE")
        assert service.heard == [] and not (tmp_path / "run").exists()


def test_a_unix_socket(open_folder: Path, tmp_path: Path) -> None:
    socket = open_folder / "s"
    command = Command(tmp_path, "load", "http://shop.test/a", *LOAD, "--unix-socket", socket, "--out", "run")
    one_message(command, 5, f"there is no socket {socket}", "start the service")
    assert not (tmp_path / "run").exists()
    with recording(unix=socket) as service:
        command = Command(tmp_path, "measure", "http://shop.test/a", "--rate", "80", "--for", "1s", "--unix-socket", socket,
                          "--out", "run")  # fmt: skip
        ran(command)
        assert {(path, headers["Host"]) for _, path, headers, _ in service.heard} == {("/a", "shop.test")}


def test_objectives_and_their_exit_codes(tmp_path: Path, shop: Recording) -> None:
    load = Command(tmp_path, "load", shop.url, *LOAD, "--objective", "p99 < 5s", "--objective", "rate > 1/s", "--json")
    ran(load)
    assert [one["met"] for one in json.loads(load.answered())["objectives"]] == [True, True]
    missed = Command(tmp_path, "load", shop.url, *LOAD, "--objective", "mean < 1ns")
    assert missed.end() in (3, 7) and "mean < 1ns: " in missed.answered() and "MISSED" in missed.answered()
    measured = Command(
        tmp_path, "measure", shop.url, "--rate", "80", "--for", "1s", "--objective", "p95 < 1ns", "--out", "m"
    )
    assert measured.end() in (3, 7) and "rate-80: p95 < 1ns: " in measured.answered()
    assert json.loads((tmp_path / "m/rate-80/manifest.json").read_text())["objectives"][0]["met"] is False
    heard = len(shop.heard)
    bad = Command(tmp_path, "load", shop.url, *LOAD, "--objective", "p99 = 5ms")
    one_message(bad, 2, "--objective:1:5", "write ==")
    assert len(shop.heard) == heard


def test_without_a_terminal_only_results_are_said(tmp_path: Path, shop: Recording) -> None:
    command = Command(tmp_path, "load", shop.url, "--rate", "50", "--duration", "2s", "--output-format", "csv")
    ran(command)
    assert all(line.startswith("sojourn: load: not valid") for line in command.said().splitlines()), command.said()
    header, *rows = command.answered().splitlines()
    assert header.startswith("station,class,metric,q,n,value,low,high,level,unit,source,status")
    assert any(row.startswith('"","",response_time,') for row in rows)


def test_a_series_is_gone_on_with_and_never_mixed(tmp_path: Path, shop: Recording) -> None:
    def measure(*options: str) -> Command:
        return Command(tmp_path, "measure", shop.url, *options, "--for", "1s", "--out", "series", "--json")

    ran(measure("--rate", "60"))
    first = (tmp_path / "series/rate-60/manifest.json").read_text()
    heard = len(shop.heard)
    both = measure("--rate", "60,90", "--service-pids", str(os.getpid()))
    ran(both)
    answer = json.loads(both.answered())
    assert [one["name"] for one in answer["runs"]] == ["rate-60", "rate-90"] and answer["method"] == "measured"
    assert {row["run"] for row in answer["rows"]} == {"rate-60", "rate-90"}
    assert (tmp_path / "series/rate-60/manifest.json").read_text() == first and len(shop.heard) - heard < 150
    # This process serves: some time of it is spent on each request, and no more than there is.
    demand = answer["runs"][1]["demands_s"][f"process {os.getpid()}"]
    assert 0 < demand < 1 / 60
    heard = len(shop.heard)
    mixed = measure("--rate", "60", "--http-method", "HEAD")
    one_message(mixed, 2, "series/rate-60", 'method is not said there and "HEAD" here', "choose another --out")
    mixed = measure("--users", "2")
    one_message(mixed, 2, "a run under other conditions", "closed")
    assert len(shop.heard) == heard
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.tex").write_text("")
    other = Command(tmp_path, "measure", shop.url, "--rate", "50", "--for", "1s", "--out", "mine")
    one_message(other, 2, "mine", "other things than runs", "choose another --out")


def test_a_series_by_users_as_csv(tmp_path: Path, shop: Recording) -> None:
    arguments = ("--users", "1,2", "--think", "10ms", "--for", "1s", "--out", "closed", "--output-format", "csv")
    command = Command(tmp_path, "measure", shop.url, *arguments)
    ran(command)
    header, *rows = command.answered().splitlines()
    assert "users" in header.split(",") and {row.split(",")[header.split(",").index("users")] for row in rows} == {
        "1",
        "2",
    }
    assert [path.name for path in sorted((tmp_path / "closed").iterdir())] == ["users-1", "users-2"]
    for options, parts in (
        (("--rate", "5", "--users", "1"), ("rates (5) and users (1)", "either --rate or --users")),
        (("--users", "1.5"), ("--users: '1.5'", "whole numbers")),
        (("--rate", "5", "--service-pids", "99999999"), ("--service-pids: no process 99999999",)),
        (("--rate", "5", "--json", "--output-format", "csv"), ("choose one",)),
    ):
        one_message(Command(tmp_path, "measure", shop.url, *options, "--out", "bad"), 2, *parts)
    assert not (tmp_path / "bad").exists()
