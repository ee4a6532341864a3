//! What `fuzz/protocols` does with bytes of a server: read whole and in two pieces, an answer says the same.

use crate::http::Response;

/// `data`: where it is cut, and the bytes.
///
/// # Panics
/// The pieces say something else than the whole.
pub fn http_response(data: &[u8]) {
    let Some((cut, bytes)) = data.split_first() else { return };
    let cut = usize::from(*cut).min(bytes.len());
    let head_only = cut % 7 == 3;
    let [mut whole, mut pieces] = [(); 2].map(|()| Response::keeping(&["content-type", "x-id"]));
    whole.reset(head_only);
    pieces.reset(head_only);
    let at_once = whole.feed(bytes);
    let in_turn = match pieces.feed(&bytes[..cut]) {
        Ok(None) => pieces.feed(&bytes[cut..]).map(|end| end.map(|used| used + cut)),
        ended => ended,
    };
    if let (Ok(Some(_)), Ok(Some(_))) = (&at_once, &in_turn) {
        assert_eq!((whole.status, whole.keep_alive), (pieces.status, pieces.keep_alive));
        assert_eq!((&whole.values, &whole.body.kept), (&pieces.values, &pieces.body.kept));
    }
    match (at_once, in_turn) {
        // An error in what follows the cut is an error; one that the whole has may come earlier.
        (Err(_), _) | (_, Err(_)) => assert_eq!(at_once.is_err(), in_turn.is_err()),
        _ => assert_eq!(at_once, in_turn),
    }
    if matches!(at_once, Ok(Some(used)) if used > bytes.len()) {
        panic!("more bytes than there are");
    }
    if matches!(at_once, Ok(None)) {
        assert_eq!(whole.has_begun(), pieces.has_begun());
        assert_eq!(whole.end(), pieces.end());
    }
}
