//! Text into HTML, and a page that fills up to a stated size.

/// Appends text with the five characters that mean something in HTML replaced.
pub(crate) fn escape(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.find(['&', '<', '>', '"', '\'']) {
        out.push_str(&rest[..at]);
        out.push_str(match rest.as_bytes()[at] {
            b'&' => "&amp;",
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'"' => "&quot;",
            _ => "&#39;",
        });
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
}

/// Escaped text as a value, for short pieces.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    escape(text, &mut out);
    out
}

const FOOT: &str = "</main><footer>sojourn shop</footer></body></html>\n";

/// A page under construction; its memory is used again for the next.
#[derive(Debug, Default)]
pub(crate) struct HtmlBuilder {
    pub text: String,
    size_bytes: usize,
}

impl HtmlBuilder {
    /// Begins a page of `size_bytes`.
    pub(crate) fn begin(&mut self, size_bytes: usize, title: &str) {
        self.text.clear();
        self.size_bytes = size_bytes;
        self.text.push_str("<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>");
        escape(title, &mut self.text);
        self.text.push_str("</title></head><body><nav><a href=\"/\">Shop</a> <a href=\"/cart\">Cart</a>");
        self.text.push_str("<form action=\"/search\"><input name=\"q\"></form></nav><main><h1>");
        escape(title, &mut self.text);
        self.text.push_str("</h1>\n");
    }

    /// Appends what `write` writes if the page stays within its size; else takes it back: false.
    pub(crate) fn add(&mut self, write: impl FnOnce(&mut String)) -> bool {
        let before = self.text.len();
        write(&mut self.text);
        let fits = self.text.len() + FOOT.len() <= self.size_bytes;
        if !fits {
            self.text.truncate(before);
        }
        fits
    }

    /// Ends the page at exactly its size: what is left, less than a row, is blank.
    pub(crate) fn end(&mut self) {
        let gap = self.size_bytes.saturating_sub(self.text.len() + FOOT.len());
        self.text.extend(std::iter::repeat_n(' ', gap));
        self.text.push_str(FOOT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_the_text_is_taken_for_html() {
        let text = "<b title=\"x\">Tom & 'Ül'</b>";
        let expected = "&lt;b title=&quot;x&quot;&gt;Tom &amp; &#39;Ül&#39;&lt;/b&gt;";
        assert_eq!(escaped(text), expected);
        assert_eq!(escaped(""), "");
    }

    #[test]
    fn a_sheet_has_exactly_its_size() {
        let mut sheet = HtmlBuilder::default();
        for size in [1024, 1025, 5000] {
            sheet.begin(size, "A title");
            while sheet.add(|out| out.push_str("<p>a row of text</p>")) {}
            sheet.end();
            assert_eq!(sheet.text.len(), size);
        }
    }
}
