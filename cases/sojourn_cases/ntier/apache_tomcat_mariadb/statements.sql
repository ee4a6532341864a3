-- Every statement that the servlet prepares, by name: those of ../bulletin_database/statements.sql in MariaDB's words. It has no
-- UPDATE … RETURNING and no statement inside WITH that writes, so an interaction that needs one is a transaction of several.

-- name: recent_stories
SELECT s.id, s.title, s.body, FLOOR(UNIX_TIMESTAMP(s.date)), u.nickname FROM stories AS s JOIN users AS u ON u.id = s.writer
ORDER BY s.date DESC LIMIT ?

-- name: categories
SELECT id, name FROM categories ORDER BY id

-- name: stories_in_category
SELECT s.id, s.title, FLOOR(UNIX_TIMESTAMP(s.date)), u.nickname FROM stories AS s JOIN users AS u ON u.id = s.writer
WHERE s.category = ? ORDER BY s.date DESC LIMIT ? OFFSET ?

-- name: older_stories
SELECT s.id, s.title, FLOOR(UNIX_TIMESTAMP(s.date)), u.nickname FROM old_stories AS s JOIN users AS u ON u.id = s.writer
WHERE s.date < FROM_UNIXTIME(?) ORDER BY s.date DESC LIMIT ?

-- name: story
SELECT s.id, s.title, s.body, FLOOR(UNIX_TIMESTAMP(s.date)), s.category, u.nickname
FROM stories AS s JOIN users AS u ON u.id = s.writer WHERE s.id = ?

-- name: old_story
SELECT s.id, s.title, s.body, FLOOR(UNIX_TIMESTAMP(s.date)), s.category, u.nickname
FROM old_stories AS s JOIN users AS u ON u.id = s.writer WHERE s.id = ?

-- name: ratings_of_story
SELECT rating, COUNT(*) FROM comments WHERE story_id = ? GROUP BY rating ORDER BY rating

-- name: old_ratings_of_story
SELECT rating, COUNT(*) FROM old_comments WHERE story_id = ? GROUP BY rating ORDER BY rating

-- name: newest_comment
SELECT c.id, c.story_id, c.childs, c.rating, FLOOR(UNIX_TIMESTAMP(c.date)), c.subject, c.comment, u.nickname
FROM comments AS c JOIN users AS u ON u.id = c.writer ORDER BY c.id DESC LIMIT 1

-- name: comment
SELECT c.id, c.story_id, c.childs, c.rating, FLOOR(UNIX_TIMESTAMP(c.date)), c.subject, c.comment, u.nickname
FROM comments AS c JOIN users AS u ON u.id = c.writer WHERE c.id = ?

-- name: old_comment
SELECT c.id, c.story_id, c.childs, c.rating, FLOOR(UNIX_TIMESTAMP(c.date)), c.subject, c.comment, u.nickname
FROM old_comments AS c JOIN users AS u ON u.id = c.writer WHERE c.id = ?

-- name: answers
SELECT c.id, c.story_id, c.childs, c.rating, FLOOR(UNIX_TIMESTAMP(c.date)), c.subject, c.comment, u.nickname
FROM comments AS c JOIN users AS u ON u.id = c.writer WHERE c.story_id = ? AND c.parent = ? AND c.rating >= ?
ORDER BY c.id LIMIT 50

-- name: old_answers
SELECT c.id, c.story_id, c.childs, c.rating, FLOOR(UNIX_TIMESTAMP(c.date)), c.subject, c.comment, u.nickname
FROM old_comments AS c JOIN users AS u ON u.id = c.writer WHERE c.story_id = ? AND c.parent = ? AND c.rating >= ?
ORDER BY c.id LIMIT 50

-- name: user_by_name
SELECT id, password, access, rating FROM users WHERE nickname = ?

-- name: register_user
INSERT IGNORE INTO users (firstname, lastname, nickname, password, email, rating, access, creation_date)
VALUES ('', '', ?, ?, '', 0, 0, NOW(6)) RETURNING id

-- name: count_answer
UPDATE comments SET childs = childs + 1 WHERE id = ? AND story_id = ?

-- name: old_count_answer
UPDATE old_comments SET childs = childs + 1 WHERE id = ? AND story_id = ?

-- name: store_comment
INSERT INTO comments (id, writer, story_id, parent, childs, rating, date, subject, comment)
SELECT NEXT VALUE FOR comments_id, ?, ?, ?, 0, 0, NOW(6), ?, ? FROM DUAL WHERE EXISTS (SELECT 1 FROM stories WHERE id = ?) RETURNING id

-- name: old_store_comment
INSERT INTO old_comments (id, writer, story_id, parent, childs, rating, date, subject, comment)
SELECT NEXT VALUE FOR comments_id, ?, ?, ?, 0, 0, NOW(6), ?, ? FROM DUAL WHERE EXISTS (SELECT 1 FROM old_stories WHERE id = ?) RETURNING id

-- name: store_submission
INSERT INTO submissions (title, body, date, writer, category)
SELECT ?, ?, NOW(6), ?, ? FROM DUAL WHERE EXISTS (SELECT 1 FROM categories WHERE id = ?) RETURNING id

-- name: rate_comment
UPDATE comments SET rating = LEAST(5, GREATEST(-1, rating + ?)) WHERE id = ?

-- name: old_rate_comment
UPDATE old_comments SET rating = LEAST(5, GREATEST(-1, rating + ?)) WHERE id = ?

-- name: writer_of_comment
SELECT writer FROM comments WHERE id = ?

-- name: old_writer_of_comment
SELECT writer FROM old_comments WHERE id = ?

-- name: rate_user
UPDATE users SET rating = rating + ? WHERE id = ?

-- name: log_moderation
INSERT INTO moderator_log (moderator_id, comment_id, rating, date) VALUES (?, ?, ?, NOW(6))

-- name: submissions
SELECT s.id, s.title, FLOOR(UNIX_TIMESTAMP(s.date)), u.nickname FROM submissions AS s JOIN users AS u ON u.id = s.writer
ORDER BY s.date LIMIT ?

-- name: take_submission
DELETE FROM submissions WHERE id = ? RETURNING title, body, date, writer, category

-- name: store_story
INSERT INTO stories (title, body, date, writer, category) VALUES (?, ?, ?, ?, ?) RETURNING id

-- name: reject_submission
DELETE FROM submissions WHERE id = ?

-- name: search_stories
SELECT s.id, s.title, FLOOR(UNIX_TIMESTAMP(s.date)), u.nickname FROM stories AS s JOIN users AS u ON u.id = s.writer
WHERE s.title >= ? AND s.title < ? ORDER BY s.title, s.date LIMIT ? OFFSET ?

-- name: search_comments
SELECT c.id, c.story_id, c.subject, FLOOR(UNIX_TIMESTAMP(c.date)), u.nickname FROM comments AS c JOIN users AS u ON u.id = c.writer
WHERE c.subject >= ? AND c.subject < ? ORDER BY c.subject, c.date LIMIT ? OFFSET ?

-- name: search_users
SELECT id, nickname, rating FROM users WHERE nickname >= ? AND nickname < ? ORDER BY nickname LIMIT ? OFFSET ?
