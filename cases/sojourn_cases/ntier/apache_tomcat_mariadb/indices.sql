-- Made after the rows, as in ../bulletin_database/indices.sql. InnoDB keeps the rows in the order of their primary key.

ALTER TABLE categories ADD PRIMARY KEY (id);
ALTER TABLE users ADD PRIMARY KEY (id), MODIFY id INT NOT NULL AUTO_INCREMENT, ADD UNIQUE INDEX users_nickname (nickname);
ALTER TABLE stories
    ADD PRIMARY KEY (id), MODIFY id INT NOT NULL AUTO_INCREMENT, ADD INDEX stories_date (date),
    ADD INDEX stories_category (category, date), ADD INDEX stories_title (title, date);
ALTER TABLE old_stories
    ADD PRIMARY KEY (id), ADD INDEX old_stories_date (date), ADD INDEX old_stories_category (category, date),
    ADD INDEX old_stories_title (title, date);
ALTER TABLE submissions
    ADD PRIMARY KEY (id), MODIFY id INT NOT NULL AUTO_INCREMENT, ADD INDEX submissions_date (date);
ALTER TABLE comments
    ADD PRIMARY KEY (id), ADD INDEX comments_story (story_id, parent), ADD INDEX comments_subject (subject, date);
ALTER TABLE old_comments
    ADD PRIMARY KEY (id), ADD INDEX old_comments_story (story_id, parent), ADD INDEX old_comments_subject (subject, date);
ALTER TABLE moderator_log ADD PRIMARY KEY (id), MODIFY id INT NOT NULL AUTO_INCREMENT;
