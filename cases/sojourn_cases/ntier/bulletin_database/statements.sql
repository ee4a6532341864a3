-- Every statement that the application tier prepares, by name; what is listed is 20 rows a page, or as $n says.
-- What is of a recent story is in one table, what is of an old story in another (`old_…`): a comment is where its story is.
-- A search is a range of bytes: a LIKE whose pattern is not known when the plan is made reads the whole table.

-- name: recent_stories
SELECT s.id, s.title, s.body, s.date, u.nickname FROM stories AS s JOIN users AS u ON u.id = s.writer
ORDER BY s.date DESC LIMIT $1

-- name: categories
SELECT id, name FROM categories ORDER BY id

-- name: stories_in_category
SELECT s.id, s.title, s.date, u.nickname FROM stories AS s JOIN users AS u ON u.id = s.writer
WHERE s.category = $1 ORDER BY s.date DESC LIMIT $2 OFFSET $3

-- name: older_stories
SELECT s.id, s.title, s.date, u.nickname FROM old_stories AS s JOIN users AS u ON u.id = s.writer
WHERE s.date < $1 ORDER BY s.date DESC LIMIT $2

-- name: story
SELECT s.id, s.title, s.body, s.date, s.category, u.nickname FROM stories AS s JOIN users AS u ON u.id = s.writer
WHERE s.id = $1

-- name: old_story
SELECT s.id, s.title, s.body, s.date, s.category, u.nickname FROM old_stories AS s JOIN users AS u ON u.id = s.writer
WHERE s.id = $1

-- name: comments_of_story
SELECT c.id, c.parent, c.childs, c.rating, c.date, c.subject, c.comment, u.nickname
FROM comments AS c JOIN users AS u ON u.id = c.writer WHERE c.story_id = $1 AND c.rating >= $2 ORDER BY c.id LIMIT 50

-- name: old_comments_of_story
SELECT c.id, c.parent, c.childs, c.rating, c.date, c.subject, c.comment, u.nickname
FROM old_comments AS c JOIN users AS u ON u.id = c.writer WHERE c.story_id = $1 AND c.rating >= $2 ORDER BY c.id LIMIT 50

-- name: ratings_of_story
SELECT rating, count(*) FROM comments WHERE story_id = $1 GROUP BY rating ORDER BY rating

-- name: old_ratings_of_story
SELECT rating, count(*) FROM old_comments WHERE story_id = $1 GROUP BY rating ORDER BY rating

-- name: newest_comment
SELECT c.id, c.story_id, c.parent, c.childs, c.rating, c.date, c.subject, c.comment, u.nickname
FROM comments AS c JOIN users AS u ON u.id = c.writer ORDER BY c.id DESC LIMIT 1

-- name: comment
SELECT c.id, c.story_id, c.parent, c.childs, c.rating, c.date, c.subject, c.comment, u.nickname
FROM comments AS c JOIN users AS u ON u.id = c.writer WHERE c.id = $1

-- name: old_comment
SELECT c.id, c.story_id, c.parent, c.childs, c.rating, c.date, c.subject, c.comment, u.nickname
FROM old_comments AS c JOIN users AS u ON u.id = c.writer WHERE c.id = $1

-- name: answers
SELECT c.id, c.childs, c.rating, c.date, c.subject, c.comment, u.nickname
FROM comments AS c JOIN users AS u ON u.id = c.writer WHERE c.story_id = $1 AND c.parent = $2 AND c.rating >= $3
ORDER BY c.id LIMIT 50

-- name: old_answers
SELECT c.id, c.childs, c.rating, c.date, c.subject, c.comment, u.nickname
FROM old_comments AS c JOIN users AS u ON u.id = c.writer WHERE c.story_id = $1 AND c.parent = $2 AND c.rating >= $3
ORDER BY c.id LIMIT 50

-- name: user_by_name
SELECT id, password, access, rating FROM users WHERE nickname = $1

-- name: register_user
INSERT INTO users (firstname, lastname, nickname, password, email, rating, access, creation_date)
VALUES ($1, $2, $3, $4, $5, 0, 0, now()) ON CONFLICT (nickname) DO NOTHING RETURNING id

-- name: store_comment
WITH answered AS (UPDATE comments SET childs = childs + 1
                  WHERE id = $3::integer AND story_id = $2::integer RETURNING id)
INSERT INTO comments (id, writer, story_id, parent, childs, rating, date, subject, comment)
SELECT nextval('comments_id'), $1::integer, $2::integer, $3::integer, 0, 0, now(), $4::text, $5::text
WHERE EXISTS (SELECT FROM stories WHERE id = $2::integer) AND ($3::integer = 0 OR EXISTS (SELECT FROM answered)) RETURNING id

-- name: old_store_comment
WITH answered AS (UPDATE old_comments SET childs = childs + 1
                  WHERE id = $3::integer AND story_id = $2::integer RETURNING id)
INSERT INTO old_comments (id, writer, story_id, parent, childs, rating, date, subject, comment)
SELECT nextval('comments_id'), $1::integer, $2::integer, $3::integer, 0, 0, now(), $4::text, $5::text
WHERE EXISTS (SELECT FROM old_stories WHERE id = $2::integer) AND ($3::integer = 0 OR EXISTS (SELECT FROM answered)) RETURNING id

-- name: store_submission
INSERT INTO submissions (title, body, date, writer, category) SELECT $1::text, $2::text, now(), $3::integer, $4::integer
WHERE EXISTS (SELECT FROM categories WHERE id = $4::integer) RETURNING id

-- name: rate_comment
UPDATE comments SET rating = least(5, greatest(-1, rating + $2)) WHERE id = $1 RETURNING writer

-- name: old_rate_comment
UPDATE old_comments SET rating = least(5, greatest(-1, rating + $2)) WHERE id = $1 RETURNING writer

-- name: rate_user
UPDATE users SET rating = rating + $2 WHERE id = $1

-- name: log_moderation
INSERT INTO moderator_log (moderator_id, comment_id, rating, date) VALUES ($1, $2, $3, now())

-- name: submissions
SELECT s.id, s.title, s.date, u.nickname FROM submissions AS s JOIN users AS u ON u.id = s.writer ORDER BY s.date LIMIT $1

-- name: accept_submission
WITH accepted AS (DELETE FROM submissions WHERE id = $1 RETURNING title, body, date, writer, category)
INSERT INTO stories (title, body, date, writer, category) SELECT title, body, date, writer, category FROM accepted RETURNING id

-- name: reject_submission
DELETE FROM submissions WHERE id = $1 RETURNING id

-- name: search_stories
SELECT s.id, s.title, s.date, u.nickname FROM stories AS s JOIN users AS u ON u.id = s.writer
WHERE s.title >= $1 AND s.title < $2 ORDER BY s.title, s.date LIMIT $3 OFFSET $4

-- name: search_comments
SELECT c.id, c.story_id, c.subject, c.date, u.nickname FROM comments AS c JOIN users AS u ON u.id = c.writer
WHERE c.subject >= $1 AND c.subject < $2 ORDER BY c.subject, c.date LIMIT $3 OFFSET $4

-- name: search_users
SELECT id, nickname, rating, creation_date FROM users
WHERE nickname >= $1 AND nickname < $2 ORDER BY nickname LIMIT $3 OFFSET $4
