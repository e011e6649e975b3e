//! What an import could not say, counted by kind.

use std::collections::HashMap;

/// Sentences about what was left out or changed. Equal ones are counted.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    all: Vec<Note>,
    index: HashMap<String, usize>,
}

#[derive(Debug)]
struct Note {
    what: String,
    first: String,
    count: usize,
}

impl Notes {
    /// Adds a sentence without a final period, and the place that it is about.
    pub(crate) fn add(&mut self, what: impl Into<String>, place: &str) {
        let what = what.into();
        if let Some(note) = self.index.get(&what).and_then(|at| self.all.get_mut(*at)) {
            note.count += 1;
            return;
        }
        self.index.insert(what.clone(), self.all.len());
        self.all.push(Note { what, first: place.to_owned(), count: 1 });
    }

    /// The sentences, in the order in which they were added first.
    pub(crate) fn sentences(self) -> Vec<String> {
        let sentence = |Note { what, first, count }| match count {
            1 if first.is_empty() => what,
            1 => format!("{first}: {what}"),
            count => format!("{first} and {} more: {what}", count - 1),
        };
        self.all.into_iter().map(sentence).collect()
    }
}
