//! What each interaction asks of the board, and the page that it makes of the answer.
//!
//! Every page has a link for each interaction that a transition matrix has behind it, whatever is in the tables; where
//! there is nothing to point to, the number 0 stands for the newest.

use sojourn_dist::Stream;

use crate::board::{Answer, Board, Story, PAGE_ROWS};
use crate::generate::{nickname, password, DAY_S, NEWEST_S};
use crate::html::{date, HtmlPage};
use crate::interaction::InteractionRequest;
use crate::page_offers::PageOffers;
use crate::{reads, writes};

/// Search words and days that a page offers.
const OFFERED: u32 = 10;

/// A page, and its status.
pub(crate) type Page = (u16, String);

/// What one worker needs beside the board: who uses it, and which of the old days and words its pages offer.
#[derive(Debug)]
pub(crate) struct PageMaker<'a> {
    offers: &'a PageOffers,
    stream: Stream,
}

impl<'a> PageMaker<'a> {
    pub fn new(offers: &'a PageOffers, seed: u64, worker: usize) -> Self {
        Self { offers, stream: Stream::new(seed, &format!("pages {worker}")) }
    }

    /// The page that a request asks for.
    ///
    /// # Errors
    /// The board does not answer.
    pub fn page(&mut self, board: &mut impl Board, request: &InteractionRequest) -> Answer<Page> {
        let mut page = HtmlPage::new(request.name());
        let found = match request.name() {
            "StoriesOfTheDay" => self.stories(&mut page, &board.newest_stories()?),
            "Register" => self.register(&mut page),
            "RegisterUser" => writes::register_user(&mut page, board, request)?,
            "Browse" => self.browse(&mut page),
            "BrowseCategories" => reads::categories(&mut page, board)?,
            "BrowseStoriesInCategory" => self.category(&mut page, board, request)?,
            "OlderStories" => self.older(&mut page, board, request)?,
            "ViewStory" => reads::view_story(&mut page, board, request)?,
            "PostComment" => self.post_comment(&mut page, request),
            "StoreComment" => writes::store_comment(&mut page, board, request)?,
            "ViewComment" => reads::view_comment(&mut page, board, request)?,
            "ModerateComment" => self.moderate(&mut page, board, request)?,
            "StoreModerateLog" => writes::store_moderation(&mut page, board, request)?,
            "SubmitStory" => self.submit(&mut page),
            "StoreStory" => writes::store_story(&mut page, board, request)?,
            "Search" => self.search(&mut page),
            "SearchInStories" => self.search_stories(&mut page, board, request)?,
            "SearchInComments" => self.search_comments(&mut page, board, request)?,
            "SearchInUsers" => self.search_users(&mut page, board, request)?,
            "AuthorLogin" => self.author_login(&mut page),
            "AuthorTask" => writes::author_task(&mut page, board, request)?,
            "ReviewStories" => writes::review(&mut page, board)?,
            "AcceptStory" => writes::accept(&mut page, board, request)?,
            _ => writes::reject(&mut page, board, request)?,
        };
        Ok((if found { 200 } else { 404 }, page.end()))
    }

    /// A list of stories; where it is empty, a story of the board by chance.
    fn stories(&mut self, page: &mut HtmlPage, stories: &[(Story, String)]) -> bool {
        stories.iter().for_each(|(story, writer)| page.story(story, writer));
        if stories.is_empty() {
            page.link(
                "ViewStory",
                format_args!("storyId={}", self.up_to(self.offers.stories)),
                "another story",
            );
        }
        true
    }

    fn up_to(&mut self, most: u32) -> u32 {
        1 + self.stream.below(u64::from(most)) as u32
    }

    /// The nickname and password of a user by chance, as a browser fills them in.
    fn user(&mut self) -> String {
        credentials(self.up_to(self.offers.users))
    }

    fn author(&mut self) -> String {
        credentials(self.up_to(self.offers.authors))
    }

    fn register(&mut self, page: &mut HtmlPage) -> bool {
        let name = self.stream.bits();
        page.link("RegisterUser", format_args!("nickname=new{name:x}&password=secret{name:x}"), "register");
        true
    }

    fn browse(&mut self, page: &mut HtmlPage) -> bool {
        page.link("BrowseCategories", "", "categories");
        self.days(page);
        true
    }

    fn days(&mut self, page: &mut HtmlPage) {
        for _ in 0..OFFERED {
            let before_s = NEWEST_S - i64::from(self.up_to(self.offers.days)) * DAY_S;
            page.link("OlderStories", format_args!("before={before_s}"), &date(before_s));
        }
    }

    fn category(
        &mut self,
        page: &mut HtmlPage,
        board: &mut impl Board,
        request: &InteractionRequest,
    ) -> Answer<bool> {
        let category = request.number("category");
        let stories = board.stories_in_category(category, request.number("page"))?;
        if stories.is_empty() && !board.categories()?.iter().any(|(id, _)| *id == category) {
            return Ok(reads::missing(page, "category", request.text("category")));
        }
        self.stories(page, &stories);
        let next = following(request, stories.len());
        page.link("BrowseStoriesInCategory", format_args!("category={category}&page={next}"), "next page");
        Ok(true)
    }

    fn older(
        &mut self,
        page: &mut HtmlPage,
        board: &mut impl Board,
        request: &InteractionRequest,
    ) -> Answer<bool> {
        let stories = board.older_stories(request.text("before").parse().unwrap_or(NEWEST_S))?;
        self.stories(page, &stories);
        if let Some((last, _)) = stories.last() {
            page.link("OlderStories", format_args!("before={}", last.date_s), "next page");
        }
        self.days(page);
        Ok(true)
    }

    fn post_comment(&mut self, page: &mut HtmlPage, request: &InteractionRequest) -> bool {
        let (story, parent) = (request.number("storyId"), request.number("parent"));
        let subject = self.offers.words.words(2, 5, &mut self.stream).replace(' ', "+");
        let sent = format!("{}&storyId={story}&parent={parent}&subject={subject}", self.user());
        page.form("StoreComment", sent, "body");
        true
    }

    fn moderate(
        &mut self,
        page: &mut HtmlPage,
        board: &mut impl Board,
        request: &InteractionRequest,
    ) -> Answer<bool> {
        let found = board.comment(request.number("commentId"))?;
        let author = self.author();
        let id = found.as_ref().map_or(0, |(comment, _)| comment.id);
        found.iter().for_each(|(comment, writer)| page.comment(comment, writer));
        for rating in [-1, 0, 1] {
            let sent = format_args!("{author}&commentId={id}&rating={rating}");
            page.link("StoreModerateLog", sent, "rate");
        }
        Ok(found.is_some())
    }

    fn submit(&mut self, page: &mut HtmlPage) -> bool {
        let title = self.offers.words.words(3, 7, &mut self.stream).replace(' ', "+");
        let category = self.up_to(self.offers.categories);
        let sent = format!("{}&category={category}&title={title}", self.user());
        page.form("StoreStory", sent, "body");
        true
    }

    fn search(&mut self, page: &mut HtmlPage) -> bool {
        for _ in 0..OFFERED {
            let word = self.offers.words.word(&mut self.stream);
            for interaction in ["SearchInStories", "SearchInComments"] {
                page.link(interaction, format_args!("word={word}"), word);
            }
            let user = self.up_to(self.offers.users);
            page.link("SearchInUsers", format_args!("word={}", nickname(user)), "a user");
        }
        true
    }

    fn search_stories(
        &mut self,
        page: &mut HtmlPage,
        board: &mut impl Board,
        request: &InteractionRequest,
    ) -> Answer<bool> {
        let stories = board.search_stories(request.text("word"), request.number("page"))?;
        self.stories(page, &stories);
        next_search(page, request, stories.len());
        Ok(true)
    }

    fn search_comments(
        &mut self,
        page: &mut HtmlPage,
        board: &mut impl Board,
        request: &InteractionRequest,
    ) -> Answer<bool> {
        let comments = board.search_comments(request.text("word"), request.number("page"))?;
        comments.iter().for_each(|(comment, writer)| page.comment(comment, writer));
        if comments.is_empty() {
            let story = self.up_to(self.offers.stories);
            page.link(
                "ViewComment",
                format_args!("storyId={story}&commentId=0"),
                "comments of another story",
            );
        }
        next_search(page, request, comments.len());
        Ok(true)
    }

    fn search_users(
        &mut self,
        page: &mut HtmlPage,
        board: &mut impl Board,
        request: &InteractionRequest,
    ) -> Answer<bool> {
        let users = board.search_users(request.text("word"), request.number("page"))?;
        users.iter().for_each(|user| page.paragraph(&format!("{}, rated {}", user.nickname, user.rating)));
        next_search(page, request, users.len());
        // The matrices go on to a story from here.
        Ok(self.stories(page, &[]))
    }

    fn author_login(&mut self, page: &mut HtmlPage) -> bool {
        let author = self.author();
        page.link("AuthorTask", author, "log in");
        true
    }
}

fn credentials(user: u32) -> String {
    format!("nickname={}&password={}", nickname(user), password(user))
}

/// The number of the page behind this one; the first again where this one is the last.
fn following(request: &InteractionRequest, rows: usize) -> u32 {
    if rows == PAGE_ROWS {
        request.number("page") + 1
    } else {
        0
    }
}

/// Words of a search are letters and digits only; what else was asked for is not offered again.
fn next_search(page: &mut HtmlPage, request: &InteractionRequest, rows: usize) {
    let word: String = request.text("word").chars().filter(char::is_ascii_alphanumeric).collect();
    page.link(request.name(), format_args!("word={word}&page={}", following(request, rows)), "next page");
}
