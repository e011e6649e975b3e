//! The known names nearest to an unknown one.

/// How many known names are looked at; comparing takes about 100 ns each.
const MAX_CANDIDATES: usize = 10_000;

/// The known names that `name` is likely a slip of, the likeliest first; at most three.
pub fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    // Names longer than this are data, and comparing them costs their square.
    if name.len() > 100 {
        return Vec::new();
    }
    let lower = name.to_lowercase();
    let most = 1 + name.chars().count() / 4;
    let mut found: Vec<(usize, &str)> = known
        .take(MAX_CANDIDATES)
        .filter(|other| other.len() <= 100 && other.len().abs_diff(name.len()) <= 4 * most)
        .map(|other| (strsim::osa_distance(&lower, &other.to_lowercase()), other))
        .filter(|(distance, _)| *distance <= most)
        .collect();
    found.sort_unstable();
    found.dedup();
    found.into_iter().take(3).map(|(_, other)| other).collect()
}

/// The question whether one of the known names nearest to an unknown one was meant, if any is
/// near.
pub fn did_you_mean<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<String> {
    question(&nearest(name, known))
}

/// "did you mean `a`, `b` or `c`?", if there is something to say.
pub fn question(names: &[&str]) -> Option<String> {
    let (last, before) = names.split_last()?;
    if before.is_empty() {
        return Some(format!("did you mean `{last}`?"));
    }
    let before: Vec<_> = before.iter().map(|name| format!("`{name}`")).collect();
    Some(format!("did you mean {} or `{last}`?", before.join(", ")))
}
