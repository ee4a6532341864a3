//! The 24 interactions of RUBBoS by the names that its transition matrices have.

/// Names in the order of the matrices' columns; each is a path of the service.
pub const INTERACTIONS: [&str; 24] = [
    "StoriesOfTheDay",
    "Register",
    "RegisterUser",
    "Browse",
    "BrowseCategories",
    "BrowseStoriesInCategory",
    "OlderStories",
    "ViewStory",
    "PostComment",
    "StoreComment",
    "ViewComment",
    "ModerateComment",
    "StoreModerateLog",
    "SubmitStory",
    "StoreStory",
    "Search",
    "SearchInStories",
    "SearchInComments",
    "SearchInUsers",
    "AuthorLogin",
    "AuthorTask",
    "ReviewStories",
    "AcceptStory",
    "RejectStory",
];

/// A request's path and parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InteractionRequest {
    /// Index into [`INTERACTIONS`].
    pub interaction: usize,
    parameters: Vec<(String, String)>,
}

impl InteractionRequest {
    /// `None` for a path that is no interaction; `/` is the stories of the day.
    pub fn from_target(target: &str) -> Option<Self> {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let name = path.strip_prefix('/')?;
        let interaction =
            if name.is_empty() { Some(0) } else { INTERACTIONS.iter().position(|known| *known == name) }?;
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        let parameters = pairs.map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(key), decoded(value))
        });
        Some(Self { interaction, parameters: parameters.collect() })
    }

    pub fn name(&self) -> &'static str {
        INTERACTIONS[self.interaction]
    }

    /// A parameter's text; empty where it is not there.
    pub fn text(&self, key: &str) -> &str {
        self.parameters.iter().find(|(name, _)| name == key).map_or("", |(_, value)| value)
    }

    /// A parameter as a number of at least 0; 0 where it is none.
    pub fn number(&self, key: &str) -> u32 {
        self.text(key).parse().unwrap_or(0)
    }
}

/// `%41` and `+` as a URL's query has them; what is no UTF-8 becomes the replacement character.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while at < bytes.len() {
        let hex = (bytes[at] == b'%').then(|| bytes.get(at + 1..at + 3)).flatten();
        let hex = hex.filter(|two| two.iter().all(u8::is_ascii_hexdigit));
        let code = hex.and_then(|two| u8::from_str_radix(std::str::from_utf8(two).ok()?, 16).ok());
        match (bytes[at], code) {
            (_, Some(code)) => {
                out.push(code);
                at += 2;
            }
            (b'+', _) => out.push(b' '),
            (other, _) => out.push(other),
        }
        at += 1;
    }
    // PostgreSQL's text holds every character but this one.
    out.retain(|byte| *byte != 0);
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_an_interaction_with_parameters() {
        let request = InteractionRequest::from_target("/ViewStory?storyId=17&x&title=a+b%26c%2").unwrap();
        assert_eq!((request.name(), request.number("storyId")), ("ViewStory", 17));
        assert_eq!((request.text("title"), request.text("x"), request.number("title")), ("a b&c%2", "", 0));
        assert_eq!(InteractionRequest::from_target("/").map(|r| r.interaction), Some(0));
        assert_eq!(InteractionRequest::from_target("/viewstory"), None);
        assert_eq!(decoded("%00%C3%A4"), "ä");
    }
}
