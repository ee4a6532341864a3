//! Links of a page, and the text that a form wants.

use memchr::memmem;
use sojourn_dist::Stream;

const HREF: &[u8] = b"href=\"";
/// A longer one is no link that is followed.
const TARGET_MAX_BYTES: usize = 2048;

/// One of the links to `/NAME` in a page, each as likely as any other: its target.
pub fn choose_link(page: &[u8], name: &str, stream: &mut Stream) -> Option<Box<str>> {
    let mut links: Vec<&[u8]> = Vec::new();
    for at in memmem::find_iter(page, HREF) {
        let rest = &page[at + HREF.len()..];
        let Some(end) = rest.iter().take(TARGET_MAX_BYTES).position(|b| *b == b'"') else { continue };
        let target = &rest[..end];
        let path = target.strip_prefix(b"/").and_then(|rest| rest.strip_prefix(name.as_bytes()));
        let plain = target.iter().all(u8::is_ascii_graphic);
        if plain && path.is_some_and(|rest| rest.is_empty() || rest[0] == b'?') {
            links.push(target);
        }
    }
    if links.is_empty() {
        return None;
    }
    let chosen = links[stream.below(links.len() as u64) as usize];
    std::str::from_utf8(chosen).ok().map(Into::into)
}

/// Appends words of 2 to 9 letters, of up to `most` bytes in all, each length as likely as any other.
pub fn write_text(most: usize, stream: &mut Stream, out: &mut Vec<u8>) {
    let end = out.len() + 1 + stream.below(most.max(1) as u64) as usize;
    let mut left = 0;
    while out.len() < end {
        if left == 0 {
            left = 2 + stream.below(8);
            if out.last().is_some_and(u8::is_ascii_lowercase) && out.len() + 1 < end {
                out.push(b'+');
            }
        }
        out.push(b'a' + stream.below(26) as u8);
        left -= 1;
    }
}
