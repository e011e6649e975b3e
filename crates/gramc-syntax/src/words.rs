//! Lists of words.

/// A list of words in one text, with spaces between them.
#[derive(Debug, Clone, Copy)]
pub struct Words(pub &'static str);

impl Words {
    /// Whether the list contains a word.
    pub fn contains(self, word: &str) -> bool {
        self.0.split(' ').any(|one| one == word)
    }
}
