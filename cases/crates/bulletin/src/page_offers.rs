//! What pages point to, but for what the board answers.

use crate::text::Dictionary;

/// What pages offer that stands in no answer of the board: rows that were there when the service began.
#[derive(Debug)]
pub(crate) struct PageOffers {
    pub users: u32,
    /// The first of the users.
    pub authors: u32,
    pub categories: u32,
    /// All of them are there.
    pub stories: u32,
    /// Since the first story.
    pub days: u32,
    /// That titles and subjects begin with.
    pub words: Dictionary,
}
