-- Made after the rows: faster, and the statistics that follow are of all of them.

ALTER TABLE categories ADD PRIMARY KEY (id);
ALTER TABLE users ADD PRIMARY KEY (id);
CREATE UNIQUE INDEX users_nickname ON users (nickname);
ALTER TABLE stories ADD PRIMARY KEY (id);
CREATE INDEX stories_date ON stories (date);
CREATE INDEX stories_category ON stories (category, date);
CREATE INDEX stories_title ON stories (title, date);
ALTER TABLE old_stories ADD PRIMARY KEY (id);
CREATE INDEX old_stories_date ON old_stories (date);
CREATE INDEX old_stories_category ON old_stories (category, date);
CREATE INDEX old_stories_title ON old_stories (title, date);
ALTER TABLE submissions ADD PRIMARY KEY (id);
CREATE INDEX submissions_date ON submissions (date);
ALTER TABLE comments ADD PRIMARY KEY (id);
CREATE INDEX comments_story ON comments (story_id, parent);
CREATE INDEX comments_subject ON comments (subject, date);
ALTER TABLE old_comments ADD PRIMARY KEY (id);
CREATE INDEX old_comments_story ON old_comments (story_id, parent);
CREATE INDEX old_comments_subject ON old_comments (subject, date);
ALTER TABLE moderator_log ADD PRIMARY KEY (id);
