//! The rows of a board from its scale and a seed, the same in memory and in a database.

use sojourn_dist::Stream;

use crate::board::{Comment, Moderation, Story, User};
use crate::page_offers::PageOffers;
use crate::text::Dictionary;

/// Longest story or comment, bytes.
pub const BODY_BYTES: usize = 1024;
pub const DAY_S: i64 = 86_400;
/// When the newest story was written: 2026-01-01, 00:00 UTC.
pub const NEWEST_S: i64 = 1_767_225_600;

const STORIES_PER_DAY: u32 = 100;
const CATEGORIES: u32 = 20;
/// Comments of a story: 1 and a geometric number, this many in the mean.
const COMMENTS_MEAN: f64 = 5.0;
/// The share of comments that answer the story and not another comment.
const TOP_SHARE: f64 = 0.4;

/// How many rows each table begins with; comments are drawn, [`COMMENTS_MEAN`] for a story.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    pub users: u32,
    /// The first of the users.
    pub authors: u32,
    /// They have the numbers from 1; the recent ones follow.
    pub old_stories: u32,
    pub stories: u32,
    pub submissions: u32,
    pub moderations: u32,
    pub categories: u32,
}

impl Sizes {
    /// Scale 1 is RUBBoS's own number of users and authors; stories, as many for each user as in the board that the
    /// design was tried with.
    #[must_use]
    pub fn of(scale: f64) -> Self {
        let scaled = |rows: f64, least: u32| ((rows * scale).round() as u32).max(least);
        Self {
            users: scaled(500_000.0, 100),
            authors: 50,
            old_stories: scaled(135_000.0, 100),
            stories: scaled(15_000.0, 100),
            submissions: scaled(1_000.0, 20),
            moderations: scaled(50_000.0, 10),
            categories: CATEGORIES,
        }
    }
}

/// Makes the rows, table by table; each table has a stream of its own.
#[derive(Debug)]
pub struct Generator {
    seed: u64,
    pub sizes: Sizes,
    pub dictionary: Dictionary,
}

impl Generator {
    #[must_use]
    pub fn new(scale: f64, seed: u64) -> Self {
        Self { seed, sizes: Sizes::of(scale), dictionary: Dictionary::new() }
    }

    /// What pages may offer of it.
    pub fn offers(&self) -> PageOffers {
        let Sizes { users, authors, categories, old_stories, stories, .. } = self.sizes;
        let all = old_stories + stories;
        PageOffers {
            users,
            authors,
            categories,
            stories: all,
            days: (all / STORIES_PER_DAY).max(1),
            words: Dictionary::new(),
        }
    }

    pub fn categories(&self) -> Vec<(u32, String)> {
        let mut stream = Stream::new(self.seed, "categories");
        (1..=self.sizes.categories).map(|id| (id, self.dictionary.words(1, 2, &mut stream))).collect()
    }

    pub fn users(&self) -> impl Iterator<Item = User> + '_ {
        let mut stream = Stream::new(self.seed, "users");
        (1..=self.sizes.users).map(move |id| User {
            id,
            nickname: nickname(id),
            password: password(id),
            rating: stream.below(21) as i32 - 5,
            is_author: id <= self.sizes.authors,
        })
    }

    /// Old ones first, each with its comments; comments are numbered as they come.
    pub fn stories(&self) -> impl Iterator<Item = (Story, Vec<Comment>)> + '_ {
        let (mut stream, mut comments) = (Stream::new(self.seed, "stories"), 0);
        let all = self.sizes.old_stories + self.sizes.stories;
        (1..=all).map(move |id| {
            let story = self.story(id, NEWEST_S - age_s(all - id), &mut stream);
            let replies = self.comments(&story, comments + 1, &mut stream);
            comments += replies.len() as u32;
            (story, replies)
        })
    }

    pub fn submissions(&self) -> impl Iterator<Item = Story> + '_ {
        let mut stream = Stream::new(self.seed, "submissions");
        (1..=self.sizes.submissions).map(move |id| self.story(id, NEWEST_S + i64::from(id), &mut stream))
    }

    /// Of the comments with numbers up to `comments`.
    pub fn moderations(&self, comments: u32) -> impl Iterator<Item = Moderation> + '_ {
        let mut stream = Stream::new(self.seed, "moderations");
        (1..=self.sizes.moderations).map(move |id| Moderation {
            id,
            moderator: 1 + stream.below(u64::from(self.sizes.authors)) as u32,
            comment: 1 + stream.below(u64::from(comments.max(1))) as u32,
            rating: stream.below(3) as i32 - 1,
            date_s: NEWEST_S - age_s(stream.below(u64::from(self.sizes.stories)) as u32),
        })
    }

    fn story(&self, id: u32, date_s: i64, stream: &mut Stream) -> Story {
        Story {
            id,
            title: self.dictionary.words(3, 7, stream),
            body: self.body(stream),
            date_s,
            writer: 1 + stream.below(u64::from(self.sizes.users)) as u32,
            category: 1 + stream.below(u64::from(self.sizes.categories)) as u32,
        }
    }

    fn body(&self, stream: &mut Stream) -> String {
        let bytes = 1 + stream.below(BODY_BYTES as u64) as usize;
        self.dictionary.text(bytes.max(16), stream)
    }

    /// A random tree: each comment answers the story, or any of the comments before it.
    fn comments(&self, story: &Story, first: u32, stream: &mut Stream) -> Vec<Comment> {
        let further = (1.0 - 1.0 / COMMENTS_MEAN).ln();
        let count = 1 + (stream.uniform().max(f64::MIN_POSITIVE).ln() / further) as u32;
        let mut comments: Vec<Comment> = Vec::with_capacity(count as usize);
        for index in 0..count {
            let top = index == 0 || stream.uniform() < TOP_SHARE;
            let parent = if top { None } else { Some(stream.below(u64::from(index)) as usize) };
            let parent = parent.map_or(0, |before| {
                comments[before].children += 1;
                comments[before].id
            });
            comments.push(Comment {
                id: first + index,
                story: story.id,
                parent,
                children: 0,
                rating: stream.below(7) as i32 - 1,
                date_s: story.date_s + i64::from(index) * 60,
                writer: 1 + stream.below(u64::from(self.sizes.users)) as u32,
                subject: self.dictionary.words(2, 5, stream),
                body: self.body(stream),
            });
        }
        comments
    }
}

/// How long before the newest story one was written that has so many after it, s.
fn age_s(later: u32) -> i64 {
    i64::from(later) * DAY_S / i64::from(STORIES_PER_DAY)
}

/// Of the user with this number.
#[must_use]
pub fn nickname(user: u32) -> String {
    format!("user{user}")
}

#[must_use]
pub fn password(user: u32) -> String {
    format!("password{user}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_trees_with_as_many_children_as_they_say() {
        let generator = Generator::new(0.002, 7);
        let (mut stories, mut all, mut tops) = (0, 0, 0);
        for (story, comments) in generator.stories() {
            stories += 1;
            assert_eq!(story.id, stories);
            for comment in &comments {
                all += 1;
                tops += u32::from(comment.parent == 0);
                assert_eq!((comment.id, comment.story), (all, story.id));
                assert!(comment.parent < comment.id && comment.body.len() <= BODY_BYTES);
                let children = comments.iter().filter(|other| other.parent == comment.id).count();
                assert_eq!(comment.children as usize, children);
            }
        }
        // 370 stories (270 old, 100 recent): 5 comments in the mean, with standard deviation 4.5.
        assert_eq!(stories, 370);
        assert!((f64::from(all) / f64::from(stories) - 5.0).abs() < 1.0, "{all}");
        // The first of each story and 0.4 of the other 4: 2.6 of 5.
        assert!((f64::from(tops) / f64::from(all) - 0.52).abs() < 0.06, "{tops}");
    }

    #[test]
    fn the_same_seed_makes_the_same_board() {
        let rows = |seed| Generator::new(0.002, seed).stories().take(50).collect::<Vec<_>>();
        assert!(rows(1) == rows(1) && rows(1) != rows(2));
        assert_eq!(Sizes::of(1.0).users, 500_000);
    }
}
