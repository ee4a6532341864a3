//! The tables in memory, for tests and for machines without a database.

use std::collections::{BTreeMap, HashMap};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::board::{Answer, Board, Comment, Moderation, Story, User, PAGE_ROWS};
use crate::generate::{Generator, NEWEST_S};

/// Longest list of replies, as in a database.
const REPLIES: usize = 50;

/// All tables; numbers of rows begin at 1, so that row n is at n - 1.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    categories: Vec<(u32, String)>,
    users: Vec<User>,
    by_nickname: HashMap<String, u32>,
    /// Old ones first: those with numbers up to `old_stories`.
    stories: Vec<Story>,
    old_stories: u32,
    /// Recent stories of a category.
    by_category: HashMap<u32, Vec<u32>>,
    comments: Vec<Comment>,
    by_story: HashMap<u32, Vec<u32>>,
    submissions: BTreeMap<u32, Story>,
    submitted: u32,
    moderations: Vec<Moderation>,
    /// Numbers by what they begin with, lower case as all generated text.
    titles: BTreeMap<String, Vec<u32>>,
    subjects: BTreeMap<String, Vec<u32>>,
}

impl Tables {
    pub fn generate(generator: &Generator) -> Self {
        let mut tables = Self { categories: generator.categories(), ..Self::default() };
        generator.users().for_each(|user| tables.add_user(user));
        let old = generator.sizes.old_stories;
        for (story, comments) in generator.stories() {
            tables.old_stories = story.id.min(old);
            tables.add_story(story);
            comments.into_iter().for_each(|comment| tables.add_comment(comment));
        }
        tables.submissions = generator.submissions().map(|story| (story.id, story)).collect();
        tables.submitted = generator.sizes.submissions;
        tables.moderations = generator.moderations(tables.comments.len() as u32).collect();
        tables
    }

    fn add_user(&mut self, user: User) {
        self.by_nickname.insert(user.nickname.clone(), user.id);
        self.users.push(user);
    }

    fn add_story(&mut self, story: Story) {
        if story.id > self.old_stories {
            self.by_category.entry(story.category).or_default().push(story.id);
            self.titles.entry(story.title.clone()).or_default().push(story.id);
        }
        self.stories.push(story);
    }

    fn add_comment(&mut self, comment: Comment) {
        self.by_story.entry(comment.story).or_default().push(comment.id);
        self.subjects.entry(comment.subject.clone()).or_default().push(comment.id);
        self.comments.push(comment);
    }

    fn nickname(&self, user: u32) -> String {
        row(&self.users, user).map_or_else(|| "anonymous".into(), |user| user.nickname.clone())
    }

    fn with_writer(&self, story: &Story) -> (Story, String) {
        (story.clone(), self.nickname(story.writer))
    }

    fn with_commenter(&self, comment: &Comment) -> (Comment, String) {
        (comment.clone(), self.nickname(comment.writer))
    }

    /// Without bodies.
    fn headlines<'a>(
        &self,
        newest_first: impl Iterator<Item = &'a Story>,
        page: u32,
    ) -> Vec<(Story, String)> {
        let without_body = |story: &Story| {
            let title = story.title.clone();
            let Story { id, date_s, writer, category, .. } = *story;
            (Story { id, title, body: String::new(), date_s, writer, category }, self.nickname(writer))
        };
        one_page(newest_first, page).map(without_body).collect()
    }
}

fn row<T>(table: &[T], id: u32) -> Option<&T> {
    table.get((id as usize).checked_sub(1)?)
}

fn one_page<T>(rows: impl Iterator<Item = T>, page: u32) -> impl Iterator<Item = T> {
    rows.skip(page as usize * PAGE_ROWS).take(PAGE_ROWS)
}

/// All numbers under keys that begin with `word`, newest first.
fn beginning_with(index: &BTreeMap<String, Vec<u32>>, word: &str) -> Vec<u32> {
    let from = index.range(word.to_owned()..).take_while(|(key, _)| key.starts_with(word));
    let mut found: Vec<u32> = from.flat_map(|(_, ids)| ids).copied().collect();
    found.sort_unstable_by(|a, b| b.cmp(a));
    found
}

/// The tables of all workers.
#[derive(Debug)]
pub(crate) struct SharedTables(RwLock<Tables>);

impl SharedTables {
    pub fn new(tables: Tables) -> Self {
        Self(RwLock::new(tables))
    }

    fn read(&self) -> RwLockReadGuard<'_, Tables> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Tables> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Board for &SharedTables {
    fn categories(&mut self) -> Answer<Vec<(u32, String)>> {
        Ok(self.read().categories.clone())
    }

    fn newest_stories(&mut self) -> Answer<Vec<(Story, String)>> {
        let tables = self.read();
        Ok(one_page(tables.stories.iter().rev(), 0).map(|story| tables.with_writer(story)).collect())
    }

    fn stories_in_category(&mut self, category: u32, page: u32) -> Answer<Vec<(Story, String)>> {
        let tables = self.read();
        let ids = tables.by_category.get(&category).map_or(&[][..], Vec::as_slice);
        let stories = ids.iter().rev().filter_map(|id| row(&tables.stories, *id));
        Ok(tables.headlines(stories, page))
    }

    fn older_stories(&mut self, before_s: i64) -> Answer<Vec<(Story, String)>> {
        let tables = self.read();
        let old = &tables.stories[..tables.old_stories as usize];
        // Numbers rise with dates.
        let until = old.partition_point(|story| story.date_s < before_s);
        Ok(tables.headlines(old[..until].iter().rev(), 0))
    }

    fn story(&mut self, id: u32) -> Answer<Option<(Story, String)>> {
        let tables = self.read();
        Ok(row(&tables.stories, id).map(|story| tables.with_writer(story)))
    }

    fn comment_ratings(&mut self, story: u32) -> Answer<Vec<(i32, u32)>> {
        let tables = self.read();
        let mut counts = BTreeMap::new();
        let ids = tables.by_story.get(&story).into_iter().flatten();
        for comment in ids.filter_map(|id| row(&tables.comments, *id)) {
            *counts.entry(comment.rating).or_default() += 1;
        }
        Ok(counts.into_iter().collect())
    }

    fn comment(&mut self, id: u32) -> Answer<Option<(Comment, String)>> {
        let tables = self.read();
        let found = if id == 0 { tables.comments.last() } else { row(&tables.comments, id) };
        Ok(found.map(|comment| tables.with_commenter(comment)))
    }

    fn replies(&mut self, story: u32, parent: u32, least: i32) -> Answer<Vec<(Comment, String)>> {
        let tables = self.read();
        let ids = tables.by_story.get(&story).into_iter().flatten();
        let comments = ids.filter_map(|id| row(&tables.comments, *id));
        let wanted = comments.filter(|comment| comment.parent == parent && comment.rating >= least);
        Ok(wanted.take(REPLIES).map(|comment| tables.with_commenter(comment)).collect())
    }

    fn search_stories(&mut self, word: &str, page: u32) -> Answer<Vec<(Story, String)>> {
        let tables = self.read();
        let found = beginning_with(&tables.titles, word);
        Ok(tables.headlines(found.iter().filter_map(|id| row(&tables.stories, *id)), page))
    }

    fn search_comments(&mut self, word: &str, page: u32) -> Answer<Vec<(Comment, String)>> {
        let tables = self.read();
        let found = beginning_with(&tables.subjects, word);
        let comments = one_page(found.iter().filter_map(|id| row(&tables.comments, *id)), page);
        Ok(comments.map(|comment| tables.with_commenter(comment)).collect())
    }

    fn search_users(&mut self, word: &str, page: u32) -> Answer<Vec<User>> {
        let tables = self.read();
        let found = tables.users.iter().filter(|user| user.nickname.starts_with(word));
        Ok(one_page(found, page).cloned().collect())
    }

    fn submissions(&mut self) -> Answer<Vec<(Story, String)>> {
        let tables = self.read();
        Ok(tables.headlines(tables.submissions.values().rev(), 0))
    }

    fn login(&mut self, nickname: &str, password: &str) -> Answer<Option<User>> {
        let tables = self.read();
        let user = tables.by_nickname.get(nickname).and_then(|id| row(&tables.users, *id));
        Ok(user.filter(|user| user.password == password).cloned())
    }

    fn register(&mut self, nickname: &str, password: &str) -> Answer<Option<u32>> {
        let mut tables = self.write();
        if tables.by_nickname.contains_key(nickname) {
            return Ok(None);
        }
        let id = tables.users.len() as u32 + 1;
        let (nickname, password) = (nickname.to_owned(), password.to_owned());
        tables.add_user(User { id, nickname, password, rating: 0, is_author: false });
        Ok(Some(id))
    }

    fn submit(&mut self, story: &Story) -> Answer<bool> {
        let mut tables = self.write();
        if !tables.categories.iter().any(|(id, _)| *id == story.category) {
            return Ok(false);
        }
        tables.submitted += 1;
        let id = tables.submitted;
        tables.submissions.insert(id, Story { id, ..story.clone() });
        Ok(true)
    }

    fn accept(&mut self, submission: u32) -> Answer<Option<u32>> {
        let mut tables = self.write();
        let Some(story) = tables.submissions.remove(&submission) else { return Ok(None) };
        let (id, last_s) = (tables.stories.len() as u32 + 1, tables.stories.last().map(|story| story.date_s));
        // Numbers rise with dates.
        let date_s = story.date_s.max(last_s.unwrap_or(NEWEST_S));
        tables.add_story(Story { id, date_s, ..story });
        Ok(Some(id))
    }

    fn reject(&mut self, submission: u32) -> Answer<bool> {
        Ok(self.write().submissions.remove(&submission).is_some())
    }

    fn store_comment(&mut self, comment: &Comment) -> Answer<Option<u32>> {
        let mut tables = self.write();
        let id = tables.comments.len() as u32 + 1;
        if row(&tables.stories, comment.story).is_none() {
            return Ok(None);
        }
        if let Some(parent) = (comment.parent as usize).checked_sub(1) {
            let parent = tables.comments.get_mut(parent).filter(|parent| parent.story == comment.story);
            let Some(parent) = parent else { return Ok(None) };
            parent.children += 1;
        }
        tables.add_comment(Comment { id, children: 0, rating: 0, ..comment.clone() });
        Ok(Some(id))
    }

    fn moderate(&mut self, moderator: u32, comment: u32, by: i32, date_s: i64) -> Answer<bool> {
        let mut tables = self.write();
        let place = (comment as usize).wrapping_sub(1);
        let Some(found) = tables.comments.get_mut(place) else { return Ok(false) };
        found.rating = (found.rating + by).clamp(-1, 5);
        let writer = (found.writer as usize).wrapping_sub(1);
        if let Some(user) = tables.users.get_mut(writer) {
            user.rating += by;
        }
        let id = tables.moderations.len() as u32 + 1;
        tables.moderations.push(Moderation { id, moderator, comment, rating: by, date_s });
        Ok(true)
    }
}
