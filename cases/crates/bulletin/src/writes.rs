//! Interactions that write: who says who he is may; the others are told so on the page.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::board::{Answer, Board, Comment, Story, User};
use crate::generate::BODY_BYTES;
use crate::html::HtmlPage;
use crate::interaction::InteractionRequest;
use crate::reads::missing;

/// Who sent the request; a line on the page where nobody known did.
fn logged_in(
    page: &mut HtmlPage,
    board: &mut impl Board,
    request: &InteractionRequest,
) -> Answer<Option<User>> {
    let found = board.login(request.text("nickname"), request.text("password"))?;
    if found.is_none() {
        page.paragraph("nickname or password is wrong");
    }
    Ok(found)
}

pub(crate) fn register_user(
    page: &mut HtmlPage,
    board: &mut impl Board,
    request: &InteractionRequest,
) -> Answer<bool> {
    let (name, secret) = (request.text("nickname"), request.text("password"));
    let done = if name.is_empty() { None } else { board.register(name, secret)? };
    page.paragraph(&done.map_or("choose another nickname".into(), |id| format!("user {id}")));
    Ok(true)
}

pub(crate) fn store_comment(
    page: &mut HtmlPage,
    board: &mut impl Board,
    request: &InteractionRequest,
) -> Answer<bool> {
    let Some(user) = logged_in(page, board, request)? else { return Ok(true) };
    let story = request.number("storyId");
    let parent = match request.text("parent") {
        "" => 0,
        text => match text.parse() {
            Ok(parent) => parent,
            Err(_) => return Ok(missing(page, "comment", text)),
        },
    };
    let comment = Comment {
        id: 0,
        story,
        parent,
        children: 0,
        rating: 0,
        date_s: unix_s(),
        writer: user.id,
        subject: cut(request.text("subject")),
        body: cut(request.text("body")),
    };
    let Some(id) = board.store_comment(&comment)? else {
        return Ok(match parent {
            0 => missing(page, "story", story),
            _ => missing(page, &format!("story {story} with a comment"), parent),
        });
    };
    page.paragraph(&format!("comment {id}"));
    Ok(true)
}

pub(crate) fn store_story(
    page: &mut HtmlPage,
    board: &mut impl Board,
    request: &InteractionRequest,
) -> Answer<bool> {
    let Some(user) = logged_in(page, board, request)? else { return Ok(true) };
    let story = Story {
        id: 0,
        title: cut(request.text("title")),
        body: cut(request.text("body")),
        date_s: unix_s(),
        writer: user.id,
        category: request.number("category"),
    };
    if !board.submit(&story)? {
        return Ok(missing(page, "category", request.text("category")));
    }
    page.paragraph("an author will look at it");
    Ok(true)
}

pub(crate) fn store_moderation(
    page: &mut HtmlPage,
    board: &mut impl Board,
    request: &InteractionRequest,
) -> Answer<bool> {
    let Some(user) = logged_in(page, board, request)? else { return Ok(true) };
    let (comment, rating) = (request.number("commentId"), request.text("rating"));
    let Some(by) = rating.parse().ok().filter(|by| (-1..=1).contains(by)) else {
        return Ok(missing(page, "rating", rating));
    };
    if !user.is_author {
        page.paragraph("only authors rate comments");
        return Ok(true);
    }
    if !board.moderate(user.id, comment, by, unix_s())? {
        return Ok(missing(page, "comment", comment));
    }
    page.paragraph("rated");
    Ok(true)
}

pub(crate) fn author_task(
    page: &mut HtmlPage,
    board: &mut impl Board,
    request: &InteractionRequest,
) -> Answer<bool> {
    if let Some(user) = logged_in(page, board, request)? {
        page.paragraph(if user.is_author { "welcome" } else { "no author" });
    }
    page.link("ReviewStories", "", "review stories");
    Ok(true)
}

pub(crate) fn review(page: &mut HtmlPage, board: &mut impl Board) -> Answer<bool> {
    let submissions = board.submissions()?;
    for (story, writer) in &submissions {
        page.paragraph(&format!("{} by {writer}", story.title));
        decisions(page, story.id);
    }
    if submissions.is_empty() {
        decisions(page, 0);
    }
    Ok(true)
}

fn decisions(page: &mut HtmlPage, id: u32) {
    page.link("AcceptStory", format_args!("submissionId={id}"), "accept");
    page.link("RejectStory", format_args!("submissionId={id}"), "reject");
}

pub(crate) fn accept(
    page: &mut HtmlPage,
    board: &mut impl Board,
    request: &InteractionRequest,
) -> Answer<bool> {
    let done = board.accept(request.number("submissionId"))?;
    page.paragraph(&done.map_or("nothing to accept".into(), |id| format!("story {id}")));
    Ok(true)
}

pub(crate) fn reject(
    page: &mut HtmlPage,
    board: &mut impl Board,
    request: &InteractionRequest,
) -> Answer<bool> {
    let done = board.reject(request.number("submissionId"))?;
    page.paragraph(if done { "rejected" } else { "nothing to reject" });
    Ok(true)
}

/// The longest start that the tables hold.
fn cut(text: &str) -> String {
    let mut end = text.len().min(BODY_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}

// Rows have the time of day, which readers see.
#[allow(clippy::disallowed_methods)]
fn unix_s() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64)
}
