//! The shop's data, made from a seed.

use sojourn_dist::Stream;

/// Everything on sale and what people say about it.
#[derive(Debug)]
pub(crate) struct Catalogue {
    pub items: Vec<CatalogueItem>,
    pub reviews: Vec<Review>,
}

#[derive(Debug, PartialEq)]
pub(crate) struct CatalogueItem {
    pub name: String,
    /// The name in lower case, for the search.
    pub key: String,
    pub description: String,
    pub price_cents: u64,
    pub category: usize,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Review {
    pub author: &'static str,
    pub stars: u64,
    pub text: String,
}

pub(crate) const CATEGORIES: [&str; 8] = [
    "Kitchen & Table",
    "Garden",
    "Workshop",
    "Books <used>",
    "Lamps",
    "\"Fine\" Textiles",
    "Music",
    "Travel",
];
const FIRST: [&str; 16] = [
    "Copper",
    "Oak",
    "Enamel",
    "Linen",
    "Brass",
    "Slate",
    "Woollen",
    "Glass",
    "Cherry",
    "Tin",
    "Salt & Pepper",
    "Granny's",
    "Folding",
    "Heavy",
    "Light",
    "Little",
];
const SECOND: [&str; 16] = [
    "Kettle", "Mill", "Lantern", "Stool", "Ladle", "Clock", "Blanket", "Jar", "Drawer", "Whistle", "Bench",
    "Tray", "Compass", "Basket", "Apron", "Hammer",
];
const WORDS: [&str; 32] = [
    "made", "by", "hand", "in", "a", "small", "workshop", "from", "old", "stock", "with", "great", "care",
    "and", "patience", "it", "lasts", "for", "years", "keeps", "warm", "fits", "any", "shelf", "never",
    "rusts", "easy", "to", "clean", "the", "colour", "stays",
];
const AUTHORS: [&str; 8] = ["Ada", "Agner", "Leonard", "Jeffrey", "Marcel", "Conny", "Ülo", "O'Hara"];
const REVIEWS: usize = 256;

impl Catalogue {
    pub(crate) fn new(seed: u64, items: usize) -> Catalogue {
        let mut stream = Stream::new(seed, "web-catalogue");
        let items = (0..items).map(|number| item(number, &mut stream)).collect();
        let reviews = (0..REVIEWS).map(|_| review(&mut stream)).collect();
        Catalogue { items, reviews }
    }
}

fn item(number: usize, stream: &mut Stream) -> CatalogueItem {
    let name = format!("{} {} {number}", pick(&FIRST, stream), pick(&SECOND, stream));
    CatalogueItem {
        key: name.to_lowercase(),
        name,
        description: sentence(12 + stream.below(12), stream),
        price_cents: 100 + stream.below(50_000),
        category: stream.below(CATEGORIES.len() as u64) as usize,
    }
}

fn review(stream: &mut Stream) -> Review {
    let (author, stars) = (pick(&AUTHORS, stream), 1 + stream.below(5));
    Review { author, stars, text: sentence(8 + stream.below(16), stream) }
}

fn sentence(words: u64, stream: &mut Stream) -> String {
    let words: Vec<&str> = (0..words).map(|_| pick(&WORDS, stream)).collect();
    let mut text = words.join(" ");
    text[..1].make_ascii_uppercase();
    text.push('.');
    text
}

fn pick(from: &[&'static str], stream: &mut Stream) -> &'static str {
    from[stream.below(from.len() as u64) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_is_the_same_shop() {
        assert_eq!(Catalogue::new(7, 50).items, Catalogue::new(7, 50).items);
        assert_ne!(Catalogue::new(7, 50).items, Catalogue::new(8, 50).items);
        assert!(Catalogue::new(7, 50).items.iter().all(|item| item.category < CATEGORIES.len()));
    }
}
