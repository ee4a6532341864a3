-- Tables of the bulletin board in MariaDB: those of ../bulletin_database/schema.sql. Text is compared by code points.
-- Comments of recent and old stories have identifiers of one sequence, so that a link stays good when a story grows old.

CREATE SEQUENCE comments_id;

CREATE TABLE categories (id INT NOT NULL, name VARCHAR(100) NOT NULL);

CREATE TABLE users (
    id INT NOT NULL,
    firstname TEXT NOT NULL,
    lastname TEXT NOT NULL,
    nickname VARCHAR(760) NOT NULL,
    password TEXT NOT NULL,
    email TEXT NOT NULL,
    rating INT NOT NULL,
    access INT NOT NULL,              -- 0 a user, 1 an author
    creation_date DATETIME(6) NOT NULL
);

CREATE TABLE stories (
    id INT NOT NULL,
    title VARCHAR(760) NOT NULL,
    body TEXT NOT NULL,
    date DATETIME(6) NOT NULL,
    writer INT NOT NULL,
    category INT NOT NULL
);

CREATE TABLE old_stories LIKE stories;

CREATE TABLE submissions LIKE stories;

CREATE TABLE comments (
    id INT NOT NULL,
    writer INT NOT NULL,
    story_id INT NOT NULL,
    parent INT NOT NULL,              -- 0: of the story itself
    childs INT NOT NULL,
    rating INT NOT NULL,
    date DATETIME(6) NOT NULL,
    subject VARCHAR(760) NOT NULL,
    comment TEXT NOT NULL
);

CREATE TABLE old_comments LIKE comments;

CREATE TABLE moderator_log (
    id INT NOT NULL,
    moderator_id INT NOT NULL,
    comment_id INT NOT NULL,
    rating INT NOT NULL,
    date DATETIME(6) NOT NULL
);
