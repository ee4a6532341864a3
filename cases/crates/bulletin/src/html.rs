//! Pages as HTML: a frame with links to what can be reached from anywhere, and what a page adds to it.

use std::fmt::{Display, Write};

use crate::board::{Comment, Story};

/// Reachable from every page.
const NAVIGATION: [&str; 6] =
    ["StoriesOfTheDay", "Browse", "Search", "Register", "SubmitStory", "AuthorLogin"];

/// A page that grows.
#[derive(Debug)]
pub(crate) struct HtmlPage {
    text: String,
}

impl HtmlPage {
    pub fn new(title: &str) -> Self {
        let mut text = String::with_capacity(16 * 1024);
        let _ = write!(text, "<!doctype html><html><head><title>{title}</title></head><body>\n<p>");
        for name in NAVIGATION {
            let _ = write!(text, "<a href=\"/{name}\">{name}</a> ");
        }
        let _ = writeln!(text, "</p>\n<h1>{title}</h1>");
        Self { text }
    }

    pub fn end(mut self) -> String {
        self.text.push_str("</body></html>\n");
        self.text
    }

    /// A link to an interaction with its parameters, which need no escaping.
    pub fn link(&mut self, interaction: &str, parameters: impl Display, words: &str) {
        let _ = write!(self.text, "<a href=\"/{interaction}?{parameters}\">");
        self.escaped(words);
        self.text.push_str("</a>\n");
    }

    /// What a form would send: the reader adds a text to the last parameter.
    pub fn form(&mut self, interaction: &str, parameters: impl Display, last: &str) {
        let _ =
            writeln!(self.text, "<p><a href=\"/{interaction}?{parameters}&{last}=\">{interaction}</a></p>");
    }

    pub fn paragraph(&mut self, words: &str) {
        self.text.push_str("<p>");
        self.escaped(words);
        self.text.push_str("</p>\n");
    }

    pub fn story(&mut self, story: &Story, writer: &str) {
        self.link("ViewStory", format_args!("storyId={}", story.id), &story.title);
        let _ = write!(self.text, "<i>{} by ", date(story.date_s));
        self.escaped(writer);
        self.text.push_str("</i>\n");
        if !story.body.is_empty() {
            self.paragraph(&story.body);
        }
    }

    pub fn comment(&mut self, comment: &Comment, writer: &str) {
        let Comment { id, story, rating, children, .. } = comment;
        self.link("ViewComment", format_args!("storyId={story}&commentId={id}"), &comment.subject);
        let _ = write!(self.text, "<i>{}, rated {rating}, {children} replies, by ", date(comment.date_s));
        self.escaped(writer);
        self.text.push_str("</i>\n");
        self.paragraph(&comment.body);
        self.link("PostComment", format_args!("storyId={story}&parent={id}"), "reply");
        self.link("ModerateComment", format_args!("commentId={id}"), "moderate");
    }

    fn escaped(&mut self, words: &str) {
        for character in words.chars() {
            match character {
                '<' => self.text.push_str("&lt;"),
                '>' => self.text.push_str("&gt;"),
                '&' => self.text.push_str("&amp;"),
                '"' => self.text.push_str("&quot;"),
                other => self.text.push(other),
            }
        }
    }
}

/// The day of a Unix time, as ISO 8601 has it.
pub(crate) fn date(unix_s: i64) -> String {
    let (mut year, mut day) = (1970, unix_s.div_euclid(86_400));
    let leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    while day >= 365 + i64::from(leap(year)) {
        day -= 365 + i64::from(leap(year));
        year += 1;
    }
    let february = 28 + i64::from(leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", day + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `date -u -d @…` says the same.
    #[test]
    fn dates_are_those_of_the_calendar() {
        for (unix_s, day) in [
            (0, "1970-01-01"),
            (951_782_400, "2000-02-29"),
            (1_767_225_599, "2025-12-31"),
            (1_767_225_600, "2026-01-01"),
        ] {
            assert_eq!(date(unix_s), day);
        }
    }

    #[test]
    fn what_users_write_is_no_markup() {
        let mut page = HtmlPage::new("x");
        page.paragraph("<script>\"&");
        assert!(page.end().contains("<p>&lt;script&gt;&quot;&amp;</p>"));
    }
}
