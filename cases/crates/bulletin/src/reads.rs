//! Interactions that show one thing: the categories, a story, a comment and its replies.

use std::fmt::Display;

use crate::board::{Answer, Board};
use crate::html::HtmlPage;
use crate::interaction::InteractionRequest;

pub(crate) fn categories(page: &mut HtmlPage, board: &mut impl Board) -> Answer<bool> {
    for (id, name) in board.categories()? {
        page.link("BrowseStoriesInCategory", format_args!("category={id}&page=0"), &name);
    }
    Ok(true)
}

pub(crate) fn view_story(
    page: &mut HtmlPage,
    board: &mut impl Board,
    request: &InteractionRequest,
) -> Answer<bool> {
    let id = request.number("storyId");
    let Some((story, writer)) = board.story(id)? else { return Ok(missing(page, "story", id)) };
    page.story(&story, &writer);
    page.link("PostComment", format_args!("storyId={id}&parent=0"), "comment");
    for (rating, count) in board.comment_ratings(id)? {
        let parameters = format_args!("storyId={id}&commentId=0&filter={rating}");
        page.link("ViewComment", parameters, &format!("{count} comments rated {rating}"));
    }
    replies(page, board, id, 0, -1)?;
    page.link("ViewComment", format_args!("storyId={id}&commentId=0"), "all comments");
    page.link("ModerateComment", "commentId=0", "moderate the newest comment");
    Ok(true)
}

/// A comment and what answers it, or all that answers the story itself.
pub(crate) fn view_comment(
    page: &mut HtmlPage,
    board: &mut impl Board,
    request: &InteractionRequest,
) -> Answer<bool> {
    let (story, id) = (request.number("storyId"), request.number("commentId"));
    let least = request.text("filter").parse().unwrap_or(-1);
    if id > 0 {
        let found = board.comment(id)?.filter(|(comment, _)| comment.story == story);
        let Some((comment, writer)) = found else {
            return Ok(missing(page, &format!("story {story} with a comment"), id));
        };
        page.comment(&comment, &writer);
    }
    let count = replies(page, board, story, id, least)?;
    // Only then: a statement more for each page would be work that is in no other page.
    if count == 0 && id == 0 && board.story(story)?.is_none() {
        return Ok(missing(page, "story", story));
    }
    page.link("ViewComment", format_args!("storyId={story}&commentId=0"), "all comments");
    page.link("PostComment", format_args!("storyId={story}&parent={id}"), "comment");
    page.link("ModerateComment", format_args!("commentId={id}"), "moderate");
    Ok(true)
}

fn replies(
    page: &mut HtmlPage,
    board: &mut impl Board,
    story: u32,
    parent: u32,
    least: i32,
) -> Answer<usize> {
    let comments = board.replies(story, parent, least)?;
    comments.iter().for_each(|(comment, writer)| page.comment(comment, writer));
    Ok(comments.len())
}

/// What was asked for is not there; the page says so, and its status is 404.
pub(crate) fn missing(page: &mut HtmlPage, what: &str, id: impl Display) -> bool {
    page.paragraph(&format!("no {what} {id}"));
    false
}
