//! The search for a small text with the same failure.
//!
//! Plain deletion is enough: documents are short, and a deletion that removes half of a string
//! or one bracket is exactly what separates the cause of a mismatch from its surroundings.

/// How often `fails` may be asked, so that a slow failure cannot stall the report.
const MAX_ATTEMPTS: usize = 4_000;

/// A text, no longer than `text`, for which `fails` still holds.
pub fn shrink(text: &str, fails: impl Fn(&str) -> bool) -> String {
    let mut best: Vec<char> = text.chars().collect();
    let mut attempts = 0;
    let mut size = (best.len() / 2).max(1);
    loop {
        let mut removed = false;
        let mut at = 0;
        while at < best.len() && attempts < MAX_ATTEMPTS {
            let end = (at + size).min(best.len());
            let candidate: String = best[..at].iter().chain(&best[end..]).collect();
            attempts += 1;
            if fails(&candidate) {
                best.drain(at..end);
                removed = true;
            } else {
                at += size;
            }
        }
        let exhausted = attempts >= MAX_ATTEMPTS;
        if exhausted || (size == 1 && !removed) {
            return best.into_iter().collect();
        }
        // A deletion can make room for another of the same size, so only a round without one
        // goes on to smaller parts.
        if !removed {
            size = (size / 2).max(1);
        }
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
}
