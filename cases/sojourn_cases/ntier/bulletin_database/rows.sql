-- Rows from a seed; the settings sojourn.users, .authors, .stories, .seed say how many. The same numbers give the same rows.
--
-- What a planner looks at must be as in real data: comments of a story are a tree (two in five answer the story itself, the
-- others an earlier comment of it), their number differs from story to story, writers and titles repeat.

SET max_parallel_workers_per_gather = 0;  -- the functions below are this session's alone

CREATE FUNCTION pg_temp.given(name text) RETURNS integer STABLE LANGUAGE sql
    AS 'SELECT current_setting(''sojourn.'' || name)::integer';
-- A whole number of 0 to 2^63 - 1 that looks random, of an identifier and a purpose.
CREATE FUNCTION pg_temp.hash(id bigint, purpose integer) RETURNS bigint STABLE LANGUAGE sql
    AS 'SELECT hashint8extended(id, pg_temp.given(''seed'') * 64 + purpose) & 9223372036854775807';
CREATE FUNCTION pg_temp.share(id bigint, purpose integer) RETURNS double precision STABLE LANGUAGE sql
    AS 'SELECT (pg_temp.hash(id, purpose) >> 11) / 4503599627370496.0';

-- Words of two to four syllables, and texts of which bodies are pieces.
CREATE TEMP TABLE word AS
SELECT k AS id, string_agg(substr('bdfgklmnprstvz', 1 + (pg_temp.hash(k * 8 + part, 1) % 14)::integer, 1)
                           || substr('aeiou', 1 + (pg_temp.hash(k * 8 + part, 2) % 5)::integer, 1), '' ORDER BY part) AS word
FROM generate_series(0, 1999) AS k, LATERAL generate_series(0, 1 + (pg_temp.hash(k, 3) % 3)::integer) AS part
GROUP BY k;
CREATE UNIQUE INDEX ON word (id);
CREATE TEMP TABLE passage AS
SELECT k AS id, left(string_agg(word.word, ' ' ORDER BY part), 1400) AS text
FROM generate_series(0, 255) AS k CROSS JOIN generate_series(0, 299) AS part
     JOIN word ON word.id = pg_temp.hash(k * 512 + part, 4) % 2000
GROUP BY k;
CREATE UNIQUE INDEX ON passage (id);
ANALYZE word, passage;

INSERT INTO categories
SELECT k, w.word FROM generate_series(1, 20) AS k JOIN word AS w ON w.id = k + 100;

INSERT INTO users
SELECT k, 'first' || k, 'last' || k, 'user' || k, 'password' || k, 'user' || k || '@example.net',
       (pg_temp.hash(k, 5) % 11)::integer - 5, (k <= pg_temp.given('authors'))::integer,
       timestamp '2023-01-01' + interval '1 minute' * (pg_temp.hash(k, 6) % 1576800)
FROM generate_series(1, pg_temp.given('users')) AS k;

-- Three years of stories up to the end of 2025, in the order of their identifiers; the last tenth is recent.
CREATE TEMP TABLE story AS
SELECT k AS id, k > pg_temp.given('stories') * 9 / 10 AS recent,
       timestamp '2023-01-01' + interval '1 second' * (94608000.0 * (k - 1) / pg_temp.given('stories')) AS date,
       least(50, floor(-5 * ln(1 - pg_temp.share(k, 7))))::integer AS comments
FROM generate_series(1, pg_temp.given('stories')) AS k;
CREATE TEMP TABLE whole_story AS
SELECT story.id, a.word || ' ' || b.word || ' ' || c.word || ' ' || d.word AS title,
       substr(passage.text, 1 + (pg_temp.hash(story.id, 8) % 300)::integer, 200 + (pg_temp.hash(story.id, 9) % 825)::integer) AS body,
       story.date, 1 + (pg_temp.hash(story.id, 10) % pg_temp.given('users'))::integer AS writer,
       1 + (pg_temp.hash(story.id, 11) % 20)::integer AS category, story.recent
FROM story
     JOIN word AS a ON a.id = pg_temp.hash(story.id, 12) % 2000 JOIN word AS b ON b.id = pg_temp.hash(story.id, 13) % 2000
     JOIN word AS c ON c.id = pg_temp.hash(story.id, 14) % 2000 JOIN word AS d ON d.id = pg_temp.hash(story.id, 15) % 2000
     JOIN passage ON passage.id = pg_temp.hash(story.id, 16) % 256;
INSERT INTO stories SELECT id, title, body, date, writer, category FROM whole_story WHERE recent ORDER BY id;
INSERT INTO old_stories SELECT id, title, body, date, writer, category FROM whole_story WHERE NOT recent ORDER BY id;
INSERT INTO submissions
SELECT row_number() OVER (ORDER BY id), title, body, timestamp '2026-01-01' - interval '1 minute' * id, writer, category
FROM whole_story WHERE recent AND id % 10 = 0;

CREATE TEMP TABLE comment AS
SELECT first + number AS id, story.id AS story_id, story.recent, story.date + interval '5 minutes' * number AS date,
       CASE WHEN number = 1 OR pg_temp.hash(first + number, 17) % 5 < 2 THEN 0
            ELSE first + 1 + pg_temp.hash(first + number, 18) % (number - 1) END::integer AS parent
FROM (SELECT *, sum(comments) OVER (ORDER BY id) - comments AS first FROM story) AS story,
     LATERAL generate_series(1, story.comments) AS number;
CREATE TEMP TABLE answered AS SELECT parent, count(*)::integer AS childs FROM comment GROUP BY parent;
CREATE TEMP TABLE whole_comment AS
SELECT comment.id::integer AS id, 1 + (pg_temp.hash(comment.id::bigint, 19) % pg_temp.given('users'))::integer AS writer, story_id,
       comment.parent, coalesce(answered.childs, 0) AS childs, (pg_temp.hash(comment.id::bigint, 20) % 7)::integer - 1 AS rating,
       comment.date, a.word || ' ' || b.word AS subject,
       substr(passage.text, 1 + (pg_temp.hash(comment.id::bigint, 21) % 300)::integer,
              30 + (pg_temp.hash(comment.id::bigint, 22) % 995)::integer) AS comment, recent
FROM comment LEFT JOIN answered ON answered.parent = comment.id
     JOIN word AS a ON a.id = pg_temp.hash(comment.id::bigint, 23) % 2000
     JOIN word AS b ON b.id = pg_temp.hash(comment.id::bigint, 24) % 2000
     JOIN passage ON passage.id = pg_temp.hash(comment.id::bigint, 25) % 256;
INSERT INTO comments
SELECT id, writer, story_id, parent, childs, rating, date, subject, comment FROM whole_comment WHERE recent ORDER BY id;
INSERT INTO old_comments
SELECT id, writer, story_id, parent, childs, rating, date, subject, comment FROM whole_comment WHERE NOT recent ORDER BY id;
INSERT INTO moderator_log
SELECT row_number() OVER (ORDER BY id), 1 + pg_temp.hash(id, 26) % pg_temp.given('authors'), id, rating, date + interval '1 hour'
FROM whole_comment WHERE recent AND id % 20 = 0;

SELECT setval('users_id', (SELECT max(id) FROM users)), setval('stories_id', (SELECT max(id) FROM stories)),
       setval('comments_id', (SELECT max(id) FROM whole_comment)), setval('submissions_id', (SELECT max(id) FROM submissions)),
       setval('moderator_log_id', (SELECT max(id) FROM moderator_log));
DISCARD TEMP;
RESET max_parallel_workers_per_gather;
