//! The search for a small text with the same failure.
//!
//! Plain deletion is enough: documents are short, and a deletion that removes half of a string
//! or one bracket is exactly what separates the cause of a mismatch from its surroundings.

/// How often `fails` may be asked, so that a slow failure cannot stall the report.
const MAX_ATTEMPTS: usize = 20_000;

/// The longest text of which all parts and all pairs of characters are tried.
const MAX_EXHAUSTIVE: usize = 80;

/// A text, no longer than `text`, for which `fails` still holds.
pub fn shrink(text: &str, fails: impl Fn(&str) -> bool) -> String {
    let mut search = Search { best: text.chars().collect(), attempts: 0, fails };
    // One deletion makes room for another, so the rounds go on until one changes nothing.
    while search.runs() || search.parts_and_pairs() {}
    search.best.into_iter().collect()
}

struct Search<F> {
    best: Vec<char>,
    attempts: usize,
    fails: F,
}

impl<F: Fn(&str) -> bool> Search<F> {
    /// Tries the text of `keep`, and takes it over if it still fails.
    fn attempt(&mut self, keep: impl Fn(usize) -> bool) -> bool {
        if self.attempts >= MAX_ATTEMPTS {
            return false;
        }
        self.attempts += 1;
        let kept = self.best.iter().enumerate().filter(|&(index, _)| keep(index));
        let candidate: String = kept.map(|(_, &c)| c).collect();
        let fails = (self.fails)(&candidate);
        if fails {
            self.best = candidate.chars().collect();
        }
        fails
    }

    /// Deletes runs of characters, long ones first.
    fn runs(&mut self) -> bool {
        let mut changed = false;
        let mut size = self.best.len().div_ceil(2);
        while size > 0 {
            let mut at = 0;
            while at < self.best.len() {
                if self.attempt(|index| index < at || index >= at + size) {
                    changed = true;
                } else {
                    at += size;
                }
            }
            size /= 2;
        }
        changed
    }

    /// Deletes any part, or two characters at different places: brackets and quotes go only in
    /// pairs, and the text between them may have to stay.
    fn parts_and_pairs(&mut self) -> bool {
        let len = self.best.len();
        len <= MAX_EXHAUSTIVE
            && (0..len).any(|first| {
                (first + 1..len).any(|last| {
                    self.attempt(|index| index < first || index > last)
                        || self.attempt(|index| index != first && index != last)
                })
            })
    }
}

#[cfg(test)]
mod tests {
    use super::shrink;

    #[test]
    fn keeps_only_what_the_failure_needs() {
        let small = shrink("one (two) three \"four\" five", |text| {
            text.contains('(') && text.contains('"')
        });
        assert_eq!(small, "(\"");
    }

    #[test]
    fn removes_brackets_that_belong_together() {
        let balanced = |text: &str| {
            let count = |c| text.chars().filter(|&found| found == c).count();
            count('(') == count(')') && text.contains('x')
        };
        assert_eq!(shrink("(a (b)(x) c)", balanced), "x");
    }
}
