//! Finds strings within a small edit distance.

/// The maximum length of a compared string, in characters. The cost of a comparison is the product
/// of both lengths.
const MAX_LENGTH: usize = 64;

/// The maximum cost of one query, in pairs of letters. A pair takes about a nanosecond.
const MAX_PAIRS: usize = 150_000;

/// The fixed cost of a comparison, in pairs of letters.
const OVERHEAD: usize = 100;

/// The maximum edit distance.
const MAX_EDITS: usize = 3;

/// The pairs of letters that a query may still compare.
#[derive(Debug)]
pub(super) struct ComparisonBudget {
    pairs: usize,
}

impl Default for ComparisonBudget {
    fn default() -> Self {
        Self { pairs: MAX_PAIRS }
    }
}

impl ComparisonBudget {
    fn spend(&mut self, pairs: usize) -> bool {
        let left = self.pairs.checked_sub(pairs);
        self.pairs = left.unwrap_or(0);
        left.is_some()
    }
}

/// A summary of a string that quickly rules out distant strings.
#[derive(Debug, Clone, Copy)]
pub(super) struct LetterProfile {
    /// A bit set of its letters. An edit changes at most two bits: it removes one letter and adds
    /// another.
    letters: u32,
    length: u32,
}

impl LetterProfile {
    pub(super) fn of(text: &str) -> Self {
        let mut shape = Self { letters: 0, length: 0 };
        for c in text.chars() {
            // Each ASCII letter has its own bit; all other characters share the remaining six.
            shape.letters |= 1
                << if c.is_ascii_lowercase() {
                    u32::from(c) - u32::from('a')
                } else {
                    26 + u32::from(c) % 6
                };
            shape.length += 1;
        }
        shape
    }
}

/// The strings within a few edits of `text`, with their similarity, from 0.7 to less than 1. If the
/// budget runs out, strings with the most different letters are skipped.
pub(super) fn near<'s>(
    text: &str,
    shapes: &[LetterProfile],
    of: impl Fn(u32) -> &'s str,
    budget: &mut ComparisonBudget,
) -> Vec<(u32, f32)> {
    let shape = LetterProfile::of(text);
    let length = shape.length as usize;
    // An edit of a word of three letters makes another word: `git`, `get`.
    if !(4..=MAX_LENGTH).contains(&length) {
        return Vec::new();
    }
    let slips = (length / 4).clamp(1, MAX_EDITS);
    let mut likely: [Vec<u32>; 2 * MAX_EDITS + 1] = Default::default();
    for (other, index) in shapes.iter().zip(0..) {
        let apart = (shape.letters ^ other.letters).count_ones() as usize;
        if apart <= 2 * slips && shape.length.abs_diff(other.length) as usize <= slips {
            likely[apart].push(index);
        }
    }
    let mut found = Vec::new();
    for index in likely.into_iter().flatten() {
        if !budget.spend(OVERHEAD + length * length) {
            break;
        }
        let other = of(index);
        let distance = strsim::osa_distance(text, other);
        if (1..=slips).contains(&distance) {
            let longest = length.max(shapes[index as usize].length as usize);
            #[expect(clippy::cast_precision_loss, reason = "both are below a hundred")]
            let likeness = 1.0 - distance as f32 / longest as f32;
            if likeness >= 0.7 {
                found.push((index, likeness));
            }
        }
    }
    found
}
