"""`sojourn serve bulletin` as an operator meets it: pages, metrics, the end in good order."""

# ruff: noqa: F811  (a fixture is an argument)
from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from board_database import database  # noqa: F401  (a fixture)
from message_cluster import needs_postgres

from sojourn.errors import ServiceError
from sojourn.load.session_load import session_load
from sojourn.measure.execute_run import execute
from sojourn.runs.run_folder import RunFolder
from sojourn_cases.common.postgres import Postgres
from sojourn_cases.ntier.bulletin_server import BulletinOptions, BulletinService

pytestmark = pytest.mark.live
COMMAND = [sys.executable, "-c", "from sojourn.cli import main; main()", "serve", "bulletin"]


def test_it_serves_counts_and_ends() -> None:
    words = [
        *COMMAND,
        "--in-memory",
        "--port",
        "0",
        "--data-scale",
        "0.001",
        "--metrics-address",
        "127.0.0.1:0",
        "--json",
    ]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr
        greeting = process.stderr.readline()
        board, metrics = re.findall(r"http://[0-9.:]+", greeting)
        page = urlopen(f"{board}/StoriesOfTheDay", timeout=10).read().decode()
        assert len(set(re.findall(r'href="(/ViewStory\?storyId=\d+)"', page))) == 20
        told = urlopen(f"{metrics}/metrics", timeout=10).read().decode()
        assert 'bulletin_completions_total{interaction="StoriesOfTheDay"} 1' in told
        process.send_signal(signal.SIGTERM)
        said, _ = process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0, said
    summary = json.loads(said)
    assert summary["completions"] == 1 and summary["by_kind"]["StoriesOfTheDay"] == 1
    # A page takes 2 ms of CPU time, which the threads' own clock has seen.
    assert summary["cpu_s"] > 1e-3


def test_without_tables_it_says_what_to_do() -> None:
    done = subprocess.run(COMMAND, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "--in-memory" in done.stderr


def users_and_service_agree(folder: Path, options: BulletinOptions) -> None:
    service = BulletinService(options)
    try:
        sent = session_load(
            service.url, users=120, mix="readwrite", think_s=0.1, ramp_up_s=0.5, duration_s=3.0, ramp_down_s=0.2
        )
        generator = execute(folder / "run", sent, what={"name": "users"}).manifest["generator"]
        summary = service.stop()
    finally:
        service.close()
    # Every link that a matrix asks for was there, so no request failed, and both sides counted the same.
    assert generator["failed"] == 0 and generator["ok"] == summary["completions"] > 1000
    requests = RunFolder.open(folder / "run").frame("requests")
    assert requests is not None
    pages = sent["sessions"]["pages"]
    counted = {pages[row["class"]]: row["len"] for row in requests.group_by("class").len().to_dicts()}
    assert counted == {page: count for page, count in summary["by_kind"].items() if count}
    inside = generator["sessions"]
    assert 0 < inside["ok"] < generator["ok"]
    # What was drawn behind the pages of the run, by page.
    drawn = dict.fromkeys(pages, 0)
    for _, page, _, count in inside["steps"]:
        drawn[pages[page]] += count
    assert {page: count for page, count in drawn.items() if count} == {
        page: one["ok"] for page, one in inside["classes"].items()
    }
    assert inside["users_by_kind"] == [109, 11]
    assert inside["run_end_s"] - inside["run_start_s"] == pytest.approx(3.0)


def test_users_ask_for_what_the_service_counts(tmp_path: Path) -> None:
    options = BulletinOptions(listen="127.0.0.1:0", scale=0.002, page_work_s=0.0, workers=2)
    users_and_service_agree(tmp_path, options)


@needs_postgres
def test_the_same_with_tables_in_postgres(tmp_path: Path, database: str) -> None:
    options = BulletinOptions(listen="127.0.0.1:0", database=database, page_work_s=0.0, workers=8, pool=4)
    users_and_service_agree(tmp_path, options)


@needs_postgres
def test_a_submission_is_rejected_once(database: str) -> None:
    service = BulletinService(
        BulletinOptions(listen="127.0.0.1:0", database=database, page_work_s=0.0, workers=1, pool=1)
    )
    try:
        offered = urlopen(f"{service.url}/ReviewStories", timeout=10).read().decode()
        link = re.search(r"/RejectStory\?submissionId=[1-9]\d*", offered)
        assert link
        said = [urlopen(service.url + link[0], timeout=10).read().decode() for _ in range(2)]
        assert "<p>rejected</p>" in said[0] and "<p>nothing to reject</p>" in said[1]
    finally:
        service.close()


def page(url: str) -> tuple[int, str]:
    try:
        with urlopen(url, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except HTTPError as error:
        return error.code, error.read().decode()


@needs_postgres
@pytest.mark.parametrize("tables", ["embedded", "postgres"])
def test_comments_are_stored_where_their_story_is_or_refused(tables: str, database: str) -> None:
    """Issue 26: a comment on a story that is not there was acknowledged. Story 1 is an old one in both, story 0 is none."""
    given = {"database": database} if tables == "postgres" else {"scale": 0.001}
    service = BulletinService(
        BulletinOptions(listen="127.0.0.1:0", page_work_s=0.0, workers=1, pool=1, **given)  # type: ignore[arg-type]
    )
    user, author = "nickname=user3&password=password3", "nickname=user1&password=password1"
    try:
        told = page(f"{service.url}/ViewStory?storyId=1")[1]
        comment = re.findall(r"/ViewComment\?storyId=1&commentId=([1-9]\d*)", told)[0]
        count = len(re.findall(r"replies, by", told))
        for asked, why in [
            (f"StoreComment?{user}&storyId=99999999&parent=0&subject=s&body=lost", "no story 99999999"),
            (f"StoreComment?{user}&storyId=4294967295&parent=0&subject=s&body=lost", "no story 4294967295"),
            (
                f"StoreComment?{user}&storyId=2&parent={comment}&subject=s&body=lost",
                f"no story 2 with a comment {comment}",
            ),
            (f"StoreStory?{user}&category=21&title=t&body=lost", "no category 21"),
            (f"StoreModerateLog?{author}&commentId=99999999&rating=1", "no comment 99999999"),
            (f"StoreModerateLog?{author}&commentId={comment}&rating=9", "no rating 9"),
        ]:
            status, said = page(f"{service.url}/{asked}")
            assert (status, f"<p>{why}</p>" in said) == (404, True), said
        # A comment on an old story, and a verdict on one: before, they hid its comments, and were refused.
        assert page(f"{service.url}/StoreComment?{user}&storyId=1&parent=0&subject=s&body=kept")[0] == 200
        assert page(f"{service.url}/StoreComment?{user}&storyId=1&parent={comment}&subject=s&body=kept")[0] == 200
        assert "<p>rated</p>" in page(f"{service.url}/StoreModerateLog?{author}&commentId={comment}&rating=0")[1]
        assert len(re.findall(r"replies, by", page(f"{service.url}/ViewStory?storyId=1")[1])) == count + 1
        assert "kept" in page(f"{service.url}/ViewComment?storyId=1&commentId={comment}")[1]
    finally:
        service.close()


def test_more_users_wait_than_files_may_be_open() -> None:
    service = BulletinService(BulletinOptions(listen="127.0.0.1:0", scale=0.001, page_work_s=0.2, workers=1))
    words = [sys.executable, "-c", "from sojourn.cli import main; main()", "load", "bulletin", service.url]
    words += ["--users", "300", "--think", "10ms", "--ramp-up", "10ms", "--duration", "20s"]
    # Without the right to raise the limit.
    drop = ["setpriv", "--bounding-set", "-sys_resource", "--inh-caps", "-sys_resource"] if os.geteuid() == 0 else []
    try:
        done = subprocess.run(
            [*drop, "prlimit", "--nofile=150:150", *words], capture_output=True, text=True, timeout=60
        )
    finally:
        service.close()
    assert done.returncode == 5, done.stderr
    assert re.search(
        r"300 users: \d+ wait for an answer, each on a connection of its own, and this process may have 150",
        done.stderr,
    )
    assert "raise the limit (ulimit -Hn" in done.stderr


@needs_postgres
def test_a_database_without_the_tables_is_one_clear_error(tmp_path: Path) -> None:
    cluster = Postgres(tmp_path, durable=False)
    try:
        with pytest.raises(ServiceError, match="load its tables first"):
            BulletinService(BulletinOptions(listen="127.0.0.1:0", database=cluster.url))
    finally:
        cluster.close()
