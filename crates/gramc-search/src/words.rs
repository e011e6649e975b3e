//! Texts and names as the stems of their words.

use gramc_model::words::{lower, words};
use rust_stemmers::{Algorithm, Stemmer};

/// The most bytes of a word. Longer runs of letters are data.
const MAX_WORD: usize = 40;

/// Words that say nothing of a tool.
const STOP_WORDS: [&str; 40] = [
    "a", "an", "and", "are", "as", "at", "be", "by", "can", "do", "does", "for", "from", "how",
    "i", "if", "in", "is", "it", "its", "me", "my", "of", "on", "one", "or", "please", "that",
    "the", "them", "this", "to", "want", "was", "what", "which", "will", "with", "would", "you",
];

/// Splits texts and names into words and stems these.
pub(crate) struct Analyzer(Stemmer);

impl Default for Analyzer {
    fn default() -> Self {
        Self(Stemmer::create(Algorithm::English))
    }
}

impl Analyzer {
    /// Calls `each` with the stem of each word. Words of names such as `sendEmail` and `send_email`
    /// are separate.
    pub(crate) fn each(&self, text: &str, mut each: impl FnMut(&str)) {
        for word in words(text).filter(|word| word.len() <= MAX_WORD) {
            let lower = lower(word);
            if !STOP_WORDS.contains(&&*lower) {
                each(&self.0.stem(&lower));
            }
        }
    }

    pub(crate) fn stems(&self, text: &str) -> Vec<String> {
        let mut stems = Vec::new();
        self.each(text, |stem| stems.push(stem.to_owned()));
        stems
    }

    /// The stems of a name. A name of stop words is a word of its own.
    pub(crate) fn name_stems(&self, name: &str) -> Vec<String> {
        let stems = self.stems(name);
        if stems.is_empty() { vec![name.to_lowercase()] } else { stems }
    }

    /// A number that is the same for names with the same words: `cityName`, `city_name`, `cityname`.
    pub(crate) fn name_hash(&self, name: &str) -> u64 {
        hash(&self.name_stems(name).concat())
    }
}

/// The FNV-1a hash of a text.
pub(crate) fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_texts_have_the_same_words() {
        let analyzer = Analyzer::default();
        let wanted = ["send", "email"];
        for text in ["sendEmail", "send_email", "SendEmails", "sending an e-mail: email!"] {
            let stems = analyzer.stems(text);
            assert!(wanted.iter().all(|word| stems.iter().any(|stem| stem == word)), "{stems:?}");
        }
        assert_eq!(analyzer.name_hash("cityName"), analyzer.name_hash("city_names"));
        assert_ne!(analyzer.name_hash("to"), analyzer.name_hash("from"));
    }

    #[test]
    fn long_runs_are_no_words() {
        assert!(Analyzer::default().stems(&"a".repeat(100)).is_empty());
    }
}
