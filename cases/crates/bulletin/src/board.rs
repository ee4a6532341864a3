//! What the board knows, and what can be asked of it: the tables of RUBBoS behind one trait.

use std::fmt;

/// Rows of one page of a list.
pub const PAGE_ROWS: usize = 20;

/// Somebody who may write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    pub id: u32,
    pub nickname: String,
    pub password: String,
    /// What moderators thought of the comments.
    pub rating: i32,
    pub is_author: bool,
}

/// A story, or a submission that waits to become one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Story {
    pub id: u32,
    pub title: String,
    pub body: String,
    /// Unix time, s.
    pub date_s: i64,
    pub writer: u32,
    pub category: u32,
}

/// A comment on a story, or on the comment `parent` (0: on the story).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    pub id: u32,
    pub story: u32,
    pub parent: u32,
    /// Comments whose parent it is.
    pub children: u32,
    /// -1 to 5.
    pub rating: i32,
    pub date_s: i64,
    pub writer: u32,
    pub subject: String,
    pub body: String,
}

/// A moderator's verdict on a comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moderation {
    pub id: u32,
    pub moderator: u32,
    pub comment: u32,
    pub rating: i32,
    pub date_s: i64,
}

/// Why the board does not answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoardError(pub String);

impl fmt::Display for BoardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

pub type Answer<T> = Result<T, BoardError>;

/// The board as one worker has it. Of stories in a list the body is only there in the newest ones, of comments that were
/// searched for neither it nor the rating. Lists are pages of [`PAGE_ROWS`] rows counted from 0, newest first; a writer's
/// nickname stands beside what is his.
pub trait Board {
    fn categories(&mut self) -> Answer<Vec<(u32, String)>>;
    fn newest_stories(&mut self) -> Answer<Vec<(Story, String)>>;
    fn stories_in_category(&mut self, category: u32, page: u32) -> Answer<Vec<(Story, String)>>;
    /// The newest of the old stories that were written before `before_s`.
    fn older_stories(&mut self, before_s: i64) -> Answer<Vec<(Story, String)>>;
    /// Recent or old.
    fn story(&mut self, id: u32) -> Answer<Option<(Story, String)>>;
    /// How many comments of each rating a story has.
    fn comment_ratings(&mut self, story: u32) -> Answer<Vec<(i32, u32)>>;
    /// 0: the newest.
    fn comment(&mut self, id: u32) -> Answer<Option<(Comment, String)>>;
    /// The first page of comments on `parent` that are rated `least` or better, oldest first.
    fn replies(&mut self, story: u32, parent: u32, least: i32) -> Answer<Vec<(Comment, String)>>;
    fn search_stories(&mut self, word: &str, page: u32) -> Answer<Vec<(Story, String)>>;
    fn search_comments(&mut self, word: &str, page: u32) -> Answer<Vec<(Comment, String)>>;
    fn search_users(&mut self, word: &str, page: u32) -> Answer<Vec<User>>;
    fn submissions(&mut self) -> Answer<Vec<(Story, String)>>;
    fn login(&mut self, nickname: &str, password: &str) -> Answer<Option<User>>;
    /// The number of the new user; `None` where the nickname is taken.
    fn register(&mut self, nickname: &str, password: &str) -> Answer<Option<u32>>;
    /// `id` is not looked at; nor are `children` and `rating` of a comment.
    /// Whether its category is there.
    fn submit(&mut self, story: &Story) -> Answer<bool>;
    /// Makes a submission a story; its number, or `None` where it is not there, or somebody else was faster.
    fn accept(&mut self, submission: u32) -> Answer<Option<u32>>;
    /// Whether it was there.
    fn reject(&mut self, submission: u32) -> Answer<bool>;
    /// Its number; `None` where its story is not there, or its parent is none of that story's comments.
    fn store_comment(&mut self, comment: &Comment) -> Answer<Option<u32>>;
    /// Adds `by` to the ratings of a comment and of its writer, and writes it down; whether the comment is there.
    fn moderate(&mut self, moderator: u32, comment: u32, by: i32, date_s: i64) -> Answer<bool>;
}
