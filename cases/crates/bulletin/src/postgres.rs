//! The tables in PostgreSQL: the statements that `cases/sojourn_cases/ntier/bulletin_database` checks, over a session of a pool.

use sojourn_pgsession::{BoundStatement, DatabaseError, Params, PooledSession, Row};

use crate::board::{Answer, Board, BoardError, Comment, Story, User, PAGE_ROWS};
use crate::spans::AskedTables;
use crate::statements::{comment, date_s, headline, id, rating, sql, text, EPOCH_S};

const LIMIT: [u8; 8] = (PAGE_ROWS as i64).to_be_bytes();

fn failed(fault: DatabaseError) -> BoardError {
    BoardError(fault.text())
}

fn int(value: u32) -> [u8; 4] {
    value.to_be_bytes()
}

fn offset(page: u32) -> [u8; 8] {
    (i64::from(page) * PAGE_ROWS as i64).to_be_bytes()
}

/// The first string behind all that begin with `word`, in the order of bytes.
fn behind(word: &str) -> String {
    format!("{word}{}", char::MAX)
}

/// The board as one request has it.
pub(crate) struct PostgresBoard<'a> {
    pub session: PooledSession<'a>,
    /// That the database was asked for.
    pub transactions: u64,
    pub asked: &'a mut AskedTables,
}

impl PostgresBoard<'_> {
    /// In one transaction; `name`: what a trace calls it.
    fn run_all(&mut self, name: &str, statements: &mut [BoundStatement<'_>]) -> Answer<()> {
        self.transactions += 1;
        self.asked.ask(name, || self.session.run_all(statements, &mut || ())).map_err(failed)
    }

    fn rows(&mut self, name: &str, params: Params<'_>) -> Answer<Vec<Row>> {
        let mut rows = Vec::new();
        let mut each = |row| rows.push(row);
        let statement = BoundStatement { statement: sql(name), params, each: &mut each };
        self.run_all(name, &mut [statement])?;
        Ok(rows)
    }

    /// Of the recent ones, or where there is nothing, of the old ones.
    fn recent_or_old(&mut self, name: &str, params: Params<'_>) -> Answer<Vec<Row>> {
        let rows = self.rows(name, params)?;
        if rows.is_empty() {
            return self.rows(&format!("old_{name}"), params);
        }
        Ok(rows)
    }
}

impl Board for PostgresBoard<'_> {
    fn categories(&mut self) -> Answer<Vec<(u32, String)>> {
        Ok(self.rows("categories", &[])?.iter().map(|row| (id(row, 0), text(row, 1))).collect())
    }

    fn newest_stories(&mut self) -> Answer<Vec<(Story, String)>> {
        let rows = self.rows("recent_stories", &[Some(&LIMIT)])?;
        let story = |row: &Row| {
            let (title, body) = (text(row, 1), text(row, 2));
            let story = Story { id: id(row, 0), title, body, date_s: date_s(row, 3), writer: 0, category: 0 };
            (story, text(row, 4))
        };
        Ok(rows.iter().map(story).collect())
    }

    fn stories_in_category(&mut self, category: u32, page: u32) -> Answer<Vec<(Story, String)>> {
        let params: Params<'_> = &[Some(&int(category)), Some(&LIMIT), Some(&offset(page))];
        Ok(self.rows("stories_in_category", params)?.iter().map(headline).collect())
    }

    fn older_stories(&mut self, before_s: i64) -> Answer<Vec<(Story, String)>> {
        let before = before_s.saturating_sub(EPOCH_S).saturating_mul(1_000_000).to_be_bytes();
        Ok(self.rows("older_stories", &[Some(&before), Some(&LIMIT)])?.iter().map(headline).collect())
    }

    fn story(&mut self, wanted: u32) -> Answer<Option<(Story, String)>> {
        let rows = self.recent_or_old("story", &[Some(&int(wanted))])?;
        Ok(rows.first().map(|row| {
            let (title, body, category) = (text(row, 1), text(row, 2), id(row, 4));
            let story = Story { id: wanted, title, body, date_s: date_s(row, 3), writer: 0, category };
            (story, text(row, 5))
        }))
    }

    fn comment_ratings(&mut self, story: u32) -> Answer<Vec<(i32, u32)>> {
        let rows = self.recent_or_old("ratings_of_story", &[Some(&int(story))])?;
        Ok(rows.iter().map(|row| (rating(row, 0), id(row, 1))).collect())
    }

    fn comment(&mut self, wanted: u32) -> Answer<Option<(Comment, String)>> {
        let rows = match wanted {
            0 => self.rows("newest_comment", &[])?,
            _ => self.recent_or_old("comment", &[Some(&int(wanted))])?,
        };
        Ok(rows.first().map(|row| comment(row, id(row, 1), id(row, 2), 3)))
    }

    fn replies(&mut self, story: u32, parent: u32, least: i32) -> Answer<Vec<(Comment, String)>> {
        let params: Params<'_> = &[Some(&int(story)), Some(&int(parent)), Some(&least.to_be_bytes())];
        let rows = self.recent_or_old("answers", params)?;
        Ok(rows.iter().map(|row| comment(row, story, parent, 1)).collect())
    }

    fn search_stories(&mut self, word: &str, page: u32) -> Answer<Vec<(Story, String)>> {
        let end = behind(word);
        let params: Params<'_> =
            &[Some(word.as_bytes()), Some(end.as_bytes()), Some(&LIMIT), Some(&offset(page))];
        Ok(self.rows("search_stories", params)?.iter().map(headline).collect())
    }

    fn search_comments(&mut self, word: &str, page: u32) -> Answer<Vec<(Comment, String)>> {
        let end = behind(word);
        let params: Params<'_> =
            &[Some(word.as_bytes()), Some(end.as_bytes()), Some(&LIMIT), Some(&offset(page))];
        let found = |row: &Row| {
            let (subject, body) = (text(row, 2), String::new());
            let (story, date_s) = (id(row, 1), date_s(row, 3));
            let comment = Comment {
                id: id(row, 0),
                story,
                parent: 0,
                children: 0,
                rating: 0,
                date_s,
                writer: 0,
                subject,
                body,
            };
            (comment, text(row, 4))
        };
        Ok(self.rows("search_comments", params)?.iter().map(found).collect())
    }

    fn search_users(&mut self, word: &str, page: u32) -> Answer<Vec<User>> {
        let end = behind(word);
        let params: Params<'_> =
            &[Some(word.as_bytes()), Some(end.as_bytes()), Some(&LIMIT), Some(&offset(page))];
        let user = |row: &Row| User {
            id: id(row, 0),
            nickname: text(row, 1),
            password: String::new(),
            rating: rating(row, 2),
            is_author: false,
        };
        Ok(self.rows("search_users", params)?.iter().map(user).collect())
    }

    fn submissions(&mut self) -> Answer<Vec<(Story, String)>> {
        Ok(self.rows("submissions", &[Some(&LIMIT)])?.iter().map(headline).collect())
    }

    fn login(&mut self, nickname: &str, password: &str) -> Answer<Option<User>> {
        let rows = self.rows("user_by_name", &[Some(nickname.as_bytes())])?;
        let known = rows.first().filter(|row| row.text(1) == Some(password));
        Ok(known.map(|row| User {
            id: id(row, 0),
            nickname: nickname.into(),
            password: password.into(),
            rating: rating(row, 3),
            is_author: row.int(2) == Some(1),
        }))
    }

    fn register(&mut self, nickname: &str, password: &str) -> Answer<Option<u32>> {
        let (name, empty) = (Some(nickname.as_bytes()), Some(&b""[..]));
        let rows = self.rows("register_user", &[empty, empty, name, Some(password.as_bytes()), empty])?;
        Ok(rows.first().map(|row| id(row, 0)))
    }

    fn submit(&mut self, story: &Story) -> Answer<bool> {
        let (title, body) = (Some(story.title.as_bytes()), Some(story.body.as_bytes()));
        let params: Params<'_> = &[title, body, Some(&int(story.writer)), Some(&int(story.category))];
        Ok(!self.rows("store_submission", params)?.is_empty())
    }

    fn accept(&mut self, submission: u32) -> Answer<Option<u32>> {
        let rows = self.rows("accept_submission", &[Some(&int(submission))])?;
        Ok(rows.first().map(|row| id(row, 0)))
    }

    fn reject(&mut self, submission: u32) -> Answer<bool> {
        Ok(!self.rows("reject_submission", &[Some(&int(submission))])?.is_empty())
    }

    fn store_comment(&mut self, comment: &Comment) -> Answer<Option<u32>> {
        let (writer, story, parent) = (int(comment.writer), int(comment.story), int(comment.parent));
        let (subject, body) = (Some(comment.subject.as_bytes()), Some(comment.body.as_bytes()));
        let params: Params<'_> = &[Some(&writer), Some(&story), Some(&parent), subject, body];
        Ok(self.recent_or_old("store_comment", params)?.first().map(|row| id(row, 0)))
    }

    fn moderate(&mut self, moderator: u32, comment: u32, by: i32, _date_s: i64) -> Answer<bool> {
        let (by, comment) = (by.to_be_bytes(), int(comment));
        let rows = self.recent_or_old("rate_comment", &[Some(&comment), Some(&by)])?;
        let Some(writer) = rows.first().map(|row| int(id(row, 0))) else { return Ok(false) };
        let (of_user, of_log) = (
            [Some(&writer[..]), Some(&by[..])],
            [Some(&int(moderator)[..]), Some(&comment[..]), Some(&by[..])],
        );
        let (mut one, mut other) = (|_| (), |_| ());
        let both = &mut [
            BoundStatement { statement: sql("rate_user"), params: &of_user, each: &mut one },
            BoundStatement { statement: sql("log_moderation"), params: &of_log, each: &mut other },
        ];
        self.run_all("moderate", both)?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each name in this file is one of the file of statements.
    #[test]
    fn every_statement_is_there() {
        let source = include_str!("postgres.rs").split("#[cfg(test)]").next().unwrap_or("");
        let names = |call: &str| -> Vec<&str> {
            let found =
                source.split(call).skip(1).filter_map(|rest| rest.strip_prefix('"')?.split('"').next());
            found.collect()
        };
        let both = names("recent_or_old(");
        assert!(both.len() == 6 && both.iter().all(|name| !sql(&format!("old_{name}")).is_empty()));
        let all = [names("rows("), names("sql("), both].concat();
        assert!(
            all.len() > 20 && all.iter().all(|name| sql(name).starts_with(char::is_uppercase)),
            "{all:?}"
        );
    }
}
