-- Tables of the bulletin board, after RUBBoS (C. Amza et al., Specification and Implementation of Dynamic Web Site
-- Benchmarks, WWC-5 (2002)). Identifiers of recent and old stories, and of their comments, are of one sequence each, so that
-- a link stays good when a story grows old. Text is compared by bytes, whatever the database's collation is.

CREATE SEQUENCE users_id;
CREATE SEQUENCE stories_id;
CREATE SEQUENCE comments_id;
CREATE SEQUENCE submissions_id;
CREATE SEQUENCE moderator_log_id;

CREATE TABLE categories (id integer NOT NULL, name text NOT NULL);

CREATE TABLE users (
    id integer NOT NULL DEFAULT nextval('users_id'),
    firstname text NOT NULL,
    lastname text NOT NULL,
    nickname text COLLATE "C" NOT NULL,
    password text NOT NULL,
    email text NOT NULL,
    rating integer NOT NULL,
    access integer NOT NULL,          -- 0 a user, 1 an author
    creation_date timestamp NOT NULL
);

CREATE TABLE stories (
    id integer NOT NULL DEFAULT nextval('stories_id'),
    title text COLLATE "C" NOT NULL,
    body text NOT NULL,
    date timestamp NOT NULL,
    writer integer NOT NULL,
    category integer NOT NULL
);

CREATE TABLE old_stories (LIKE stories);

CREATE TABLE submissions (
    id integer NOT NULL DEFAULT nextval('submissions_id'),
    title text COLLATE "C" NOT NULL,
    body text NOT NULL,
    date timestamp NOT NULL,
    writer integer NOT NULL,
    category integer NOT NULL
);

CREATE TABLE comments (
    id integer NOT NULL DEFAULT nextval('comments_id'),
    writer integer NOT NULL,
    story_id integer NOT NULL,
    parent integer NOT NULL,          -- 0: of the story itself
    childs integer NOT NULL,
    rating integer NOT NULL,
    date timestamp NOT NULL,
    subject text COLLATE "C" NOT NULL,
    comment text NOT NULL
);

CREATE TABLE old_comments (LIKE comments);

CREATE TABLE moderator_log (
    id integer NOT NULL DEFAULT nextval('moderator_log_id'),
    moderator_id integer NOT NULL,
    comment_id integer NOT NULL,
    rating integer NOT NULL,
    date timestamp NOT NULL
);
