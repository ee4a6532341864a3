//! The statements by name, what their rows mean, and what the tables hold.

use std::collections::HashMap;
use std::sync::OnceLock;

use sojourn_pgsession::{DatabaseError, Row, Session, Statement, StatementFate};

use crate::board::{Comment, Story};
use crate::generate::{DAY_S, NEWEST_S};
use crate::page_offers::PageOffers;
use crate::text::Dictionary;

const STATEMENTS: &str = include_str!("../../../sojourn_cases/ntier/bulletin_database/statements.sql");
/// PostgreSQL counts from 2000-01-01, in µs.
pub(crate) const EPOCH_S: i64 = 946_684_800;

/// The statement of this name; the file has it, as a test sees.
pub(crate) fn sql(name: &str) -> Statement {
    static BY_NAME: OnceLock<HashMap<&'static str, Statement>> = OnceLock::new();
    let by_name = BY_NAME.get_or_init(|| {
        let parts = STATEMENTS.split("-- name: ").skip(1);
        parts
            .filter_map(|part| part.split_once('\n'))
            .map(|(name, text)| (name.trim(), text.trim()))
            .collect()
    });
    by_name.get(name).copied().unwrap_or("")
}

pub(crate) fn id(row: &Row, column: usize) -> u32 {
    row.int(column).and_then(|id| u32::try_from(id).ok()).unwrap_or(0)
}

pub(crate) fn rating(row: &Row, column: usize) -> i32 {
    row.int(column).map_or(0, |rating| rating as i32)
}

pub(crate) fn text(row: &Row, column: usize) -> String {
    row.text(column).unwrap_or("").to_owned()
}

pub(crate) fn date_s(row: &Row, column: usize) -> i64 {
    row.int(column).map_or(0, |us| us.div_euclid(1_000_000)) + EPOCH_S
}

/// id, title, date, nickname.
pub(crate) fn headline(row: &Row) -> (Story, String) {
    let (title, body) = (text(row, 1), String::new());
    let story = Story { id: id(row, 0), title, body, date_s: date_s(row, 2), writer: 0, category: 0 };
    (story, text(row, 3))
}

/// From `id` and the story on: parent, children, rating, date, subject, text, nickname.
pub(crate) fn comment(row: &Row, story: u32, parent: u32, from: usize) -> (Comment, String) {
    let comment = Comment {
        id: id(row, 0),
        story,
        parent,
        children: id(row, from),
        rating: rating(row, from + 1),
        date_s: date_s(row, from + 2),
        writer: 0,
        subject: text(row, from + 3),
        body: text(row, from + 4),
    };
    (comment, text(row, from + 5))
}

/// What the tables hold, for pages to offer.
///
/// # Errors
/// They are not there, or empty.
pub(crate) fn offers(session: &mut Session) -> Result<PageOffers, DatabaseError> {
    let mut number = |text: &str| -> Result<u32, DatabaseError> {
        let mut value = 0;
        session
            .query(text, &mut |row| value = row.text(0).and_then(|text| text.parse().ok()).unwrap_or(0))?;
        Ok(value)
    };
    let first = "SELECT extract(epoch FROM min(date))::bigint FROM old_stories";
    let days = (NEWEST_S - i64::from(number(first)?)) / DAY_S;
    let (users, authors) = (
        number("SELECT count(*) FROM users WHERE nickname LIKE 'user%'")?,
        number("SELECT count(*) FROM users WHERE access = 1")?,
    );
    let (categories, stories) =
        (number("SELECT count(*) FROM categories")?, number("SELECT max(id) FROM stories")?);
    let mut words = Vec::new();
    let titles =
        "SELECT DISTINCT split_part(title, ' ', 1) FROM (SELECT title FROM stories LIMIT 20000) AS t";
    session.query(titles, &mut |row| words.extend(row.text(0).map(str::to_owned)))?;
    if [users, authors, categories, stories].contains(&0) || words.is_empty() {
        return Err(DatabaseError::new(StatementFate::RolledBack, "its tables are empty; load them first"));
    }
    words.sort_unstable();
    let days = u32::try_from(days).unwrap_or(1).max(1);
    Ok(PageOffers { users, authors, categories, stories, days, words: Dictionary::of(words) })
}
