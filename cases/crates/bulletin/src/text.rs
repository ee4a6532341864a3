//! Text from a seed: words of syllables, drawn by Zipf's law, as words of a language are.

use sojourn_dist::Stream;

/// Words of the dictionary.
const WORDS: usize = 4096;
const ONSETS: [&str; 16] = ["b", "ch", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "t", "tr", "v"];
const VOWELS: [&str; 4] = ["a", "e", "i", "o"];

/// Words, the frequent ones first.
#[derive(Debug)]
pub struct Dictionary {
    words: Vec<String>,
    /// The probability of a word or one before it.
    cumulative: Vec<f64>,
}

impl Dictionary {
    /// The same words whatever the seed of the data, so that a search word of one board is one of another.
    #[must_use]
    pub fn new() -> Self {
        // Each number below 64^2 as two syllables: no two words are the same.
        let syllable =
            |code: usize| [ONSETS[code / VOWELS.len() % ONSETS.len()], VOWELS[code % VOWELS.len()]];
        let word = |rank: usize| {
            // An odd factor modulo a power of two is a permutation: frequent words are spread over the alphabet.
            let code = rank * 1597 % WORDS;
            [syllable(code / 64), syllable(code % 64)].concat().concat()
        };
        Self::of((0..WORDS).map(word).collect())
    }

    /// Of words that somebody else has, the frequent ones first; at least one.
    #[must_use]
    pub fn of(words: Vec<String>) -> Self {
        let total: f64 = (1..=words.len()).map(|rank| 1.0 / rank as f64).sum();
        let mut sum = 0.0;
        let cumulative = (1..=words.len()).map(|rank| {
            sum += 1.0 / (rank as f64 * total);
            sum
        });
        Self { cumulative: cumulative.collect(), words }
    }

    /// A word by Zipf's law with exponent 1.
    pub fn word(&self, stream: &mut Stream) -> &str {
        let u = stream.uniform();
        let rank = self.cumulative.partition_point(|below| *below < u);
        &self.words[rank.min(self.words.len() - 1)]
    }

    /// From `least` to `most` words.
    pub fn words(&self, least: u64, most: u64, stream: &mut Stream) -> String {
        let count = least + stream.below(most - least + 1);
        let mut text = String::new();
        for index in 0..count {
            if index > 0 {
                text.push(' ');
            }
            text.push_str(self.word(stream));
        }
        text
    }

    /// Whole words, of at most `bytes` bytes together.
    pub fn text(&self, bytes: usize, stream: &mut Stream) -> String {
        let mut text = String::with_capacity(bytes);
        loop {
            let word = self.word(stream);
            if text.len() + word.len() + 1 > bytes {
                return text;
            }
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(word);
        }
    }
}

impl Default for Dictionary {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_differ_and_the_first_is_drawn_as_often_as_zipf_says() {
        let dictionary = Dictionary::new();
        let different: std::collections::HashSet<&String> = dictionary.words.iter().collect();
        assert_eq!(different.len(), WORDS);
        let mut stream = Stream::new(1, "test");
        let draws = 20_000;
        let first = (0..draws).filter(|_| dictionary.word(&mut stream) == dictionary.words[0]).count();
        // 1 over the harmonic number of 4096, 8.895; four standard deviations of the count are 178.
        assert!((first as f64 - f64::from(draws) / 8.895).abs() < 178.0, "{first}");
    }

    #[test]
    fn texts_are_as_long_as_asked() {
        let (dictionary, mut stream) = (Dictionary::new(), Stream::new(2, "test"));
        for bytes in [0, 3, 100, 1024] {
            let text = dictionary.text(bytes, &mut stream);
            assert!(text.len() <= bytes && text.len() + 8 > bytes.min(8), "{bytes}: {text}");
        }
        assert!((3..=5).contains(&dictionary.words(3, 5, &mut stream).split(' ').count()));
    }
}
