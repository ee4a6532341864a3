"""The bulletin board's tables in a private PostgreSQL: the same from the same seed, trees of comments, plans that read little."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sojourn.errors import InputError, ServiceError
from sojourn_cases.common.postgres import DATABASE, USER, Postgres
from sojourn_cases.common.postgres_protocol import PostgresSession
from sojourn_cases.ntier.bulletin_database import TableSizes, check_plans, load_bulletin, statements

pytestmark = pytest.mark.live
SCALE = 0.02


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresSession]:
    postgres = Postgres(tmp_path_factory.mktemp("bulletin"), durable=False)
    try:
        with PostgresSession(postgres.socket, user=USER, database=DATABASE, timeout_s=120.0) as session:
            session.rows = load_bulletin(session, SCALE, 1)  # type: ignore[attr-defined]
            yield session
    finally:
        postgres.close()


def number(session: PostgresSession, sql: str) -> float:
    return float(session.run(sql)[0][0] or "nan")


def test_tables_have_the_rows_of_the_scale(session: PostgresSession) -> None:
    rows = session.rows  # type: ignore[attr-defined]
    assert rows["users"] == 10_000 and rows["stories"] + rows["old_stories"] == 3000 and rows["stories"] == 300
    comments = rows["comments"] + rows["old_comments"]
    assert 4.2 * 3000 < comments < 4.8 * 3000, "the mean of floor(5 E), E exponential, at most 50, is 4.5"
    assert number(session, "SELECT sum(access) FROM users") == 50


def test_comments_are_trees(session: PostgresSession) -> None:
    orphans = """SELECT count(*) FROM old_comments AS c LEFT JOIN old_comments AS p ON p.id = c.parent
                 WHERE c.parent <> 0 AND (p.id IS NULL OR p.story_id <> c.story_id OR p.id >= c.id)"""
    assert number(session, orphans) == 0
    wrong = """SELECT count(*) FROM old_comments AS p
               WHERE childs <> (SELECT count(*) FROM old_comments AS c WHERE c.parent = p.id)"""
    assert number(session, wrong) == 0
    assert 0.4 < number(session, "SELECT avg((parent = 0)::integer) FROM old_comments") < 0.65


def test_the_same_seed_gives_the_same_rows(session: PostgresSession) -> None:
    digest = "SELECT md5(string_agg(o::text, '' ORDER BY id)) FROM {} AS o"
    tables = ("users", "stories", "old_comments", "submissions")
    first = [session.run(digest.format(name)) for name in tables]
    session.run("CREATE SCHEMA again; SET search_path = again")
    try:
        load_bulletin(session, SCALE, 1)
        assert [session.run(digest.format(name)) for name in tables] == first
    finally:
        session.run("DROP SCHEMA again CASCADE; SET search_path = public")


def test_every_statement_is_prepared_and_a_scan_of_a_large_table_refused(session: PostgresSession) -> None:
    assert len(statements()) == 30
    check_plans(session, statements())
    with pytest.raises(ServiceError, match=r"statement by_body reads all \d+ rows of old_stories"):
        check_plans(session, {"by_body": "SELECT id FROM old_stories WHERE body = $1"})


def test_a_scale_that_is_none() -> None:
    with pytest.raises(InputError, match=r"give 0.001 to 10"):
        TableSizes.of(0.0)
