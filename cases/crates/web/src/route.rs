//! Path → page.

/// A page of the shop.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Page {
    Catalogue,
    Category(usize),
    Item(usize),
    Search(String),
    Cart(Option<usize>),
    Health,
    /// Waits for the backend.
    Wait,
    /// The backend's metrics.
    Metrics,
}

/// Names of pages in records and summaries, by index; the last is for what is not a page.
pub(crate) const NAMES: [&str; 9] =
    ["catalogue", "category", "item", "search", "cart", "health", "error", "wait", "metrics"];
/// The index of what is not a page.
pub(crate) const ERROR: u8 = 6;
/// The index of the page without work.
pub(crate) const HEALTH: u8 = 5;
/// The index of the page that waits.
pub(crate) const WAIT: u8 = 7;
const METRICS: u8 = 8;

impl Page {
    pub(crate) fn index(&self) -> u8 {
        match self {
            Page::Catalogue => 0,
            Page::Category(_) => 1,
            Page::Item(_) => 2,
            Page::Search(_) => 3,
            Page::Cart(_) => 4,
            Page::Health => HEALTH,
            Page::Wait => WAIT,
            Page::Metrics => METRICS,
        }
    }
}

/// The page of a request target; a status where there is none.
pub(crate) fn route(target: &str) -> Result<Page, u16> {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut parts = path.trim_start_matches('/').splitn(2, '/');
    let (first, rest) = (parts.next().unwrap_or(""), parts.next());
    match (first, rest) {
        ("", None) => Ok(Page::Catalogue),
        ("category", Some(number)) => number.parse().map(Page::Category).map_err(|_| 404),
        ("item", Some(number)) => number.parse().map(Page::Item).map_err(|_| 404),
        ("search", None) => parameter(query, "q").map(Page::Search).ok_or(400),
        ("cart", None) => match parameter(query, "add") {
            Some(number) => number.parse().map(|n| Page::Cart(Some(n))).map_err(|_| 400),
            None => Ok(Page::Cart(None)),
        },
        ("health", None) => Ok(Page::Health),
        ("wait", None) => Ok(Page::Wait),
        ("metrics", None) => Ok(Page::Metrics),
        _ => Err(404),
    }
}

fn parameter(query: &str, name: &str) -> Option<String> {
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let value = pairs.into_iter().find(|(key, _)| *key == name).map(|(_, value)| value);
    value.map(decode)
}

/// Undoes percent encoding; a stray `%` stands for itself, bytes that are not UTF-8 are replaced.
fn decode(text: &str) -> String {
    let (bytes, mut out, mut at) = (text.as_bytes(), Vec::with_capacity(text.len()), 0);
    while at < bytes.len() {
        let hex = bytes.get(at + 1..at + 3).and_then(|pair| std::str::from_utf8(pair).ok());
        let code = hex.filter(|h| h.bytes().all(|b| b.is_ascii_hexdigit()));
        match (bytes[at], code.and_then(|h| u8::from_str_radix(h, 16).ok())) {
            (b'%', Some(byte)) => {
                out.push(byte);
                at += 2;
            }
            (b'+', _) => out.push(b' '),
            (byte, _) => out.push(byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages() {
        assert_eq!(route("/"), Ok(Page::Catalogue));
        assert_eq!(route("/?utm=1"), Ok(Page::Catalogue));
        assert_eq!(route("/category/3"), Ok(Page::Category(3)));
        assert_eq!(route("/item/7"), Ok(Page::Item(7)));
        assert_eq!(route("/search?x=1&q=red+%26%20bl%C3%BCe%"), Ok(Page::Search("red & blüe%".into())));
        assert_eq!(route("/cart"), Ok(Page::Cart(None)));
        assert_eq!(route("/cart?add=5"), Ok(Page::Cart(Some(5))));
        assert_eq!(route("/health"), Ok(Page::Health));
        assert_eq!(route("/wait"), Ok(Page::Wait));
        assert_eq!(route("/metrics"), Ok(Page::Metrics));
    }

    #[test]
    fn what_is_no_page() {
        assert_eq!(route("/item/x"), Err(404));
        assert_eq!(route("/item"), Err(404));
        assert_eq!(route("/item/1/2"), Err(404));
        assert_eq!(route("/category/-1"), Err(404));
        assert_eq!(route("/nothing"), Err(404));
        assert_eq!(route("/search"), Err(400));
        assert_eq!(route("/cart?add=x"), Err(400));
    }
}
